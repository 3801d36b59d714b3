"""`.attracting` exactly at the boundary of stability, and where some of the state is not excited, or not seen."""

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given
from problem_makers import (
    POSITIVE,
    few,
    floats,
    identity,
    least_squares,
    lifted_matrix,
    rank,
    terms_of,
)

import fedconvex as fc
from fedconvex.fixed_points.one_round import OneRoundMap

TINY = Fraction(1, 10**40)
H_SHARED = [np.diag([1, 0]), np.diag([2, 0]), np.eye(2, dtype=int)]


@few
@given(problem=least_squares(), s=POSITIVE)
def test_fedsplit_attracts_on_convex_clients_with_one_minimiser(problem, s) -> None:
    H, _ = terms_of(problem).summed()
    stop = fc.fixed_point(fc.FedSplit(stepsize=s), problem)
    assert stop.unique == stop.attracting == (rank(H) == problem.dim)


def of_steps(local_steps: int) -> Any:
    """On one client with curvatures 3 and 1: the eigenvalues of e steps of size s are (1 − 3s)^e, (1 − s)^e."""
    problem = fc.Quadratic([np.diag([3, 1])], [[1, 2]])
    return lambda s: fc.fixed_point(fc.FedGD(stepsize=s, local_steps=local_steps), problem, "exact")


def of_curvature(method: Any, other: Any, c: Any) -> Any:
    """On two clients in one dimension, the first with curvature h."""
    return lambda h: fc.fixed_point(method, fc.Quadratic([[[h]], [[other]]], c), "exact")


THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    ("stop", "edge", "unique", "point", "below", "above"),
    [
        (of_steps(1), 2 * THIRD, True, [THIRD, 2], True, False),  # eigenvalue −1
        (of_steps(3), 2 * THIRD, True, [THIRD, 2], True, False),
        # (1 − 3s)² = 1: a fixed point exists for any c; this one is reached from the origin after every second step
        (of_steps(2), 2 * THIRD, False, [0, 2], True, False),
        # Φ = (h/(3 + h) − 1/2)/2 for curvatures h and −1 and μ = 3: 0 at h = 3, positive above
        (of_curvature(fc.FedProx(mu=3), -1, [[3], [-1]]), Fraction(3), False, [0], False, True),
        # d = 1, m = 2, s = 1: the lifted map swaps z_1, z_2 and scales by r_k = (1 − h_k)/(1 + h_k): λ² = r_1 r_2;
        # h_2 = −1/3 gives r_2 = 2; at h_1 = 3, r_1 = −1/2
        (of_curvature(fc.FedSplit(stepsize=1), -THIRD, [[2], [1]]), Fraction(3), True, [Fraction(9, 8)], True, False),
        # eigenvalues 1 and −1: rounds go 0, 3/4, 0, …
        (of_curvature(fc.FedSplit(stepsize=1), -THIRD, [[-1], [1]]), THIRD, False, [Fraction(3, 8)], False, True),
    ],
)
def test_at_the_boundary(stop, edge, unique, point, below, above) -> None:
    at = stop(edge)
    assert (at.unique, at.attracting, at.point.tolist()) == (unique, False, point)
    assert [(s.unique, s.attracting) for s in (stop(edge - TINY), stop(edge + TINY))] == [(True, below), (True, above)]


def test_a_stepsize_that_diverges_still_has_its_fixed_point() -> None:
    """The paper's (10) does not ask for convergence."""
    stop = of_steps(1)(Fraction(5))
    assert (stop.point.tolist(), stop.unique, stop.attracting) == ([THIRD, 2], True, False)
    run = fc.simulate(stop.method, stop.problem, rounds=30).points
    assert abs(run[-1] - [1 / 3, 2]).max() > 1e15


@pytest.mark.parametrize("weights", [None, [1, 3, 2]])
def test_kernels_that_are_not_shared_by_all_do_not_keep_the_server_from_converging(weights) -> None:
    """Clients 0 and 1 are blind to coordinate 2: what they disagree about there flips its sign for ever."""
    problem = fc.Quadratic(H_SHARED, [[1, 0], [1, 0], [2, 3]], weights)
    lifted = lifted_matrix(terms_of(problem), Fraction(1))
    assert rank(lifted + identity(len(lifted))) < len(lifted)  # −1 is an eigenvalue
    stop = fc.fixed_point(fc.FedSplit(stepsize=1), problem, "exact")
    assert (stop.unique, stop.attracting) == (True, True)
    for x0 in (None, [100, -100]):
        run = fc.simulate(fc.FedSplit(stepsize=1), problem, rounds=300, x0=x0).points
        assert abs(run[-1] - floats(stop.point)).max() < 1e-9


def test_slopes_along_those_kernels_flip_for_ever_unseen_by_the_server() -> None:
    """The same clients pulled in opposite directions: the memories oscillate, the server's point converges."""
    problem = fc.Quadratic(H_SHARED, [[1, 5], [1, -5], [2, 3]])
    stop = fc.fixed_point(fc.FedSplit(stepsize=1), problem, "exact")
    assert (stop.unique, stop.attracting) == (True, True)
    before, after = (fc.simulate(fc.FedSplit(stepsize=1), problem, rounds=T) for T in (300, 301))
    assert abs(after.points[-1] - floats(stop.point)).max() < 1e-9
    assert abs(after.state.memory["z"] - before.state.memory["z"]).max() > 1


def test_not_unique_gives_the_limit_from_the_origin() -> None:
    """Both clients are blind to the second coordinate, the third coordinate is pulled in opposite directions."""
    H = [np.diag([1, 0, 0]), np.diag([3, 0, 0])]
    problem = fc.Quadratic(H, [[1, 0, 2], [4, 0, -2]])
    found = fc.fixed_point(fc.FedSplit(stepsize=1), problem, "exact")
    assert (found.point.tolist(), found.unique, found.attracting) == ([Fraction(5, 4), 0, 0], False, False)
    run = fc.simulate(fc.FedSplit(stepsize=1), problem, rounds=200).points[-1]
    assert abs(run - [1.25, 0, 0]).max() < 1e-12
    elsewhere = fc.simulate(fc.FedSplit(stepsize=1), problem, rounds=200, x0=[0, 7, -5]).points[-1]
    assert abs(elsewhere - [1.25, 7, -5]).max() < 1e-12


@pytest.mark.parametrize(
    ("M", "q", "attracting"),
    [
        ([[1, 2], [0, 4]], [0, 0], True),  # halves: x ← x/2 + y, y ← 2y, and y starts at its fixed value 0
        ([[1, 2], [0, 4]], [0, -2], False),  # its fixed value is 1
        ([[1, 0], [0, 4]], [0, -2], True),  # x does not see it
        ([[1, 0], [2, 4]], [0, 0], True),  # it sees x, x does not see it
        ([[1, 2], [2, 4]], [0, 0], False),
        ([[4, 0], [0, 1]], [0, 0], False),
        ([[-2, 0], [0, 1]], [0, 0], False),
    ],
)
def test_only_what_is_excited_and_seen_counts(M, q, attracting) -> None:
    """One server coordinate x, which a start may choose, and one memory y, which starts at 0."""
    two = flint.fmpq(1, 2)
    directions = flint.fmpq_mat([[1], [0]])
    start = np.array([flint.fmpq(0)] * 2, dtype=object)
    affine = OneRoundMap(flint.fmpq_mat(M) * two, np.array(q, dtype=object) * two, start, directions, 1)
    assert affine.attracting is attracting
