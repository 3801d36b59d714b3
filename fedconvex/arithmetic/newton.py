"""Newton's method for a batch of independent smooth convex functions, to the accuracy of float64."""

from collections.abc import Callable
from typing import Any, Protocol

from fedconvex.arithmetic.rationals import Array

MAX_STEPS = 200
EPSILON = 2.0**-52
SLOW = 0.1  # a step after which some gradient is longer than this fraction of the previous one needs a new Hessian
SINGULAR = 1e13  # beyond this condition number a Hessian counts as singular
INVERSION_LIMIT = 500_000_000  # b · d³ up to which Hessians are inverted
CONJUGATE_STEPS = 1000
FORCING = 0.03  # conjugate gradients stop at this fraction of the gradient: Newton's next step corrects the rest …
LEAST_FORCING = 1e-4  # … or at a smaller one, where the last step reduced the gradient by more (Eisenstat and Walker)
TIGHT_FORCING = 1e-8  # the least where the rounding of gradients is known, and with it how small a residual is of use
USEFUL = 0.3  # of the rounding of gradients
UNSEEN = 0.05  # a next step below this multiple of the point's rounding unit would change nothing
DECIDED = 1e-20  # for smaller slopes rounding decides whether a function decreases: the full step is taken
SETTLED = 1e-8  # after a step this small, relative to the point, iterations go on only while gradients still halve


class SmoothFunctions(Protocol):
    """A batch of b functions of d variables; each call evaluates all of them, on (b, d) arrays."""

    @property
    def xp(self) -> Any: ...

    def differences(self, theta: Array, step: Array) -> Array:
        """φ_k(θ_k + step_k) − φ_k(θ_k), shape (b,)."""

    def gradients(self, theta: Array) -> Array: ...

    def hessians(self, theta: Array) -> Array: ...

    def hessian_map(self, theta: Array) -> Callable[[Array], Array]:
        """V ↦ ∇²φ_k(θ_k) V_k, on (b, d) arrays."""


def minimise(
    functions: SmoothFunctions,
    start: Array,
    max_steps: int = MAX_STEPS,
    tolerance: float = 0.0,
    rounding: Callable[[Array], Array] | None = None,
) -> Array:
    """The minimisers, shape (b, d), by damped Newton steps; numeric, without any guarantee.

    Small Hessians are inverted, and the inverses kept while steps converge fast; large Hessians are only multiplied by
    vectors, in conjugate gradients. Steps are halved until the function decreases (Armijo), so that the iteration
    converges from any start. The result is the point with the smallest gradient on the way; callers that need a
    guarantee certify it (`ground_truths.certificates`).

    Args:
        start: (b, d).
        tolerance: gradients of at most this length end the iteration for their function.
        rounding: the length (b,) that rounding gives gradients at minimisers near θ (b, d), where it is known; it ends
            the iteration as the tolerance does.
    """
    xp = functions.xp
    theta, gradients = start, functions.gradients(start)
    norm = best_norm = _norm(gradients)
    enough = _enough(xp, theta, tolerance, rounding)
    forcing: Any = FORCING if rounding is None else _first_forcing(xp, norm, enough)
    best, inverse, careful, finished = theta, None, True, norm <= enough
    invertible = len(theta) * theta.shape[-1] ** 3 <= INVERSION_LIMIT
    for _ in range(max_steps):
        if bool(finished.all()):
            break  # every gradient is within the tolerance, or only rounding is left
        if invertible:
            inverse = _inverse(xp, functions.hessians(theta)) if inverse is None else inverse
            step = -(inverse @ gradients[..., None])[..., 0]
        else:
            step = conjugate_gradients(xp, functions.hessian_map(theta), -gradients, forcing)
        if careful:
            short = _norm(step) <= SETTLED * _norm(theta)  # beside the rounding of θ + step no decrease is seen
            step = _armijo(functions, theta, step, _dot(gradients, step), short)
        theta = theta + xp.where((norm <= enough)[:, None], 0.0, step)  # finished functions stay where they are
        gradients = functions.gradients(theta)
        previous, norm = norm, _norm(gradients)
        best = xp.where((norm < best_norm)[:, None], theta, best)
        best_norm = xp.where(norm < best_norm, norm, best_norm)
        enough = _enough(xp, theta, tolerance, rounding)
        moved, size = _norm(step), _norm(theta) + 1e-300  # 1e-300: a step of 0 at 0 is settled, too
        settled = moved <= SETTLED * size
        reduced = xp.where(norm < previous, norm, 1.0) / xp.where(norm < previous, previous, 1.0)  # at most 1
        finished = finished | (settled & (norm > 0.5 * previous)) | (norm <= enough)
        if tolerance == 0:  # steps shrink as gradients do; a gradient to be reached may yet fall by small entries
            finished = finished | (settled & (reduced * moved <= UNSEEN * EPSILON * size))
        least: Any = LEAST_FORCING
        if rounding is not None:
            least = _least_forcing(xp, norm, enough)
        forcing = xp.clip(xp.clip(reduced**2, least, None), None, FORCING)
        careful = bool(((norm > SLOW * previous) & ~settled).any())
        if careful:  # far from quadratic convergence: a new Hessian, and a line search
            inverse = None
    return best


