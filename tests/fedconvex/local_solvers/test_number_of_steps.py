"""How many steps local solvers need to reach a tolerance, and the error where the allowed steps do not suffice."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, log, log1p, sqrt
from typing import Any

import numpy as np
import pytest
from subproblem_makers import BOWLS, LOSSES, asked, valley

import fedconvex as fc
from fedconvex.errors import NotConverged
from fedconvex.problems.base import Clients, Curvatures, Subproblem


def counted(clients: Clients) -> list[np.ndarray]:
    """The points at which gradients are asked for from now on."""
    points: list[np.ndarray] = []
    gradients = clients.gradients

    def gradients_and_note(X: np.ndarray) -> np.ndarray:
        points.append(np.array(X))
        return gradients(X)

    clients.gradients = gradients_and_note
    return points


def gradients_in_the_valley(kappa: int, solver: Any) -> int:
    """How many the solver asks for."""
    problem, subproblem = valley(kappa)
    points = counted(problem.clients("float"))
    asked(problem, subproblem, solver)
    return len(points)


def most_steps(kappa: int) -> int:
    """Of the accelerated method through the valley to 1e-8.

    From f(x_t) − f* <= LR²(1 − 1/√κ)^t and ‖∇f(y_t)‖ <= L‖y_t − x*‖ <= 3L max(‖x_t − x*‖, ‖x_{t−1} − x*‖).
    """
    L, R = kappa, sqrt(12)
    return ceil(2 * sqrt(kappa) * log(3 * L * sqrt(2 * kappa) * R / 1e-8)) + 1


class TestAcceleration:
    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("kappa", [400, 1600, 25600])
    def test_takes_the_square_root_of_the_steps(self, kappa) -> None:
        """Gradient descent's are bounded from below: its slowest coordinate shrinks by 1 − 1/κ in each."""
        descent = int(log(1e-8) / log1p(-1 / kappa))
        assert gradients_in_the_valley(kappa, fc.AcceleratedGradient(tolerance=1e-8)) <= most_steps(kappa)
        assert most_steps(kappa) < 0.2 * descent
        if kappa <= 1600:  # whose steps can be waited for
            plain = fc.ToInexactness(1e-8 / np.linalg.norm(np.geomspace(1, kappa, 12)))
            assert descent < gradients_in_the_valley(kappa, plain) < 1.5 * descent

    def test_steps_double_where_the_condition_number_is_four_times_as_large(self) -> None:
        accelerated = fc.AcceleratedGradient(tolerance=1e-8)
        counts = [gradients_in_the_valley(kappa, accelerated) for kappa in (100, 400, 1600, 6400)]
        assert all(1.7 < after / before < 2.6 for before, after in pairwise(counts))

    def test_without_momentum_it_would_not(self) -> None:
        """Told that μ = L, the solver takes plain steps: the bound rejects them."""
        problem, subproblem = valley(1600)
        clients = problem.clients("float")
        clients.curvatures = Curvatures(lambda: (problem.L, problem.L))
        with pytest.raises(NotConverged):
            asked(problem, subproblem, fc.AcceleratedGradient(tolerance=1e-8, max_steps=most_steps(1600)))

    def test_convex_clients(self) -> None:
        """f(x_t) − f* <= 2L R²/(t + 1)² for t/(t + 3), which plain gradient steps violate."""
        slow = 1 / 400
        problem = fc.Quadratic([np.diag([1.0, slow, 0.0])], [np.zeros(3)])
        start = np.array([[1e-3, 1.0, 5.0]])
        points = counted(problem.clients("float"))
        answer = asked(problem, Subproblem(start), fc.AcceleratedGradient(tolerance=1e-7))
        spectrum, R2 = np.array([1, slow, 0]), float((start[0, :2] ** 2).sum())

        def within(iterates: list[np.ndarray]) -> bool:
            values = [float((spectrum * x * x).sum() / 2) for x in iterates]
            return all(value <= 2 * R2 / (t + 1) ** 2 + 1e-15 for t, value in enumerate(values) if t > 0)

        steps = [start, *(y - spectrum * y for y in points)]  # x_0, x_1, …: the gradient steps from the y
        assert len(steps) > 100
        assert within(steps)
        descent = [start * (1 - spectrum) ** t for t in range(300)]
        assert not within(descent)
        assert answer[0, 2] == 5.0  # nothing moves along the kernel
        assert np.linalg.norm(spectrum * answer) <= 1e-7

    def test_clients_of_all_kinds_together(self) -> None:
        """Without curvature, convex, strongly convex; one without curvature that has a slope has no answer."""
        H = [np.zeros((2, 2)), np.diag([1.0, 0.0]), np.diag([3.0, 7.0])]
        problem = fc.Quadratic(H, [[0, 0], [2, 0], [3, 7]])
        answer = asked(problem, Subproblem(np.full((3, 2), 4.0)), fc.AcceleratedGradient(tolerance=1e-9))
        assert answer == pytest.approx(np.array([[4, 4], [2, 4], [1, 1]]), abs=1e-8)
        falling = fc.Quadratic(H, [[1, 0], [2, 0], [3, 7]])
        with pytest.raises(NotConverged, match=r"^1 local problems .* largest remaining gradient norm is 1,"):
            asked(falling, Subproblem(np.zeros((3, 2))), fc.AcceleratedGradient(max_steps=2000))


