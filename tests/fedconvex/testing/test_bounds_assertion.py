"""assert_bound_holds passes on runs within the papers' bounds; wrong runs, constants and assumptions fail."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex import strategies
from fedconvex.errors import InvalidInput
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import State
from fedconvex.parameters import number
from fedconvex.testing import NotDecided, assert_bound_holds, observable
from fedconvex.theory import feddyn, fedprox, fedsplit, nesterov, papers

CURVED = strategies.quadratic_problems(mu=1, L=4, max_clients=2, max_dim=2, positive_weights=True)
TWO = fc.Quadratic([[[1]], [[4]]], [[3], [-2]])
STATEMENTS = {s.identifier: s for paper in papers().values() for s in paper.everything}


def run(method: Any, problem: Any, rounds: int = 3, **options: Any) -> fc.Trajectory:
    return fc.simulate(method, problem, rounds, arithmetic="exact", progress=False, **options)


def of_points(points: Any, like: fc.Trajectory) -> fc.Trajectory:
    """The points of somebody else's run, with what they are claimed to be."""
    return fc.Trajectory(np.array(points, dtype=object), like.problem, like.method, None, {})


@given(CURVED, st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(2)]))
def test_fedsplit_keeps_theorem_1(problem: Any, stepsize: Fraction) -> None:
    trajectory = run(fc.FedSplit(stepsize=stepsize), problem)
    for statement in (fedsplit.theorem1, fedsplit.theorem1sharper):
        assert_bound_holds(statement, trajectory)


@given(CURVED, st.sampled_from([Fraction(1, 8), Fraction(1, 5), Fraction(2, 5)]))
def test_gradient_descent_keeps_nesterov_s(problem: Any, stepsize: Fraction) -> None:
    trajectory = run(fc.FedGD(stepsize=stepsize), problem)
    for statement in (nesterov.gradientstep, nesterov.smoothfunctions):
        assert_bound_holds(statement, trajectory)


def test_with_constants_that_are_given() -> None:
    """The objective of TWO has curvature 5/2."""
    L, mu = Fraction(26, 10), Fraction(24, 10)
    trajectory = run(fc.FedGD(stepsize=1 / L), TWO)
    assert_bound_holds(nesterov.corollary2_1_2, trajectory, L=L)
    with pytest.raises(AssertionError, match="stepsize = "):
        assert_bound_holds(nesterov.corollary2_1_2, trajectory, L=3)
    best = run(fc.FedGD(stepsize=2 / (L + mu)), TWO)
    assert_bound_holds(nesterov.theorem2_1_15, best, L=L, mu=mu, kappa=L / mu)
    with pytest.raises(AssertionError, match="does not hold"):
        assert_bound_holds(nesterov.theorem2_1_15, best, L=L, mu=mu, kappa=1)


@given(CURVED, st.sampled_from([2, 40]), st.sampled_from([50, 1000]))
def test_fedprox_decreases_in_expectation(problem: Any, K: int, mu: int) -> None:
    scheme = fc.participation.Weighted(K)
    trajectory = run(fc.FedProx(mu=mu), problem, 1, participation=scheme, x0=[7] * problem.dim)
    for statement in (fedprox.theorem4, fedprox.theorem4sharper):
        # where rho is not positive, or the start is stationary, nothing is promised
        message = failure(lambda s=statement: assert_bound_holds(s, trajectory, participation=scheme))
        assert message == "" or "cannot be laid over this run" in message


def failure(call: Any) -> str:
    """What an assertion complains of."""
    try:
        call()
    except AssertionError as error:
        return str(error)
    return ""


@final
@dataclass(frozen=True, kw_only=True)
class FedProx(Averaging):
    """With a fault: the server goes only a part of the way, or the other way."""

    mu: Any = number()
    part: Any = number()

    @property
    def local_solver(self) -> Any:
        return fc.Exact()

    @property
    def proximal_weight(self) -> Any:
        return self.mu

    @property
    def is_proximal(self) -> bool:
        return True

    def update(self, state: State, cohort: Any, answers: Any) -> State:
        return State(state.server + self.part * (cohort.average(answers.points) - state.server))


@pytest.mark.parametrize("part", [-1, Fraction(1, 100)])
def test_fedprox_with_a_fault_breaks_theorem_4(part: Any) -> None:
    scheme, faulty = fc.participation.Weighted(40), FedProx(mu=1000, part=part)
    right, wrong = (run(m, TWO, 2, participation=scheme, x0=[100]) for m in (fc.FedProx(mu=1000), faulty))
    assert_bound_holds(fedprox.theorem4, right, participation=scheme)
    with pytest.raises(AssertionError, match="violated in round 1") as error:
        assert_bound_holds(fedprox.theorem4, wrong, participation=scheme)
    assert "E f(w⁺) − f(w)" in str(error.value)


@pytest.mark.parametrize("statement", [nesterov.gradientstep, nesterov.smoothfunctions])
def test_points_of_another_method_violate_the_bound(statement: Any) -> None:
    right = run(fc.FedGD(stepsize=Fraction(1, 5)), TWO, x0=[10])
    assert_bound_holds(statement, of_points(right.points, right))
    standing_still = of_points([[10], [10], [10], [10]], right)
    with pytest.raises(AssertionError, match="is violated in round") as failure:
        assert_bound_holds(statement, standing_still)
    for shown in ("promised at most", "stepsize", "0.2", "Nesterov"):
        assert shown in str(failure.value)


def test_fedprox_s_points_are_not_fedsplit_s() -> None:
    split = run(fc.FedSplit(stepsize=Fraction(1, 2)), TWO, 8)
    assert_bound_holds(fedsplit.theorem1, split)
    biased = run(fc.FedProx(mu=2), TWO, 8)
    with pytest.raises(AssertionError, match="is violated"):
        assert_bound_holds(fedsplit.theorem1, of_points(biased.points, split))


