"""`bounds_for`: what applies, with which number; and of what does not, the assumption that fails."""

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
import reference_feddyn
import reference_fedprox
import reference_fedsplit
from bound_makers import as_seen_by, fraction, gradient, gradients, mean_square, minimiser, square, value
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf
from problem_makers import entries, few, fractions, inverse, quadratics
from statement_makers import statements

import fedconvex as fc
from fedconvex import participation
from fedconvex.errors import InvalidInput
from fedconvex.statements import Claim
from fedconvex.theory import Bounds, bounds_for, papers
from fedconvex.theory.bounds import Applies, DoesNot
from fedconvex.verdicts import Verdict

REFUTED, UNKNOWN = Verdict.REFUTED, Verdict.UNKNOWN
HALF = Fraction(1, 2)
START = fractions([2, -1])
DIAGONALS = [[1, 2], [3, 1], [2, 2]]
c = [[1, 0], [2, 1], [1, 1]]
EQUAL = fc.Quadratic([np.diag(h) for h in DIAGONALS], c)
UNEQUAL = fc.Quadratic([np.diag(h) for h in DIAGONALS], c, weights=[1, 2, 3])
SINGULAR = fc.Quadratic([np.diag([1, 0]), np.diag([0, 2]), np.diag([1, 0])], c)
INDEFINITE = fc.Quadratic([np.diag([-1, 2]), np.diag([3, 1]), np.diag([2, 2])], c)
TWINS = fc.Quadratic([np.diag([1, 2])] * 3, [[1, 0]] * 3)
LOGISTIC = fc.Logistic([[[1, 2], [0, 1]], [[1, 0]]], [[1, -1], [1]], ridge=HALF)


def bounds(problem: Any, method: Any, scheme: Any = None, **options: Any) -> Bounds:
    return bounds_for(problem, method, scheme, **{"x0": START, "rounds": 5, **options})


def applying(found: Bounds) -> set[str]:
    """The statements that apply and are about a method: definitions and general facts left out."""
    return {
        e.statement.identifier for e in found.applies if any("method is" in str(a) for a in e.statement.assumptions)
    }


# ---- which statements apply ----

LOCAL = {f"fedprox.equation{n}" for n in (3, 5, 6)} | {"fedprox.equation7", "fedprox.equation8"}
DRAWN = {f"fedprox.equation{n}" for n in (13, 14)}
PROX_CONVEX = {"fedprox.corollary7", "fedprox.equation15", "fedprox.equation16"}
DYN = {"feddyn.theorem1", "feddyn.theorem2", "feddyn.theorem3", "feddyn.theorem4"}
ONE = {"feddyn.theorem5", "feddyn.equation18", "feddyn.equation20"}
SPLIT = {"fedsplit.theorem1", "fedsplit.equation16"}
DESCENT = {"nesterov.gradientstep", "nesterov.smoothfunctions"}
WEIGHTED = participation.Weighted(200)
BIG = fc.FedProx(mu=60)
GD = fc.GradientDescent(steps=5, stepsize=Fraction(1, 70))
ALONE, TWO_STEPS = participation.Uniform(1), fc.FedGD(stepsize=1, local_steps=2)


OURS = {s.identifier for paper in papers().values() for s in paper.ours.values()}


