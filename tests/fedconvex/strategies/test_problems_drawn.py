"""Drawn problems have the stated properties, and every kind of problem occurs."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bound_makers import curved
from hypothesis import given
from problem_makers import fractions, identity, least_norm, rank, terms_of

import fedconvex as fc
from fedconvex import strategies

pytestmark = pytest.mark.beyond_core  # runs Hypothesis inside its tests


def lies_between(problem: fc.Quadratic, mu: Any, L: Any) -> bool:
    return all(curved(fractions(H), Fraction(mu)) and curved(-fractions(H), -Fraction(L)) for H in problem.H)


def condition_number(H: np.ndarray) -> float:
    values = np.linalg.eigvalsh(H.astype(float))
    return float(values[-1] / values[0]) if values[0] > 1e-12 else np.inf


def share_a_minimizer(problem: Any) -> bool:
    """Whether the objective's least-norm minimiser minimises every client's function, and they are not all the same."""
    terms = terms_of(problem)
    x = least_norm(*terms.summed())
    if x is None or not any(x) or all((terms.H[0] == H).all() for H in terms.H):
        return False  # or it is no wonder
    return all(not any(H @ x - c) for H, c in zip(terms.H, terms.c, strict=True))


def deficient(problem: fc.LeastSquares) -> bool:
    return any(rank(A) < problem.dim for A in problem.A)


@pytest.mark.parametrize(("mu", "L"), [(1, 4), (0, 1), (-2, 3), (Fraction(1, 3), Fraction(1, 2)), (2, 2)])
def test_curvatures_lie_where_they_were_asked_for(mu: Any, L: Any, drawn: Any) -> None:
    found = drawn(strategies.quadratic_problems(mu=mu, L=L), 60)
    assert all(lies_between(problem, mu, L) for problem in found.examples)
    in_floats = drawn(strategies.quadratic_problems(mu=mu, L=L, exact=False), 40) if mu != Fraction(1, 3) else None
    assert in_floats is None or all(lies_between(problem, mu, L) for problem in in_floats.examples)


def test_curvatures_outside_are_noticed() -> None:
    assert not lies_between(fc.Quadratic([[[1]], [[5]]], [[0], [0]]), 1, 4)
    assert not lies_between(fc.Quadratic([[[2, 2], [2, 2]]], [[0, 0]]), Fraction(1, 10), 4)
    assert lies_between(fc.Quadratic([[[2, 2], [2, 2]]], [[0, 0]]), 0, 4)


@given(strategies.quadratic_problems(L=3))
def test_an_upper_bound_alone_is_one_of_smoothness(problem: fc.Quadratic) -> None:
    assert lies_between(problem, -3, 3)


@given(strategies.quadratic_problems(mu=1, min_clients=2, max_clients=4, min_dim=2, max_dim=5, positive_weights=True))
def test_sizes_and_weights(problem: fc.Quadratic) -> None:
    assert 2 <= problem.num_clients <= 4
    assert 2 <= problem.dim <= 5
    assert min(problem.exact_weights) > 0


@given(strategies.least_squares_problems(Fraction(-1, 2), 5, min_samples=2, max_samples=3, max_dim=2))
def test_entries_and_samples(problem: fc.LeastSquares) -> None:
    entries = [entry for A in problem.A for entry in A.ravel()]
    assert all(Fraction(-1, 2) <= entry <= 5 for entry in entries)
    assert all(2 <= len(b) <= 3 for b in problem.b)
    assert all(isinstance(entry, int | np.integer | Fraction) for entry in entries)


@given(strategies.least_squares_problems(full_rank=True))
def test_full_rank(problem: fc.LeastSquares) -> None:
    assert not deficient(problem)


@given(strategies.least_squares_problems(exact=False, max_clients=2))
def test_floats(problem: fc.LeastSquares) -> None:
    assert all(A.dtype == np.float64 for A in problem.A)


@given(strategies.logistic_problems(max_dim=3), strategies.multinomial_problems(num_classes=4))
def test_logistic(two: fc.Logistic, four: fc.MultinomialLogistic) -> None:
    assert two.ridge > 0
    assert {abs(label) for y in two.y for label in y} == {1}
    assert four.num_classes == 4
    assert two.dim <= 3


@pytest.mark.slow
def test_least_squares_of_all_kinds_occur(drawn: Any) -> None:
    found = drawn(strategies.least_squares_problems(), 400)
    wanted = {
        "rank-deficient": deficient,
        "full rank": lambda p: not deficient(p),
        "single client": lambda p: p.num_clients == 1,
        "three clients": lambda p: p.num_clients == 3,
        "clients of unequal size": lambda p: len({len(b) for b in p.b}) > 1,
        "common minimiser": share_a_minimizer,
        "no common minimiser": lambda p: p.num_clients > 1 and not share_a_minimizer(p),
        "ill-conditioned": lambda p: any(1e4 <= condition_number(A.T @ A) < np.inf for A in p.A),
        "many minimisers": lambda p: bool(p.kernel),
        "one minimiser": lambda p: not p.kernel,
        "silent client": lambda p: min(p.exact_weights) == 0,
        "unequal weights": lambda p: not p.is_equally_weighted,
        "fractions": lambda p: any(A.dtype == object for A in p.A),
        "integers": lambda p: all(A.dtype == np.int64 for A in p.A),
        **{f"{d} unknowns": lambda p, d=d: p.dim == d for d in (1, 2, 3)},
    }
    assert found.missing(wanted) == []


def test_ill_conditioned_ones_can_be_left_out(drawn: Any) -> None:
    found = drawn(strategies.least_squares_problems(ill_conditioned=False), 200)
    assert all(
        A.dtype != object or max(entry.denominator for entry in A.ravel()) <= 3 for p in found.examples for A in p.A
    )


@pytest.mark.slow
def test_quadratics_of_all_kinds_occur(drawn: Any) -> None:
    any_at_all = drawn(strategies.quadratic_problems(), 300)
    wanted = {
        "indefinite": lambda p: any(not curved(fractions(H), 0) and not curved(-fractions(H), 0) for H in p.H),
        "singular": lambda p: any(rank(H) < p.dim for H in p.H),
        "convex": lambda p: p.is_convex,
        "silent client": lambda p: min(p.exact_weights) == 0,
        "single client": lambda p: p.num_clients == 1,
    }
    assert any_at_all.missing(wanted) == []
    curved_ones = drawn(strategies.quadratic_problems(mu=1, L=10_000), 300)
    wanted = {
        "ill-conditioned": lambda p: any(condition_number(H) >= 9999 for H in p.H),
        "least curvature attained": lambda p: any(rank(fractions(H) - identity(p.dim)) < p.dim for H in p.H),
        "greatest curvature attained": lambda p: any(
            rank(fractions(H) - 10_000 * identity(p.dim)) < p.dim for H in p.H
        ),
        "not diagonal": lambda p: any(any(H[~np.eye(p.dim, dtype=bool)]) for H in p.H),
        "common minimiser": share_a_minimizer,
    }
    assert curved_ones.missing(wanted) == []
    assert drawn(strategies.quadratic_problems(mu=1), 200).missing({"ill-conditioned": wanted["ill-conditioned"]}) == []


def test_what_does_not_occur_is_noticed(drawn: Any) -> None:
    full = drawn(strategies.least_squares_problems(full_rank=True), 50)
    assert full.missing({"rank-deficient": deficient, "any": lambda p: True}) == ["rank-deficient"]