def accelerated_steps(H: np.ndarray, start: np.ndarray, tolerance: float) -> tuple[int, list[float]]:
    """How many steps Nesterov's method takes from start to ‖Hy‖ <= tolerance, and all ‖Hy‖."""
    L, mu = max(np.diag(H)), min(np.diag(H))
    x, y, norms = start, start, [float(np.linalg.norm(H @ start))]
    while norms[-1] > tolerance:
        x, before = y - H @ y / L, x
        y = x + (sqrt(L) - sqrt(mu)) / (sqrt(L) + sqrt(mu)) * (x - before)
        norms.append(float(np.linalg.norm(H @ y)))
    return len(norms) - 1, norms


class TestMaxSteps:
    H = np.diag([1.0, 40.0])

    task = fc.Quadratic([H], [[0, 0]]), Subproblem(np.ones((1, 2)))

    def steps_needed(self, solver: Any, task: Any = task) -> int:
        """The least max_steps that is enough."""
        for n in range(1, 300):
            try:
                asked(*task, replace(solver, max_steps=n))
            except NotConverged:
                continue
            return n
        raise AssertionError

    @pytest.mark.parametrize("tolerance", [30.0, 1.0, 1e-3, 1e-8])
    def test_as_many_as_the_client_needs(self, tolerance) -> None:
        needed, _ = accelerated_steps(self.H, np.ones(2), tolerance)
        assert self.steps_needed(fc.AcceleratedGradient(tolerance=tolerance)) == needed >= 1

    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("gamma", [Fraction(9, 10), Fraction(1, 41), Fraction(1, 10**4)])
    def test_as_many_gradient_steps(self, gamma) -> None:
        """Of size 1/L; the slow coordinate shrinks by 1 − 1/40, the fast one is 0 after one."""
        needed = next(n for n in range(1, 300) if (1 - 1 / 40) ** n <= float(gamma) * sqrt(1 + 40**2))
        assert self.steps_needed(fc.ToInexactness(gamma)) == needed

    def test_newton_solves_a_quadratic_in_one(self) -> None:
        assert self.steps_needed(fc.Newton(), valley(1600)) == 1

    @pytest.mark.parametrize(
        "solver",
        [fc.Newton(max_steps=2), fc.AcceleratedGradient(max_steps=5), fc.ToInexactness(Fraction(1, 10**9), 20)],
        ids=repr,
    )
    def test_too_few_are_reported(self, solver) -> None:
        with pytest.raises(NotConverged, match=rf"^\d local problems were not solved in {solver.max_steps} steps") as e:
            fc.simulate(fc.FedProx(mu=0.25), LOSSES["logistic"], 1, local_solver=solver, x0=[1, 2])
        assert "max_steps" in str(e.value)

    def test_the_message_is_true(self) -> None:
        """Client 0 is solved at once, client 2 has the largest gradient left after the last step."""
        H, n, tolerance = [np.eye(2), self.H, 2 * self.H], 12, 1e-6
        problem, start = fc.Quadratic(H, np.zeros((3, 2))), Subproblem(np.ones((3, 2)))
        left = [accelerated_steps(part, np.ones(2), 1e-12)[1] for part in H[1:]]
        with pytest.raises(NotConverged) as caught:
            asked(problem, start, fc.AcceleratedGradient(tolerance=tolerance, max_steps=n))
        worst = max(norms[n] for norms in left)
        assert f"2 local problems were not solved in {n} steps" in str(caught.value)
        assert f"largest remaining gradient norm is {worst:.3g}, required {tolerance:.3g}" in str(caught.value)

    @pytest.mark.parametrize("solver", [fc.Newton(), fc.AcceleratedGradient(max_steps=50)], ids=repr)
    def test_what_is_no_number_is_no_answer(self, solver) -> None:
        problem, start = BOWLS, np.ones((3, 2))
        start[1, 0] = np.nan
        with pytest.raises(NotConverged):
            asked(problem, Subproblem(start, 1.0, np.ones((3, 2))), solver)