def test_a_single_wrong_round_is_found() -> None:
    right = run(fc.FedGD(stepsize=Fraction(1, 5)), TWO, 5, x0=[10])
    points = right.points.copy()
    points[4] = points[2]
    with pytest.raises(AssertionError, match="in round 4"):
        assert_bound_holds(nesterov.gradientstep, of_points(points, right))


def test_a_run_from_the_minimiser_stays_there() -> None:
    middle = fc.Quadratic([[[1]], [[1]]], [[Fraction(4, 3)], [Fraction(-4, 3)]])
    for problem, x in ((middle, [0]), (fc.Quadratic([[[3]]], [[1]]), [Fraction(1, 3)])):
        right = run(fc.FedGD(stepsize=Fraction(1, 8)), problem, x0=x)
        for statement in (nesterov.gradientstep, nesterov.smoothfunctions):
            assert_bound_holds(statement, right)
            moved = of_points([x, [x[0] + Fraction(1, 10**9)], x, x], right)
        with pytest.raises(AssertionError, match="violated"):
            assert_bound_holds(nesterov.gradientstep, moved)


def test_the_bound_of_a_run_in_floats() -> None:
    floats = fc.simulate(fc.FedSplit(stepsize=0.5), TWO, 10)
    assert_bound_holds(fedsplit.theorem1, floats)


def test_logistic_runs() -> None:
    problem = fc.Logistic([[[1]], [[2], [-1]]], [[1], [1, -1]], ridge=Fraction(1, 2))
    trajectory = fc.simulate(fc.FedGD(stepsize=0.5), problem, 4)
    assert_bound_holds(nesterov.gradientstep, trajectory)
    assert_bound_holds(nesterov.smoothfunctions, trajectory)
    still = of_points([trajectory.points[0]] * 4, trajectory)
    with pytest.raises(AssertionError, match="violated"):
        assert_bound_holds(nesterov.gradientstep, still)


def test_what_does_not_apply_never_passes() -> None:
    gradient = run(fc.FedGD(stepsize=Fraction(1, 5)), TWO)
    with pytest.raises(AssertionError, match="the method is FedSplit does not hold"):
        assert_bound_holds(fedsplit.theorem1, gradient)
    with pytest.raises(AssertionError, match="everyone takes part"):
        assert_bound_holds(nesterov.gradientstep, gradient, participation=fc.participation.Uniform(1))
    with pytest.raises(AssertionError, match="Weighted"):
        assert_bound_holds(fedprox.theorem4, run(fc.FedProx(mu=9), TWO))
    indefinite = run(fc.FedGD(stepsize=Fraction(1, 5)), fc.Quadratic([[[1]], [[-2]]], [[0], [0]]), x0=[1])
    with pytest.raises(AssertionError):
        assert_bound_holds(nesterov.gradientstep, indefinite)
    short = run(fc.FedProx(mu=1), TWO, 1, participation=fc.participation.Weighted(1))
    with pytest.raises(AssertionError, match="cannot be laid over"):  # rho < 0
        assert_bound_holds(fedprox.theorem4, short, participation=fc.participation.Weighted(1))


def test_what_cannot_be_proved_is_not_decided() -> None:
    inexact = run(fc.FedSplit(stepsize=1), TWO, local_solver=fc.GradientDescent(steps=9, stepsize=Fraction(1, 9)))
    with pytest.raises(NotDecided, match="is not proved to hold"):
        assert_bound_holds(
            fedsplit.theorem1, inexact, local_solver=fc.GradientDescent(steps=9, stepsize=Fraction(1, 9))
        )
    scheme = fc.participation.Weighted(9)
    logistic = fc.Logistic([[[1]], [[2]]], [[1], [1]], ridge=1)
    trajectory = fc.simulate(fc.FedProx(mu=9), logistic, 1, scheme)
    with pytest.raises(NotDecided, match="only worked out"):
        assert_bound_holds(fedprox.theorem4, trajectory, participation=scheme)


def test_every_statement_passes_fails_or_is_refused() -> None:
    """Those that bound nothing that can be observed are refused, and the list says what is compared."""
    trajectory = run(fc.FedGD(stepsize=Fraction(1, 5)), TWO)
    listed = observable()
    assert listed.keys() <= STATEMENTS.keys()
    for identifier, statement in STATEMENTS.items():
        assert observable(statement) == listed.get(identifier)
        if identifier not in listed:
            with pytest.raises(InvalidInput, match="bounds no quantity"):
                assert_bound_holds(statement, trajectory)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: assert_bound_holds("fedsplit.theorem1", run(fc.FedGD(stepsize=1), TWO)), "statement"),
        (lambda: assert_bound_holds(nesterov.gradientstep, "run"), "trajectory"),
        (lambda: assert_bound_holds(nesterov.gradientstep, run(fc.FedGD(stepsize=1), TWO, 0)), "trajectory"),
        (lambda: assert_bound_holds(feddyn.theorem2, run(fc.FedDyn(alpha=1), TWO)), "statement"),
        (lambda: assert_bound_holds(nesterov.gradientstep, run(fc.FedGD(stepsize=1), TWO), kapa=1), "kapa"),
        (lambda: assert_bound_holds(nesterov.gradientstep, run(fc.FedGD(stepsize=1), TWO), slack=-1), "slack"),
    ],
)
def test_bad_input(call: Any, named: str) -> None:
    with pytest.raises(InvalidInput) as error:
        call()
    assert error.value.argument == named
