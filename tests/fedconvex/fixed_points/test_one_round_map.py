"""The affine map of one round, built from the running code, against closed forms."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import (
    POSITIVE,
    Terms,
    fedgd_equation,
    fedprox_equation,
    few,
    floats,
    fractions,
    identity,
    inverse,
    least_norm,
    least_squares,
    prox,
    proximal_weight_suffices,
    quadratics,
    rank,
    terms_of,
)

import fedconvex as fc
from fedconvex.fixed_points.one_round import OneRoundMap
from fedconvex.runs.rounds import rounds_of

PROBLEMS = st.one_of(least_squares(), quadratics())


def one_round(method, problem, local_solver=None) -> OneRoundMap:
    return OneRoundMap.of(rounds_of(method, problem, "exact", local_solver))


def matrix(M: flint.fmpq_mat) -> np.ndarray:
    return np.array([[Fraction(int(v.p), int(v.q)) for v in row] for row in M.tolist()], dtype=object)


def vector(v: np.ndarray) -> np.ndarray:
    return np.array([Fraction(int(entry.p), int(entry.q)) for entry in v], dtype=object)


def lifted(terms: Terms, answer) -> tuple[np.ndarray, np.ndarray]:
    """FedSplit's map on (x, z_1, …, z_m), column by column from Algorithm 1; `answer(H, c, centre)` is the prox."""
    terms, d, m = terms.as_a_sum(), len(terms.c[0]), len(terms.w)

    def step(state: np.ndarray) -> np.ndarray:
        x, z = state[:d], state[d:].reshape(m, d)
        half = [answer(H, c, 2 * x - z_j) for H, c, z_j in zip(terms.H, terms.c, z, strict=True)]
        z = np.stack([z_j + 2 * (h - x) for z_j, h in zip(z, half, strict=True)])
        return np.concatenate([z.sum(0) / Fraction(m), z.ravel()])

    q = step(fractions(np.zeros((m + 1) * d, dtype=int)))
    return np.stack([step(unit) - q for unit in identity((m + 1) * d)], axis=1), q


@few
@given(problem=PROBLEMS, s=POSITIVE, e=st.integers(1, 4))
def test_fedgd_is_the_closed_form(problem, s, e) -> None:
    phi, q = fedgd_equation(terms_of(problem), s, e)
    check_memoryless(one_round(fc.FedGD(stepsize=s, local_steps=e), problem), phi, q)


@few
@given(problem=PROBLEMS, mu=POSITIVE)
def test_fedprox_is_the_closed_form(problem, mu) -> None:
    if proximal_weight_suffices(terms_of(problem), mu):
        phi, q = fedprox_equation(terms_of(problem), mu)
        check_memoryless(one_round(fc.FedProx(mu=mu), problem), phi, q)


def check_memoryless(found: OneRoundMap, phi: np.ndarray, q: np.ndarray) -> None:
    I = identity(len(q))
    assert np.array_equal(matrix(found.M), I - phi)
    assert np.array_equal(vector(found.q), q)
    assert found.unique == (rank(phi) == len(q))
    if least_norm(phi, q) is None:
        with pytest.raises(fc.NoFixedPoint) as caught:
            _ = found.point
        witness = caught.value.witness  # what no round changes, but which is pushed on
        assert not (witness @ phi).any()
        assert witness @ q != 0
        return
    point = vector(found.point)
    assert np.array_equal(phi @ point, q)
    assert not found.unique or np.array_equal(point, inverse(phi) @ q)
    radius = max(abs(np.linalg.eigvals(floats(I - phi))))
    if found.unique and abs(radius - 1) > 1e-6:
        assert found.attracting == (radius < 1)
        if radius < 1:
            assert np.array_equal(point, least_norm(phi, q))


@few
@given(problem=PROBLEMS, s=POSITIVE)
def test_fedsplit_is_algorithm_1(problem, s) -> None:
    terms = terms_of(problem)
    if proximal_weight_suffices(terms.as_a_sum(), 1 / s):
        found = one_round(fc.FedSplit(stepsize=s), problem)
        M, q = lifted(terms, lambda H, c, z: prox(H, c, s, z))
        assert np.array_equal(matrix(found.M)[:, len(terms.c[0]) :], M[:, len(terms.c[0]) :])
        assert np.array_equal(matrix(found.M), M)
        assert np.array_equal(vector(found.q), q)
        H, c = terms.summed()
        assert found.unique == (rank(H) == len(c))
        if least_norm(H, c) is not None:
            assert np.array_equal(H @ vector(found.point), c)
            state = vector(found.fixed_state)
            assert np.array_equal(M @ state + q, state)


