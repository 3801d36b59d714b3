"""Methods that coincide for certain parameters, and invariants of their state, in exact rounds."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import POSITIVE, fractions, identity, rationals, terms_of
from round_cases import CASES, PARTIAL, PROXIMAL, START, UNEQUAL, X0, M, fewer, problems

import fedconvex as fc

T = 3
SOME = fc.participation.Schedule(PARTIAL)
STEPS = st.integers(1, 4)
SPREAD = fc.Quadratic(
    H=[[[2.0, 1.0], [1.0, 3.0]], [[1.0, 0.0], [0.0, 1.0]], [[5.0, -1.0], [-1.0, 2.0]]],
    c=[[1.0, 2.0], [0.5, 0.0], [-1.0, 4.0]],
    weights=[1, 2, 0.5],
)  # as UNEQUAL, and every client strongly convex


def run(method: Any, problem: Any, x0: Any, participation: Any = None, solver: Any = None, rounds: int = T) -> Any:
    return fc.simulate(
        method,
        problem,
        rounds=rounds,
        participation=participation,
        local_solver=solver,
        x0=x0[: problem.dim],
        arithmetic="exact",
    )


def same(first: Any, second: Any) -> bool:
    return bool(np.array_equal(first.points, second.points))


def by_steps(method: Any, e: int, a: Any) -> tuple[Any, fc.GradientDescent]:
    return method, fc.GradientDescent(steps=e, stepsize=a)


def fedgd(s: Any, e: int) -> fc.FedGD:
    return fc.FedGD(stepsize=s, local_steps=e)


def splits(start: str) -> Callable[..., list[Any]]:
    return lambda s, a, e: [by_steps(fc.FedSplit(stepsize=s, server=of, start=start), e, a) for of in ("all", "active")]


# Two methods, alone or with their local solvers, made from two positive numbers and a count.
WHOEVER_TAKES_PART: dict[str, Callable[[Fraction, Fraction, int], Any]] = {
    "FedProx without a pull is FedGD": lambda s, a, e: (by_steps(fc.FedProx(mu=0), e, s), fedgd(s, e)),
    "FedNova with equal work is FedGD": lambda s, a, e: (fc.FedNova(stepsize=s, local_steps=e), fedgd(s, e)),
    "FedAvgM without momentum is FedGD": lambda s, a, e: (
        fc.FedAvgM(stepsize=s, local_steps=e, momentum=0),
        fedgd(s, e),
    ),
    # c_i − c + (x − y_i)/s is then the gradient at x
    "SCAFFOLD's options agree for one step": lambda s, a, e: [fc.Scaffold(stepsize=s, option=o) for o in (1, 2)],
    "FedDynOneGD is FedDyn": lambda s, a, e: (by_steps(fc.FedDyn(alpha=s), 1, 1 / s), fc.FedDynOneGD(alpha=s)),
}
WHERE_EVERYBODY_DOES: dict[str, Callable[[Fraction, Fraction, int], Any]] = {
    "DANE is FedDANE": lambda s, a, e: (fc.DANE(mu=s), fc.FedDANE(mu=s)),
    # with eta = 1/alpha the dual variable is minus FedDyn's gradient, and x_i + eta·lambda_i = θ_i − g_i/alpha
    "FedPD is FedDyn": lambda s, a, e: (fc.FedPD(eta=1 / s), fc.FedDyn(alpha=s)),
    "FedADMM is FedDyn": lambda s, a, e: (fc.FedADMM(rho=s), fc.FedDyn(alpha=s)),
    "FedADMM of server stepsize 1 too": lambda s, a, e: (fc.FedADMM(rho=s, server_stepsize=1), fc.FedDyn(alpha=s)),
    "Scaffnew with every coin is FedSGD": lambda s, a, e: (fc.Scaffnew(stepsize=s), fc.FedSGD(stepsize=s)),
    **{f"FedSplit of all is that of the active, {start}": splits(start) for start in ("center", "server", "warm")},
}


@pytest.mark.parametrize("name", [*WHOEVER_TAKES_PART, *WHERE_EVERYBODY_DOES])
@fewer
@given(problem=problems(), x0=X0, s=POSITIVE, a=POSITIVE, e=STEPS)
def test_methods_coincide(name, problem, x0, s, a, e) -> None:
    pair = (WHOEVER_TAKES_PART | WHERE_EVERYBODY_DOES)[name](s, a, e)
    for who in [None, SOME] if name in WHOEVER_TAKES_PART else [None]:
        (one, its_solver), (other, its_own) = (p if isinstance(p, tuple) else (p, None) for p in pair)
        assert same(run(one, problem, x0, who, its_solver), run(other, problem, x0, who, its_own))


NINTH, TWO_FIFTHS = Fraction(1, 9), Fraction(2, 5)


@pytest.mark.parametrize(
    ("one", "other", "solver", "who"),
    [
        (fc.FedGD(stepsize=NINTH, local_steps=2), fc.FedProx(mu=1), fc.GradientDescent(steps=2, stepsize=NINTH), None),
        (fc.Scaffold(stepsize=NINTH, local_steps=2), fc.Scaffold(stepsize=NINTH, local_steps=2, option=1), None, None),
        (fc.Scaffold(stepsize=NINTH, local_steps=2), fc.FedGD(stepsize=2 * NINTH), None, None),
        (fc.Scaffold(stepsize=NINTH, local_steps=2), fc.FedGD(stepsize=NINTH, local_steps=2), None, None),
        (fc.Scaffold(stepsize=NINTH, local_steps=2, option=1), fc.FedGD(stepsize=2 * NINTH), None, None),
        (fc.Scaffold(stepsize=NINTH, local_steps=2, option=1), fc.FedGD(stepsize=NINTH, local_steps=2), None, None),
        (fc.FedDynOneGD(alpha=3), fc.FedDyn(alpha=3), None, None),
        (fc.FedDynOneGD(alpha=3), fc.FedDyn(alpha=3), fc.GradientDescent(steps=1, stepsize=Fraction(1, 6)), None),
        (fc.DANE(mu=1), fc.FedDANE(mu=1), None, SOME),
        (fc.FedPD(eta=Fraction(1, 3)), fc.FedDyn(alpha=2), None, None),
        (fc.FedADMM(rho=3), fc.FedDyn(alpha=3), None, SOME),
        (fc.FedADMM(rho=3), fc.FedPD(eta=Fraction(1, 3)), None, SOME),
        (fc.FedSplit(stepsize=TWO_FIFTHS), fc.FedSplit(stepsize=TWO_FIFTHS, server="active"), None, SOME),
    ],
)
def test_and_do_not_otherwise(one, other, solver, who) -> None:
    """The other one with this local solver."""
    assert not same(run(one, UNEQUAL, START, who), run(other, UNEQUAL, START, who, solver))


def test_fednova_with_late_clients_is_not_fedgd() -> None:
    late = fc.participation.Stragglers(Fraction(2, 3), "use")
    fedgd, fednova = (
        fc.simulate(method, UNEQUAL, rounds=T, stragglers=late, x0=START, arithmetic="exact")
        for method in (cls(stepsize=Fraction(1, 9), local_steps=6) for cls in (fc.FedGD, fc.FedNova))
    )
    assert not same(fedgd, fednova)


@fewer
@given(problem=problems(), x0=X0, s=POSITIVE, server=POSITIVE, option=st.sampled_from([1, 2]))
def test_scaffold_with_one_local_step_is_gradient_descent(problem, x0, s, server, option) -> None:
    """Each client's correction is undone by the average, as c is the mean of the c_i."""
    scaffold = fc.Scaffold(stepsize=s, local_steps=1, server_stepsize=server, option=option)
    points, terms = run(scaffold, problem, x0).points, terms_of(problem)
    H, c = terms.summed()
    for x, after in pairwise(points):
        assert np.array_equal(after, x - s * server * (H @ x - c))
    assert same(run(scaffold, problem, x0), run(fc.FedGD(stepsize=s * server, local_steps=1), problem, x0))