@pytest.mark.parametrize(
    ("problem", "method", "scheme", "options", "expected"),
    [
        (TWINS, BIG, WEIGHTED, {}, {"fedprox.theorem4", *LOCAL, *DRAWN, *PROX_CONVEX}),
        (TWINS, BIG, WEIGHTED, {"local_solver": fc.ToInexactness(0.125)}, {"fedprox.theorem4", *LOCAL, *DRAWN}),
        (TWINS, BIG, WEIGHTED, {"local_solver": GD}, {"fedprox.theorem4", *LOCAL, *DRAWN}),
        (TWINS, BIG, WEIGHTED, {"local_solver": fc.SGD(epochs=1, batch_size=1, stepsize=HALF)}, set()),
        (TWINS, BIG, None, {}, LOCAL),
        (TWINS, BIG, participation.Uniform(2), {}, LOCAL),
        (TWINS, BIG, participation.Weighted(1), {"local_solver": GD}, {*LOCAL, *DRAWN}),
        (TWINS, fc.FedProx(mu=HALF), WEIGHTED, {}, {*LOCAL, *DRAWN, *PROX_CONVEX}),
        (INDEFINITE, fc.FedProx(mu=400), participation.Weighted(400), {}, {"fedprox.theorem4", *LOCAL, *DRAWN}),
        (INDEFINITE, fc.FedProx(mu=1), WEIGHTED, {}, {"fedprox.equation3"}),
        (EQUAL, fc.FedSplit(stepsize=HALF), None, {}, SPLIT),
        (UNEQUAL, fc.FedSplit(stepsize=7), None, {}, SPLIT),
        (EQUAL, fc.FedSplit(stepsize=HALF), participation.Uniform(3), {}, SPLIT),
        (EQUAL, fc.FedSplit(stepsize=HALF), participation.Uniform(2), {}, set()),
        (EQUAL, fc.FedSplit(stepsize=HALF), None, {"local_solver": GD}, set()),
        (SINGULAR, fc.FedSplit(stepsize=HALF), None, {}, set()),
        (EQUAL, fc.RegularizedFedSplit(stepsize=HALF, regularization=1), None, {}, set()),
        (EQUAL, fc.FedDyn(alpha=100), None, {}, DYN),
        (UNEQUAL, fc.FedDyn(alpha=1000), participation.Uniform(1), {}, DYN),
        (EQUAL, fc.FedDyn(alpha=100), participation.Uniform(1), {}, DYN - {"feddyn.theorem4"}),
        (EQUAL, fc.FedDyn(alpha=80), None, {}, DYN - {"feddyn.theorem3"}),
        (EQUAL, fc.FedDyn(alpha=61), None, {}, {"feddyn.theorem1", "feddyn.theorem4"}),
        (EQUAL, fc.FedDyn(alpha=59), None, {}, {"feddyn.theorem1"}),
        (EQUAL, fc.FedDyn(alpha=100), participation.Weighted(2), {}, set()),
        (EQUAL, fc.FedDyn(alpha=100), participation.Bernoulli(HALF), {}, set()),
        (EQUAL, fc.FedDyn(alpha=100), None, {"local_solver": GD}, set()),
        (EQUAL, fc.FedDyn(alpha=100), None, {"rounds": None}, set()),
        (SINGULAR, fc.FedDyn(alpha=100), None, {}, {"feddyn.theorem2"}),
        (INDEFINITE, fc.FedDyn(alpha=100), None, {}, set()),
        (EQUAL, fc.FedDynOneGD(alpha=200), None, {}, ONE),
        (EQUAL, fc.FedDynOneGD(alpha=200), participation.Uniform(2), {}, {"feddyn.theorem5", "feddyn.equation18"}),
        (INDEFINITE, fc.FedDynOneGD(alpha=200), None, {}, {"feddyn.equation20"}),
        (EQUAL, fc.FedDynOneGD(alpha=10), None, {}, {"feddyn.theorem5"}),
        (UNEQUAL, fc.FedGD(stepsize=HALF), None, {}, DESCENT),
        (EQUAL, fc.FedGD(stepsize=2), None, {}, {"nesterov.gradientstep"}),
        (SINGULAR, fc.FedGD(stepsize=HALF), None, {}, {"nesterov.smoothfunctions"}),
        (EQUAL, fc.FedGD(stepsize=HALF), participation.Uniform(2), {}, set()),
        (EQUAL, fc.FedGD(stepsize=HALF, local_steps=2), None, {}, set()),
        (EQUAL, fc.FedAvg(epochs=1, batch_size=1, stepsize=HALF), None, {}, set()),
        (EQUAL, fc.Scaffold(stepsize=HALF, local_steps=2), None, {}, set()),
        (EQUAL, fc.FedDANE(mu=1), None, {}, set()),
        (LOGISTIC, fc.FedSplit(stepsize=HALF), None, {"x0": [1.0, 2.0]}, SPLIT),
        (LOGISTIC, fc.FedDyn(alpha=100), None, {"x0": [1.0, 2.0]}, {"feddyn.theorem2", "feddyn.theorem3"}),
        (LOGISTIC, fc.FedGD(stepsize=HALF), None, {"x0": [1.0, 2.0]}, DESCENT),
    ],
)  # fmt: skip
def test_what_applies(problem: Any, method: Any, scheme: Any, options: Any, expected: set[str]) -> None:
    assert applying(bounds(problem, method, scheme, **options)) - OURS == expected


