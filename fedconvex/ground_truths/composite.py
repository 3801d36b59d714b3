"""Minimisers of composite objectives f + ψ: a numeric candidate, and a certificate of its error.

With f M-strongly convex and v ∈ ∇f(x) + ∂ψ(x): ‖x − x*‖ ≤ ‖v‖/M and f(x) + ψ(x) − f(x*) − ψ(x*) ≤ ‖v‖²/(2M). The
shortest such v is enclosed in balls, so that no solver is trusted. Before, bounds of a box that are no floats are put
into x exactly; the distance bound includes what that moves.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import norm
from fedconvex.errors import InvalidInput, NoMinimizer
from fedconvex.ground_truths.certificates import PRECISION, GroundTruth, strong_convexity_bound, truth_at
from fedconvex.ground_truths.conic import conic_candidate
from fedconvex.ground_truths.existence import require_minimizer
from fedconvex.problems.composite import CompositeProblem
from fedconvex.problems.quadratics import LeastSquares, QuadraticProblem
from fedconvex.regularizers import Regularizer

PROXIMAL_STEPS = 20_000
BETWEEN = 50  # proximal steps, after which Newton's method is tried where ψ is smooth
NEWTON_STEPS = 30
ACCURATE = 1e-15  # of the gradients' size, from which on only rounding is left
TIGHT = 1e-9  # the conic solver's tolerance: it has to find out which coordinates are 0


def composite_truth(problem: CompositeProblem, solver: str) -> GroundTruth:
    """The certified minimiser of f + ψ, as `ground_truth` gives it.

    Raises:
        InvalidInput: f is not convex.
        NoMinimizer: neither f is known to have a minimiser, nor ψ to keep one within bounds.
    """
    _require_minimizer(problem)
    start, name = np.zeros(problem.dim), "proximal gradient and Newton steps"
    if solver == "cvxpy":
        found = conic_candidate(problem.problem, problem.regularizer, TIGHT)
        if found is not None:
            start, name = found, "cvxpy, then proximal gradient and Newton steps"
    clients, weights = problem.problem.clients("float"), problem.problem.weights
    smooth = SmoothPart(
        lambda x: np.asarray(weights @ clients.gradients(x)),
        problem.problem.hessian,
        float(weights @ problem.problem.L),
    )
    with clients.arithmetic.context():
        point = minimise(smooth, problem.regularizer, start)
    return _certified(problem, point, name)


def _certified(problem: CompositeProblem, point: np.ndarray, solver: str) -> GroundTruth:
    balls = arithmetics.get("ball", precision=PRECISION)
    with balls.context():
        exact = problem.regularizer.snapped(point)
        x = balls.array(exact)
        length = norm(problem.regularizer.shortest(problem.problem.gradient(x), exact, balls))
        modulus = strong_convexity_bound(problem.problem)
        bounded, rounding = modulus > 0 and problem.regularizer.contains(exact), norm(x - balls.array(point))
        distance, gap = (length / modulus + rounding, length * length / (2 * modulus)) if bounded else (None, None)
        return truth_at(problem, point, solver, length, modulus, distance, gap)


def _require_minimizer(problem: CompositeProblem) -> None:
    f, term = problem.problem, problem.regularizer
    if not f.is_convex:
        cure = "give convex clients"
        raise InvalidInput("problem", f, "is not convex, so that no minimiser of f + ψ is certified", cure)
    bounded_below = isinstance(f, LeastSquares) or not isinstance(f, QuadraticProblem)  # squares and losses are >= 0
    if not term.is_bounded_set(problem.dim) and not (bounded_below and term.is_coercive(problem.dim)):
        try:
            require_minimizer(f)
        except NoMinimizer as error:
            raise NoMinimizer(f"f + ψ is not known to have a minimiser: of f alone, {error.args[0]}") from None


@dataclass(frozen=True)
class SmoothPart:
    """The smooth part of a composite objective, in floats: ∇f, ∇²f and a smoothness constant."""

    gradient: Callable[[np.ndarray], np.ndarray]
    hessian: Callable[[np.ndarray], np.ndarray]
    L: float


def minimise(smooth: SmoothPart, regularizer: Regularizer, start: np.ndarray) -> np.ndarray:
    """A minimiser of f + ψ in floats, numeric: callers certify it.

    Accelerated proximal gradient steps, restarted where they turn back, find out where the minimiser is smooth in ψ;
    there Newton's method adds the digits. The result is the point with the shortest subgradient on the way.
    """
    floats = arithmetics.get("float")

    def shortest(x: np.ndarray) -> float:
        return float(np.linalg.norm(regularizer.shortest(smooth.gradient(x), regularizer.snapped(x), floats)))

    stepsize = 1 / smooth.L if smooth.L > 0 else 1.0
    x: np.ndarray = regularizer.prox(start, stepsize, floats)
    ahead, best, best_length, momentum = x, x, shortest(x), 1.0
    for t in range(PROXIMAL_STEPS):
        if t % BETWEEN == 0:
            polished = _newton(smooth, regularizer, x, shortest)
            if (length := shortest(polished)) < best_length:
                best, best_length = polished, length
            if best_length <= ACCURATE * (np.linalg.norm(smooth.gradient(best)) + smooth.L * np.linalg.norm(best)):
                break
        following = regularizer.prox(ahead - stepsize * smooth.gradient(ahead), stepsize, floats)
        if (ahead - following) @ (following - x) > 0:
            momentum = 1.0
        larger = (1 + (1 + 4 * momentum * momentum) ** 0.5) / 2
        ahead = following + (momentum - 1) / larger * (following - x)
        if np.array_equal(following, x) and t % BETWEEN != 0 and momentum == 1.0:
            break
        x, momentum = following, larger
    return best


def _newton(
    smooth: SmoothPart, regularizer: Regularizer, start: np.ndarray, shortest: Callable[[np.ndarray], float]
) -> np.ndarray:
    """Newton steps on the coordinates where ψ is smooth, while they shorten the shortest subgradient."""
    floats = arithmetics.get("float")
    x, length = start, shortest(start)
    for _ in range(NEWTON_STEPS):
        free, slope, curvature = regularizer.smooth_part(x)
        if not len(free):
            break
        matrix = smooth.hessian(x)[np.ix_(free, free)] + curvature
        step = np.linalg.lstsq(matrix, smooth.gradient(x)[free] + slope)[0]
        moved = x.copy()
        moved[free] -= step
        if not np.isfinite(regularizer.values(moved[None], floats)[0]):  # outside a box
            break
        following = shortest(moved)
        if not following < length:
            break
        x, length = moved, following
    return x
