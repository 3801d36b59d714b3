"""Proximal operators and subgradients by their optimality conditions, in every arithmetic; malformed terms."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from fedconvex import arithmetic as arithmetics
from fedconvex.errors import InvalidInput
from fedconvex.problems import LeastSquares
from fedconvex.problems.composite import CompositeProblem
from fedconvex.regularizers import L1, Box, GroupLasso, Regularizer

TERMS: dict[str, Regularizer] = {
    "l1": L1(F(3, 2)),
    "l1 without an intercept": L1([0, 1, 2, F(1, 3), 5]),
    "box": Box(-1, F(1, 3)),
    "half spaces": Box([0, -np.inf, 0, -2, 1], [np.inf, 2, 0, np.inf, 1]),
    "groups": GroupLasso(F(3, 2), [[0, 3], [1]]),
    "weighted groups": GroupLasso([1, 2], [[4], [0, 1, 2]]),
}
POINTS = ((3, F(-1, 2), 0, 7, -2), (F(1, 5), 1, -1, F(1, 7), 1), (0, 0, 0, 0, 0), (-4, 2, F(3, 2), -3, F(1, 3)))
FLOATS, EXACT, BALLS = (arithmetics.get(name) for name in ("float", "exact", "ball"))


def moved(term: Regularizer, point: Any, stepsize: Any, numbers: Any) -> Any:
    with numbers.context():
        return term.prox(numbers.array(point), numbers.scalar(stepsize), numbers)


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("stepsize", [F(1, 2), 3])
def test_a_proximal_point_satisfies_its_optimality_condition(name: str, point: Any, stepsize: Any) -> None:
    """(v − p)/τ ∈ ∂ψ(p): the shortest element of (p − v)/τ + ∂ψ(p) is 0, and exactly so for rational terms."""
    term, v = TERMS[name], np.array([F(x) for x in point], dtype=object)
    p = moved(term, v, stepsize, EXACT if term.is_rational else FLOATS)
    if term.is_rational:
        exact = [F(int(x.p), int(x.q)) for x in p]
        gradient = EXACT.array([(x - y) / F(stepsize) for x, y in zip(exact, v, strict=True)])
        assert not any(term.shortest(gradient, exact, EXACT))
    else:
        gradient = (p - v.astype(float)) / float(stepsize)
        assert np.linalg.norm(term.shortest(gradient, term.snapped(p), FLOATS)) < 1e-14


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("point", POINTS)
def test_the_arithmetics_agree(name: str, point: Any) -> None:
    term, v = TERMS[name], np.array([F(x) for x in point], dtype=object)
    floats = moved(term, v, F(3, 4), FLOATS)
    torch = arithmetics.get("torch")
    assert np.allclose(torch.to_float(moved(term, v, F(3, 4), torch)), floats, rtol=0, atol=1e-15)
    balls = moved(term, v, F(3, 4), BALLS)
    assert all(abs(float(b.mid()) - x) < 1e-14 and b.rad() < 1e-20 for b, x in zip(balls, floats, strict=True))
    if term.is_rational:
        assert all(b.overlaps(BALLS.scalar(x)) for b, x in zip(balls, moved(term, v, F(3, 4), EXACT), strict=True))


@pytest.mark.parametrize("name", TERMS)
def test_no_point_nearby_has_a_smaller_proximal_objective(name: str) -> None:
    """A second route, by values alone; a wrong prox (here: without its threshold) is found by it."""
    term, rng = TERMS[name], np.random.default_rng(0)
    v = np.array([3, -0.5, 0.25, 7, 1])

    def objective(points: Any) -> Any:
        return term.values(points, FLOATS) + ((points - v) ** 2).sum(-1) / (2 * 0.5)

    p = term.prox(v, 0.5, FLOATS)
    near = p + rng.standard_normal((2000, 5)) * 10.0 ** rng.integers(-6, 1, (2000, 1))
    assert (objective(near) >= objective(p[None]) - 1e-12).all()
    assert (objective(np.stack([v, v + 0.1])) > objective(p[None])).all()


@pytest.mark.parametrize("name", TERMS)
def test_proximal_steps_are_firmly_nonexpansive(name: str) -> None:
    """‖p − q‖² ≤ ⟨p − q, u − v⟩, which proximal operators of convex terms alone satisfy."""
    term, rng = TERMS[name], np.random.default_rng(1)
    for u, v in rng.standard_normal((200, 2, 5)) * 4:
        difference = term.prox(u, 0.7, FLOATS) - term.prox(v, 0.7, FLOATS)
        assert difference @ difference <= difference @ (u - v) + 1e-12


def test_the_shortest_subgradient_is_not_0_where_the_point_is_not_the_minimiser() -> None:
    gradient, point = EXACT.array([F(-2), F(1, 2), F(5)]), [F(0), F(0), F(-1)]
    assert [F(str(x)) for x in L1(1).shortest(gradient, point, EXACT)] == [-1, 0, 4]
    assert [F(str(x)) for x in Box(-1, 0).shortest(gradient, point, EXACT)] == [0, F(1, 2), 0]
    # balls around a kink's interval contain every possibility
    assert L1(1).shortest(BALLS.array([F(1)]), [F(0)], BALLS)[0].contains(0)


def test_bounds_that_are_no_floats_are_put_in_exactly() -> None:
    box = Box(F(1, 10), F(1, 3))
    assert box.snapped(np.array([0.1, 1 / 3, 0.2])) == [F(1, 10), F(1, 3), F(0.2)]
    assert box.contains([F(1, 10)])
    assert not box.contains([F(1, 10) - F(1, 10**30)])


def test_values_outside_the_domain_are_infinite() -> None:
    assert list(Box(0, 1).values(np.array([[0.0, 1.0], [-1e-9, 0.5], [0.5, 2.0]]), FLOATS)) == [0, np.inf, np.inf]


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: L1(-1), "weight = -1: is negative, so that the term is not convex"),
        (lambda: L1([1, F(-1, 10**30)]), "not convex"),
        (lambda: L1(float("inf")), "weight = inf: is not finite"),
        (lambda: L1("large"), "weight = large: is not a number"),
        (lambda: L1([]), "weight = []: is empty"),
        (lambda: L1(np.ones((2, 2))), "has 2 dimensions"),
        (lambda: Box(1, 0), "lower = 1: is above upper"),
        (lambda: Box(float("nan"), 1), "lower = nan: is not finite"),
        (lambda: Box(float("inf"), float("inf")), "lower = inf: is not finite"),
        (lambda: Box([0, 0], [1, 1, 1]), "has 3 bounds, and lower 2"),
        (lambda: GroupLasso(0, [[0]]), "weight = 0: must be positive"),
        (lambda: GroupLasso([1, [2, 3]], [[0]]), "weight = [2, 3]: is not a number"),
        (lambda: GroupLasso(1, [[0, 1], [1]]), "has a coordinate in two groups"),
        (lambda: GroupLasso(1, [[0, 0]]), "has a coordinate in two groups"),
        (lambda: GroupLasso(1, []), "has no group"),
        (lambda: GroupLasso(1, [[]]), "an empty one"),
        (lambda: GroupLasso(1, 3), "groups = 3: is no collection"),
        (lambda: GroupLasso([1, 2], [[0]]), "has 2 weights for 1 groups"),
        (lambda: GroupLasso(1, [[-1]]), "groups = -1"),
        (lambda: composite(L1([1, 2, 3])), "has 3 numbers for 2 coordinates"),
        (lambda: composite(Box([0, 0, 0], 1)), "has 3 numbers for 2 coordinates"),
        (lambda: composite(GroupLasso(1, [[2]])), "has the coordinate 2, and points have 2"),
        (lambda: composite("l1"), "regularizer = l1: is not a regulariser"),
        (lambda: composite(lambda x: x), "is not a regulariser"),
        (lambda: CompositeProblem(3, L1(1)), "problem = 3: is not a problem"),  # type: ignore[arg-type]
        (lambda: CompositeProblem(composite(L1(1)), L1(1)), "has a regulariser already"),  # type: ignore[arg-type]
        (lambda: CompositeProblem(problem=PLAIN, regulariser=L1(1)), "did you mean regularizer"),  # type: ignore[call-arg]
    ],
)  # fmt: skip
def test_malformed_terms_are_refused(make: Any, named: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        make()
    assert named in str(refusal.value)


PLAIN = LeastSquares(A=[[[1, 0], [0, 1]], [[1, 1]]], b=[[1, 2], [3]])


def composite(term: Any) -> CompositeProblem:
    return CompositeProblem(PLAIN, term)
