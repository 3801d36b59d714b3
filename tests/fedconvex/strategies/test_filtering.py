"""No strategy rejects draws, and Hypothesis's health checks pass, all of them on."""

from typing import Any

import pytest
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex import strategies
from fedconvex.theory import feddyn, fedprox, fedsplit

pytestmark = pytest.mark.beyond_core  # runs Hypothesis inside its tests

PROBLEM = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[1, 1], [1, 0]]], b=[[1, 0], [2, 3]])
STRATEGIES = {
    "least_squares_problems": strategies.least_squares_problems(),
    "of full rank": strategies.least_squares_problems(full_rank=True),
    "in floats": strategies.least_squares_problems(exact=False),
    "quadratic_problems": strategies.quadratic_problems(),
    "curved": strategies.quadratic_problems(mu=1, L=4),
    "curved, floats": strategies.quadratic_problems(mu=1, L=4, exact=False),
    "open-ended": strategies.quadratic_problems(mu=1),
    "logistic_problems": strategies.logistic_problems(),
    "multinomial_problems": strategies.multinomial_problems(),
    "weights": strategies.weights(),
    "participation_schemes": strategies.participation_schemes(num_clients=4),
    "methods": strategies.methods(),
    "stepsizes_for": strategies.stepsizes_for(fc.FedGD, PROBLEM),
    "constants": strategies.constants(),
    "satisfying theorem4": strategies.satisfying(fedprox.theorem4),
    "satisfying theorem3": strategies.satisfying(feddyn.theorem3),
    "satisfying theorem2": strategies.satisfying(fedsplit.theorem2, everything=True),
    "partitions": strategies.partitions(),
    "trajectories": strategies.trajectories(),
}
PUBLIC = {name for name in strategies.__all__ if name.islower()} - {"admissible", "satisfying", "unsatisfiable"}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", STRATEGIES)
def test_at_most_one_draw_in_twenty_is_rejected(name: str, drawn: Any) -> None:
    found = drawn(STRATEGIES[name], 100)
    assert found.examples
    assert found.share_rejected <= 0.05


def test_a_filter_is_noticed(drawn: Any) -> None:
    half = st.integers(0, 1000).filter(lambda number: number % 2)
    assert drawn(half, 100).share_rejected > 0.05


def test_all_public_strategies_are_here() -> None:
    assert {name for name in PUBLIC if name not in STRATEGIES} == set()
