"""The accuracy of local solvers with a tolerance, decided in rationals; a start within it is returned unchanged."""

from fractions import Fraction

import numpy as np
import pytest
from high_precision import client, fifty_digits, vector
from hypothesis import given
from problem_makers import FLOATS, few, floats, fractions
from subproblem_makers import BOWLS, LOSSES, asked, exact_gradients, longest, minimisers, solvable

import fedconvex as fc
from fedconvex.arithmetic import newton
from fedconvex.problems.base import Subproblem

TOLERANCE = 1e-9
TO_TOLERANCE = [fc.Newton(tolerance=TOLERANCE), fc.AcceleratedGradient(tolerance=TOLERANCE)]


class TestTolerances:
    @pytest.mark.parametrize("arithmetic", FLOATS)
    @few
    @given(task=solvable())
    def test_are_reached(self, arithmetic, task) -> None:
        """Decided in rationals, but for the rounding of the gradient that the solver saw."""
        problem, subproblem = task
        exact = floats(minimisers(problem, subproblem))
        least = problem.mu.min() + float(subproblem.weight)
        for solver in TO_TOLERANCE:
            theta = asked(problem, subproblem, solver, arithmetic)
            assert longest(exact_gradients(problem, subproblem, theta)) <= TOLERANCE + 1e-13
            assert np.abs(theta - exact).max() <= 1.01 * TOLERANCE / least + 1e-12
        assert np.allclose(asked(problem, subproblem, fc.Exact(), arithmetic), exact, rtol=1e-9, atol=1e-12)

    @few
    @given(task=solvable())
    def test_are_reached_without_inverses(self, task) -> None:
        """As for Hessians that are too large to be inverted."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(newton, "INVERSION_LIMIT", 0)
            patch.setattr(newton, "_inverse", lambda *_: pytest.fail("a Hessian was inverted"))
            for arithmetic in FLOATS:
                theta = asked(*task, fc.Newton(tolerance=TOLERANCE), arithmetic)
                assert longest(exact_gradients(*task, theta)) <= TOLERANCE + 1e-13

    def test_half_as_good_would_be_seen(self) -> None:
        """The same check tells tolerances apart: an answer to 2·tolerance is none to the tolerance."""
        problem = fc.Quadratic([[[1, 0], [0, 100]]], [[1, 1]])
        subproblem = Subproblem(fractions([[3, 2]]), Fraction(1, 2), fractions([[1, 1]]))
        exact = minimisers(problem, subproblem)
        worse = exact + fractions([[2e-9, 0]]) / Fraction(3, 2)
        assert TOLERANCE + 1e-13 < longest(exact_gradients(problem, subproblem, worse)) < 2.01 * TOLERANCE

    @pytest.mark.parametrize("kind", LOSSES)
    @pytest.mark.parametrize("arithmetic", FLOATS)
    def test_who_else_takes_part_does_not_matter(self, kind, arithmetic) -> None:
        """To those who step on their own; Newton's method shares its decisions, and stays within the tolerance."""
        clients = LOSSES[kind].clients(arithmetic)
        X = clients.arithmetic.array(np.arange(3.0 * clients.dim).reshape(3, -1) % 7 - 3)
        steps = [
            fc.GradientDescent(steps=3, stepsize=0.1),
            fc.AcceleratedGradient(tolerance=1e-3),
            fc.ToInexactness(0.3),
        ]
        for solver, off in [*((solver, 1e-13) for solver in steps), (fc.Newton(tolerance=1e-3), 3e-3)]:
            together = solver.solve(clients, Subproblem(X, 0.5, X)).points
            for members in ([0], [1, 2], [0, 2]):
                part = Subproblem(X, 0.5, X).of(np.array(members))
                alone = solver.solve(clients.subset(np.array(members)), part).points
                assert np.asarray(alone) == pytest.approx(np.asarray(together)[members], abs=off)

    @pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-11])
    @pytest.mark.parametrize("kind", ["logistic", "multinomial"])
    def test_on_losses_without_closed_form(self, kind, tolerance) -> None:
        problem = LOSSES[kind]
        rows = np.arange(3 * problem.dim).reshape(3, -1)
        subproblem = Subproblem(rows % 5 - 2.0, 0.25, rows % 3 - 1.0, rows % 2 - 0.5)
        exact = asked(problem, subproblem, fc.Exact())

        def left(theta: np.ndarray) -> list[np.ndarray]:
            rest = subproblem.linear + 0.25 * (theta - subproblem.center)
            with fifty_digits():
                return [client(problem, k, vector(x))[1] + vector(rest[k]) for k, x in enumerate(theta)]

        assert longest(left(exact)) < 1e-13
        for solver in (fc.Newton(tolerance=tolerance), fc.AcceleratedGradient(tolerance=tolerance)):
            for arithmetic in FLOATS:
                theta = asked(problem, subproblem, solver, arithmetic)
                assert longest(left(theta)) <= tolerance + 1e-14
                assert np.abs(theta - exact).max() <= tolerance / 0.75 + 1e-13
        coarse = asked(problem, subproblem, fc.AcceleratedGradient(tolerance=10 * tolerance))
        assert longest(left(coarse)) > tolerance  # which the check rejects

    @pytest.mark.parametrize("solver", TO_TOLERANCE, ids=repr)
    def test_a_start_that_is_good_enough_is_the_answer(self, solver) -> None:
        """Whatever the others still have to do."""
        problem = BOWLS
        subproblem = Subproblem(np.zeros((3, 2)), Fraction(1), fractions(np.ones((3, 2), dtype=int)))
        start = floats(minimisers(problem, subproblem)) + 1e-11
        start[1] += 1.0
        theta = asked(problem, Subproblem(start, 1.0, np.ones((3, 2))), solver)
        assert np.array_equal(theta[[0, 2]], start[[0, 2]])
        assert theta[1] == pytest.approx(start[1] - 1.0, abs=1e-8)
