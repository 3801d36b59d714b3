"""What local solvers with a tolerance reach, in how many steps, and what they refuse."""

import importlib.util
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, log, log1p, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import (
    POSITIVE,
    Draw,
    entries,
    few,
    floats,
    fractions,
    inverse,
    least_squares,
    quadratics,
    terms_of,
)
from run_makers import instance

import fedconvex as fc
from fedconvex import newton
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.methods import METHODS
from fedconvex.problems.base import Clients, Curvatures, Subproblem
from fedconvex.rounds import rounds_of

FLOATS = ["float", *(["torch"] if importlib.util.find_spec("torch") else [])]
RIDGE = Fraction(1, 2)
BOWLS = fc.Quadratic([[[2, 1], [1, 2]], [[1, 0], [0, 3]], [[3, -1], [-1, 1]]], [[1, 2], [0, 1], [1, -1]])
LOSSES = {
    "logistic": fc.Logistic(
        [[[1, 2], [0, 1], [1, 1]], [[2, 1], [0, 1]], [[1, -1], [0, 1]]], [[1, -1, 1], [1, -1], [-1, -1]], RIDGE
    ),
    "multinomial": fc.MultinomialLogistic(
        [[[1], [0], [1]], [[2], [1]], [[1], [-1]]], [[0, 1, 2], [1, 0], [2, 0]], 3, RIDGE
    ),
}


def asked(problem: Any, subproblem: Subproblem, solver: Any, arithmetic: str = "float") -> np.ndarray:
    """The solver's answers, as floats."""
    clients = problem.clients(arithmetic)
    numbers = clients.arithmetic
    parts = [subproblem.start, subproblem.center, subproblem.linear]
    with numbers.context():
        start, center, linear = (None if part is None else numbers.array(part) for part in parts)
        there = Subproblem(start, numbers.scalar(subproblem.weight), center, linear)
        return np.asarray(numbers.to_float(solver.solve(clients, there).points))


def exact_gradients(problem: Any, subproblem: Subproblem, theta: Any) -> list[np.ndarray]:
    """Those of the subproblems, in Fractions, at floats taken as the rationals they are."""
    terms, theta = terms_of(problem), fractions(theta)
    gradients = []
    for k, (H, c) in enumerate(zip(terms.H, terms.c, strict=True)):
        g = H @ theta[k] - c
        if subproblem.center is not None:
            g = g + subproblem.weight * (theta[k] - subproblem.center[k])
        if subproblem.linear is not None:
            g = g + subproblem.linear[k]
        gradients.append(g)
    return gradients


def minimisers(problem: Any, subproblem: Subproblem) -> np.ndarray:
    """Of the subproblems, in Fractions."""
    terms, d = terms_of(problem), problem.dim
    right = exact_gradients(problem, subproblem, np.zeros((problem.num_clients, d), dtype=int))
    return np.array(
        [-inverse(H + subproblem.weight * fractions(np.eye(d, dtype=int))) @ r
         for H, r in zip(terms.H, right, strict=True)]
    )  # fmt: skip


def longest(gradients: Any) -> float:
    return max(sqrt(g @ g) for g in gradients)


@st.composite
def subproblems(draw: Draw, problem: Any, weights: Any) -> Subproblem:
    """With a proximal term of one of the weights or without one, with a linear term or without."""
    shape = (problem.num_clients, problem.dim)
    weight = draw(weights)
    center = draw(entries(*shape)) if weight else None
    return Subproblem(draw(entries(*shape)), weight, center, draw(st.none() | entries(*shape)))


@st.composite
def solvable(draw: Draw) -> tuple[Any, Subproblem]:
    """Least squares, or quadratics that may be indefinite with a proximal term that makes up for it."""
    problem = draw(least_squares() | least_squares(full_rank=True) | quadratics())
    safe = Fraction(max(0.0, -problem.mu.min())).limit_denominator(1000) + Fraction(1, 3)
    enough = [Fraction(0)] if problem.mu.min() > 0.1 else []
    return problem, draw(subproblems(problem, st.sampled_from([*enough, safe, safe + 1, 10 * safe])))


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
            linear, pull = subproblem.linear, 0.25 * (theta - subproblem.center)
            return [loss_gradient(kind, k, x) + linear[k] + pull[k] for k, x in enumerate(theta)]

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


def loss_gradient(kind: str, k: int, x: np.ndarray) -> np.ndarray:
    """∇f_k of LOSSES[kind], sample by sample."""
    problem, total = LOSSES[kind], np.zeros(len(x))
    for a, y in zip(problem.A[k].astype(float), problem.y[k].tolist(), strict=True):
        if kind == "logistic":
            total += -y / (1 + exp(y * (a @ x))) * a
        else:
            powers = [exp(score) for score in x.reshape(3, -1) @ a]
            total += np.concatenate([(p / sum(powers) - (c == y)) * a for c, p in enumerate(powers)])
    return total / len(problem.y[k]) + float(RIDGE) * x


