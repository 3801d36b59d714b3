"""Checks of the FedDyn paper's sentences about methods; those about its tables are in `feddyn_tables`."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from fedconvex import arithmetic
from fedconvex.arithmetic.rationals import fraction_array
from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    answers,
    expected,
    family,
    gradient,
    inner,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    server,
    shared,
    square,
)
from fedconvex.errors import InvalidInput
from fedconvex.methods.averaging import FedGD
from fedconvex.methods.base import State
from fedconvex.methods.feddyn import FedDyn
from fedconvex.methods.fedprox import FedProx
from fedconvex.methods.scaffold import Scaffold
from fedconvex.participation import Schedule
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, Lower, Nonnegative
from fedconvex.proofs_checks.library import Lemma, Parts, by, concluding, lemma, with_example
from fedconvex.proofs_checks.sentences.findings import Comparison, Evidence, Proves, SentenceVerdict, decides
from fedconvex.proofs_checks.sentences.instances import SHORT, UNLIKE, bias, exact, line, run, squared
from fedconvex.runs.rounds import rounds_of
from fedconvex.theory import feddyn
from fedconvex.theory.fedsplit.vectors import away

PROVED, SHOWN, REFUTED = SentenceVerdict.PROVED, SentenceVerdict.SHOWN, SentenceVerdict.REFUTED
ON_INSTANCES = SentenceVerdict.ON_INSTANCES
m, P, alpha, s, q = map(parameter, ("num_clients", "num_active", "alpha", "stepsize", "q"))
FEDDYN = ClaimSetting(method="FedDyn", method_parameters={"alpha": alpha}, signs={"alpha": "positive"})


@decides("feddyn.local_minima_are_inconsistent", SHOWN, linear=(1, 3))
def local_minima_are_inconsistent(linear: tuple[int, int] = (1, -3)) -> Iterator[Evidence]:
    problem = line((1, 3), linear)
    at = exact(Fraction(sum(linear), 4))
    yield Comparison("the gradient of the mean", problem.gradient(at)[0], "=", 0)
    yield Comparison("that of the first device", problem.client_gradients(at)[0][0], "!=", 0)


@decides("feddyn.improves_over_scaffold", PROVED, most=2)
def improves_over_scaffold(most: int = 1) -> Iterator[Evidence]:
    setting = ClaimSetting(
        signs={"num_clients": "positive", "num_active": "positive"}, conditions=((most * m, ">=", P),)
    )
    claim = at_most((m / P).sqrt(), m / P)
    yield Proves("√(m/P) ≤ m/P", lemma(setting, claim, by(Nonnegative(claim.right - claim.left))))


@decides("feddyn.unaffected_by_heterogeneity", REFUTED, apart=0)
def unaffected_by_heterogeneity(apart: int = 1, rounds: int = 3) -> Iterator[Evidence]:
    """½x² − cx and ½x² + cx, whose mean is ½x² for every c; one of the two in a round, from x = 0."""
    schedules = list(product(([0], [1]), repeat=rounds))
    problem, alike = line((1, 1), (apart, -apart)), line((1, 1), (0, 0))
    points = [run(FedDyn(alpha=2), problem, rounds, participation=Schedule(list(s))).points[-1] for s in schedules]
    expected_gap = sum(alike.value(x) for x in points) / len(points)
    same = run(FedDyn(alpha=2), alike, rounds, participation=Schedule(list(schedules[0]))).points[-1]
    yield Comparison(f"expected suboptimality after {rounds} rounds, and of devices that do not differ", expected_gap,
                   ">", alike.value(same))  # fmt: skip


@decides("feddyn.fedprox_does_not_align", SHOWN, problem=line((1, 3), (1, 3)))
def fedprox_does_not_align(problem: Any = UNLIKE) -> Iterator[Evidence]:
    yield Comparison("‖x_∞ − x*‖² of FedProx", bias(FedProx(mu=2), problem), ">", 0)
    yield Comparison("of FedDyn", bias(FedDyn(alpha=2), problem), "=", 0)


@decides("feddyn.consensus_is_kept", ON_INSTANCES, stored=(5, 0))
def consensus_is_kept(stored: tuple[int, ...] = ()) -> Iterator[Evidence]:
    """A round of FedDyn from (2, 3); a device that answers the server's point keeps its stored gradient."""
    at = exact(2, 3)
    gradients = UNLIKE.client_gradients(at)
    before = gradients + exact(*stored) if stored else gradients
    numbers = arithmetic.get("exact")
    state = State(
        numbers.array(at), shared={"h": numbers.array(sum(before) / 2)}, memory={"gradient": numbers.array(before)}
    )
    after = fraction_array(rounds_of(FedDyn(alpha=2), UNLIKE, numbers, None).advance(state).memory["gradient"])
    for k in (0, 1):
        moved = squared(after[k] - before[k])
        yield Comparison(f"‖θ_k^t − θ^{{t−1}}‖²/α² of device {k + 1}", moved, "=", 0)


@decides("feddyn.limits_are_stationary", PROVED, rests=False)
def limits_are_stationary(rests: bool = True) -> Iterator[Evidence]:
    setting = with_example(ClaimSetting(
        method="FedDyn", method_parameters={"alpha": alpha}, signs={"alpha": "positive"}, rests=rests,
        curvature=(number(0), None),
    ))  # fmt: skip
    stationary = equal(mean(gradient(server(0))), 0 * server(0))
    for what, claim in (("θ_k = θ", equal(answers, server(0))), ("Σ_k∇L_k(θ) = 0", stationary)):
        yield Proves(what, Lemma(setting, claim, Derivation((concluding(claim, Parts()),))))