def _enough(xp: Any, theta: Array, tolerance: float, rounding: Callable[[Array], Array] | None) -> Any:
    """The lengths of gradients that end the iteration."""
    return tolerance if rounding is None else xp.clip(rounding(theta), tolerance, None)


def _least_forcing(xp: Any, norm: Array, enough: Array) -> Array:
    """The fraction of gradients of these lengths below which rounding decides."""
    return xp.clip(USEFUL * enough / xp.where(norm > 0, norm, 1.0), TIGHT_FORCING, FORCING)


def _first_forcing(xp: Any, norm: Array, enough: Array) -> Array:
    """The fraction of its gradients that the first step should leave: what the next one corrects in any case.

    A full step leaves about the square of a gradient, in units of the terms that cancel in it; rounding, `enough`, is
    EPSILON times a few of these units. Where no terms cancel they are unknown.
    """
    left = xp.where(enough > 0, norm * EPSILON, FORCING) / xp.where(enough > 0, enough, 1.0)
    return xp.maximum(xp.clip(left, 0.0, FORCING), _least_forcing(xp, norm, enough))


def conjugate_gradients(xp: Any, multiply: Callable[[Array], Array], right: Array, tolerance: Any = FORCING) -> Array:
    """H_k⁻¹ right_k for all k at once, with residuals of at most tolerance · ‖right_k‖; multiply: V ↦ H_k V_k.

    tolerance: one for all k, or (b,).
    """
    solution, residual, direction = 0 * right, right, right
    square = _dot(residual, residual)
    enough = tolerance**2 * square
    for _ in range(CONJUGATE_STEPS):
        if not bool((square > enough).any()):
            break
        product = multiply(direction)
        curvature = _dot(direction, product)
        # where the direction is 0, or has no curvature, do not move; the inner `where` avoids the division by 0
        length = xp.where(curvature > 0, square / xp.where(curvature > 0, curvature, 1.0), 0.0)
        solution = solution + length[:, None] * direction
        residual = residual - length[:, None] * product
        previous, square = square, _dot(residual, residual)
        ratio = square / xp.where(previous > 0, previous, 1.0)
        direction = residual + ratio[:, None] * direction
    return solution


def _armijo(functions: SmoothFunctions, theta: Array, direction: Array, slope: Array, full: Array) -> Array:
    """Steps along `direction`, each halved until its function decreases by at least 1e-4 · size · |slope| (Armijo).

    Full steps where `full` (b,) says so, and where rounding would decide.
    """
    xp = functions.xp
    full = full | (abs(slope) < DECIDED)
    if bool(full.all()):
        return direction
    size = xp.ones_like(slope)
    for _ in range(40):
        step = size[:, None] * direction
        change = functions.differences(theta, step)
        enough = (change <= 1e-4 * size * slope) | full
        if bool(enough.all()):
            break
        size = xp.where(enough, size, size / 2)
    return size[:, None] * direction


def _inverse(xp: Any, hessians: Array) -> Array:
    """The inverses; pseudo-inverses where some Hessian is singular (softmax losses do not change if scores shift)."""
    try:
        inverse = xp.linalg.inv(hessians)
        if bool(xp.amax(abs(inverse)) * xp.amax(abs(hessians)) < SINGULAR):
            return inverse
    except xp.linalg.LinAlgError:
        pass
    return xp.linalg.pinv(hessians, rcond=1 / SINGULAR, hermitian=True)


def _norm(gradients: Array) -> Array:
    return _dot(gradients, gradients) ** 0.5


def _dot(left: Array, right: Array) -> Array:
    """⟨left_k, right_k⟩, shape (b,); as products of matrices, which take a quarter of the time of a sum."""
    return (left[..., None, :] @ right[..., None])[..., 0, 0]
