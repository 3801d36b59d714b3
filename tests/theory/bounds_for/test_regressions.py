"""Former faults of `bounds_for`: wrong claims and unexpected errors."""

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

import fedconvex as fc
from fedconvex import participation
from fedconvex.statements import assumptions as known
from fedconvex.statements.instance import Instance
from fedconvex.theory import bounds_for, feddyn, fedprox
from fedconvex.theory.bounds import Applies, DoesNot
from fedconvex.verdicts import Verdict

HALF = Fraction(1, 2)
REFUTED, UNKNOWN = Verdict.REFUTED, Verdict.UNKNOWN
PAIR = fc.Quadratic([[[1]], [[1]]], [[1], [0]])
INDEFINITE = fc.Quadratic([[[-1]], [[3]]], [[1], [0]])
SGD = fc.SGD(epochs=1, batch_size=1, stepsize=HALF)
WEIGHTED = participation.Weighted(100)


def test_kappa_belongs_to_the_given_constants() -> None:
    """Curvatures 6/5 and 12/5, step 1/2 = 2/(1 + 3): the rate is that of κ = 3/1, not of the measured κ = 2."""
    problem = fc.Quadratic([[[Fraction(6, 5), 0], [0, Fraction(12, 5)]]], [[1, 1]])
    entry = bounds_for(fc.FedGD(stepsize=HALF), problem, rounds=5, mu=1, L=3)["nesterov.theorem2_1_15"]
    run = fc.simulate(fc.FedGD(stepsize=HALF), problem, 5)
    distance = run.to_frame()["distance"].iloc[-1]
    assert isinstance(entry, DoesNot) or distance <= float(entry.value) * (1 + 1e-9)


ONE_STEP, COARSE = fc.FedGD(stepsize=HALF), fc.GradientDescent(steps=1, stepsize=Fraction(1, 10000))
CURVED, ONE_CLIENT = fc.Quadratic([[[1, 0], [0, 3]]], [[1, 1]]), fc.Quadratic([[[1]]], [[1]])
FLAT, EXACT = fc.Quadratic([[[0]]], [[0]]), fc.Exact()
ONE_OF_ALL, ONE_OF_TWO = participation.Weighted(1), participation.Uniform(1)
NINE, LONG = fc.GradientDescent(steps=9, stepsize=HALF), fc.GradientDescent(steps=1, stepsize=2)
GIVEN = {"kappa": 2, "mu": Fraction(9, 10), "L": Fraction(31, 10)}


@pytest.mark.parametrize(
    ("problem", "method", "scheme", "options", "name", "verdict"),
    [
        # a given constant, where the other side cannot be measured or is another
        (CURVED, ONE_STEP, None, {"rounds": 5, **GIVEN}, "nesterov.theorem2_1_15", REFUTED),
        (INDEFINITE, fc.FedSplit(stepsize=HALF), None, {"rounds": 3, "kappa": 4}, "fedsplit.theorem1", UNKNOWN),
        (PAIR, fc.FedProx(mu=1), WEIGHTED, {"local_solver": SGD, "gamma": HALF}, "fedprox.theorem4", UNKNOWN),
        (PAIR, fc.FedProx(mu=1), WEIGHTED, {"x0": [HALF], "B": 2}, "fedprox.equation7", UNKNOWN),
        (INDEFINITE, fc.FedDyn(alpha=500), None, {"rounds": 3, "spread": 4}, "feddyn.theorem4", UNKNOWN),
        (FLAT, ONE_STEP, None, {"rounds": 3, "mu": 1, "L": 1}, "nesterov.gradientstep", REFUTED),
        (PAIR, fc.FedProx(mu=20), WEIGHTED, {"local_solver": COARSE, "gammas": [0]}, "fedprox.corollary9", UNKNOWN),
        (ONE_CLIENT, fc.FedProx(mu=1), ONE_OF_ALL, {"rho": 1000, "epsilon": HALF}, "fedprox.theorem6", REFUTED),
        # another local solver is another method
        (PAIR, ONE_STEP, None, {"rounds": 3, "local_solver": NINE}, "nesterov.gradientstep", REFUTED),
        (PAIR, ONE_STEP, None, {"rounds": 3, "local_solver": LONG}, "nesterov.gradientstep", REFUTED),
        (PAIR, fc.FedDynOneGD(alpha=100), None, {"rounds": 3, "local_solver": EXACT}, "feddyn.equation18", REFUTED),
        # the method's own parameters cannot be given otherwise
        (PAIR, fc.FedDyn(alpha=1), None, {"rounds": 3, "alpha": 1000}, "feddyn.theorem2", REFUTED),
        (PAIR, fc.FedDyn(alpha=100), ONE_OF_TWO, {"rounds": 3, "num_active": 2}, "feddyn.theorem2", REFUTED),
        (PAIR, fc.FedProx(mu=1), WEIGHTED, {"rounds": 3, "mu": 100}, "fedprox.theorem4", REFUTED),
        (PAIR, fc.FedGD(stepsize=10), None, {"rounds": 3, "stepsize": HALF}, "nesterov.gradientstep", REFUTED),
        # approximations of Corollary 7 need many devices
        (PAIR, fc.FedProx(mu=60), ONE_OF_ALL, {}, "fedprox.corollary7", REFUTED),
        (PAIR, fc.FedProx(mu=60), ONE_OF_ALL, {}, "fedprox.equation15", REFUTED),
        (PAIR, fc.FedProx(mu=60), ONE_OF_ALL, {}, "fedprox.equation16", REFUTED),
    ],
)
def test_what_does_not_apply(problem: Any, method: Any, scheme: Any, options: Any, name: str, verdict: Verdict) -> None:
    entry = bounds_for(method, problem, scheme, **options)[name]
    assert isinstance(entry, DoesNot)
    assert entry.verdict is verdict


