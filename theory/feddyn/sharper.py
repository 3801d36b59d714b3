"""FedDyn for convex devices: sharper statements that are not in the paper, each proved in `fedconvex.proofs_checks`.

The paper splits ε_t into four parts with Lemma 6. Here the interpolation inequality of convex functions between θ̃_k^t
and θ_* replaces Lemmas 4 and 5. The squared gradients in it bound everything that the draw adds, so that the whole gap
2/α·E[ℓ(γ^{t−1}) − ℓ(θ_*)] remains.
"""

from typing import Any, NamedTuple

from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import geometric_sum, maximum, named
from fedconvex.statements.notation import SQUARED_LENGTH, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.feddyn import vectors
from fedconvex.theory.feddyn.assumptions import (
    ACTIVE,
    ALPHA_STRONGLY_CONVEX,
    CONVEX,
    FEDDYN,
    ORDERED,
    STRONGLY_CONVEX,
)
from fedconvex.theory.feddyn.notation import KAPPA, PAPER, PER_CURVATURE
from fedconvex.theory.feddyn.theorems import GROWTH, MEAN_GAP, WEIGHTED_GAP
from fedconvex.types import Real

ALPHA_SHARPER = Condition("alpha", ">=", lambda L: 5 * L)


def _excess(*, epsilon: Real, alpha: Real, L: Real) -> Any:
    return (1 - 3 * L**2 / alpha**2) * epsilon


@PAPER.statement(
    "Lemma 4, sharper", ClaimType.UPPER, symbol="", units=SQUARED_LENGTH, left=_excess, ours=True,
    assumes=(*FEDDYN, *CONVEX),
)  # fmt: skip
def lemma4_sharper(*, C: Real, gap: Real, alpha: Real, L: Real) -> Any:
    """(1 − 3L²/α²)ε_t ≤ (3/α²)C_{t−1} + (6L/α²)E[ℓ(γ^{t−1}) − ℓ(θ_*)].

    Lemma 4 has 4, 8 and 8: it splits into four parts, of which one, h^{t−1}, only makes another smaller.
    """
    return 3 / alpha**2 * C + 6 * L / alpha**2 * gap


class SharperConstants(NamedTuple):
    """The factors of C_t (κ) and of the gap (κ₀)."""

    kappa: Any
    kappa0: Any