@pytest.mark.parametrize("mu", [5, 20, 200])
def test_what_is_sharper_promises_no_less(mu: int) -> None:
    found = bounds(TWINS, fc.FedProx(mu=mu), participation.Weighted(100))
    assert found["fedprox.theorem4sharper"].value > found["fedprox.theorem4"].value
    gap = bounds(EQUAL, fc.FedDyn(alpha=100), participation.Uniform(2))
    assert gap["feddyn.theorem2sharper"].value < gap["feddyn.theorem2"].value


# ---- what does not, and why ----


@pytest.mark.parametrize(
    ("found", "name", "verdict", "assumption", "reason"),
    [
        (bounds(TWINS, BIG, participation.Uniform(2)), "fedprox.theorem4", REFUTED, "drawn independently", "Uniform"),
        (bounds(TWINS, BIG), "fedprox.theorem4", REFUTED, "drawn independently", "Full"),
        (bounds(TWINS, BIG, participation.Weighted(1)), "fedprox.theorem4", REFUTED, "rho > 0", "it is -"),
        (bounds(TWINS, fc.FedProx(mu=HALF), WEIGHTED), "fedprox.theorem4", REFUTED, "rho > 0", "it is -"),
        (bounds(INDEFINITE, fc.FedProx(mu=HALF), WEIGHTED), "fedprox.theorem4", REFUTED, "mu > L_minus", "mu = 0.5"),
        (bounds(INDEFINITE, fc.FedProx(mu=HALF), WEIGHTED), "fedprox.equation5", REFUTED, "mu > L_minus", "against 1"),
        (bounds(INDEFINITE, fc.FedProx(mu=1), WEIGHTED), "fedprox.equation5", UNKNOWN, "mu > L_minus", "against 1"),
        (bounds(TWINS, BIG, WEIGHTED, x0=[1, 0]), "fedprox.theorem4", REFUTED, "not stationary", "is 0"),
        (bounds(TWINS, BIG, WEIGHTED), "fedprox.theorem6", UNKNOWN, "rho", "not given"),
        (bounds(TWINS, BIG, WEIGHTED), "fedprox.theorem11", UNKNOWN, "epsilon", "not given"),
        (bounds(TWINS, BIG, WEIGHTED, local_solver=GD), "fedprox.corollary7", REFUTED, "exactly", "GradientDescent"),
        (bounds(INDEFINITE, BIG, WEIGHTED), "fedprox.corollary7", REFUTED, "convex", "not convex"),
        (bounds(TWINS, fc.FedDyn(alpha=9)), "fedprox.theorem4", REFUTED, "method is FedProx", "FedDyn"),
        (bounds(EQUAL, fc.FedSplit(stepsize=1), local_solver=GD), "fedsplit.theorem1", UNKNOWN, "b", "proximal steps"),
        (bounds(SINGULAR, fc.FedSplit(stepsize=1)), "fedsplit.theorem1", UNKNOWN, "kappa", "not proved positive"),
        (bounds(EQUAL, fc.FedSplit(stepsize=1), rounds=None), "fedsplit.theorem1", UNKNOWN, "t", "rounds"),
        (bounds(EQUAL, fc.FedSplit(stepsize=1), ALONE), "fedsplit.theorem1", REFUTED, "everyone", "some"),
        (bounds(EQUAL, fc.FedDyn(alpha=74)), "feddyn.theorem2", REFUTED, "alpha >= 25*L", "alpha = 74 against 75"),
        (bounds(EQUAL, fc.FedDyn(alpha=89)), "feddyn.theorem3", REFUTED, "alpha >= Max(", "alpha = 89 against 90"),
        (bounds(EQUAL, fc.FedDyn(alpha=179), ALONE), "feddyn.theorem4", REFUTED, "alpha >=", "against 180"),
        (bounds(INDEFINITE, fc.FedDyn(alpha=999)), "feddyn.theorem2", REFUTED, "convex", "not convex"),
        (bounds(INDEFINITE, fc.FedDyn(alpha=999)), "feddyn.theorem3", UNKNOWN, "mu", "not proved positive"),
        (bounds(INDEFINITE, fc.FedDyn(alpha=999)), "feddyn.theorem4", UNKNOWN, "spread", "not enclosed"),
        (bounds(LOGISTIC, fc.FedDyn(alpha=999), x0=[0, 0]), "feddyn.theorem4", UNKNOWN, "spread", "not enclosed"),
        (bounds(EQUAL, fc.FedDyn(alpha=99), WEIGHTED), "feddyn.theorem2", REFUTED, "equally likely", "Weighted"),
        (bounds(EQUAL, fc.FedDyn(alpha=99), local_solver=GD), "feddyn.theorem2", REFUTED, "exactly", "GradientDescent"),
        (bounds(EQUAL, fc.FedDyn(alpha=99)), "feddyn.lemma4", UNKNOWN, "C", "not given"),
        (bounds(EQUAL, fc.FedDynOneGD(alpha=99)), "feddyn.theorem2", REFUTED, "method is FedDyn", "FedDynOneGD"),
        (bounds(EQUAL, TWO_STEPS), "nesterov.gradientstep", REFUTED, "1 local step", "take 2"),
        (bounds(EQUAL, fc.FedGD(stepsize=2)), "nesterov.smoothfunctions", REFUTED, "stepsize < 2/L", "stepsize = 2"),
        # L is at most 7/3, and in truth 2: 1 < 2/L is not decided
        (bounds(EQUAL, fc.FedGD(stepsize=1)), "nesterov.smoothfunctions", UNKNOWN, "stepsize < 2/L", "stepsize = 1"),
        (bounds(EQUAL, fc.FedGD(stepsize=1)), "nesterov.corollary2_1_2", REFUTED, "stepsize = 1/L", "stepsize = 1"),
        (bounds(EQUAL, fc.FedGD(stepsize=1)), "nesterov.theorem2_1_15", REFUTED, "stepsize = 2/(L + mu)", "against"),
        (bounds(SINGULAR, fc.FedGD(stepsize=1)), "nesterov.gradientstep", UNKNOWN, "mu", "not proved strongly convex"),
    ],
)  # fmt: skip
def test_why_not(found: Bounds, name: str, verdict: Verdict, assumption: str, reason: str) -> None:
    entry = found[name]
    assert isinstance(entry, DoesNot)
    assert entry.verdict is verdict
    assert assumption in entry.assumption
    assert reason in entry.reason