def counted(clients: Clients) -> list[np.ndarray]:
    """The points at which gradients are asked for from now on."""
    points: list[np.ndarray] = []
    gradients = clients.gradients

    def gradients_and_note(X: np.ndarray) -> np.ndarray:
        points.append(np.array(X))
        return gradients(X)

    clients.gradients = gradients_and_note
    return points


def valley(kappa: int, d: int = 12) -> tuple[fc.Quadratic, Subproblem]:
    """Curvatures from 1 to κ, the minimiser at 0, and a start at distance 1 in every direction."""
    problem = fc.Quadratic([np.diag(np.geomspace(1, kappa, d))], [np.zeros(d)])
    return problem, Subproblem(np.ones((1, d)))


def most_steps(kappa: int) -> int:
    """Of the accelerated method through the valley to 1e-8.

    From f(x_t) − f* <= LR²(1 − 1/√κ)^t and ‖∇f(y_t)‖ <= L‖y_t − x*‖ <= 3L max(‖x_t − x*‖, ‖x_{t−1} − x*‖).
    """
    L, R = kappa, sqrt(12)
    return ceil(2 * sqrt(kappa) * log(3 * L * sqrt(2 * kappa) * R / 1e-8)) + 1


class TestAcceleration:
    @pytest.mark.parametrize("kappa", [400, 1600, 25600])
    def test_takes_the_square_root_of_the_steps(self, kappa) -> None:
        """Gradient descent's are bounded from below: its slowest coordinate shrinks by 1 − 1/κ in each."""
        problem, subproblem = valley(kappa)
        points = counted(problem.clients("float"))
        asked(problem, subproblem, fc.AcceleratedGradient(tolerance=1e-8))
        descent = int(log(1e-8) / log1p(-1 / kappa))
        assert len(points) <= most_steps(kappa) < 0.2 * descent
        if kappa <= 1600:  # whose steps can be waited for
            problem, subproblem = valley(kappa)
            visited = counted(problem.clients("float"))
            asked(problem, subproblem, fc.ToInexactness(1e-8 / np.linalg.norm(np.geomspace(1, kappa, 12))))
            assert descent < len(visited) < 1.5 * descent

    def test_steps_double_where_the_condition_number_is_four_times_as_large(self) -> None:
        counts = []
        for kappa in (100, 400, 1600, 6400):
            problem, subproblem = valley(kappa)
            points = counted(problem.clients("float"))
            asked(problem, subproblem, fc.AcceleratedGradient(tolerance=1e-8))
            counts.append(len(points))
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
        with pytest.raises(NotConverged, match=r"^1 local problems .* largest gradient left is 1,"):
            asked(falling, Subproblem(np.zeros((3, 2))), fc.AcceleratedGradient(max_steps=2000))


