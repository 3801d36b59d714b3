"""`fixed_point`: in closed form for quadratic clients, numerically and then enclosed for logistic losses."""

from dataclasses import replace
from typing import Any

from fedconvex import arithmetic as arithmetics
from fedconvex import memory
from fedconvex.argument_order import method_then_problem
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.composite import CompositeFixedPoints
from fedconvex.fixed_points.equations import QuadraticFixedPoints
from fedconvex.fixed_points.method_analysis import AveragedAnswers
from fedconvex.fixed_points.result import FixedPoint, SameFixedPoints
from fedconvex.fixed_points.smooth_clients import SmoothFixedPoints
from fedconvex.local_solvers.base import LocalSolver, SmoothSolver
from fedconvex.methods.base import Method
from fedconvex.names import checked_keywords
from fedconvex.parameters import is_scheduled
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem, parts_of
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.runs.rounds import rounds_of
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

    Of a method whose server divides the entries of its step by positive numbers, such as FedAdam, the fixed points are
    those of the step; whether they attract is not decided.

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
    radius = 1e-20 if target_radius is None else in_floats(positive(target_radius, "target_radius"), "target_radius")
    composite, quadratic = isinstance(problem, CompositeProblem), isinstance(problem, QuadraticProblem)
    other = None if composite else AveragedAnswers.like(method, problem, solver)  # type: ignore[arg-type]
    if other is not None:
        found = fixed_point(other, problem, arithmetic, solver, precision, target_radius)
        analysis = SameFixedPoints(method, problem, solver, found.analysis)
        analysis.confirm(found.point, arithmetics.get("ball") if arithmetic == "exact" else numbers)
        return replace(found, method=method, analysis=analysis)
    if not composite:  # refuses bad input before any work
        in_numbers = quadratic or arithmetic == "exact"
        rounds_of(method, problem, numbers if in_numbers else "float", solver)  # type: ignore[arg-type]
    kind: Any = CompositeFixedPoints if composite else QuadraticFixedPoints if quadratic else SmoothFixedPoints
    made = kind(method, problem, solver)
    with memory.refusing("problem", parts_of(problem)[0]), numbers.context():
        return FixedPoint(numbers.publish(made.located(numbers, radius)), method, problem, numbers, made)


def _smooth_solver(method: Method, local_solver: LocalSolver | None) -> SmoothSolver:
    """The local solver, if a round of this method with it is one deterministic smooth map."""
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "is not a method", "give for example fedconvex.FedProx(mu=1)")
    if is_scheduled(method):
        problem = "changes its stepsize from round to round, so that no point stays fixed"
        raise InvalidInput("method", method, problem, "give a number as stepsize")
    solver = method.local_solver if local_solver is None else local_solver
    cure = "give Exact() or GradientDescent(steps=…, stepsize=…)"
    if is_scheduled(solver):
        raise InvalidInput("local_solver", solver, "takes other steps in every round, so no point stays fixed", cure)
    if isinstance(solver, SmoothSolver):
        return solver
    if not isinstance(solver, LocalSolver):
        raise InvalidInput("local_solver", solver, "is not a local solver", cure)
    problem = "is random or adaptive, or has no derivative (SmoothSolver): its fixed points are not computed"
    raise InvalidInput("local_solver", solver, problem, cure)