def test_unknown_is_not_refuted() -> None:
    """The objective without minimiser: the gap cannot be measured, and the reason says why."""
    falling = fc.Quadratic([[[0]], [[0]]], [[1], [1]])
    entry = bounds_for(falling, fc.FedGD(stepsize=1), rounds=3, L=1)["nesterov.smoothfunctions"]
    assert isinstance(entry, DoesNot)
    assert (entry.verdict, entry.assumption) == (UNKNOWN, "delta")
    assert "no minimiser" in entry.reason


# ---- the numbers, by other routes ----


class Truth:
    """The constants of the diagonal problems, exactly: eigenvalues are entries."""

    def __init__(self, problem: Any, method: Any, x: Any = START) -> None:
        self.terms = as_seen_by(method, problem)
        entries_ = [Fraction(v) for H in self.terms.H for v in np.diag(H)]
        self.L, self.mu, self.L_minus = max(map(abs, entries_)), min(entries_), max(Fraction(0), -min(entries_))
        self.square = square(gradient(self.terms, x))
        self.B2 = mean_square(self.terms, x) / self.square
        self.variance = mean_square(self.terms, x) - self.square
        solution = minimiser(self.terms)
        self.D0, self.delta = square(x - solution), value(self.terms, x) - value(self.terms, solution)
        at = gradients(self.terms, solution)
        m = len(at)
        self.G = sum(map(square, at)) / m
        self.stacked = lambda s: sum(square(x - (solution - s * g)) for g in at)
        if self.mu > 0:
            own = [inverse(H) @ c_k for H, c_k in zip(self.terms.H, self.terms.c, strict=True)]
            self.spread = sum(square(theta - x) for theta in own) / m


def number(fraction_: Fraction) -> Any:
    return mpf(fraction_.numerator) / fraction_.denominator


def close(found: Any, expected: Any) -> bool:
    """Measured L and mu are good to 1e-10."""
    return float(found) == pytest.approx(float(expected), rel=1e-7)


