"""FedDyn: the equations that define the method and its quantities, and inequalities for smooth convex functions.

Definitions: (1) to (3), (7) to (9), (15), (16). Inequalities: (4) to (6) and (11).
"""

from typing import Any

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import answers, gradient, inner, minimiser, server, square, value
from fedconvex.statements.assumptions import Convex, Smooth, StronglyConvex
from fedconvex.statements.functions import average
from fedconvex.statements.notation import GRADIENT, LENGTH, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.feddyn import vectors
from fedconvex.theory.feddyn.assumptions import FEDDYN, ONE_GRADIENT
from fedconvex.theory.feddyn.notation import PAPER, meaning
from fedconvex.theory.feddyn.vectors import x, y, z
from fedconvex.types import Real, Reals, Vectors

OBJECTIVE = PAPER.relettered(value=r"L_k(\theta)", square=r"\|\theta-\theta^{t-1}\|^2")


@PAPER.statement(
    "Equation (1)", ClaimType.DEFINITION, page=4, symbol=r"R_k(\theta)", relation="=", units=VALUE, redefines=OBJECTIVE
)
def device_objective(*, value: Real, linear: Real, alpha: Real, square: Real) -> Any:
    """What an active device minimises: L_k(θ) − ⟨∇L_k(θ_k^{t−1}), θ⟩ + (α/2)‖θ − θ^{t−1}‖²."""
    return value - linear + alpha / 2 * square


@PAPER.statement(
    "Equation (2)", ClaimType.IDENTITY, page=4, symbol="0", relation="=", units=GRADIENT, assumes=FEDDYN,
    states=vectors.zero,
)  # fmt: skip
def first_order_residual(*, new_gradient: Real, old_gradient: Real, alpha: Real, theta: Real, server: Real) -> Any:
    """The device's first-order condition: ∇L_k(θ_k^t) − ∇L_k(θ_k^{t−1}) + α(θ_k^t − θ^{t−1}) vanishes."""
    return new_gradient - old_gradient + alpha * (theta - server)


@PAPER.statement(
    "Equation (3)", ClaimType.IDENTITY, page=4, symbol="0", relation="=", units=GRADIENT, states=vectors.zero
)
def global_gradient(*, gradients: Reals | Vectors) -> Any:
    """A stationary point of the objective makes this vanish: (1/m)Σ_k ∇L_k(θ_*).

    The display goes on with the plain sum, equal to it only where both vanish.
    """
    return average(gradients)


def _of_each_device(left: Any) -> Any:
    """The claim of each device alone that this is at most the formula."""

    def claim(right: Any) -> Claim:
        return at_most(left, right, of_client=True)

    return claim


TO_Y = meaning(value=("L_k(x)", value(x)), square=(r"\|y-x\|^2", square(y - x)))
TO_Z = meaning(square=(r"\|z-x\|^2", square(z - x)))
TO_THREE_POINTS = _of_each_device(-inner(gradient(x), z - y))


@PAPER.statement(
    "Equation (4)", ClaimType.UPPER, page=28, symbol="L_k(y)", units=VALUE, assumes=(Smooth(),), redefines=TO_Y,
    states=_of_each_device(value(y)),
)  # fmt: skip
def smooth_upper(*, value: Real, inner: Real, L: Real, square: Real) -> Any:
    """A smooth function lies below its quadratic: L_k(x) + ⟨∇L_k(x), y − x⟩ + (L/2)‖y − x‖²."""
    return value + inner + L / 2 * square


@PAPER.statement(
    "Equation (5)", ClaimType.UPPER, page=28, symbol="", units=VALUE, assumes=(Convex(), Smooth()),
    left=lambda *, L, mean_square: mean_square / (2 * L),
    redefines=meaning(gap=(r"(\ell(x)-\ell(x_*))", value(x) - value(minimiser))),
)  # fmt: skip
def gradient_difference_bound(*, gap: Real) -> Any:
    """For convex smooth functions (1/(2Lm))Σ_k‖∇L_k(x) − ∇L_k(x_*)‖² ≤ ℓ(x) − ℓ(x_*)."""
    return gap + 0