@pytest.mark.parametrize(
    ("method", "name"), [(ONE_STEP, "nesterov.gradientstep"), (fc.FedDynOneGD(alpha=100), "feddyn.equation18")]
)
def test_with_its_own_local_solver_it_does(method: Any, name: str) -> None:
    assert isinstance(bounds_for(method, PAIR, rounds=3)[name], Applies)


def test_a_ball_around_an_integer_refutes_nothing() -> None:
    """Δ/(ρε) = 225000 within 1e-30: the least integer is undecided, which is not a failing assumption."""
    alone, given = fc.Quadratic([[[2]]], [[3]]), {"rho": Fraction(1, 100), "epsilon": Fraction(1, 1000)}
    entry = bounds_for(fc.FedProx(mu=30), alone, WEIGHTED, **given)["fedprox.theorem6"]
    assert isinstance(entry, Applies) or entry.verdict is Verdict.UNKNOWN


def test_exactly_where_they_touch() -> None:
    """L = mu = 1: given so, α = 25 is 25L, and κ = 1 for s = 1."""
    instance = Instance(PAIR, fc.FedSplit(stepsize=1))
    assert known.Smooth().check(instance, {"L": 1}).verdict is Verdict.PROVED
    assert known.StronglyConvex().check(instance, {"mu": 1}).verdict is Verdict.PROVED
    assert known.MatchedStepsize().check(instance, {"kappa": 1}).verdict is not Verdict.REFUTED
    measured = bounds_for(fc.FedDyn(alpha=25), PAIR, rounds=3)["feddyn.theorem2"]
    assert isinstance(measured, Applies) or measured.verdict is Verdict.UNKNOWN
    assert isinstance(bounds_for(fc.FedDyn(alpha=25), PAIR, rounds=3, L=1)["feddyn.theorem2"], Applies)
    tenth = fc.ToInexactness(Fraction(1, 10))
    inexact = Instance(PAIR, fc.FedProx(mu=1), local_solver=tenth)
    assert known.Inexactness().check(inexact, {"gamma": Fraction(1, 10)}).verdict is Verdict.PROVED


def test_a_client_of_weight_0_is_convex_where_weights_scale_functions() -> None:
    silent = fc.Quadratic([[[-1]], [[3]]], [[1], [0]], weights=[0, 1])
    assert known.Convex().check(Instance(silent, fc.FedDyn(alpha=1)), {}).verdict is not Verdict.REFUTED


def test_a_ball_is_not_equal_to_what_it_overlaps() -> None:
    wide = flint.arb(1, 0.5)
    finding = known.Given(fc_condition("stepsize", "=", "L")).check(
        Instance(PAIR, fc.FedGD(stepsize=1)), {"stepsize": 1, "L": wide}
    )
    assert finding.verdict is Verdict.UNKNOWN