@pytest.mark.parametrize("participation", [None, SOME], ids=["full", "partial"])
@pytest.mark.parametrize("rounds", [0, 1, 3])
@pytest.mark.parametrize("make", [lambda: fc.FedDyn(alpha=Fraction(5, 2)), lambda: fc.FedDynOneGD(alpha=Fraction(9))])
def test_feddyn_remembers_on_the_server_the_mean_of_what_the_clients_remember(participation, rounds, make) -> None:
    """FedDyn paper, (16), and below (9): h^t = (1/m) Σ_k ∇L_k(θ_k^t)."""
    state = run(make(), UNEQUAL, START, participation, rounds=rounds).state
    gradients = rationals(state.memory["gradient"])
    assert gradients.shape == (M, 2)
    assert np.array_equal(rationals(state.shared["h"]), gradients.sum(0) / Fraction(M))
    assert np.any(gradients != 0) == (rounds > 0)


def test_what_feddyn_remembers_is_the_gradient_at_the_clients_answer() -> None:
    """First-order optimality, with θ_k recovered from g_k − g_k' = −α(θ_k − θ), for F_k = m·w_k·f_k."""
    terms, alpha = terms_of(UNEQUAL).as_a_sum(), Fraction(5, 2)
    before, after = (run(fc.FedDyn(alpha=alpha), UNEQUAL, START, rounds=rounds) for rounds in (2, 3))
    old, new = (rationals(trajectory.state.memory["gradient"]) for trajectory in (before, after))
    answers = before.points[-1] - (new - old) / alpha
    assert np.array_equal(new, np.stack([terms.H[k] @ answers[k] - terms.c[k] for k in range(M)]))


