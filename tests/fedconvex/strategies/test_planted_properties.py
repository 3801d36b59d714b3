"""False properties: Hypothesis finds the smallest counterexample, and no attempt on the way is invalid."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.statistics import collector

import fedconvex as fc
from fedconvex import strategies
from fedconvex.problems.constructor_calls import constructor_call
from fedconvex.strategies.byte_draws import ByteDraws, from_bytes

pytestmark = pytest.mark.beyond_core  # runs Hypothesis inside its tests


def entries(problem: fc.LeastSquares) -> list[Any]:
    return [entry for A in problem.A for entry in A.ravel()]


def is_biased(problem: Any) -> bool:
    return not fc.fixed_point(fc.FedProx(mu=1), problem, arithmetic="exact").bias_is_zero


# What is planted: a strategy, where the property is false, and the smallest instance of that.
PLANTED: dict[str, tuple[Callable[[], st.SearchStrategy[Any]], Callable[[Any], bool], str]] = {
    "L is not attained": (
        lambda: strategies.quadratic_problems(mu=1, L=4),
        lambda p: any(np.trace(H[:1, :1]) == 4 for H in p.H),
        "Quadratic(H=[[[4]]], c=[[0]])",
    ),
    "entries are below 3": (
        strategies.least_squares_problems,
        lambda p: max(entries(p)) >= 3,
        "LeastSquares(A=[[[3]]], b=[[0]])",
    ),
    "f(0) is below 4": (
        strategies.least_squares_problems,
        lambda p: p.value([0] * p.dim) >= 4,
        "LeastSquares(A=[[[0]]], b=[[3]])",
    ),
    "clients have two samples at most": (
        strategies.least_squares_problems,
        lambda p: max(map(len, p.b)) >= 3,
        "LeastSquares(A=[[[0], [0], [0]]], b=[[0, 0, 0]])",
    ),
    "every weight is positive": (
        strategies.least_squares_problems,
        lambda p: min(p.exact_weights) == 0,
        "LeastSquares(A=[[[0]], [[0]]], b=[[0], [0]], weights=[1, 0])",
    ),
    "no column is ill-conditioned": (
        strategies.least_squares_problems,
        lambda p: any(0 < abs(entry) < Fraction(1, 64) for entry in entries(p)),
        "LeastSquares(A=[[[Fraction(1, 128)]]], b=[[0]])",
    ),
    "quadratics are convex": (
        strategies.quadratic_problems,
        lambda p: not p.is_convex,
        "Quadratic(H=[[[-1]]], c=[[0]])",
    ),
    "H is diagonal": (
        strategies.quadratic_problems,
        lambda p: any(H[0, -1] != 0 for H in p.H) and p.dim > 1,
        "Quadratic(H=[[[0, 1], [1, 0]]], c=[[0, 0]])",
    ),
    "labels are 1": (
        strategies.logistic_problems,
        lambda p: any(-1 in y for y in p.y),
        "Logistic(A=[[[0]]], y=[[-1]], ridge=1)",
    ),
    "there is no last class": (
        strategies.multinomial_problems,
        lambda p: any(2 in y for y in p.y),
        "MultinomialLogistic(A=[[[0]]], y=[[2]], num_classes=3, ridge=1)",
    ),
    "float entries are below 2": (
        lambda: strategies.least_squares_problems(exact=False),
        lambda p: max(map(abs, entries(p))) >= 2,
        "LeastSquares(A=[[[2.0]]], b=[[0.0]])",
    ),
    "FedProx is unbiased": (
        strategies.least_squares_problems,
        is_biased,
        " or ".join(
            f"LeastSquares(A={A}, b={b})" for A in ([[[1]], [[2]]], [[[2]], [[1]]]) for b in ([[0], [1]], [[1], [0]])
        ),
    ),
}


def tried(strategy: st.SearchStrategy[Any], is_false: Callable[[Any], bool]) -> tuple[Any, Counter[str]]:
    """The counterexample that is left, and how often attempts ended in which way."""
    found: list[Any] = []
    statistics: list[Any] = []

    @settings(max_examples=500, database=None, derandomize=True, report_multiple_bugs=False)
    @given(strategy)
    def holds(example: Any) -> None:
        if is_false(example):
            found.append(example)
            raise AssertionError

    with collector.with_value(statistics.append), pytest.raises(AssertionError):
        holds()
    phases = [statistics[0][phase]["test-cases"] for phase in ("generate-phase", "shrink-phase")]
    return found[-1], Counter(case["status"] for cases in phases for case in cases)


@pytest.mark.sample(1)  # the first: others take ten seconds
@pytest.mark.parametrize("name", PLANTED)
def test_the_smallest_counterexample_is_found_without_an_invalid_attempt(name: str) -> None:
    strategy, is_false, smallest = PLANTED[name]
    example, attempts = tried(strategy(), is_false)
    assert constructor_call(example) in smallest.split(" or ")
    assert attempts.keys() <= {"valid", "interesting"}, attempts


def test_invalid_attempts_are_noticed() -> None:
    """The same with a size that is drawn before the data: Hypothesis' attempts at it fall short."""

    @st.composite
    def matrices(draw: st.DrawFn) -> list[list[int]]:
        d = draw(st.integers(1, 3))
        return draw(st.lists(st.lists(st.integers(0, 9), min_size=d, max_size=d), min_size=1, max_size=4))

    _, attempts = tried(matrices(), lambda matrix: sum(map(sum, matrix)) >= 20)
    assert attempts["overrun"] + attempts["invalid"] > 0


def test_every_string_of_bytes_of_any_length_is_an_example() -> None:
    """Also of large problems, which need more bytes than are drawn."""
    large = strategies.least_squares_problems(min_clients=20, max_clients=20, min_dim=9, max_dim=9, min_samples=3)

    @settings(max_examples=5, database=None, derandomize=True)
    @given(large)
    def varied(problem: fc.LeastSquares) -> None:
        sizes.append((problem.num_clients, problem.dim, len(set(entries(problem)))))

    sizes: list[tuple[int, int, int]] = []
    varied()
    assert {size[:2] for size in sizes} == {(20, 9)}
    assert max(size[2] for size in sizes) >= 7
    for content in (b"", b"\xff", bytes(range(256))):
        draws = ByteDraws(content)
        assert [draws.below(7) < 7, draws.pick("ab") in "ab", len(draws.some(2, 4)) in (2, 3, 4)] == [True] * 3


@given(from_bytes(lambda draws: (draws.some(1, 4), draws.below(3), draws.below(1000))))
def test_draws_are_within_their_ranges(drawn: tuple[list[int], int, int]) -> None:
    places, small, large = drawn
    assert 1 <= len(places) <= 4
    assert places == sorted(set(places))
    assert set(places) <= {0, 1, 2, 3}
    assert 0 <= small < 3
    assert 0 <= large < 1000


def test_all_draws_occur() -> None:
    """Every count of places and every number below a bound, about equally often, counted over all single bytes."""
    counts = Counter(len(ByteDraws(bytes([many, 200, 100, 50])).some(0, 3)) for many in range(256))
    assert set(counts) == {0, 1, 2, 3}
    numbers = Counter(ByteDraws(bytes([byte])).below(7) for byte in range(256))
    assert set(numbers) == set(range(7))
    assert max(numbers.values()) - min(numbers.values()) <= 1
