"""`.attracting` exactly at the boundary of stability, and where some of the state is not excited, or not seen."""

from fractions import Fraction

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


class TestAtTheBoundary:
    """One client with curvatures 3 and 1: the eigenvalues of e gradient steps of size s are (1 − 3s)^e, (1 − s)^e."""

    problem = fc.Quadratic([np.diag([3, 1])], [[1, 2]])

    def stop(self, stepsize: Fraction, local_steps: int, problem=None) -> fc.FixedPoint:
        return fc.fixed_point(fc.FedGD(stepsize=stepsize, local_steps=local_steps), problem or self.problem, "exact")

    @pytest.mark.parametrize("local_steps", [1, 3])
    def test_eigenvalue_minus_1(self, local_steps) -> None:
        at = self.stop(Fraction(2, 3), local_steps)
        assert (at.unique, at.attracting) == (True, False)
        assert at.point.tolist() == [Fraction(1, 3), 2]
        assert self.stop(Fraction(2, 3) - TINY, local_steps).attracting is True
        assert self.stop(Fraction(2, 3) + TINY, local_steps).attracting is False

    def test_eigenvalue_1_from_two_steps(self) -> None:
        """(1 − 3s)² = 1: every value of the first coordinate comes back, and a fixed point exists for any c."""
        at = self.stop(Fraction(2, 3), 2)
        assert (at.unique, at.attracting) == (False, False)
        assert at.point.tolist() == [0, 2]  # reached from the origin after every second step
        assert self.stop(Fraction(2, 3) - TINY, 2).attracting is True
        assert self.stop(Fraction(2, 3) + TINY, 2).attracting is False

    def test_a_stepsize_that_diverges_still_has_its_fixed_point(self) -> None:
        """The paper's (10) does not ask for convergence."""
        stop = self.stop(Fraction(5), 1)
        assert (stop.point.tolist(), stop.unique, stop.attracting) == ([Fraction(1, 3), 2], True, False)
        run = fc.simulate(fc.FedGD(stepsize=5), self.problem, rounds=30).points
        assert abs(run[-1] - [1 / 3, 2]).max() > 1e15

    def test_no_curvature(self) -> None:
        stop = self.stop(Fraction(1, 2), 1, fc.Quadratic([np.diag([1, 0])], [[1, 0]]))
        assert (stop.unique, stop.attracting) == (False, False)

    def test_fedprox_on_a_client_that_is_not_convex(self) -> None:
        """Φ = (h/(3 + h) − 1/2)/2 for curvatures h and −1 and μ = 3: 0 at h = 3, positive above."""

        def stop(h: Fraction) -> fc.FixedPoint:
            return fc.fixed_point(fc.FedProx(mu=3), fc.Quadratic([[[h]], [[-1]]], [[3], [-1]]), "exact")

        assert (stop(Fraction(3)).unique, stop(Fraction(3)).attracting) == (False, False)
        assert (stop(3 + TINY).unique, stop(3 + TINY).attracting) == (True, True)
        assert (stop(3 - TINY).unique, stop(3 - TINY).attracting) == (True, False)

    def test_fedsplit_with_eigenvalues_plus_and_minus_i(self) -> None:
        """d = 1, m = 2, s = 1: the lifted map swaps z_1, z_2 and scales by r_k = (1 − h_k)/(1 + h_k): λ² = r_1 r_2.

        h_1 = −1/3 gives r_1 = 2; at h_2 = 3, r_2 = −1/2.
        """

        def stop(h: Fraction) -> fc.FixedPoint:
            problem = fc.Quadratic([[[Fraction(-1, 3)]], [[h]]], [[1], [2]])
            return fc.fixed_point(fc.FedSplit(stepsize=1), problem, "exact")

        assert (stop(Fraction(3)).unique, stop(Fraction(3)).attracting) == (True, False)
        assert stop(Fraction(3)).point.tolist() == [Fraction(9, 8)]
        assert stop(3 - TINY).attracting is True
        assert stop(3 + TINY).attracting is False

    def test_fedsplit_with_eigenvalues_plus_and_minus_1(self) -> None:
        problem = fc.Quadratic([[[Fraction(-1, 3)]], [[Fraction(1, 3)]]], [[1], [-1]])
        stop = fc.fixed_point(fc.FedSplit(stepsize=1), problem, "exact")
        assert (stop.unique, stop.attracting) == (False, False)


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
