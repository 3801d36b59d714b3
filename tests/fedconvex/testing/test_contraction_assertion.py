"""assert_contracts, against the spectral norm of maps computed in Fractions without the package."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import fedgd_equation, floats, identity, inverse, lifted_matrix, terms_of
from run_makers import assert_refused

import fedconvex as fc
from fedconvex import strategies
from fedconvex.methods.base import Method, State
from fedconvex.problems.base import Subproblem
from fedconvex.testing import NotDecided, assert_contracts
from fedconvex.theory import fedsplit, nesterov

SMALL = strategies.quadratic_problems(mu=1, L=4, max_dim=2)
POSITIVE = strategies.quadratic_problems(mu=1, L=4, max_dim=2, positive_weights=True)
HALF = Fraction(1, 2)
WORST = fc.Quadratic([[[1]], [[4]]], [[1], [0]])  # attains FedSplit's factor for κ = 4


def least_factor(matrix: np.ndarray) -> float:
    return float(np.linalg.norm(floats(matrix), 2))


def is_the_least(method: Any, problem: Any, factor: float) -> None:
    """It contracts by a little more, and not by a little less."""
    assert_contracts(method, problem, factor * (1 + 1e-9) + 1e-12)
    if factor > 1e-6:
        with pytest.raises(AssertionError, match="does not contract"):
            assert_contracts(method, problem, factor * (1 - 1e-9))


@given(SMALL, st.integers(1, 3), st.sampled_from([Fraction(1, 8), Fraction(2, 5), Fraction(3, 4)]))
def test_fedgd(problem: Any, local_steps: int, stepsize: Fraction) -> None:
    phi, _ = fedgd_equation(terms_of(problem), stepsize, local_steps)
    method = fc.FedGD(stepsize=stepsize, local_steps=local_steps)
    is_the_least(method, problem, least_factor(identity(problem.dim) - phi))


@given(SMALL, st.sampled_from([Fraction(1, 8), HALF, Fraction(3)]))
def test_fedsplit(problem: Any, stepsize: Fraction) -> None:
    method = fc.FedSplit(stepsize=stepsize, start="warm")
    is_the_least(method, problem, least_factor(lifted_matrix(terms_of(problem), stepsize)))


@given(POSITIVE)
def test_fedsplit_contracts_as_theorem_1_says(problem: Any) -> None:
    """κ = 4 on m·w_k·f_k is not that of f_k: with unequal weights the theorem has the scaled clients' κ."""
    if problem.is_equally_weighted:
        assert_contracts(fc.FedSplit(stepsize=HALF), problem, fedsplit.contraction(kappa=Fraction(4)))


def test_theorem_1_is_attained() -> None:
    third = fedsplit.contraction(kappa=Fraction(4))
    assert third == Fraction(1, 3)
    assert_contracts(fc.FedSplit(stepsize=HALF), WORST, third)
    with pytest.raises(AssertionError, match="the centres v_k"):
        assert_contracts(fc.FedSplit(stepsize=HALF), WORST, third - Fraction(1, 10**30))
    assert_contracts(fc.FedGD(stepsize=Fraction(2, 5)), WORST, nesterov.best_contraction(kappa=4))


@given(POSITIVE, st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(20)]))
def test_dynamic_regularisation_is_douglas_rachford_splitting(problem: Any, alpha: Fraction) -> None:
    """Never longer on convex clients; and on one client, the proximal point method of the server's point alone."""
    assert_contracts(fc.FedDyn(alpha=alpha), problem, 1)
    assert_contracts(fc.FedPD(eta=1 / alpha), problem, 1)
    for method in (fc.FedDyn(alpha=alpha), fc.FedPD(eta=1 / alpha)):
        is_the_least(method, problem, least_factor(douglas_rachford(problem, alpha)))


def douglas_rachford(problem: Any, alpha: Fraction) -> np.ndarray:
    """y ↦ y + mean(2p − y) − p with p_k = prox(y_k): I + PC − J, put together from the resolvents."""
    terms = terms_of(problem).as_a_sum()
    m, d = len(terms.H), problem.dim
    J, mean = 0 * identity(m * d), 0 * identity(m * d)
    for k, H in enumerate(terms.H):
        block = slice(k * d, (k + 1) * d)
        J[block, block] = inverse(H / alpha + identity(d))
        for other in range(m):
            mean[block, other * d : (other + 1) * d] = identity(d) / Fraction(m)
    eye = identity(m * d)
    return eye + mean @ (2 * J - eye) - J


def test_a_longer_step_than_the_best_is_caught() -> None:
    best = nesterov.best_contraction(kappa=1)
    assert_contracts(fc.FedGD(stepsize=Fraction(2, 5)), WORST, best)  # the objective's curvature is 5/2
    with pytest.raises(AssertionError):
        assert_contracts(fc.FedGD(stepsize=HALF), WORST, best)


