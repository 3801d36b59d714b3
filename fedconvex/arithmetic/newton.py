"""Newton's method for many independent smooth convex functions at once, to the last digit that float64 allows."""

from typing import Any, Protocol

from fedconvex.arithmetic.rationals import Array

MAX_STEPS = 200
SLOW = 0.1  # a step that shrinks some gradient by less than this asks for a new Hessian
SINGULAR = 1e13  # beyond this condition number a Hessian counts as singular
INVERSION_LIMIT = 500_000_000  # b · d³ up to which Hessians are inverted
CONJUGATE_STEPS = 1000
FORCING = 0.03  # conjugate gradients stop at this part of the gradient; Newton's method goes on from there
SETTLED = 1e-8  # a step this small, relative to the point, is followed only as long as gradients still halve


class SmoothFunctions(Protocol):
    """b functions of (d,) points, all evaluated in one call on (b, d) arrays."""

    @property
    def xp(self) -> Any: ...

    def differences(self, theta: Array, step: Array) -> Array:
        """φ_k(θ_k + step_k) − φ_k(θ_k), shape (b,)."""

    def gradients(self, theta: Array) -> Array: ...

    def hessians(self, theta: Array) -> Array: ...

    def hessian_products(self, theta: Array, vectors: Array) -> Array: ...


def minimise(functions: SmoothFunctions, start: Array, max_steps: int = MAX_STEPS, tolerance: float = 0.0) -> Array:
    """The minimisers, shape (b, d), by damped Newton steps.

    Small Hessians are inverted and kept while they serve; large ones are only multiplied with, in conjugate gradients.
    Each function stops at the point with the smallest gradient met; steps are halved until the function decreases
    (Armijo), so the way is monotone from any start. Reaching the minimiser is checked by those who certify, not here.
    A function whose gradient is not longer than `tolerance` is done.
    """
    xp = functions.xp
    theta, gradients = start, functions.gradients(start)
    norm = best_norm = _norm(gradients)
    best, inverse, careful, finished = theta, None, True, norm <= tolerance
    invertible = len(theta) * theta.shape[-1] ** 3 <= INVERSION_LIMIT
    for _ in range(max_steps):
        if bool(finished.all()):
            break  # near enough, or rounding is all that is left
        if invertible:
            inverse = _inverse(xp, functions.hessians(theta)) if inverse is None else inverse
            step = -(inverse @ gradients[..., None])[..., 0]
        else:
            step = _conjugate_gradients(functions, theta, -gradients)
        if careful:
            step = _armijo(functions, theta, step, (gradients * step).sum(-1))
        theta = theta + xp.where((norm <= tolerance)[:, None], 0.0, step)  # who is done stays
        gradients = functions.gradients(theta)
        previous, norm = norm, _norm(gradients)
        best = xp.where((norm < best_norm)[:, None], theta, best)
        best_norm = xp.where(norm < best_norm, norm, best_norm)
        settled = _norm(step) <= SETTLED * (_norm(theta) + 1e-300)
        finished = finished | (settled & (norm > 0.5 * previous)) | (norm <= tolerance)
        careful = bool(((norm > SLOW * previous) & ~settled).any())
        if careful:
            inverse = None
    return best


def _conjugate_gradients(functions: SmoothFunctions, theta: Array, right: Array) -> Array:
    """∇²φ_k(θ_k)⁻¹ right_k for all functions at once, to FORCING times the length of right_k."""
    xp = functions.xp
    solution, residual, direction = 0 * right, right, right
    square = (residual * residual).sum(-1)
    enough = FORCING**2 * square
    for _ in range(CONJUGATE_STEPS):
        if not bool((square > enough).any()):
            break
        product = functions.hessian_products(theta, direction)
        curvature = (direction * product).sum(-1)
        length = xp.where(curvature > 0, square / xp.where(curvature > 0, curvature, 1.0), 0.0)
        solution = solution + length[:, None] * direction
        residual = residual - length[:, None] * product
        previous, square = square, (residual * residual).sum(-1)
        ratio = square / xp.where(previous > 0, previous, 1.0)
        direction = residual + ratio[:, None] * direction
    return solution


def _armijo(functions: SmoothFunctions, theta: Array, direction: Array, slope: Array) -> Array:
    """The steps along `direction`, each halved until its function decreases by 1e-4 of what the slope promises."""
    xp = functions.xp
    size = xp.ones_like(slope)
    for _ in range(40):
        step = size[:, None] * direction
        change = functions.differences(theta, step)
        enough = (change <= 1e-4 * size * slope) | (abs(slope) < 1e-20)  # below that, rounding decides: take the step
        if bool(enough.all()):
            break
        size = xp.where(enough, size, size / 2)
    return size[:, None] * direction


def _inverse(xp: Any, hessians: Array) -> Array:
    """The inverses; pseudo-inverses where a function has directions of no curvature (softmax scores can be shifted)."""
    try:
        inverse = xp.linalg.inv(hessians)
        if bool(xp.amax(abs(inverse)) * xp.amax(abs(hessians)) < SINGULAR):
            return inverse
    except xp.linalg.LinAlgError:
        pass
    return xp.linalg.pinv(hessians, rcond=1 / SINGULAR, hermitian=True)


def _norm(gradients: Array) -> Array:
    return (gradients * gradients).sum(-1) ** 0.5