def _spread_of_the_draw(alpha: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    """(m − P)/(P(m − 1)) + L/α; for m = 1 the first term, which then is 0/0, counts as 0."""
    # max(m − 1, 1) makes the term 0 for m = P = 1, where nothing is drawn.
    return named("e", (num_clients - num_active) / (num_active * maximum(num_clients - 1, 1)) + L / alpha)


@PAPER.calculator(of="Lemma 1, sharper", units=(KAPPA, PER_CURVATURE), assumes=(ACTIVE, ALPHA_SHARPER))
def sharper_constants(*, alpha: Real, L: Real, num_clients: Real, num_active: Real) -> SharperConstants:
    """κ = (m/P)e/(α(α − 2Le)) with e = (m − P)/(P(m − 1)) + L/α, and κ₀ = 2/α."""
    e = _spread_of_the_draw(alpha, L, num_clients, num_active)
    kappa = num_clients / num_active * e / (alpha * (alpha - 2 * L * e))
    return SharperConstants(named(r"\kappa", kappa), 2 / alpha)


@PAPER.calculator(of="Lemma 8, sharper", units=(KAPPA, PER_CURVATURE), assumes=(ACTIVE, ORDERED, ALPHA_STRONGLY_CONVEX))
def sharper_strongly_convex_constants(
    *, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real
) -> SharperConstants:
    """κ = 2(m/P)e/α² with e = (m − P)/(P(m − 1)) + L/α, and κ₀ = (2/α)(1 − 4μ/α)."""
    e = _spread_of_the_draw(alpha, L, num_clients, num_active)
    kappa, kappa0 = 2 * num_clients / num_active * e / alpha**2, 2 / alpha * (1 - 4 * mu / alpha)
    return SharperConstants(named(r"\kappa", kappa), named(r"\kappa_0", kappa0))


def _left(*, distance_next: Real, C_next: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    c = sharper_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return distance_next + c.kappa * C_next


@PAPER.statement(
    "Lemma 1, sharper", ClaimType.UPPER, symbol="", units=SQUARED_LENGTH, left=_left, ours=True,
    assumes=(*FEDDYN, *CONVEX, ALPHA_SHARPER),
)  # fmt: skip
def lemma1_sharper(
    *, distance: Real, C: Real, gap: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real
) -> Any:
    """E‖γ^t − θ_*‖² + κC_t decreases by at least (2/α)E[ℓ(γ^{t−1}) − ℓ(θ_*)], for α ≥ 5L.

    κ = (m/P)e/(α(α − 2Le)), e = (m − P)/(P(m − 1)) + L/α. The paper's κ₀ is below 2/α, its κ above 8(m/P)/α².
    """
    c = sharper_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return distance + c.kappa * C - c.kappa0 * gap


@PAPER.statement(
    "Theorem 2, sharper", ClaimType.UPPER, symbol=MEAN_GAP, units=VALUE, ours=True,
    assumes=(*FEDDYN, *CONVEX, ALPHA_SHARPER),
    states=vectors.gap_of_mean,
)  # fmt: skip
def convex_bound_sharper(
    *, alpha: Real, L: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real
) -> Any:
    """For convex devices and α ≥ 5L: (1/T)((α/2) D0 + (m/P) e/(2(α − 2Le)) G), e = (m − P)/(P(m − 1)) + L/α.

    Theorem 2 has 10α, 100(m/P)/α and α ≥ 25L. No factor below 1/2 would do in the place of α/2.
    """
    c = sharper_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return (D0 + c.kappa * G) / (c.kappa0 * T)


def _left_strongly(
    *, distance_next: Real, C_next: Real, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real
) -> Any:
    c = sharper_strongly_convex_constants.formula(
        alpha=alpha, L=L, mu=mu, num_clients=num_clients, num_active=num_active
    )
    return (1 + mu / alpha) * (distance_next + c.kappa * C_next)


@PAPER.statement(
    "Lemma 8, sharper", ClaimType.UPPER, symbol="", units=SQUARED_LENGTH, left=_left_strongly, ours=True,
    assumes=(*FEDDYN, *STRONGLY_CONVEX, ALPHA_STRONGLY_CONVEX),
)  # fmt: skip
def lemma8_sharper(
    *, distance: Real, C: Real, gap: Real, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real
) -> Any:
    """(1 + μ/α)(E‖γ^t − θ_*‖² + κC_t) ≤ E‖γ^{t−1} − θ_*‖² + κC_{t−1} − κ₀E[ℓ(γ^{t−1}) − ℓ(θ_*)].

    κ = 2(m/P)e/α², κ₀ = (2/α)(1 − 4μ/α), e = (m − P)/(P(m − 1)) + L/α.
    """
    c = sharper_strongly_convex_constants.formula(
        alpha=alpha, L=L, mu=mu, num_clients=num_clients, num_active=num_active
    )
    return distance + c.kappa * C - c.kappa0 * gap


@PAPER.statement(
    "Theorem 3, sharper", ClaimType.UPPER, symbol=WEIGHTED_GAP, units=VALUE, ours=True,
    assumes=(*FEDDYN, *STRONGLY_CONVEX, ALPHA_STRONGLY_CONVEX),
    states=vectors.gap_of_weighted_mean(GROWTH),
)  # fmt: skip
def strongly_convex_bound_sharper(
    *, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real
) -> Any:
    """For strongly convex devices and α ≥ max(5(m/P)μ, 30L): (1/S)(α² D0 + 2(m/P)e G)/(2(α − 4μ)).

    S = Σ_{t<T} r^t, r = 1 + μ/α, e = (m − P)/(P(m − 1)) + L/α. Theorem 3 has 20α, 400(m/P)/α, and 1/r^{T−1} for 1/S.
    """
    c = sharper_strongly_convex_constants.formula(
        alpha=alpha, L=L, mu=mu, num_clients=num_clients, num_active=num_active
    )
    return (D0 + c.kappa * G) / (c.kappa0 * named("S", geometric_sum(mu / alpha, T)))
