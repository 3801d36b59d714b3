"""Which statements apply according to `bounds_for`; for the others, the assumption that fails."""

from typing import Any

import pytest
from diagonal_problems import BIG, EQUAL, GD, HALF, INDEFINITE, LOGISTIC, SINGULAR, TWINS, UNEQUAL, WEIGHTED, bounds

import fedconvex as fc
from fedconvex import participation
from fedconvex.theory import Bounds, bounds_for, papers
from fedconvex.theory.bounds import DoesNot
from fedconvex.verdicts import Verdict

REFUTED, UNKNOWN = Verdict.REFUTED, Verdict.UNKNOWN


def applying(found: Bounds) -> set[str]:
    """The statements that apply and are about a method: definitions and general facts left out."""
    return {
        e.statement.identifier for e in found.applies if any("method is" in str(a) for a in e.statement.assumptions)
    }


LOCAL = {f"fedprox.equation{n}" for n in (3, 5, 6)} | {"fedprox.equation7", "fedprox.equation8"}
DRAWN = {f"fedprox.equation{n}" for n in (13, 14)}
PROX_CONVEX = {"fedprox.corollary7", "fedprox.equation15"}
DYN = {"feddyn.theorem2", "feddyn.theorem3", "feddyn.theorem4"}
ONE = {"feddyn.equation18", "feddyn.equation20"}
SPLIT = {"fedsplit.theorem1", "fedsplit.equation16"}
DESCENT = {"nesterov.gradientstep", "nesterov.smoothfunctions"}
ONE_DRAWN, TWO_STEPS = participation.Uniform(1), fc.FedGD(stepsize=1, local_steps=2)
FALLING, ALONE = fc.Quadratic([[[0]], [[0]]], [[1], [1]]), fc.Quadratic([[[2]]], [[3]])


OURS = {s.identifier for paper in papers().values() for s in paper.ours.values()}
RESTATED = {
    s.identifier for paper in papers().values() if paper.restated for s in paper
}  # tested where they are proved


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
        (EQUAL, fc.FedDyn(alpha=61), None, {}, {"feddyn.theorem4"}),
        (EQUAL, fc.FedDyn(alpha=59), None, {}, set()),
        (EQUAL, fc.FedDyn(alpha=100), participation.Weighted(2), {}, set()),
        (EQUAL, fc.FedDyn(alpha=100), participation.Bernoulli(HALF), {}, set()),
        (EQUAL, fc.FedDyn(alpha=100), None, {"local_solver": GD}, set()),
        (EQUAL, fc.FedDyn(alpha=100), None, {"rounds": None}, set()),
        (SINGULAR, fc.FedDyn(alpha=100), None, {}, {"feddyn.theorem2"}),
        (INDEFINITE, fc.FedDyn(alpha=100), None, {}, set()),
        (EQUAL, fc.FedDynOneGD(alpha=200), None, {}, ONE),
        (EQUAL, fc.FedDynOneGD(alpha=200), participation.Uniform(2), {}, {"feddyn.equation18"}),
        (INDEFINITE, fc.FedDynOneGD(alpha=200), None, {}, {"feddyn.equation20"}),
        (EQUAL, fc.FedDynOneGD(alpha=10), None, {}, set()),
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
    assert applying(bounds(problem, method, scheme, **options)) - OURS - RESTATED == expected


