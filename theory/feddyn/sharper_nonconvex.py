"""FedDyn for smooth devices, and FedDynOneGD: sharper statements that are not in the paper.

Each is proved in `fedconvex.proofs_checks`. Two observations are new. The deviations of the memories' errors from their
mean are orthogonal to ∇ℓ, so ε_t splits into two parts where the paper has four. The active devices are in mean square
no further from γ^t, their mean, than from γ^{t−1}, so only the idle devices need Young's inequality.
"""

from typing import Any, NamedTuple

from fedconvex.claims.claim import at_most
from fedconvex.statements.assumptions import Smooth
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import named
from fedconvex.statements.notation import CURVATURE, SQUARED_GRADIENT, SQUARED_LENGTH, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.feddyn import vectors
from fedconvex.theory.feddyn.assumptions import (
    ACTIVE,
    ALPHA_NONCONVEX,
    ALPHA_ONE_GRADIENT,
    ALPHA_ONE_GRADIENT_NONCONVEX,
    FEDDYN,
    ONE_GRADIENT,
    STRONGLY_CONVEX,
)
from fedconvex.theory.feddyn.nonconvex import LETTERS, OWN_MINIMA, lemma10_left, nonconvex_constants
from fedconvex.theory.feddyn.notation import PAPER, PER_CURVATURE
from fedconvex.theory.feddyn.one_gradient import of_weighted_gaps, one_gradient_bound
from fedconvex.theory.feddyn.theorems import MEAN_GRADIENT
from fedconvex.types import Real

ABOVE_L = Condition("alpha", ">", "L")
ALPHA_SHARPER_NONCONVEX = Condition("alpha", ">=", lambda L, num_clients, num_active: 4 * L * num_clients / num_active)


@PAPER.statement(
    "Lemma 10, as summed", ClaimType.UPPER, symbol="", units=VALUE, assumes=(*OWN_MINIMA, ALPHA_NONCONVEX),
    left=lemma10_left, redefines=LETTERS, ours=True,
)  # fmt: skip
def lemma10_as_summed(
    *, loss: Real, C: Real, gradient_square: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real
) -> Any:
    """Lemma 10 with +16L²Pm in the numerator of κ₀, as the paper's scaled lemmas add up, in place of −16L²Pm."""
    c = nonconvex_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    kappa0 = c.kappa0 + 16 * L**2 * num_active * num_clients / (alpha * c.z)
    return loss + c.kappa * C - kappa0 * gradient_square


@PAPER.statement(
    "Lemma 11, sharper", ClaimType.UPPER, symbol="", units=SQUARED_GRADIENT, assumes=(*OWN_MINIMA, ABOVE_L),
    left=lambda *, epsilon, alpha, L: (alpha - L) ** 2 * epsilon, redefines=LETTERS, ours=True,
)  # fmt: skip
def lemma11_sharper(*, C: Real, gradient_square: Real, L: Real) -> Any:
    """(α − L)²ε_t ≤ L²C_{t−1} + E‖∇ℓ(γ^{t−1})‖² for α > L: the paper has (α² − 4L²)ε_t and the factors 8 and 4.

    One device, −(L/2)θ², and C_{t−1} = 0 make it an equality.
    """
    return L**2 * C + gradient_square


@PAPER.statement(
    "Lemma 12, sharper", ClaimType.UPPER, symbol="C_t", units=SQUARED_LENGTH, assumes=FEDDYN,
    redefines=LETTERS, ours=True, states=vectors.spread_after,
)  # fmt: skip
def lemma12_sharper(*, C: Real, epsilon: Real, move: Real, num_clients: Real, num_active: Real) -> Any:
    """C_t ≤ (2(m−P)/(2m−P))C_{t−1} + (P/m)ε_t + (2(m−P)/P − P/m)E‖γ^t − γ^{t−1}‖², an equality for P = m."""
    m, P = num_clients, num_active
    return 2 * (m - P) / (2 * m - P) * C + P / m * epsilon + (2 * (m - P) / P - P / m) * move


class SharperNonconvexConstants(NamedTuple):
    """The factors of C_t (κ) and of E‖∇ℓ‖² (κ₀)."""

    kappa: Any
    kappa0: Any


