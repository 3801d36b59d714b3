"""`.attracting` against the eigenvalues of exact trajectories, also exactly at the boundary of stability."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from problem_makers import (
    POSITIVE,
    echelon,
    few,
    floats,
    fractions,
    identity,
    least_squares,
    lifted_matrix,
    proximal_weight_suffices,
    quadratics,
    rank,
    terms_of,
)

import fedconvex as fc

TINY = Fraction(1, 10**40)
H_SHARED = [np.diag([1, 0]), np.diag([2, 0]), np.eye(2, dtype=int)]


def visible_eigenvalues(method, problem, point: np.ndarray, lifted_dim: int, local_solver=None) -> np.ndarray:
    """Eigenvalues of the smallest linear system with the same server points, from the exact trajectories alone.

    Ho and Kalman: the errors e_t of the runs from 0 and from the unit vectors are P Mᵗ V; with r independent rows and
    columns of the Hankel matrix (e_{i+j}), its shift (e_{i+j+1}) times its inverse has the eigenvalues of the system.
    """
    T = 2 * lifted_dim
    starts = [0 * identity(problem.dim)[0], *identity(problem.dim)]
    runs = [fc.simulate(method, problem, T, local_solver=local_solver, x0=x0, arithmetic="exact") for x0 in starts]
    errors = np.stack([run.points - point for run in runs], axis=2)  # (T + 1, d, d + 1)
    blocks = [np.hstack([errors[i + j] for j in range(lifted_dim)]) for i in range(lifted_dim + 1)]
    hankel, shifted = np.vstack(blocks[:-1]), np.vstack(blocks[1:])
    columns = echelon(hankel)[1]
    rows = echelon(hankel.T)[1]
    if not columns:
        return np.zeros(1)
    core, moved = hankel[np.ix_(rows, columns)], shifted[np.ix_(rows, columns)]
    reduced, _ = echelon(np.hstack([core, moved]))
    return np.linalg.eigvals(floats(reduced[:, len(columns) :]))


def check_against_eigenvalues(method, problem, lifted_dim: int, local_solver=None) -> None:
    try:
        stop = fc.fixed_point(method, problem, "exact", local_solver=local_solver)
    except fc.NoFixedPoint:
        return
    if not isinstance(method, fc.FedSplit):
        run = fc.simulate(method, problem, rounds=1, local_solver=local_solver, x0=stop.point, arithmetic="exact")
        assert np.array_equal(run.points[0], run.points[1])
    radius = max(abs(visible_eigenvalues(method, problem, stop.point, lifted_dim, local_solver)))
    if not stop.unique:
        assert not stop.attracting
    elif abs(radius - 1) > 1e-5:
        assert stop.attracting == (radius < 1)
    for arithmetic in ("float", "ball"):
        assert fc.fixed_point(method, problem, arithmetic, local_solver=local_solver).attracting == stop.attracting


@few
@given(problem=st.one_of(least_squares(), quadratics()), s=POSITIVE, e=st.integers(1, 4))
def test_fedgd(problem, s, e) -> None:
    check_against_eigenvalues(fc.FedGD(stepsize=s, local_steps=e), problem, problem.dim)


@few
@given(problem=st.one_of(least_squares(), quadratics()), mu=POSITIVE)
def test_fedprox(problem, mu) -> None:
    assume(proximal_weight_suffices(terms_of(problem), mu))
    check_against_eigenvalues(fc.FedProx(mu=mu), problem, problem.dim)


@few
@given(problem=st.one_of(least_squares(), quadratics()), mu=POSITIVE, alpha=POSITIVE, e=st.integers(1, 3))
def test_fedprox_with_gradient_steps(problem, mu, alpha, e) -> None:
    """They need no subproblem to have a solution."""
    check_against_eigenvalues(fc.FedProx(mu=mu), problem, problem.dim, fc.GradientDescent(steps=e, stepsize=alpha))


@few
@given(problem=quadratics(), s=POSITIVE)
def test_fedsplit_on_indefinite_clients(problem, s) -> None:
    assume(proximal_weight_suffices(terms_of(problem).as_a_sum(), 1 / s))
    check_against_eigenvalues(fc.FedSplit(stepsize=s), problem, problem.dim * problem.num_clients)


@few
@given(problem=least_squares(), s=POSITIVE, alpha=POSITIVE, e=st.integers(1, 2))
def test_fedsplit_with_gradient_steps(problem, s, alpha, e) -> None:
    assume(problem.dim * problem.num_clients <= 6)
    solver = fc.GradientDescent(steps=e, stepsize=alpha)
    check_against_eigenvalues(fc.FedSplit(stepsize=s), problem, problem.dim * problem.num_clients + problem.dim, solver)


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


def test_the_eigenvalue_route_sees_what_it_should() -> None:
    """Must reject: an unseen mode is left out, a seen one is not."""
    seen = fc.Quadratic([np.diag([Fraction(1, 2), 5])], [[1, 1]])
    point = fractions([2, Fraction(1, 5)])
    found = visible_eigenvalues(fc.FedGD(stepsize=1), seen, point, 2)
    assert sorted(found) == pytest.approx([-4, 0.5])
    shared = fc.Quadratic(H_SHARED, [[1, 0], [1, 0], [2, 3]])
    limit = fc.fixed_point(fc.FedSplit(stepsize=1), shared, "exact").point
    assert max(abs(visible_eigenvalues(fc.FedSplit(stepsize=1), shared, limit, 6))) < 0.9
    assert max(abs(np.linalg.eigvals(floats(lifted_matrix(terms_of(shared), Fraction(1)))))) == pytest.approx(1)