class TestCurvatureIsRequired:
    SADDLE = fc.Quadratic([[[2, 0], [0, 1]], [[0, 2], [2, 0]]], [[1, 1], [1, 1]])

    @pytest.mark.parametrize("solver", [fc.Newton(), fc.AcceleratedGradient(), fc.ToInexactness(0.5)], ids=repr)
    @few
    @given(problem=quadratics(), weight=POSITIVE)
    def test_indefinite_clients_are_refused_exactly_then(self, solver, problem, weight) -> None:
        least = problem.mu.min() + float(weight)
        if abs(least) < 1e-6:
            return
        method = fc.FedProx(mu=weight)
        if least > 0:
            rounds_of(method, problem, "float", solver)
            return
        with pytest.raises(InvalidInput, match=r"client \d's subproblem is not (strongly )?convex") as caught:
            rounds_of(method, problem, "float", solver)
        said = re.search(r"client (\d).*least curvature is (\S+)\); raise it above ([^,]+),", str(caught.value))
        assert said is not None
        mu = problem.mu[int(said[1])]
        assert [float(said[2]), float(said[3])] == pytest.approx([mu + float(weight), -mu], rel=1e-4)
        enough = Fraction(-problem.mu.min()).limit_denominator(10**6) + Fraction(1, 100)
        rounds_of(fc.FedProx(mu=enough), problem, "float", solver)

    def test_on_the_border(self) -> None:
        """A least curvature of 0 is convex, not strongly convex."""
        border = fc.FedProx(mu=2)
        rounds_of(border, self.SADDLE, "float", fc.AcceleratedGradient())
        for solver in (fc.Newton(), fc.ToInexactness(0), fc.Exact()):
            with pytest.raises(InvalidInput):
                rounds_of(border, self.SADDLE, "float", solver)
        for solver in (fc.Newton(), fc.ToInexactness(0), fc.AcceleratedGradient(), fc.Exact()):
            rounds_of(fc.FedProx(mu=2.001), self.SADDLE, "float", solver)
            with pytest.raises(InvalidInput):
                rounds_of(fc.FedProx(mu=1.999), self.SADDLE, "float", solver)

    @pytest.mark.parametrize("name", [name for name in METHODS if name not in ("FedNova", "Scaffold")])
    def test_methods_without_a_pull_need_it_of_the_clients(self, name) -> None:
        wide = fc.LeastSquares([[[1, 2]], [[2, 1]]], [[1], [1]])
        pulled = instance(name).proximal_weight != 0
        for solver in (fc.Newton(), fc.ToInexactness(0.5), fc.Exact()):
            if pulled:
                rounds_of(instance(name), wide, "float", solver)
            else:
                with pytest.raises(InvalidInput, match="client 0"):
                    rounds_of(instance(name), wide, "float", solver)
        rounds_of(instance(name), wide, "float", fc.AcceleratedGradient())

    def test_convexity_is_decided_exactly(self) -> None:
        """Positive definite, although the eigenvalues that floats find have a negative one among them."""
        rows = np.array([[6, 2, 0], [-5, -4, -9]], dtype=object)
        H = rows.T @ rows + Fraction(1, 10**17) * fractions(np.eye(3, dtype=int))
        problem = fc.Quadratic([H], [[1, 1, 1]])
        assert problem.is_convex
        rounds_of(fc.FedGD(stepsize=1), problem, "float", fc.AcceleratedGradient())
        bent = fc.Quadratic([H - Fraction(2, 10**17) * fractions(np.eye(3, dtype=int))], [[1, 1, 1]])
        assert not bent.is_convex
        with pytest.raises(InvalidInput, match="not convex"):
            rounds_of(fc.FedGD(stepsize=1), bent, "float", fc.AcceleratedGradient())

    def test_a_factor_counts(self) -> None:
        """A client of weight 0 is no function at all to methods that carry the weights in the clients."""
        problem = fc.Quadratic([[[-4]], [[2]]], [[1], [1]], weights=[0, 1])
        for solver in (fc.Newton(), fc.AcceleratedGradient(), fc.ToInexactness(0.5), fc.Exact()):
            rounds_of(fc.FedDyn(alpha=1), problem, "float", solver)
            with pytest.raises(InvalidInput, match="client 0"):
                rounds_of(fc.FedProx(mu=1), problem, "float", solver)


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

    def steps_needed(self, solve: Callable[[int], Any]) -> int:
        """The least max_steps that is enough."""
        for n in range(1, 300):
            try:
                solve(n)
            except NotConverged:
                continue
            return n
        raise AssertionError

    @pytest.mark.parametrize("tolerance", [30.0, 1.0, 1e-3, 1e-8])
    def test_as_many_as_the_client_needs(self, tolerance) -> None:
        problem, start = fc.Quadratic([self.H], [[0, 0]]), Subproblem(np.ones((1, 2)))
        needed, _ = accelerated_steps(self.H, np.ones(2), tolerance)
        assert needed >= 1
        solve = partial_solver(problem, start, lambda n: fc.AcceleratedGradient(tolerance=tolerance, max_steps=n))
        assert self.steps_needed(solve) == needed

    @pytest.mark.parametrize("gamma", [Fraction(9, 10), Fraction(1, 41), Fraction(1, 10**4)])
    def test_as_many_gradient_steps(self, gamma) -> None:
        """Of size 1/L; the slow coordinate shrinks by 1 − 1/40, the fast one is 0 after one."""
        problem, start = fc.Quadratic([self.H], [[0, 0]]), Subproblem(np.ones((1, 2)))
        needed = next(n for n in range(1, 300) if (1 - 1 / 40) ** n <= float(gamma) * sqrt(1 + 40**2))
        solve = partial_solver(problem, start, lambda n: fc.ToInexactness(gamma, max_steps=n))
        assert self.steps_needed(solve) == needed

    def test_newton_solves_a_quadratic_in_one(self) -> None:
        solve = partial_solver(*valley(1600), lambda n: fc.Newton(max_steps=n))
        assert self.steps_needed(solve) == 1

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
        assert f"largest gradient left is {worst:.3g}, asked for {tolerance:.3g}" in str(caught.value)

    @pytest.mark.parametrize("solver", [fc.Newton(), fc.AcceleratedGradient(max_steps=50)], ids=repr)
    def test_what_is_no_number_is_no_answer(self, solver) -> None:
        problem, start = BOWLS, np.ones((3, 2))
        start[1, 0] = np.nan
        with pytest.raises(NotConverged):
            asked(problem, Subproblem(start, 1.0, np.ones((3, 2))), solver)


def partial_solver(problem: Any, subproblem: Subproblem, solver: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda n: asked(problem, subproblem, solver(n))