def test_the_mean_of_scaffolds_control_variates_is_the_servers() -> None:
    for option in (1, 2):
        for participation in (None, SOME):
            scaffold = fc.Scaffold(stepsize=Fraction(1, 9), local_steps=2, option=option)
            state = run(scaffold, UNEQUAL, START, participation).state
            c_i = rationals(state.memory["c"])
            assert np.array_equal(rationals(state.shared["c"]), c_i.sum(0) / Fraction(M))
            assert np.any(c_i != 0)


@fewer
@given(problem=problems(), x0=X0, mu=POSITIVE)
def test_dane_keeps_a_minimiser(problem, x0, mu) -> None:
    terms, x0 = terms_of(problem), x0[: problem.dim]
    H, c = terms.summed()
    shift = H @ x0 - c  # moves the minimiser to x0
    moved = fc.Quadratic(terms.H, [c_k + shift for c_k in terms.c], terms.w)
    for method in (fc.DANE(mu=mu), fc.FedDANE(mu=mu)):
        assert all(np.array_equal(x, x0) for x in run(method, moved, x0).points)


@fewer
@given(problem=problems(), x0=X0, s=POSITIVE, lam=POSITIVE)
def test_regularised_fedsplit_is_fedsplit_on_regularised_clients(problem, x0, s, lam) -> None:
    parts, x0 = terms_of(problem).as_a_sum(), x0[: problem.dim]
    regularised = fc.Quadratic([H + lam * identity(problem.dim) for H in parts.H], [c + lam * x0 for c in parts.c])
    assert same(
        run(fc.RegularizedFedSplit(stepsize=s, regularization=lam), problem, x0),
        run(fc.FedSplit(stepsize=s), regularised, x0),
    )