@final
@dataclass(frozen=True, kw_only=True)
class Underrelaxed(Method):
    """FedSplit with a fault: the centres v_k move by θ_k − x where they should move by twice that."""

    stepsize: Any
    plain: ClassVar[bool] = True

    @property
    def local_solver(self) -> Any:
        return fc.Exact()

    @property
    def proximal_weight(self) -> Any:
        return 1 / Fraction(self.stepsize) if isinstance(self.stepsize, int) else 1 / self.stepsize

    def initial_state(self, server: Any, repeat: Any) -> State:
        return State(server, memory={"z": repeat(server)})

    def subproblem(self, state: State, cohort: Any) -> Subproblem:
        center = 2 * cohort.points - state.memory["z"]
        return Subproblem(start=center, weight=self.proximal_weight, center=center)

    def update(self, state: State, cohort: Any, answers: Any) -> State:
        z = state.memory["z"] + (answers.points - cohort.points)
        return State(cohort.average(z), memory={"z": z})


def test_a_faulty_method_does_not_contract_as_the_right_one() -> None:
    faulty, right = Underrelaxed(stepsize=HALF), fc.FedSplit(stepsize=HALF)
    object.__setattr__(faulty, "stepsize", flint.fmpq(1, 2))
    assert_contracts(right, WORST, Fraction(1, 3))
    with pytest.raises(AssertionError, match="least factor"):
        assert_contracts(faulty, WORST, Fraction(1, 3))
    assert_contracts(faulty, WORST, 1)


def test_the_message_shows_two_states_and_the_norm() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_contracts(fc.FedGD(stepsize=1), fc.Quadratic([[[3]]], [[0]]), 1)
    message = str(failure.value)
    for shown in (
        "Euclidean, of the server's point",
        "least factor",
        "2 (numeric)",
        "squared distance before",
        "and after",
        "4",
    ):
        assert shown in message


def test_a_ball_around_the_least_factor_is_not_decided() -> None:
    problem = fc.Quadratic([[[3]]], [[0]])
    with pytest.raises(NotDecided, match="contains the least one"):
        assert_contracts(fc.FedGD(stepsize=1), problem, flint.arb(2, 1e-3))
    assert_contracts(fc.FedGD(stepsize=1), problem, flint.arb(2.1, 1e-3))
    with pytest.raises(AssertionError, match="does not contract"):
        assert_contracts(fc.FedGD(stepsize=1), problem, flint.arb(1.9, 1e-3))


@given(strategies.logistic_problems())
def test_logistic_clients(problem: Any) -> None:
    """mu = ridge: a gradient step of size 1/L contracts by 1 − ridge/L."""
    L = max(problem.L) * (1 + 1e-9)
    assert_contracts(fc.FedGD(stepsize=1 / L), problem, 1 - float(problem.ridge) / L * (1 - 1e-6))
    with pytest.raises(NotDecided, match="not proved"):
        assert_contracts(fc.FedGD(stepsize=1 / L), problem, 0)


def test_what_cannot_be_decided_says_so() -> None:
    logistic = fc.Logistic([[[1]]], [[1]], ridge=1)
    with pytest.raises(NotDecided, match="without memory"):
        assert_contracts(fc.FedSplit(stepsize=1), logistic, 1)
    problem = fc.LeastSquares([[[1]]], [[1]])
    for call, named in (
        (lambda: assert_contracts(fc.FedAvg(stepsize=1), problem, 1), "method"),
        (lambda: assert_contracts(fc.AdaptiveFedProx(mu=1), problem, 1), "method"),
        (lambda: assert_contracts(fc.FedGD(stepsize=1), problem, -1), "factor"),
        (lambda: assert_contracts(fc.FedGD(stepsize=1), problem, flint.arb("nan")), "factor"),
        (lambda: assert_contracts(fc.FedGD(stepsize=1), problem, flint.arb(0, "inf")), "factor"),
        (lambda: assert_contracts(fc.FedGD(stepsize=1), fc.LeastSquares([np.eye(301)], [np.ones(301)]), 1), "problem"),
        (lambda: assert_contracts("method", problem, 1), "method"),
        (lambda: assert_contracts(fc.FedGD(stepsize=1), "problem", 1), "problem"),
    ):
        assert assert_refused(call).argument == named


def test_memory_that_inexact_work_sees_is_measured_too() -> None:
    """FedSplit started warm at few gradient steps is no map of the z_k alone: the whole state's norm is taken."""
    steps = fc.GradientDescent(steps=1, stepsize=Fraction(1, 10))
    with pytest.raises(AssertionError, match="everything that server and clients keep"):
        assert_contracts(fc.FedSplit(stepsize=HALF, start="warm"), WORST, Fraction(1, 10), local_solver=steps)
    with pytest.raises(AssertionError, match="the centres v_k"):
        assert_contracts(fc.FedSplit(stepsize=HALF), WORST, Fraction(1, 10), local_solver=steps)
