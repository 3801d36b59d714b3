"""Counterexamples shrink to readable ones: one or two clients, one unknown, small integers."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import find, settings
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex import strategies
from fedconvex.problems.constructor_calls import constructor_call
from fedconvex.theory import feddyn, fedprox, fedsplit

pytestmark = pytest.mark.beyond_core  # runs Hypothesis inside its tests


def smallest(strategy: st.SearchStrategy[Any], condition: Any = None) -> Any:
    tries = settings(max_examples=30 if condition is None else 500, database=None, derandomize=True)
    return find(strategy, condition or (lambda example: True), settings=tries)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("strategy", "printed"),
    [
        (strategies.least_squares_problems(), "LeastSquares(A=[[[0]]], b=[[0]])"),
        (strategies.least_squares_problems(full_rank=True), "LeastSquares(A=[[[1]]], b=[[0]])"),
        (strategies.quadratic_problems(), "Quadratic(H=[[[0]]], c=[[0]])"),
        (strategies.quadratic_problems(mu=1, L=4), "Quadratic(H=[[[1]]], c=[[0]])"),
        (strategies.logistic_problems(), "Logistic(A=[[[0]]], y=[[1]], ridge=1)"),
        (strategies.multinomial_problems(), "MultinomialLogistic(A=[[[0]]], y=[[0]], num_classes=3, ridge=1)"),
    ],
)
def test_problems(strategy: Any, printed: str) -> None:
    assert constructor_call(smallest(strategy)) == printed


@pytest.mark.slow
def test_others() -> None:
    assert smallest(strategies.weights()) == [1]
    assert smallest(strategies.participation_schemes(num_clients=3)) == fc.participation.Full()
    assert smallest(strategies.methods()) == fc.FedProx(mu=1)
    assert smallest(strategies.methods(kinds=fc.FedGD)) == fc.FedGD(stepsize=1, local_steps=1)
    assert [part.tolist() for part in smallest(strategies.partitions())] == [[0]]
    assert smallest(strategies.trajectories()).points.tolist() == [[0]]
    assert smallest(strategies.constants()) == {"L": 1, "L_minus": 0, "mu": 1, "B": 1, "gamma": 0, "K": 1}


@pytest.mark.slow
def test_constants_of_statements() -> None:
    assert smallest(strategies.satisfying(fedprox.theorem4)) == {
        "mu": 4,
        "L": 0,
        "L_minus": 0,
        "B": 1,
        "gamma": 0,
        "K": 4,
    }
    found = smallest(strategies.satisfying(feddyn.theorem3))
    assert found == {"alpha": 30, "L": 1, "mu": 1, "num_clients": 1, "num_active": 1, "T": 1, "D0": 0, "G": 0}
    found = smallest(strategies.satisfying(fedsplit.theorem1))
    assert found == {"t": 1, "kappa": 1, "initial_distance": 0, "num_clients": 1, "b": 0}


@pytest.mark.slow
def test_a_rotation_is_kept_where_it_is_needed() -> None:
    problem = smallest(strategies.quadratic_problems(mu=1, L=4), lambda p: p.dim > 1 and p.H[0][0, 1] != 0)
    assert (problem.num_clients, problem.dim) == (1, 2)


@pytest.mark.slow
def test_where_there_is_no_integer_the_fraction_is_simple() -> None:
    problem = smallest(strategies.quadratic_problems(mu=Fraction(1, 3), L=Fraction(1, 2)))
    assert problem.H[0].tolist() == [[Fraction(1, 3)]]
    rho = smallest(strategies.satisfying(fedprox.theorem6))["rho"]
    assert (rho.numerator, rho.denominator < 20) == (1, True)