@decides("feddyn.server_state", REFUTED, num_clients=1)
def server_state(num_clients: int = 2) -> Iterator[Evidence]:
    problem = line([1, 3][:num_clients], [1, -2][:num_clients])
    state = run(FedDyn(alpha=2), problem, 1).state
    total = sum(fraction_array(state.memory["gradient"]))
    yield Comparison("h and the sum of the stored gradients", fraction_array(state.shared["h"])[0], "!=", total[0])
    claim = equal(shared("h", 1), mean(memory("gradient", 1)))
    proof = Derivation((concluding(claim, Parts()),), (("shared h", mean(memory("gradient", 0))),))
    yield Proves("h is the mean", Lemma(with_example(FEDDYN), claim, proof))


@decides("feddyn.ignoring_the_term_freezes", PROVED, least=-1)
def ignoring_the_term_freezes(least: int = 0) -> Iterator[Evidence]:
    x, y = family("x"), family("y")
    setting = ClaimSetting(signs={"alpha": "positive"}, curvature=(number(least), None))
    claim = at_most(alpha * square(x - y), inner(gradient(x) - gradient(y) + alpha * (x - y), x - y))
    yield Proves(
        "α‖x − y‖² ≤ ⟨∇L(x) − ∇L(y) + α(x − y), x − y⟩", lemma(setting, claim, by(Lower(x, y)) + by(Lower(y, x)))
    )


@decides("feddyn.second_vector_is_unavoidable", REFUTED, option=1)
def second_vector_is_unavoidable(option: Any = 2, steps: int = 3, rounds: int = 3) -> Iterator[Evidence]:
    method = Scaffold(stepsize=SHORT, local_steps=steps, option=option)
    for t in range(rounds):
        found = run(method, UNLIKE, t + 1)
        known = (found.points[t] - found.points[t + 1]) / (steps * SHORT)
        yield Comparison(
            f"‖c − (θ^{t} − θ^{t + 1})/(Ks)‖²", squared(fraction_array(found.state.shared["c"]) - known), "=", 0
        )


@decides("feddyn.alpha_and_the_rate", REFUTED, alphas=(60, 60))
def alpha_and_the_rate(alphas: tuple[int, int] = (120, 60)) -> Iterator[Evidence]:
    def ratio(T: int, bound: Any, **given: Any) -> Fraction:
        given |= {"L": 1, "num_clients": 2, "num_active": 1, "T": T}
        larger, smaller = (bound(alpha=Fraction(a), **given) for a in alphas)
        found: Fraction = larger / smaller
        return found

    start = {"D0": Fraction(1), "G": Fraction(1)}
    for name, bound, given in (
        ("2", feddyn.convex_bound, start),
        ("4", feddyn.nonconvex_bound, {"delta": Fraction(1), "spread": Fraction(1)}),
    ):
        short, long = (ratio(T, bound, **given) for T in (1000, 2000))
        yield Comparison(f"the ratio of Theorem {name}'s bounds for α = {alphas}, T = 1000 and 2000", short, "=", long)
    short, long = (ratio(T, feddyn.strongly_convex_bound, mu=1, **start) for T in (1000, 2000))
    yield Comparison("of Theorem 3's, at T = 2000 and a thousand times that at T = 1000", long, ">", 1000 * short)


@decides("feddyn.alphas_of_figure1", SentenceVerdict.OPEN, active=100)
def alphas_of_figure1(active: int = 10) -> Iterator[Evidence]:
    def admits(alpha: Any, L: Any) -> bool:
        given = {"num_clients": 100, "num_active": active, "T": 1, "delta": 1, "spread": 0}
        try:
            feddyn.nonconvex_bound(alpha=alpha, L=L, **given)
        except InvalidInput:
            return False
        return True

    yield Comparison("Theorem 4 admits α = 1 for L = 1/200", admits(1, Fraction(1, 200)), "=", True)
    yield Comparison("for L = 1/100", admits(1, Fraction(1, 100)), "=", False)
    yield Comparison("α = 0.001 for L = 0.00001", admits(Fraction(1, 1000), Fraction(1, 10**5)), "=", False)


@decides("feddyn.one_step_if_losses_differ", REFUTED, second=2)
def one_step_if_losses_differ(second: int = 1) -> Iterator[Evidence]:
    problem = line((1, second), (1, -2))
    at = exact(0)
    first, other = problem.client_gradients(at)
    yield Comparison("the gradients at 0 of both devices", first[0], "!=", other[0])
    for steps in (2, 10):
        yield Comparison(f"‖x_∞ − x*‖², e = {steps}", bias(FedGD(stepsize=SHORT, local_steps=steps), problem), "=", 0)


@decides("feddyn.fedsplit_with_partial_participation", REFUTED, exponent=1)
def fedsplit_with_partial_participation(exponent: int = 2) -> Iterator[Evidence]:
    """For curvatures between 1/(sq) and q/s; ρ = 1 − 2/(q + 1)."""
    setting = with_example(ClaimSetting(
        **running("FedSplit", stepsize=s), curvature=(1 / (s * q), q / s), minimiser=True,
        draws=DrawScheme("uniform", P, m), conditions=((q, ">=", number(1)), (m, ">=", P)),
        signs=dict.fromkeys(("stepsize", "q", "num_clients", "num_active"), "positive"),
        counts=frozenset({"num_clients", "num_active"}),
    ))  # fmt: skip
    kept = 1 - P / m * (1 - (1 - 2 / (q + 1)) ** 2)
    claim = at_most(expected(square(away(1, s))), kept ** (exponent - 1) * square(away(0, s)))
    parts = P / m * (1 - (1 - 2 / (q + 1)) ** 2) * s**2 * by(Between(answers, minimiser))
    proof = Derivation((concluding(claim, parts),), (("server", mean(memory("z", 0))),))
    yield Proves("the expected decrease in a round", Lemma(setting, claim, proof))
