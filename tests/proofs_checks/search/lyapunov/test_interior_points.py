"""Semidefinite programs of few unknowns, small and large: against eigenvalues, Clarabel, and rounds of many steps."""

from fractions import Fraction as F

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov
from fedconvex.proofs_checks.worst_cases.programs import interior_points
from fedconvex.proofs_checks.worst_cases.programs.interior_points import Cone, least, solutions
from fedconvex.proofs_checks.worst_cases.programs.solver import Constraints

NO_EQUATIONS = (np.zeros((0, 1)), np.zeros(0))


def random_symmetric(rng, *shape):
    matrices = rng.normal(size=(*shape, shape[-1]))
    return matrices + np.swapaxes(matrices, -1, -2)


@pytest.fixture(params=[1, 1000])
def _either_way(request, monkeypatch):
    """By the steps here, and by Clarabel, whatever the size."""
    monkeypatch.setattr(interior_points, "LARGE", request.param)


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_the_largest_multiple_of_the_identity_below_a_matrix_is_the_smallest_eigenvalue(n):
    M = random_symmetric(np.random.default_rng(n), n)
    found = least(np.array([-1.0]), NO_EQUATIONS, [Cone(np.eye(n)[None, None], M[None])])
    smallest = np.linalg.eigvalsh(M)[0]
    assert found[0] == pytest.approx(smallest, rel=1e-7, abs=1e-7)
    assert found[0] <= smallest + 1e-9  # and what is returned is feasible


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("seed", range(6))
def test_random_programs_have_the_value_that_clarabel_finds(seed):
    """max t with M + Σ x_i F_i − t·I positive, |x_i| <= 1 and one equation."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 9)), int(rng.integers(2, 12))
    F_, M = random_symmetric(rng, k, n), random_symmetric(rng, n)
    matrices = np.concatenate([np.eye(n)[None], -F_])
    bounds = np.vstack([np.hstack([np.zeros((k, 1)), sign * np.eye(k)]) for sign in (1, -1)])
    equation, right = np.concatenate([[0.0], rng.normal(size=k)])[None], np.array([0.1])
    cones = [Cone(matrices[:, None], M[None]), Cone(bounds.T[..., None, None], np.ones((2 * k, 1, 1)))]
    objective = np.array([-1.0, *np.zeros(k)])
    found = least(objective, (np.vstack([equation, 2 * equation]), np.array([0.1, 0.2])), cones)
    same = Constraints()
    same.equal(equation, right)
    same.at_most(bounds, np.ones(2 * k))
    same.positive(matrices, M)
    other, _, _ = same.least(objective)
    assert same.violation(other) < 1e-8
    assert same.violation(other + np.array([1.0, *np.zeros(k)])) > 0.5  # t beyond the smallest eigenvalue
    assert found[0] == pytest.approx(other[0], rel=1e-6, abs=1e-6)
    assert equation @ found == pytest.approx(right, abs=1e-9)
    assert np.linalg.eigvalsh(cones[0].at(found)[0])[0] > -1e-8
    assert np.abs(found[1:]).max() < 1 + 1e-8


@pytest.mark.usefixtures("_either_way")
def test_what_has_no_solution_has_no_answer():
    twice = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert solutions(twice, np.array([1.0, 2.0]))[0] is None
    assert solutions(np.array([[0.0, 0.0]]), np.array([1.0]))[0] is None
    nowhere = [Cone(np.array([[[[1.0]]], [[[0.0]]]]), np.array([[[-1.0]]])),  # x <= −1 and x >= 1
               Cone(np.array([[[[-1.0]]], [[[0.0]]]]), np.array([[[-1.0]]]))]  # fmt: skip
    assert least(np.array([1.0, 0.0]), (np.array([[0.0, 1.0]]), np.zeros(1)), nowhere) is None


def test_equations_alone_determine_the_answer():
    found = least(
        np.array([1.0]), (np.array([[2.0]]), np.array([3.0])), [Cone(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1)))]
    )
    assert found == pytest.approx([1.5])


@pytest.mark.parametrize("kappa", [100, 1000])
def test_thirty_two_steps_are_tight(kappa):
    found = lyapunov(fc.Scaffold(stepsize=F(1, kappa), local_steps=32), SmoothStronglyConvex(1, kappa))
    assert found.upper == found.lower == F(31, 32) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("kappa", [100, 1000])
def test_sixty_four_steps_are_tight(kappa):
    """Beyond the theorem's condition the deviations are slower: 1 − 1/e a round, on clients of curvature L."""
    found = lyapunov(fc.Scaffold(stepsize=F(1, kappa), local_steps=64), SmoothStronglyConvex(1, kappa))
    assert found.upper == found.lower == F(63, 64) ** 2