@pytest.mark.parametrize(
    ("problem", "mu", "K", "solver", "gamma"),
    [
        (TWINS, 60, 200, fc.Exact(), Fraction(0)),
        (TWINS, 60, 200, fc.ToInexactness(Fraction(1, 10)), Fraction(1, 10)),
        # curvatures of the subproblems 61 and 62
        (TWINS, 60, 200, GD, (1 - Fraction(61, 70)) ** 5),
        (INDEFINITE, 400, 400, fc.Exact(), Fraction(0)),
        (INDEFINITE, 400, 400, fc.ToInexactness(Fraction(1, 100)), Fraction(1, 100)),
        (UNEQUAL, 400, 4000, fc.Exact(), Fraction(0)),
    ],
)
def test_numbers_of_fedprox(problem: Any, mu: int, K: int, solver: Any, gamma: Fraction) -> None:
    truth = Truth(problem, fc.FedProx(mu=mu))
    epsilon = truth.square / 2
    found = bounds(problem, fc.FedProx(mu=mu), participation.Weighted(K), local_solver=solver, epsilon=epsilon)
    given_ = {"mu": mu, "L": number(truth.L), "L_minus": number(truth.L_minus), "gamma": number(gamma)}
    B, slope = number(truth.B2) ** 0.5, number(truth.square) ** 0.5
    client = max(number(square(g)) for g in gradients(truth.terms, START)) ** 0.5
    expected = {
        "theorem4": reference_fedprox.rho(**given_, B=B, K=K),
        "equation5": reference_fedprox.solution_distance(mu, given_["L_minus"], given_["gamma"], client),
        "equation6": reference_fedprox.client_step(mu, given_["L_minus"], given_["gamma"], client),
        "equation7": reference_fedprox.drift(**given_, B=B, gradient=slope),
        "equation8": reference_fedprox.mean_decrease(number(value(truth.terms, START)), **given_, B=B, gradient=slope),
        "equation13": reference_fedprox.mean_square_deviation_bound(
            mu, given_["L_minus"], B, given_["gamma"], K, slope
        ),
        "equation14": reference_fedprox.sampling_error(**given_, B=B, K=K, gradient=slope),
        "corollary10": reference_fedprox.dissimilarity_from_variance(number(truth.variance), number(epsilon)),
    }
    assert expected["theorem4"] > 0
    for name, right in expected.items():
        entry = found[f"fedprox.{name}"]
        assert isinstance(entry, Applies), name
        assert close(entry.value, right), name
    eleven = reference_fedprox.rho_bounded_variance(
        **given_, sigma2=number(truth.variance), epsilon=number(epsilon), K=K
    )
    assert isinstance(found["fedprox.theorem11"], Applies) is bool(eleven > 0)
    if eleven > 0:
        assert close(found["fedprox.theorem11"].value, eleven)


@pytest.mark.parametrize("problem", [EQUAL, UNEQUAL, TWINS])
@pytest.mark.parametrize("s", [Fraction(1, 5), Fraction(1), Fraction(7, 2)])
@pytest.mark.parametrize("t", [1, 8])
def test_numbers_of_fedsplit(problem: Any, s: Fraction, t: int) -> None:
    truth = Truth(problem, fc.FedSplit(stepsize=s))
    kappa = max(1 / (s * truth.mu), s * truth.L) ** 2
    right = (1 - 2 / (sqrt(kappa) + 1)) ** t * sqrt(truth.stacked(s) / 3)
    found = bounds(problem, fc.FedSplit(stepsize=s), rounds=t)
    assert close(found["fedsplit.theorem1"].value, right)
    assert close(found["fedsplit.theorem1"].parameters["kappa"], kappa)
    assert close(reference_fedsplit.contraction(number(kappa)), 1 - 2 / (sqrt(kappa) + 1))


@pytest.mark.parametrize("problem", [EQUAL, UNEQUAL, TWINS])
@pytest.mark.parametrize("P", [1, 2, 3])
@pytest.mark.parametrize("T", [1, 9])
def test_numbers_of_feddyn(problem: Any, P: int, T: int) -> None:
    alpha, m = 1000, 3
    truth = Truth(problem, fc.FedDyn(alpha=alpha))
    found = bounds(problem, fc.FedDyn(alpha=alpha), participation.Uniform(P), rounds=T)
    r = 1 + truth.mu / alpha
    expected = {
        "theorem2": (10 * alpha * truth.D0 + Fraction(100 * m, P * alpha) * truth.G) / T,
        "theorem3": (20 * alpha * truth.D0 + Fraction(400 * m, P * alpha) * truth.G) / r ** (T - 1),
        "theorem4": (3 * alpha * truth.delta + 30 * truth.L**3 * Fraction(m, P * alpha) * truth.spread) / T,
    }
    for name, right in expected.items():
        assert close(found[f"feddyn.{name}"].value, right), name
    constants = [truth.L, truth.mu, m, P, T, truth.D0, truth.G, truth.delta, truth.spread]
    rates = reference_feddyn.rates(*(number(Fraction(v)) for v in constants))
    assert all(close(a, b) for a, b in zip(found["feddyn.theorem1"].value, rates, strict=True))