@pytest.mark.parametrize("mu", [5, 20, 200])
def test_what_is_sharper_promises_no_less(mu: int) -> None:
    found = bounds(TWINS, fc.FedProx(mu=mu), participation.Weighted(100))
    assert found["fedprox.theorem4sharper"].value > found["fedprox.theorem4"].value
    gap = bounds(EQUAL, fc.FedDyn(alpha=100), participation.Uniform(2))
    assert gap["feddyn.theorem2sharper"].value < gap["feddyn.theorem2"].value


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
        (bounds(TWINS, BIG, WEIGHTED), "fedprox.equation16", REFUTED, "mu = 6*", "mu = 60"),
        (bounds(TWINS, BIG, WEIGHTED, local_solver=GD), "fedprox.corollary7", REFUTED, "exactly", "GradientDescent"),
        (bounds(INDEFINITE, BIG, WEIGHTED), "fedprox.corollary7", REFUTED, "convex", "not convex"),
        (bounds(TWINS, fc.FedDyn(alpha=9)), "fedprox.theorem4", REFUTED, "method is FedProx", "FedDyn"),
        (bounds(EQUAL, fc.FedSplit(stepsize=1), local_solver=GD), "fedsplit.theorem1", UNKNOWN, "b", "proximal steps"),
        (bounds(SINGULAR, fc.FedSplit(stepsize=1)), "fedsplit.theorem1", UNKNOWN, "kappa", "not proved positive"),
        (bounds(EQUAL, fc.FedSplit(stepsize=1), rounds=None), "fedsplit.theorem1", UNKNOWN, "t", "rounds"),
        (bounds(EQUAL, fc.FedSplit(stepsize=1), ONE_DRAWN), "fedsplit.theorem1", REFUTED, "everyone", "some"),
        (bounds(EQUAL, fc.FedDyn(alpha=74)), "feddyn.theorem2", REFUTED, "alpha >= 25*L", "alpha = 74 against 75"),
        (bounds(EQUAL, fc.FedDyn(alpha=100)), "feddyn.theorem1", REFUTED, "alpha = ", "alpha = 100 against 90"),
        (bounds(EQUAL, fc.FedDyn(alpha=90)), "feddyn.theorem1", UNKNOWN, "alpha = ", "alpha = 90 against 90"),
        (bounds(EQUAL, fc.FedDynOneGD(alpha=10)), "feddyn.theorem5", REFUTED, "alpha = ", "alpha = 10 against 150"),
        (bounds(EQUAL, fc.FedDyn(alpha=89)), "feddyn.theorem3", REFUTED, "alpha >= Max(", "alpha = 89 against 90"),
        (bounds(EQUAL, fc.FedDyn(alpha=179), ONE_DRAWN), "feddyn.theorem4", REFUTED, "alpha >=", "against 180"),
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
        # an objective without minimiser: unknown, not refuted
        (bounds_for(fc.FedGD(stepsize=1), FALLING, L=1, rounds=3), "nesterov.smoothfunctions", UNKNOWN, "delta",
         "no minimiser"),
        # 1/μ − 1/(2μ) − (1 + 1/2 + 5/4)L/μ² = 0 with μ = 11L/2, B = 1, K = 8 and exact answers: a ball around 0
        (bounds_for(fc.FedProx(mu=11), ALONE, participation.Weighted(8), L=2, B=1), "fedprox.theorem4", UNKNOWN,
         "rho > 0", "it is 1.8"),
        (bounds(TWINS, BIG, WEIGHTED, L=1), "fedprox.theorem4", REFUTED, "L-smooth", ""),  # it is 2
        (bounds(TWINS, BIG, WEIGHTED, K=201), "fedprox.theorem4", REFUTED, "drawn independently", ""),
        (bounds(TWINS, BIG, WEIGHTED, B=HALF), "fedprox.theorem4", REFUTED, "B-dissimilar", ""),
        (bounds(TWINS, BIG, WEIGHTED, gamma=2), "fedprox.theorem4", REFUTED, "its conditions", ""),
        (bounds(TWINS, BIG, WEIGHTED, L=-1), "fedprox.theorem4", REFUTED, "L-smooth", ""),
    ],
)  # fmt: skip
def test_why_not(found: Bounds, name: str, verdict: Verdict, assumption: str, reason: str) -> None:
    entry = found[name]
    assert isinstance(entry, DoesNot)
    assert entry.verdict is verdict
    letters = entry.statement.calculator.parameters
    assert entry.assumption == assumption or (assumption not in letters and assumption in entry.assumption)
    assert reason in entry.reason
