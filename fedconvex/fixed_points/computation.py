"""`fixed_point`: in closed form for quadratic clients, numerically and then enclosed for logistic losses."""

from dataclasses import replace

from fedconvex import arithmetic as arithmetics
from fedconvex import memory
from fedconvex.argument_order import method_then_problem
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.composite import CompositeFixedPoints
from fedconvex.fixed_points.equations import QuadraticFixedPoints
from fedconvex.fixed_points.result import FixedPoint, SameFixedPoints
from fedconvex.fixed_points.smooth_clients import SmoothFixedPoints
from fedconvex.fixed_points.wide_least_squares import WideFixedPoints
from fedconvex.local_solvers.base import LocalSolver, SmoothSolver
from fedconvex.methods.base import Method
from fedconvex.names import checked_keywords
from fedconvex.parameters import is_scheduled
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem
from fedconvex.problems.quadratics import LeastSquares, QuadraticProblem
from fedconvex.runs.rounds import Rounds, rounds_of
from fedconvex.validation import in_floats, integer_at_least, positive


@method_then_problem
@checked_keywords
def fixed_point(
    method: Method,
    problem: Problem | CompositeProblem,
    arithmetic: str = "float",
    local_solver: LocalSolver | None = None,
    precision: int = 128,
    target_radius: float | None = None,
) -> FixedPoint:
    """The fixed point of a method on a problem, with all clients taking part in every round.

    Use it to compare methods without running them: the fixed point is the limit of the rounds (where it attracts), and
    its `bias` is the error that no number of rounds removes. To see transients, or partial participation, use
    `simulate`.

    Least squares and quadratics: the solution of Φx = q (`fixed_points.equations`), in floats, rationals or balls; a
    float solution whose rounding errors could exceed about 1e-7 of it is computed in balls and rounded. Among many
    solutions, the one that rounds from the origin reach, or the least-norm one where the method does not converge.
    Logistic losses: Newton's method on w = T(w), T being one round; in balls, enclosed by contraction or by Krawczyk's
    theorem (`fixed_points.smooth_clients`), infinitely wide where neither applies.

    Composite problems f + ψ: the points where the round with its proximal step rests. For splitting methods they are
    the minimisers of f + ψ; on quadratic clients those of FedGD and FedProx, too, are rational for ℓ1 and boxes, and
    enclosed for the group lasso; on other strongly convex clients they are enclosed by contraction
    (`fixed_points.composite`).

    Of a method that is not linear, such as FedAdam, the fixed points may be known to be those of a linear one
    (`Method.fixed_points_of`), which are then computed; whether they attract is not.

    Args:
        arithmetic: "float" (NUMERIC), "exact" (quadratics: Fractions), "ball" (ENCLOSED: entries are flint balls, with
            `.lower()` and `.upper()`) or "torch".
        local_solver: default: the method's own. It must be `SmoothSolver`, such as Exact or GradientDescent.
        precision: bits of the balls, doubled until the radii reach `target_radius`.
        target_radius: for balls on quadratics; default 1e-20.

    Raises:
        NoFixedPoint: there is none; with the reason and a witness.
        NoMinimizer: logistic losses on separable data without a ridge, where every method goes to infinity.
        NotConverged: Newton's method found no fixed point, or floats determine it to fewer than about seven digits
            because a round hardly moves any point (logistic losses); or balls did not become small enough.
        InvalidInput: a client's subproblem has no or many solutions, or logistic losses in exact arithmetic.
    """
    numbers = arithmetics.get(arithmetic, precision=integer_at_least(precision, 2, "precision"))
    solver = _smooth_solver(method, local_solver)
    if isinstance(problem, CompositeProblem):
        composite = CompositeFixedPoints(method, problem, solver)
        with memory.refusing("problem", problem.problem), numbers.context():
            return FixedPoint(numbers.publish(composite.point(numbers)), method, problem, numbers, composite)
    if not method.linear:
        found = fixed_point(method.fixed_points_of, problem, arithmetic, solver, precision, target_radius)
        return replace(found, method=method, analysis=SameFixedPoints(found.analysis))
    radius = 1e-20 if target_radius is None else in_floats(positive(target_radius, "target_radius"), "target_radius")
    if isinstance(problem, QuadraticProblem):
        rounds = rounds_of(method, problem, numbers, solver)  # refuses bad input before any work
    elif arithmetic == "exact":
        raise InvalidInput("arithmetic", arithmetic, "is impossible for logistic losses", "use arithmetic='ball'")
    else:
        rounds = rounds_of(method, problem, "float", solver)
    with memory.refusing("problem", problem):
        return _computed(method, problem, numbers, solver, rounds, radius)


def _computed(
    method: Method, problem: Problem, numbers: Arithmetic, solver: SmoothSolver, rounds: Rounds, radius: float
) -> FixedPoint:
    if isinstance(problem, LeastSquares) and problem.is_wide and numbers.certainty is Certainty.NUMERIC:
        wide = WideFixedPoints(method, problem, solver)
        return FixedPoint(numbers.array(wide.point), method, problem, numbers, wide)
    if isinstance(problem, QuadraticProblem):
        quadratic = QuadraticFixedPoints(method, problem, solver)
        with numbers.context():
            point = numbers.publish(quadratic.point(numbers, radius))
        return FixedPoint(point, method, problem, numbers, quadratic)
    # logistic losses: found in floats whatever the arithmetic, then enclosed or converted
    smooth = SmoothFixedPoints(method, problem, solver, rounds)
    with numbers.context():
        point = smooth.enclosure(numbers) if numbers.name == "ball" else numbers.array(smooth.point)
    return FixedPoint(point, method, problem, numbers, smooth)


def _smooth_solver(method: Method, local_solver: LocalSolver | None) -> SmoothSolver:
    """The local solver, if a round of this method with it is one deterministic smooth map."""
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "is not a method", "give for example fedconvex.FedProx(mu=1)")
    if not method.fixed_points_of.linear:
        cure = "give its fixed-parameter counterpart, for example FedProx(mu=1)"
        raise InvalidInput("method", method, "changes its own parameters, so it has no fixed point to compute", cure)
    solver = method.local_solver if local_solver is None else local_solver
    cure = "give Exact() or GradientDescent(steps=…, stepsize=…)"
    if is_scheduled(solver):
        raise InvalidInput("local_solver", solver, "takes other steps in every round, so no point stays fixed", cure)
    if isinstance(solver, SmoothSolver):
        return solver
    if not isinstance(solver, LocalSolver):
        raise InvalidInput("local_solver", solver, "is not a local solver", cure)
    problem = "is random or adaptive: a round with it is not a fixed smooth map, whose fixed points could be computed"
    raise InvalidInput("local_solver", solver, problem, cure)