def _draw(alpha: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    """(α − L)² − 2L²(m/P − 1)(2m/P − 1)."""
    ratio = num_clients / num_active
    return named("D", (alpha - L) ** 2 - 2 * L**2 * (ratio - 1) * (2 * ratio - 1))


@PAPER.calculator(of="Lemma 10, sharper", units=(CURVATURE, PER_CURVATURE), assumes=(ACTIVE, ALPHA_SHARPER_NONCONVEX))
def sharper_nonconvex_constants(
    *, alpha: Real, L: Real, num_clients: Real, num_active: Real
) -> SharperNonconvexConstants:
    """κ = L³(2m/P − 1)(α + L)/(2αD) and κ₀ = (D − L(α + L))/(2αD), D = (α − L)² − 2L²(m/P − 1)(2m/P − 1)."""
    D = _draw(alpha, L, num_clients, num_active)
    kappa = L**3 * (2 * num_clients / num_active - 1) * (alpha + L) / (2 * alpha * D)
    kappa0 = (D - L * (alpha + L)) / (2 * alpha * D)
    return SharperNonconvexConstants(named(r"\kappa", kappa), named(r"\kappa_0", kappa0))


def _left_sharper(*, loss_next: Real, C_next: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    c = sharper_nonconvex_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return loss_next + c.kappa * C_next


@PAPER.statement(
    "Lemma 10, sharper", ClaimType.UPPER, symbol="", units=VALUE, assumes=(*OWN_MINIMA, ALPHA_SHARPER_NONCONVEX),
    left=_left_sharper, redefines=LETTERS, ours=True,
)  # fmt: skip
def lemma10_sharper(
    *, loss: Real, C: Real, gradient_square: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real
) -> Any:
    """Eℓ(γ^t) + κC_t ≤ Eℓ(γ^{t−1}) + κC_{t−1} − κ₀E‖∇ℓ(γ^{t−1})‖² for α ≥ 4L m/P.

    κ = L³(2m/P − 1)(α + L)/(2αD), κ₀ = (D − L(α + L))/(2αD), D = (α − L)² − 2L²(m/P − 1)(2m/P − 1).
    """
    c = sharper_nonconvex_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return loss + c.kappa * C - c.kappa0 * gradient_square


@PAPER.statement(
    "Theorem 4, sharper", ClaimType.UPPER, symbol=MEAN_GRADIENT, units=SQUARED_GRADIENT, ours=True,
    assumes=(*OWN_MINIMA, ALPHA_SHARPER_NONCONVEX),
    states=lambda bound: at_most(vectors.mean_square_slope, bound, rounds="T"),
)  # fmt: skip
def nonconvex_bound_sharper(
    *, alpha: Real, L: Real, num_clients: Real, num_active: Real, T: Real, delta: Real, spread: Real
) -> Any:
    """For smooth devices and α ≥ 4L m/P: (2αDΔ + L³(2m/P − 1)(α + L)S)/((D − L(α + L))T).

    D = (α − L)² − 2L²(m/P − 1)(2m/P − 1), S = (1/m)Σ‖θ_k⁰ − θ⁰‖². At α = 20L m/P this is below
    (2.2αΔ + 2.4L³(m/P)S/α)/T; Theorem 4 has 3 and 30, and α ≥ 20L m/P.
    """
    D = _draw(alpha, L, num_clients, num_active)
    start = 2 * alpha * D * delta + L**3 * (2 * num_clients / num_active - 1) * (alpha + L) * spread
    return start / ((D - L * (alpha + L)) * T)


@PAPER.statement(
    "Lemma 19, sharper", ClaimType.UPPER, symbol=r"\epsilon_t", units=SQUARED_LENGTH, assumes=(*ONE_GRADIENT, Smooth()),
    ours=True, states=vectors.epsilon,
)  # fmt: skip
def lemma19_sharper(*, B: Real, gradient_square: Real, alpha: Real, L: Real) -> Any:
    """ε_t ≤ (1/α² + 2L/α³ + 2L²/α⁴)(B_{t−1} + E‖∇ℓ(γ^{t−1})‖²): the paper has 4/α² + 8L²/α⁴.

    No smaller factor would do: one device, −(L/2)θ², whose memory is 1 + L/(α + L) times the gradient, attains it.
    """
    return (1 / alpha**2 + 2 * L / alpha**3 + 2 * L**2 / alpha**4) * (B + gradient_square)


@PAPER.statement(
    "Equation (20), sharper", ClaimType.UPPER, symbol=r"\frac{1}{T}\sum_{t=1}^T E\|\nabla\ell(\gamma^{t-1})\|^2",
    units=SQUARED_GRADIENT, assumes=(*ONE_GRADIENT, Smooth(), ALPHA_ONE_GRADIENT_NONCONVEX), ours=True,
    states=lambda bound: at_most(vectors.mean_square_slope, bound, rounds="T"),
)  # fmt: skip
def one_gradient_nonconvex_bound_sharper(
    *, delta: Real, B0: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real, T: Real
) -> Any:
    """(1/T)((21/10)α(ℓ(θ⁰) − ℓ_*) + (5/2)(m/P)(1/α)L B₀): the paper has 4 and 50."""
    ratio = num_clients / num_active
    return (21 * alpha * delta / 10 + 5 * ratio / alpha * L * B0 / 2) / T


@PAPER.statement(
    "Equation (18), sharper", ClaimType.UPPER, symbol=one_gradient_bound.symbol, units=VALUE,
    assumes=(*ONE_GRADIENT, *STRONGLY_CONVEX, ALPHA_ONE_GRADIENT), ours=True, states=of_weighted_gaps,
)  # fmt: skip
def one_gradient_bound_sharper(
    *, D0: Real, G: Real, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real, T: Real
) -> Any:
    """(1/T)((4/7)α‖γ⁰ − θ_*‖² + (5/4)(m/P)(1/α)A₀): the paper has 1 and 10.

    (`L` and `mu` are in the condition only.)
    """
    return (4 * alpha * D0 / 7 + 5 * num_clients / num_active / alpha * G / 4) / T
