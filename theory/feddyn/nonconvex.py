"""FedDyn, smooth devices that need not be convex: Lemmas 10 to 12 and equation (14).

Here C_t = (1/m)Σ E‖θ_k^t − γ^t‖², a squared length, while in the convex case C_t is a squared gradient; ε_t is the
same.
"""

from typing import Any, NamedTuple

from fedconvex.statements.assumptions import Smooth, StartsAtLocalMinima
from fedconvex.statements.functions import named
from fedconvex.statements.notation import CURVATURE, SQUARED_LENGTH, VALUE, Parameter, Units
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.feddyn import vectors
from fedconvex.theory.feddyn.assumptions import ACTIVE, ALPHA_NONCONVEX, FEDDYN
from fedconvex.theory.feddyn.convex import excess
from fedconvex.theory.feddyn.notation import PAPER, PER_CURVATURE
from fedconvex.types import Real

Z: Units = (2, -4)
LETTERS = {
    "C": Parameter(
        "C_{t-1}", "mean squared distance of the devices from their average", SQUARED_LENGTH, least=0,
        means=vectors.spread_before,
    ),
    "C_next": Parameter("C_t", "the same after the round", SQUARED_LENGTH, least=0, means=vectors.spread_after),
}  # fmt: skip
# Algorithm 1's input ∇L_k(θ_k⁰) = 0: the stored gradients are those at the θ_k, which C_t is about, from the start on.
OWN_MINIMA = (*FEDDYN, Smooth(), StartsAtLocalMinima())


class NonconvexConstants(NamedTuple):
    """Lemma 10's constants and the multipliers of Lemmas 12, 3 and 11 in its proof (z0, z1, z2)."""

    z: Any
    kappa: Any
    kappa0: Any
    z0: Any
    z1: Any
    z2: Any


@PAPER.calculator(
    of="Lemma 10", units=(Z, CURVATURE, PER_CURVATURE, CURVATURE, CURVATURE, CURVATURE),
    assumes=(ACTIVE, ALPHA_NONCONVEX),
)  # fmt: skip
def nonconvex_constants(*, alpha: Real, L: Real, num_clients: Real, num_active: Real) -> NonconvexConstants:
    """z, κ, κ₀ of Lemma 10 and the scales z₀ of Lemma 12, z₁ of Lemma 3, z₂ of Lemma 11.

    κ₀ is as printed, with −16L²Pm; the sum of the scaled lemmas has +16L²Pm there, a larger κ₀.
    """
    m, P = num_clients, num_active
    z = alpha**2 * P**2 - 32 * L**2 * m**2 + 16 * L**2 * P * m - 20 * L**2 * P**2
    z = named("z", z)
    kappa = 4 * L**3 * P * (alpha + L) / alpha * (2 * m - P) / z
    kappa = named(r"\kappa", kappa)
    numerator = alpha**2 * P**2 - 4 * alpha * L * P**2 - 32 * L**2 * m**2 - 16 * L**2 * P * m - 24 * L**2 * P**2
    return NonconvexConstants(
        z=z,
        kappa=kappa,
        kappa0=named(r"\kappa_0", numerator / (2 * alpha * z)),
        # z₀ = κ: only Lemma 12 bounds C_t, whose factor in Lemma 10 is κ.
        z0=kappa,
        z1=L / 2 + kappa * 2 * m / P,
        z2=L * P**2 * alpha / 2 * (L + alpha) / z,
    )


def lemma10_left(*, loss_next: Real, C_next: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    """Eℓ(γ^t) + κC_t, the left side of Lemma 10."""
    c = nonconvex_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return loss_next + c.kappa * C_next


@PAPER.statement(
    "Lemma 10", ClaimType.UPPER, page=34, symbol="", units=VALUE, assumes=(*OWN_MINIMA, ALPHA_NONCONVEX),
    left=lemma10_left, redefines=LETTERS,
)  # fmt: skip
def lemma10(
    *, loss: Real, C: Real, gradient_square: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real
) -> Any:
    """Eℓ(γ^t) + κC_t ≤ Eℓ(γ^{t−1}) + κC_{t−1} − κ₀E‖∇ℓ(γ^{t−1})‖²."""
    c = nonconvex_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return loss + c.kappa * C - c.kappa0 * gradient_square


@PAPER.statement(
    "Lemma 11",
    ClaimType.UPPER,
    page=34,
    symbol="",
    units=SQUARED_LENGTH,
    assumes=OWN_MINIMA,
    left=excess,
    redefines=LETTERS,
)
def lemma11(*, C: Real, gradient_square: Real, alpha: Real, L: Real) -> Any:
    """(1 − 4L²/α²)ε_t ≤ (8L²/α²)C_{t−1} + (4/α²)E‖∇ℓ(γ^{t−1})‖²."""
    return 8 * L**2 / alpha**2 * C + 4 / alpha**2 * gradient_square


@PAPER.statement(
    "Lemma 12",
    ClaimType.UPPER,
    page=34,
    symbol="C_t",
    states=vectors.spread_after,
    units=SQUARED_LENGTH,
    assumes=(*FEDDYN, Smooth()),
    redefines=LETTERS,
)
def lemma12(*, C: Real, epsilon: Real, move: Real, num_clients: Real, num_active: Real) -> Any:
    """C_t ≤ (2(m−P)/(2m−P))C_{t−1} + (2P/(2m−P))ε_t + (2m/P)E‖γ^t − γ^{t−1}‖²."""
    m, P = num_clients, num_active
    return 2 * (m - P) / (2 * m - P) * C + 2 * P / (2 * m - P) * epsilon + 2 * m / P * move


def _loss_change(*, loss_next: Real, loss: Real, move: Real, L: Real) -> Any:
    return loss_next - loss - L / 2 * move


@PAPER.statement(
    "Equation (14)", ClaimType.UPPER, page=35, symbol="", units=VALUE, assumes=(*FEDDYN, Smooth()), left=_loss_change
)
def loss_change_bound(*, epsilon: Real, gradient_square: Real, alpha: Real, L: Real) -> Any:
    """Eℓ(γ^t) − Eℓ(γ^{t−1}) − (L/2)E‖γ^t − γ^{t−1}‖² ≤ (L²/(2α))ε_t − (1/(2α))E‖∇ℓ(γ^{t−1})‖²."""
    return L**2 / (2 * alpha) * epsilon - gradient_square / (2 * alpha)
