"""Fixed points on quadratic clients: the papers' closed formulas in every arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from problem_makers import (
    POSITIVE,
    Terms,
    ball_contains,
    fedgd_equation,
    fedprox_equation,
    few,
    floats,
    fractions,
    inverse,
    kernel,
    least_norm,
    least_squares,
    proximal_weight_suffices,
    quadratics,
    rank,
    terms_of,
)

import fedconvex as fc

METHODS = st.one_of(
    st.builds(lambda s, e: fc.FedGD(stepsize=s, local_steps=e), POSITIVE, st.integers(1, 5)),
    st.builds(lambda mu: fc.FedProx(mu=mu), POSITIVE),
    st.builds(lambda s: fc.FedSplit(stepsize=s), POSITIVE),
)
PROBLEMS = st.one_of(least_squares(), least_squares(full_rank=True), quadratics())
BOTH = [fc.FedGD(stepsize=Fraction(1, 5), local_steps=2), fc.FedProx(mu=1), fc.FedSplit(stepsize=Fraction(1, 3))]


def equation(method: object, terms: Terms) -> tuple[np.ndarray, np.ndarray]:
    """The papers' linear equation of the fixed points: (10), the display before it, (9)."""
    if isinstance(method, fc.FedGD):
        return fedgd_equation(terms, method.stepsize, method.local_steps)
    return fedprox_equation(terms, method.mu) if isinstance(method, fc.FedProx) else terms.summed()


def solvable(method: object, terms: Terms) -> bool:
    """Whether the clients' subproblems have one solution each."""
    if isinstance(method, fc.FedProx):
        return proximal_weight_suffices(terms, method.mu)
    return not isinstance(method, fc.FedSplit) or proximal_weight_suffices(terms.as_a_sum(), 1 / method.stepsize)


def tolerance(method: object, terms: Terms, point: np.ndarray) -> float:
    """What rounding may do to the solution: the clients' own parts of Φ and q may cancel in the sums."""
    parts = [equation(method, Terms([H], [c], [Fraction(1)])) for H, c in zip(terms.H, terms.c, strict=True)]
    left, right = (
        sum(w * np.linalg.norm(floats(part[i])) for w, part in zip(terms.w, parts, strict=True)) for i in (0, 1)
    )
    phi, _ = equation(method, terms)
    singular = np.linalg.svd(floats(phi), compute_uv=False)
    smallest = float(singular[rank(phi) - 1]) if rank(phi) else 1.0
    return 1e-13 * (1 + (float(left) * (1 + np.linalg.norm(floats(point))) + float(right)) / smallest)


@few
@given(problem=PROBLEMS, method=METHODS)
def test_the_papers_formulas(problem, method) -> None:
    """Where I − M is invertible the formula; else the least-norm solution, or NoFixedPoint with a witness.

    Every arithmetic agrees with it.
    """
    terms = terms_of(problem)
    assume(solvable(method, terms))
    phi, q = equation(method, terms)
    expected = least_norm(phi, q)
    if expected is None:
        with pytest.raises(fc.NoFixedPoint) as caught:
            fc.fixed_point(method, problem, "exact")
        witness = caught.value.witness
        assert not (phi @ witness).any()
        assert witness @ q != 0
        for arithmetic in ("float", "ball", "torch"):
            with pytest.raises(fc.NoFixedPoint):
                fc.fixed_point(method, problem, arithmetic)
        return
    stop = fc.fixed_point(method, problem, "exact")
    assert np.array_equal(stop.point, expected)
    assert all(type(entry) is Fraction for entry in stop.point)
    assert stop.unique == (rank(phi) == problem.dim)
    assert stop.certainty is fc.Certainty.EXACT
    if stop.unique:
        assert np.array_equal(stop.point, inverse(phi) @ q)

    balls = fc.fixed_point(method, problem, "ball").point
    for ball, value in zip(balls, expected, strict=True):
        assert float(ball.rad()) <= 1e-20
        assert ball_contains(ball, value)
        assert not ball_contains(ball, value + Fraction(1, 10**19))
    for arithmetic in ("float", "torch"):
        found = fc.fixed_point(method, problem, arithmetic)
        assert abs(np.asarray(found.point) - floats(expected)).max() <= tolerance(method, terms, expected)
        assert found.unique == stop.unique
        assert found.certainty is fc.Certainty.NUMERIC


def hilbert(n: int, zeros: int) -> fc.Quadratic:
    """A Hilbert matrix, condition number about 10^(1.5 n), with coordinates of no curvature."""
    H = [[Fraction(1, i + j + 1) for j in range(n)] + [0] * zeros for i in range(n)] + [[0] * (n + zeros)] * zeros
    return fc.Quadratic([H], [[1] * n + [0] * zeros])


@pytest.mark.sample(4)
@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("zeros", [0, 1])
@pytest.mark.parametrize(("n", "radius"), [(12, 1e-20), (12, 1e-60), (30, 1e-20)])
@pytest.mark.parametrize("method", BOTH, ids=repr)
def test_any_conditioning_in_every_arithmetic(method, n, radius, zeros) -> None:
    """128 bits are far from enough."""
    problem = hilbert(n, zeros)
    exact = least_norm(*equation(method, terms_of(problem)))
    balls = fc.fixed_point(method, problem, "ball", target_radius=radius).point
    assert all(float(b.rad()) <= radius and ball_contains(b, v) for b, v in zip(balls, exact, strict=True))
    for arithmetic in ("float", "torch"):
        point = np.asarray(fc.fixed_point(method, problem, arithmetic).point)
        assert abs(point / np.where(floats(exact) == 0, 1, floats(exact)) - (exact != 0)).max() < 1e-15