def fc_condition(*parts: Any) -> Any:
    from fedconvex.statements import Condition

    return Condition(*parts)


def test_unknown_statements() -> None:
    found = bounds_for(fc.FedGD(stepsize=HALF), PAIR)
    with pytest.raises(fc.InvalidInput, match=r"fedprox.theorem44: is no .*; did you mean fedprox.theorem4[,?]"):
        found["fedprox.theorem44"]
    assert found["fedprox.theorem4"].statement.identifier == "fedprox.theorem4"


@pytest.mark.parametrize(
    "options", [{"rounds": -1}, {"rounds": 2.5}, {"participation": "full"}, {"local_solver": "exact"}]
)
def test_what_cannot_be_run(options: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        bounds_for(fc.FedDyn(alpha=100), PAIR, **options)


def test_schedules_shorter_than_the_run() -> None:
    with pytest.raises(ValueError, match="rounds"):
        bounds_for(fc.FedDyn(alpha=100), PAIR, participation.Schedule([[0, 1]]), rounds=5)


def test_vectors_can_be_shown() -> None:
    found = bounds_for(fc.FedSplit(stepsize=1), PAIR, gradients=[[1.0, 2.0], [3.0, 4.0]])
    assert "fedsplit.equation12" in str(found)
    assert len(found.to_frame())


def test_rational_points_of_logistic_losses() -> None:
    problem = fc.Logistic([[[1]], [[2]]], [[1], [-1]], ridge=HALF)
    fc.simulate(fc.FedProx(mu=30), problem, 1, x0=[HALF])
    assert isinstance(bounds_for(fc.FedProx(mu=60), problem, WEIGHTED, x0=[HALF])["fedprox.equation6"], Applies)


def test_arrays_of_fractions() -> None:
    vector = np.array([Fraction(1), Fraction(2)], dtype=object)
    assert list(feddyn.lemma2(alpha=Fraction(3), mean_gradient=vector)) == [Fraction(-1, 3), Fraction(-2, 3)]
    assert fedprox.necessary_margins(B=vector, gamma=0, K=4)[1][1] == 0


def reason(entry: Any) -> str:
    assert isinstance(entry, DoesNot)
    return f"{entry.assumption}: {entry.reason}"


def test_remark8_needs_its_mu_its_k_and_a_variance_that_is_the_same_everywhere() -> None:
    """With σ² = 1/4 and ε = 1/12, B = √(1 + 3) = 2: μ = 2L and K >= 8. Of equal Hessians the variance is constant."""
    constants = {"L": 1, "sigma2": Fraction(1, 4), "epsilon": Fraction(1, 12)}

    def found(problem: Any, mu: Any, K: int) -> Any:
        scheme = participation.Weighted(K)
        return bounds_for(fc.FedProx(mu=mu), problem, scheme, x0=[2], **constants)["fedprox.remark8sharper"]

    assert isinstance(found(PAIR, 2, 8), Applies)
    assert "mu = " in reason(found(PAIR, Fraction(1, 10**6), 8))
    assert "K >= " in reason(found(PAIR, 2, 7))
    bent = fc.Quadratic([[[1]], [[HALF]]], [[1], [1]])  # at 2 the same variance, elsewhere another one
    assert "not bounded over all points" in reason(found(bent, 2, 8))


def test_a_proximal_error_is_not_taken_on_trust() -> None:
    """Local steps that hardly move: the run is nowhere near, whatever b is given."""
    problem, method = fc.Quadratic([[[1]], [[4]]], [[4], [-1]]), fc.FedSplit(stepsize=HALF)
    lazy = fc.GradientDescent(steps=3, stepsize=1e-9)
    for name in ("theorem1", "theorem1sharper"):
        assert isinstance(bounds_for(method, problem, rounds=200)[f"fedsplit.{name}"], Applies)
        entry = bounds_for(method, problem, rounds=200, b=0, local_solver=lazy)[f"fedsplit.{name}"]
        assert "proximal" in reason(entry)


@pytest.mark.parametrize(
    ("solver", "start", "expected"),
    [
        # κ = 4: with α = 4/9 a step of size sα = 2/9 contracts by 1/3; Corollary 1 asks for 2/3, which 1/6 has
        (fc.GradientDescent(steps=3, stepsize=Fraction(2, 9)), "center", ""),
        (fc.GradientDescent(steps=3, stepsize=Fraction(1, 5)), "center", ""),
        (fc.GradientDescent(steps=3, stepsize=Fraction(1, 10)), "center", "shrink distances by 0.7"),
        (fc.GradientDescent(steps=2, stepsize=Fraction(2, 9)), "center", "takes 2 steps"),
        (fc.GradientDescent(steps=3, stepsize=Fraction(2, 9)), "server", "start at 'server'"),
        (fc.Exact(), "center", "the local solver is Exact"),
    ],
)
def test_corollary1_is_about_its_own_gradient_steps(solver: Any, start: Any, expected: str) -> None:
    problem, method = fc.Quadratic([[[1]], [[4]]], [[4], [-1]]), fc.FedSplit(stepsize=HALF, start=start)
    entry = bounds_for(method, problem, local_solver=solver, local_steps=3, start_distance=1)["fedsplit.corollary1"]
    if expected:
        assert expected in reason(entry)
    else:
        assert isinstance(entry, Applies)


def test_corollary1_sharper_is_about_the_best_step_alone() -> None:
    problem, method = fc.Quadratic([[[1]], [[4]]], [[4], [-1]]), fc.FedSplit(stepsize=HALF)
    given = {"local_steps": 3, "start_distance": 1, "kappa": Fraction(401, 100)}
    for size, applies in ((Fraction(2, 9), True), (Fraction(1, 5), False)):
        solver = fc.GradientDescent(steps=3, stepsize=size)
        entry = bounds_for(method, problem, local_solver=solver, **given)["fedsplit.corollary1sharper"]
        assert isinstance(entry, Applies) is applies


def test_statements_about_one_function_are_not_about_a_federation() -> None:
    indefinite = fc.Quadratic([[[1]], [[-HALF]]], [[1], [0]])
    letters = {"stepsize": 1, "t": 10, "D0": 400, "N": 10, "delta": 0, "sigma2": 0, "D": 1, "relaxation": HALF}
    found = bounds_for(fc.FedGD(stepsize=1, local_steps=3), indefinite, x0=[5], rounds=10, **letters)
    own = [e for e in found if e.statement.paper.name in ("rockafellar", "ghadimi_lan", "giselsson_boyd")]
    assert len(own) == 6
    assert all(isinstance(entry, DoesNot) for entry in own)


@pytest.mark.parametrize("name", ["theorem2corrected", "theorem2roundbyround"])
def test_the_regularised_fixed_point_is_not_the_other_one(name: str) -> None:
    """‖z⁽¹⁾ − z*‖ = 1.41 was taken for ‖z⁽¹⁾ − z_λ*‖ = 63.08."""
    problem = fc.Quadratic([[[1]], [[Fraction(1, 100)]]], [[0], [0]])
    method = fc.RegularizedFedSplit(stepsize=1000, regularization=Fraction(1, 20))
    found = bounds_for(method, problem, x0=[1], rounds=10, epsilon=Fraction(11, 100))[f"fedsplit.{name}"]
    assert "the regularised problem's fixed point" in reason(found)


def test_everyone_is_averaged_with_the_weights() -> None:
    """All of them drawn by `Uniform`, FedProx averages plainly: towards another minimiser where weights differ."""
    problem = fc.Quadratic([[[1]], [[1]]], [[1], [-1]], weights=[Fraction(99, 100), Fraction(1, 100)])
    name, start = "fedprox.theorem4convexeveryone", [Fraction(6, 5)]
    for scheme in (participation.Full(), participation.UniformThenWeighted(2)):
        assert isinstance(bounds_for(fc.FedProx(mu=1), problem, scheme, x0=start)[name], Applies)
    plain = participation.Uniform(2)
    assert "average" in reason(bounds_for(fc.FedProx(mu=1), problem, plain, x0=start)[name])
    values = fc.simulate(fc.FedProx(mu=1), problem, 1, participation=plain, x0=start).to_frame()["value"]
    assert values[1] > values[0]  # f grows, which the statement says it does not
    equal = fc.Quadratic([[[1]], [[1]]], [[1], [-1]])
    assert isinstance(bounds_for(fc.FedProx(mu=1), equal, plain, x0=[3])[name], Applies)