def test_rejects_a_map_with_the_wrong_centring() -> None:
    problem = fc.LeastSquares(A=[[[1, 2]], [[3, 0], [1, 1]]], b=[[1], [0, 2]])
    M, _ = lifted(terms_of(problem), lambda H, c, z: prox(H, c, Fraction(1, 2), z))
    faulty, _ = lifted(terms_of(problem), lambda H, c, z: (prox(H, c, Fraction(1, 2), z) + z) / 2)
    found = matrix(one_round(fc.FedSplit(stepsize=Fraction(1, 2)), problem).M)
    assert np.array_equal(found, M)
    assert not np.array_equal(found, faulty)


@few
@given(problem=least_squares(), s=POSITIVE, alpha=POSITIVE, e=st.integers(1, 3))
def test_fedsplit_with_gradient_steps_has_its_own_fixed_points(problem, s, alpha, e) -> None:
    """The paper's (17): no closed form in the package, so everything comes from the map."""
    method, solver = fc.FedSplit(stepsize=s), fc.GradientDescent(steps=e, stepsize=alpha)

    def gradient_steps(H: np.ndarray, c: np.ndarray, centre: np.ndarray) -> np.ndarray:
        theta = centre
        for _ in range(e):
            theta = theta - alpha * (H @ theta - c + (theta - centre) / s)
        return theta

    M, q = lifted(terms_of(problem), gradient_steps)
    found = one_round(method, problem, solver)
    assert np.array_equal(matrix(found.M), M)
    state = least_norm(identity(len(q)) - M, q)
    if state is None:
        with pytest.raises(fc.NoFixedPoint):
            fc.fixed_point(method, problem, "exact", local_solver=solver)
        return
    stop = fc.fixed_point(method, problem, "exact", local_solver=solver)
    if stop.unique:
        assert np.array_equal(stop.point, state[: problem.dim])


def test_not_unique_gives_the_limit_from_the_origin() -> None:
    """Both clients are blind to the second coordinate, the third coordinate is pulled in opposite directions."""
    H = [np.diag([1, 0, 0]), np.diag([3, 0, 0])]
    problem = fc.Quadratic(H, [[1, 0, 2], [4, 0, -2]])
    found = one_round(fc.FedSplit(stepsize=1), problem)
    assert not found.unique
    assert not found.attracting
    assert vector(found.point).tolist() == [Fraction(5, 4), 0, 0]
    run = fc.simulate(fc.FedSplit(stepsize=1), problem, rounds=200).points[-1]
    assert abs(run - [1.25, 0, 0]).max() < 1e-12
    elsewhere = fc.simulate(fc.FedSplit(stepsize=1), problem, rounds=200, x0=[0, 7, -5]).points[-1]
    assert abs(elsewhere - [1.25, 7, -5]).max() < 1e-12


def test_a_kernel_that_is_not_shared_leaves_an_eigenvalue_minus_1_and_attracts() -> None:
    problem = fc.Quadratic([np.diag([1, 0]), np.diag([2, 0]), np.eye(2, dtype=int)], [[1, 0], [1, 0], [2, 3]])
    found = one_round(fc.FedSplit(stepsize=1), problem)
    M = matrix(found.M)
    assert rank(M + identity(len(M))) < len(M)
    assert found.unique
    assert found.attracting
    H, c = terms_of(problem).summed()
    assert np.array_equal(vector(found.point), inverse(H) @ c)


def test_slopes_along_it_excite_that_eigenvalue_but_the_server_does_not_see_it() -> None:
    problem = fc.Quadratic([np.diag([1, 0]), np.diag([1, 0]), np.eye(2, dtype=int)], [[1, 5], [1, -5], [2, 3]])
    assert one_round(fc.FedSplit(stepsize=1), problem).attracting


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