@pytest.mark.parametrize("method", BOTH, ids=repr)
def test_not_unique_gives_the_limit_from_the_origin(method) -> None:
    problem = fc.LeastSquares(A=[[[1, 1, 0]], [[2, 2, 0], [1, 1, 0]]], b=[[1], [0, 3]], weights=[2, 1])
    stop = fc.fixed_point(method, problem, "exact")
    assert not stop.unique
    assert not stop.attracting
    for v in kernel(equation(method, terms_of(problem))[0]):
        assert v @ stop.point == 0
    run = fc.simulate(method, problem, rounds=400).points
    assert abs(run[-1] - floats(stop.point)).max() < 1e-12
    elsewhere = fc.simulate(method, problem, rounds=400, x0=[0, 0, 1]).points
    assert abs(elsewhere[-1] - floats(stop.point)).max() > 0.9  # another start, another limit
    for arithmetic in ("float", "ball", "torch"):
        assert fc.fixed_point(method, problem, arithmetic).unique is False


def test_not_unique_and_not_converging_gives_the_least_norm_point() -> None:
    """Coordinate 1 diverges, coordinate 2 is free."""
    problem = fc.Quadratic([np.diag([3, 0])], [[6, 0]])
    stop = fc.fixed_point(fc.FedGD(stepsize=1), problem, "exact")
    assert (stop.point.tolist(), stop.unique, stop.attracting) == ([2, 0], False, False)


@pytest.mark.parametrize("arithmetic", ["exact", "float", "ball", "torch"])
class TestNoFixedPoint:
    @pytest.mark.parametrize("method", BOTH, ids=repr)
    def test_a_slope_without_curvature(self, method, arithmetic) -> None:
        problem = fc.Quadratic([np.diag([1, 0]), np.diag([2, 0])], [[1, 1], [1, 0]])
        with pytest.raises(fc.NoFixedPoint, match="direction") as caught:
            fc.fixed_point(method, problem, arithmetic)
        witness = caught.value.witness
        assert witness[0] == 0  # the only kernel direction
        assert witness[1] != 0
        assert type(witness[1]) is Fraction

    @pytest.mark.parametrize("second", [Fraction(12, 5), Fraction(-2, 5)])
    def test_local_steps_that_cancel(self, second, arithmetic) -> None:
        """(1 − 4/5)² + (1 − second)² = 2, so that two steps of size 1 give Φ = 0, with a convex client or not."""
        assert Fraction(1, 25) + (1 - second) ** 2 == 2
        method = fc.FedGD(stepsize=1, local_steps=2)
        with pytest.raises(fc.NoFixedPoint):
            fc.fixed_point(method, fc.Quadratic([[[Fraction(4, 5)]], [[second]]], [[1], [1]]), arithmetic)
        # the same Φ = 0 with a right-hand side of 0: R_k = 2 − H_k
        pulls = [2 - second, -(2 - Fraction(4, 5))]
        stop = fc.fixed_point(
            method, fc.Quadratic([[[Fraction(4, 5)]], [[second]]], [[pulls[0]], [pulls[1]]]), arithmetic
        )
        assert not stop.unique

    def test_almost_cancelling_has_a_fixed_point(self, arithmetic) -> None:
        method = fc.FedGD(stepsize=1, local_steps=2)
        almost = Fraction(12, 5) + Fraction(1, 10**18)
        problem = fc.Quadratic([[[Fraction(4, 5)]], [[almost]]], [[1], [1]])
        phi, q = fedgd_equation(terms_of(problem), Fraction(1), 2)
        found, expected = fc.fixed_point(method, problem, arithmetic), q[0] / phi[0, 0]
        assert found.unique
        assert arithmetic != "ball" or ball_contains(found.point[0], expected)
        assert arithmetic != "exact" or found.point[0] == expected
        assert abs(float(found.point[0]) / float(expected) - 1) < 1e-12


def test_bad_input_is_refused_before_any_work() -> None:
    problem = fc.LeastSquares(A=[[[1]]], b=[[1]])
    with pytest.raises(fc.InvalidInput, match=r"method = 3"):
        fc.fixed_point(3, problem)
    with pytest.raises(fc.InvalidInput, match="arithmetic = decimal: is unknown; give one of"):
        fc.fixed_point(fc.FedProx(mu=1), problem, "decimal")
    indefinite = fc.Quadratic([[[-2]], [[5]]], [fractions([1]), fractions([1])])
    with pytest.raises(fc.InvalidInput, match="raise it above 2") as caught:
        fc.fixed_point(fc.FedProx(mu=2), indefinite, "exact")
    assert "client 0" in str(caught.value)
    assert fc.fixed_point(fc.FedProx(mu=Fraction(2000001, 1000000)), indefinite, "exact").unique