@pytest.mark.parametrize("problem", [EQUAL, UNEQUAL])
@pytest.mark.parametrize("P", [1, 3])
def test_numbers_of_one_gradient(problem: Any, P: int) -> None:
    alpha, T = 2000, 4
    truth = Truth(problem, fc.FedDynOneGD(alpha=alpha))
    found = bounds(problem, fc.FedDynOneGD(alpha=alpha), participation.Uniform(P), rounds=T)
    part = Fraction(3, P * alpha)
    B0 = mean_square(truth.terms, START)
    assert close(found["feddyn.equation18"].value, (alpha * truth.D0 + 10 * part * truth.G) / T)
    assert close(found["feddyn.equation20"].value, (4 * alpha * truth.delta + 50 * part * truth.L * B0) / T)


@pytest.mark.parametrize("s", [Fraction(1, 9), HALF, Fraction(3, 2)])
def test_numbers_of_gradient_descent(s: Fraction) -> None:
    truth, T = Truth(UNEQUAL, fc.FedGD(stepsize=s)), 6
    # Σ w_k L_k and Σ w_k mu_k with weights 1/6, 2/6, 3/6
    L, mu = Fraction(2 + 6 + 6, 6), Fraction(1 + 2 + 6, 6)
    found = bounds(UNEQUAL, fc.FedGD(stepsize=s), rounds=T)
    factor = max(abs(1 - s * mu), abs(1 - s * L))
    assert close(found["nesterov.gradientstep"].value, factor**T * sqrt(truth.D0))
    if s * L < 2:
        assert close(found["nesterov.smoothfunctions"].value, truth.delta / (T * s * (1 - s * L / 2)))


def test_a_wrong_number_is_not_close() -> None:
    found = bounds(EQUAL, fc.FedDyn(alpha=1000))
    assert not close(found["feddyn.theorem2"].value * (1 + 1e-6), found["feddyn.theorem2"].value)


@few
@given(quadratics(), st.data())
def test_measured_constants_are_the_arguments(problem: Any, data: Any) -> None:
    """What applies was computed from the parameters that it shows, whatever the problem."""
    x = data.draw(entries(problem.dim))
    for method in (fc.FedProx(mu=50), fc.FedSplit(stepsize=1), fc.FedDyn(alpha=300)):
        for entry in bounds_for(problem, method, x0=x, rounds=2).applies:
            again = entry.statement(**entry.parameters)
            again, there = (v if isinstance(v, tuple) else (v,) for v in (again, entry.value))
            assert all(
                float(a) == pytest.approx(float(b), rel=1e-9, abs=1e-12) for a, b in zip(again, there, strict=True)
            )


# ---- given constants ----


def test_given_constants_replace_measured_ones() -> None:
    found = bounds(TWINS, BIG, WEIGHTED, L=4, B=2, epsilon=Fraction(1, 1000))
    entry = found["fedprox.equation7"]
    assert isinstance(entry, Applies)
    assert (entry.parameters["L"], entry.parameters["B"]) == (4, 2)
    slope = number(Truth(TWINS, BIG).square) ** 0.5
    assert close(entry.value, reference_fedprox.drift(60, mpf(4), mpf(0), mpf(2), mpf(0), slope))
    assert isinstance(found["fedprox.remark8"], Applies)
    assert isinstance(bounds(TWINS, BIG, WEIGHTED)["fedprox.remark8"], DoesNot)


@pytest.mark.parametrize(
    ("given_", "assumption", "verdict"),
    [
        ({"L": 1}, "L-smooth", REFUTED),  # it is 2
        ({"K": 201}, "drawn independently", REFUTED),
        ({"B": HALF}, "B-dissimilar", REFUTED),
        ({"gamma": 2}, "its conditions", REFUTED),
        ({"L": -1}, "L-smooth", REFUTED),
    ],
)
def test_given_constants_are_checked(given_: Any, assumption: str, verdict: Verdict) -> None:
    entry = bounds(TWINS, BIG, WEIGHTED, **given_)["fedprox.theorem4"]
    assert isinstance(entry, DoesNot)
    assert entry.verdict is verdict
    assert assumption in entry.assumption


