"""Is this point a minimiser, is it a fixed point? Quadratics are decided in rationals, logistic losses in balls."""

from typing import Any

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import norm
from fedconvex.arithmetic.rationals import Array, to_fmpq
from fedconvex.errors import InvalidInput, NoFixedPoint, NoMinimizer
from fedconvex.fixed_points import FixedPoint, fixed_point
from fedconvex.fixed_points.equations import QuadraticFixedPoints, solve_symmetric, stationarity
from fedconvex.ground_truths import ground_truth, require_minimizer
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.problems.base import Problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.runs.rounds import rounds_of
from fedconvex.testing.failures import decide, refuted, undecided
from fedconvex.validation import non_negative, points

PRECISION = 128


def assert_minimizer(problem: Problem, x: Any, tolerance: Any = 0) -> None:
    """Passes where ‖x − x*‖ <= tolerance is proved, x* being the minimiser of the objective, the nearest of many.

    Least squares and quadratics are decided in rationals, whatever the tolerance; a float entry is the rational number
    that it is. For logistic losses x* is enclosed in balls.

    Args:
        problem: of any kind.
        x: (d,) ints, Fractions, floats.
        tolerance: >= 0; for logistic losses, whose minimisers are not rational, > 0.

    Raises:
        AssertionError: x is proved to be further away, or there is no minimiser at all.
        NotDecided: the enclosure is too wide (logistic losses).
        InvalidInput: for what is no problem or no point of it.
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


def assert_fixed_point(
    method: Method, problem: Problem, x: Any, tolerance: Any = 0, *, local_solver: LocalSolver | None = None
) -> None:
    """Passes where ‖x − w‖ <= tolerance is proved for a fixed point w of the method, everyone taking part.

    Where there are many fixed points, w is the nearest; for methods with memory that start decides (there, one cannot
    tell), see Raises. Quadratics are decided in rationals, logistic losses in balls.

    Args:
        method, problem: as for `fedconvex.fixed_point`.
        x: (d,) ints, Fractions, floats: the server's point.
        tolerance: >= 0; for logistic losses > 0.
        local_solver: default the method's own.

    Raises:
        AssertionError: x is proved to be further away, or there is no fixed point.
        NotDecided: the enclosure is too wide, or the method has many fixed points and memory that chooses among them.
        InvalidInput: for what is no problem, no method, no point.
    """
    point = _checked(problem, x, tolerance)
    numbers = "exact" if isinstance(problem, QuadraticProblem) else "ball"
    try:
        stop = fixed_point(method, problem, arithmetic=numbers, local_solver=local_solver)
    except (NoFixedPoint, NoMinimizer) as error:
        refuted(f"x is no fixed point of {method}: there is none", reason=str(error), direction=error.witness)
    nearest = _nearest(stop, point)
    _near(point, nearest, tolerance, f"x is not a fixed point of {method}")
    if method.memoryless and numbers == "exact":
        _stays(method, problem, nearest, local_solver)


def _stays(method: Method, problem: Problem, point: Array, local_solver: LocalSolver | None) -> None:
    """The second route: the method's own round, played from the point, leads back to it."""
    rounds = rounds_of(method, problem, "exact", local_solver)
    start = rounds.arithmetic.array(point)
    after = rounds.advance(rounds.start(start)).server
    if any(after != start):
        refuted(f"the formula's fixed point is none of {method}: a round moves it", formula=start, after_a_round=after)


def _nearest(stop: FixedPoint, point: Array) -> Array:
    """The fixed point that is nearest to the point."""
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
    """Passes where ‖point − target‖ <= tolerance is proved."""
    exact = type(target[0]).__name__ != "arb"
    numbers = arithmetics.get("exact" if exact else "ball", precision=PRECISION)
    with numbers.context():
        away = numbers.array(point) - numbers.array(target)
        square, bound = (away * away).sum(), numbers.scalar(to_fmpq(tolerance, "tolerance")) ** 2
        where = "it_should_be" if exact else "it_should_be_in"
        distance = float(square) ** 0.5 if exact else norm(away)
        found = {"x": point, where: numbers.publish(target), "distance": distance, "tolerance": tolerance}
        decide(square, bound, headline, **found, **more)


def _checked(problem: Any, x: Any, tolerance: Any) -> Array:
    """The point; everything that can be wrong is refused before any work."""
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "is not a problem", "give for example fedconvex.LeastSquares(A=…, b=…)")
    non_negative(tolerance, "tolerance")
    if tolerance == 0 and not isinstance(problem, QuadraticProblem):
        cure = "give tolerance > 0"
        raise InvalidInput("tolerance", tolerance, "is 0, but the point of a logistic loss is not rational", cure)
    point = points(x, "x", [(problem.dim,)])
    if any(type(entry).__name__ == "arb" for entry in point.ravel().tolist()):
        raise InvalidInput("x", x, "is made of balls", "give exact numbers or floats: the balls' midpoints")
    if hasattr(point, "detach"):
        return point.detach().cpu().numpy()
    return point