def test_adaptive_fedprox_is_fedprox_until_the_loss_rises_or_has_fallen_five_times() -> None:
    """Decided from the losses that a run of FedProx itself reports."""
    mu, x0 = Fraction(1), fractions([40, -90])
    adaptive, constant = (
        run(method, SPREAD, x0, rounds=9) for method in (fc.AdaptiveFedProx(mu=mu), fc.FedProx(mu=mu))
    )
    losses = [SPREAD.value(x.astype(float)) for x in constant.points]
    falls = next((t for t in range(9) if losses[t + 1] >= losses[t]), 9)
    changed = min(falls + 1, 5)  # the first round with another mu
    assert np.array_equal(adaptive.points[: changed + 1], constant.points[: changed + 1])
    assert not np.array_equal(adaptive.points[changed + 1], constant.points[changed + 1])


METHODS = {name: case.method(Fraction(2, 5), 2) for name, case in (CASES | PROXIMAL).items() if name != "Scaffnew"}
METHODS["AdaptiveFedProx"] = fc.AdaptiveFedProx(mu=1)


@pytest.mark.parametrize("name", METHODS)
def test_a_schedule_of_everybody_is_full_participation(name) -> None:
    everybody = fc.participation.Schedule([[0, 1, 2]] * T)
    default = run(METHODS[name], SPREAD, START)
    assert same(default, run(METHODS[name], SPREAD, START, everybody))
    assert same(default, run(METHODS[name], SPREAD, START, fc.participation.Full()))
    assert not same(default, run(METHODS[name], SPREAD, START, SOME))


def limit(method: Any, solver: Any = None, rounds: int = 600) -> np.ndarray:
    """Where a run in floats has come to rest."""
    points = fc.simulate(method, SPREAD, rounds=rounds, local_solver=solver, x0=[1, -2]).points
    assert abs(points[-1] - points[-2]).max() < 1e-12
    return np.asarray(points[-1])


@pytest.mark.parametrize("start", ["server", "warm"])
@pytest.mark.parametrize("e", [1, 3])
def test_fedsplit_with_inexact_work_from_the_server_or_warm_stops_at_the_minimiser(start, e) -> None:
    """At rest every local solution is x: gradient steps that start there stay there."""
    solver = fc.GradientDescent(steps=e, stepsize=0.05)
    at_rest = limit(fc.FedSplit(stepsize=0.2, start=start), solver)
    assert abs(at_rest - fc.ground_truth(SPREAD).point).max() < 1e-9


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("e", [1, 3])
def test_fedsplit_with_inexact_work_from_the_centre_stops_elsewhere(e) -> None:
    """At rest the centre is x + s∇F_k(x), not x, and a few steps do not lead from there to x."""
    at_rest = limit(fc.FedSplit(stepsize=0.2, start="center"), fc.GradientDescent(steps=e, stepsize=0.05))
    assert abs(at_rest - fc.ground_truth(SPREAD).point).max() > 1e-4
    many = limit(fc.FedSplit(stepsize=0.2, start="center"), fc.GradientDescent(steps=400, stepsize=0.05), rounds=100)
    assert abs(many - fc.ground_truth(SPREAD).point).max() < 1e-9


CORRECT = {
    "FedSplit": lambda: fc.FedSplit(stepsize=0.2),
    "DANE": lambda: fc.DANE(mu=10),
    "FedDyn": lambda: fc.FedDyn(alpha=10),
    "FedDynOneGD": lambda: fc.FedDynOneGD(alpha=30),
    "SCAFFOLD 1": lambda: fc.Scaffold(stepsize=0.04, local_steps=3, option=1),
    "SCAFFOLD 2": lambda: fc.Scaffold(stepsize=0.04, local_steps=3),
    "FedPD": lambda: fc.FedPD(eta=0.1),
}


@pytest.mark.parametrize("name", CORRECT)
def test_corrected_methods_stop_at_the_minimiser(name) -> None:
    assert abs(limit(CORRECT[name]()) - fc.ground_truth(SPREAD).point).max() < 1e-9


def test_uncorrected_methods_stop_elsewhere() -> None:
    for method in (fc.FedGD(stepsize=0.04, local_steps=3), fc.FedProx(mu=10)):
        assert abs(limit(method) - fc.ground_truth(SPREAD).point).max() > 1e-4