def test_weaker_given_constants_give_weaker_bounds() -> None:
    """L = 3 for 2, K = 100 for 200 and γ = 1/10 for 0 are true, too; ρ falls."""
    best = bounds(TWINS, BIG, WEIGHTED)["fedprox.theorem4"].value
    for given_ in ({"L": 3}, {"K": 100}, {"gamma": Fraction(1, 10)}, {"L_minus": 1}, {"B": Fraction(11, 10)}):
        weaker = bounds(TWINS, BIG, WEIGHTED, **given_)["fedprox.theorem4"]
        assert isinstance(weaker, Applies), given_
        assert weaker.value < best, given_


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidInput, match="smoothness") as error:
        bounds(EQUAL, BIG, smoothness=3)
    assert "L_minus" in str(error.value)  # what could have been meant


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (("EQUAL", BIG), "problem"),
        ((None, BIG), "problem"),
        ((EQUAL, "FedProx"), "method"),
        ((EQUAL, fc.FedProx), "method"),
        ((EQUAL, BIG, participation.Uniform(9)), "K"),
    ],
)
def test_what_is_no_problem_or_method(arguments: Any, culprit: str) -> None:
    with pytest.raises(InvalidInput, match=culprit):
        bounds_for(*arguments)


# ---- how it is shown ----

SHOWN = bounds(EQUAL, fc.FedDyn(alpha=100), participation.Uniform(2))


def test_every_statement_is_there_once() -> None:
    names = [entry.statement.identifier for entry in SHOWN]
    assert sorted(names) == sorted(s.identifier for s in statements())
    assert len(set(names)) == len(names) == sum(len(p.everything) for p in papers().values())
    assert {e.statement for e in SHOWN.applies}.isdisjoint(e.statement for e in SHOWN.does_not)


def test_indexing() -> None:
    assert SHOWN["feddyn.theorem2"] in SHOWN.applies
    assert SHOWN["fedprox.theorem4"] in SHOWN.does_not
    for entry in SHOWN:
        assert SHOWN[entry.statement.identifier] is entry


def test_frame() -> None:
    frame = SHOWN.to_frame()
    assert set(frame["statement"]) == {s.identifier for s in statements()}
    rates = frame[frame["statement"] == "feddyn.theorem1"]  # three numbers, three rows
    assert len(rates) == 3
    assert rates["quantity"].is_unique
    np.testing.assert_allclose(rates["value"], [float(v) for v in SHOWN["feddyn.theorem1"].value])
    assert (rates["claim"] == Claim.ASYMPTOTIC.value).all()
    yes, no = frame[frame["applies"]], frame[~frame["applies"]]
    assert np.isfinite(yes["value"]).all()
    assert (yes["reason"] == "").all()
    assert no["value"].isna().all()
    assert (no["assumption"] != "").all()
    assert (no["reason"] != "").all()
    assert len(no) == len(SHOWN.does_not)
    assert len(SHOWN.to_frame()["statement"]) == len(frame)


def test_text_and_table() -> None:
    lines = str(SHOWN).splitlines()
    assert len(lines) == len(list(SHOWN))
    two = next(line for line in lines if line.startswith("feddyn.theorem2 "))
    assert f"{float(SHOWN['feddyn.theorem2'].value):.6g}" in two
    four = next(line for line in lines if line.startswith("fedprox.theorem4 "))
    assert "not: the method is FedProx" in four
    html = SHOWN._repr_html_()
    assert html.count("<tr") == len(SHOWN.to_frame()) + 1
    assert "NaN" not in html


def test_shown_numbers_are_enclosed() -> None:
    for entry in SHOWN.applies:
        for part in entry.value if isinstance(entry.value, tuple) else (entry.value,):
            assert isinstance(part, int) or float(part.rad()) < 1e-9 * abs(float(part))


def test_the_problem_is_measured_once_for_all_statements() -> None:
    """The same ball, wherever a constant is used."""
    L = [e.parameters["L"] for e in SHOWN.applies if "L" in e.parameters]
    assert len(L) > 3
    assert len({fraction(v) for v in L}) == 1
