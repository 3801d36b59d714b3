"""Assertions on points: minimisers and fixed points, decided in rationals (quadratics) or balls (logistic losses)."""

from typing import Any

from fedconvex import arithmetic as arithmetics
from fedconvex.argument_order import method_then_problem
from fedconvex.arithmetic.balls import norm
from fedconvex.arithmetic.rationals import Array, nearest_float, to_fmpq
from fedconvex.errors import InvalidInput, NoFixedPoint, NoMinimizer
from fedconvex.fixed_points import FixedPoint, fixed_point
from fedconvex.fixed_points.equations import QuadraticFixedPoints, solve_symmetric, stationarity
from fedconvex.ground_truths import ground_truth, require_minimizer
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import require_problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.testing.failures import decide, refuted, undecided
from fedconvex.types import Exact, Vector
from fedconvex.validation import from_torch, is_tensor, non_negative, points

PRECISION = 128


def assert_minimizer(problem: Problem, x: Vector, tolerance: Exact = 0) -> None:
    """Assert ‖x − x*‖ <= tolerance, x* being the minimiser of the objective nearest to x.

    Use it to test an optimizer's result without a reference solution. Least squares and quadratics are decided in
    rationals, for every tolerance, and a float counts as the rational number that it represents. For logistic losses x*
    is enclosed in balls, so that a tolerance far below the enclosure's width is not decided.

    Args:
        problem: any convex problem of the package.
        x: (d,) ints, Fractions, floats.
        tolerance: >= 0; > 0 for logistic losses, whose minimisers are not rational.

    Raises:
        AssertionError: x is proved to be further away, or the objective has no minimiser.
        NotDecided: the enclosure is too wide (logistic losses).
        InvalidInput: the argument is not a problem, or not a point of its dimension.
    """
    point = _checked(problem, x, tolerance)
    try:
        require_minimizer(problem)
        if isinstance(problem, QuadraticProblem):
            exact = arithmetics.get("exact")
            anchored = exact.array(point)
            nearest = solve_symmetric(stationarity(problem), exact, anchor=anchored, kernel=lambda: problem.kernel)
        else:
            nearest = ground_truth(problem).enclosure()
    except NoMinimizer as error:
        refuted("x is no minimiser: there is none", reason=str(error), direction=error.witness)
    gradient = [float(g) for g in problem.gradient(point)]
    _near(point, nearest, tolerance, f"x is not a minimiser of {problem}", gradient_at_x=gradient)


@method_then_problem
def assert_fixed_point(
    method: Method, problem: Problem, x: Vector, tolerance: Exact = 0, *, local_solver: LocalSolver | None = None
) -> None:
    """Assert ‖x − w‖ <= tolerance for the fixed point w of the method nearest to x, with all clients active.

    Use it to test where an implementation of a method converges. Quadratics are decided in rationals, logistic losses
    in balls. If the method has many fixed points and a memory that selects one by the initial state, no nearest one is
    computed: see NotDecided.

    Args:
        method, problem: as for `fedconvex.fixed_point`.
        x: (d,) ints, Fractions, floats: the server's point.
        tolerance: >= 0; > 0 for logistic losses.
        local_solver: default: the method's own.

    Raises:
        AssertionError: x is proved to be further away, or there is no fixed point.
        NotDecided: the enclosure is too wide, or the method has many fixed points and memory that selects among them.
        InvalidInput: an argument is not a method, a problem, or a point of its dimension.
    """
    point = _checked(problem, x, tolerance)
    numbers = "exact" if isinstance(problem, QuadraticProblem) else "ball"
    try:
        stop = fixed_point(method, problem, arithmetic=numbers, local_solver=local_solver)
    except (NoFixedPoint, NoMinimizer) as error:
        refuted(f"x is no fixed point of {method}: there is none", reason=str(error), direction=error.witness)
    nearest = _nearest(stop, point)
    _near(point, nearest, tolerance, f"x is not a fixed point of {method}")


def _nearest(stop: FixedPoint, point: Array) -> Array:
    """The fixed point nearest to `point`."""
    found = stop.analysis
    if not isinstance(found, QuadraticFixedPoints) or found.unique:
        return stop.point
    if not found.has_closed_form:
        undecided(f"{stop.method} has many fixed points, and its memory decides which", one_of_them=stop.point)
    from fedconvex.arithmetic.definiteness import null_space

    exact = arithmetics.get("exact")

    def kernel() -> list[Array]:
        return null_space(found.equation(exact).phi)

    return solve_symmetric(found.equation, exact, anchor=exact.array(point), kernel=kernel)


def _near(point: Array, target: Array, tolerance: Any, headline: str, **more: Any) -> None:
    """Asserts ‖point − target‖ <= tolerance."""
    exact = type(target[0]).__name__ != "arb"
    numbers = arithmetics.get("exact" if exact else "ball", precision=PRECISION)
    with numbers.context():
        away = numbers.array(point) - numbers.array(target)
        # squares: the norm of a rational vector is irrational
        square, bound = (away * away).sum(), numbers.scalar(to_fmpq(tolerance, "tolerance")) ** 2
        where = "it_should_be" if exact else "it_should_be_in"
        distance = nearest_float(square) ** 0.5 if exact else norm(away)
        found = {"x": point, where: numbers.publish(target), "distance": distance, "tolerance": tolerance}
        decide(square, bound, headline, **found, **more)


def _checked(problem: Any, x: Any, tolerance: Any) -> Array:
    """The point as an array, after checking all arguments."""
    require_problem(problem)
    non_negative(tolerance, "tolerance")
    if tolerance == 0 and not isinstance(problem, QuadraticProblem):
        cure = "give tolerance > 0"
        raise InvalidInput("tolerance", tolerance, "is 0, but the point of a logistic loss is not rational", cure)
    point = points(x, "x", [(problem.dim,)])
    if any(type(entry).__name__ == "arb" for entry in point.ravel().tolist()):
        raise InvalidInput("x", x, "is made of balls", "give exact numbers or floats: the balls' midpoints")
    if is_tensor(point):
        return from_torch(point, "x")
    return point