@PAPER.statement(
    "Equation (6)",
    ClaimType.UPPER,
    page=28,
    symbol=r"-\langle\nabla L_k(x),z-y\rangle",
    units=VALUE,
    assumes=(Convex(), Smooth()),
    redefines=TO_Z,
    states=TO_THREE_POINTS,
)
def three_points(*, value_z: Real, value_y: Real, L: Real, square: Real) -> Any:
    """Convexity between x and y, smoothness between x and z: −L_k(z) + L_k(y) + (L/2)‖z − x‖²; `square` is ‖z − x‖²."""
    return -value_z + value_y + L / 2 * square


@PAPER.statement(
    "Equation (7)",
    ClaimType.DEFINITION,
    page=28,
    symbol=r"\tilde R_k(\theta)",
    relation="=",
    units=VALUE,
    redefines=OBJECTIVE,
)
def virtual_objective(*, value: Real, linear: Real, alpha: Real, square: Real) -> Any:
    """What the virtual variable θ̃_k^t of every device, active or not, minimises: the same as (1)."""
    return device_objective.calculator.formula(value=value, linear=linear, alpha=alpha, square=square)


@PAPER.statement(
    "Equation (8)",
    ClaimType.IDENTITY,
    page=28,
    symbol=r"\tilde\theta_k^t-\theta^{t-1}",
    relation="=",
    units=LENGTH,
    assumes=FEDDYN,
    redefines=meaning(new_gradient=(r"\nabla L_k(\tilde\theta_k^t)", gradient(answers))),
    states=answers - vectors.server_point,
)
def virtual_step(*, old_gradient: Real, new_gradient: Real, alpha: Real) -> Any:
    """A device's step: (1/α)(∇L_k(θ_k^{t−1}) − ∇L_k(θ̃_k^t))."""
    return (old_gradient - new_gradient) / alpha


@PAPER.statement(
    "Equation (9)", ClaimType.IDENTITY, page=28, symbol=r"\gamma^t", relation="=", units=LENGTH, assumes=FEDDYN,
    redefines=meaning(server=(r"\theta^t", server(1))), states=vectors.drawn_average,
)  # fmt: skip
def active_average(*, server: Real, h: Real, alpha: Real) -> Any:
    """The mean of the active devices' models: θ^t + h^t/α; `server` is θ^t."""
    return server + h / alpha


@PAPER.statement(
    "Equation (11)", ClaimType.UPPER, page=32, symbol=r"-\langle\nabla L_k(x),z-y\rangle", units=VALUE,
    assumes=(StronglyConvex(), Smooth()), redefines=TO_Z, states=TO_THREE_POINTS,
)  # fmt: skip
def three_points_strongly(*, value_z: Real, value_y: Real, L: Real, mu: Real, square: Real, separation: Real) -> Any:
    """(6) for strongly convex functions: −L_k(z) + L_k(y) + (L/2)‖z − x‖² − (μ/2)‖x − y‖²."""
    return -value_z + value_y + L / 2 * square - mu / 2 * separation


@PAPER.statement(
    "Equation (15)",
    ClaimType.DEFINITION,
    page=37,
    symbol=r"\tilde\theta_k^t",
    relation="=",
    units=LENGTH,
    assumes=ONE_GRADIENT,
    states=answers,
)
def virtual_gradient_step(*, server: Real, gradient: Real, memory: Real, alpha: Real) -> Any:
    """FedDynOneGD's virtual variable of every device: θ^{t−1} − (1/α)(∇L_k(θ^{t−1}) − h_k^{t−1})."""
    return server - (gradient - memory) / alpha


@PAPER.statement(
    "Equation (16)", ClaimType.IDENTITY, page=37, symbol="h^t", relation="=", units=GRADIENT, assumes=ONE_GRADIENT,
    states=vectors.server_state,
)  # fmt: skip
def mean_memory(*, memories: Reals | Vectors) -> Any:
    """The server's state is the mean of all devices' memories: (1/m)Σ_k h_k^t."""
    return average(memories)
