"""FedDyn, convex and strongly convex devices: Lemmas 1 to 9, equations (10), (12), (13).

C_t = (1/m)Σ E‖∇L_k(θ_k^t) − ∇L_k(θ_*)‖², ε_t = (1/m)Σ E‖θ̃_k^t − γ^{t−1}‖².
"""

from typing import Any, NamedTuple

from fedconvex.claims.terms import square
from fedconvex.statements.functions import geometric_sum, named
from fedconvex.statements.notation import (
    LENGTH,
    NUMBER,
    SQUARED_GRADIENT,
    SQUARED_LENGTH,
    VALUE,
    Units,
)
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.feddyn import vectors
from fedconvex.theory.feddyn.assumptions import (
    ACTIVE,
    ALPHA_CONVEX,
    ALPHA_DEFINED,
    ALPHA_LEMMA1,
    ALPHA_STRONGLY_CONVEX,
    CONVEX,
    FEDDYN,
    ORDERED,
    STRONGLY_CONVEX,
)
from fedconvex.theory.feddyn.notation import KAPPA, PAPER, PER_CURVATURE
from fedconvex.types import Real

Z: Units = (3, -6)


class ConvexConstants(NamedTuple):
    """Lemma 1's constants and the multipliers of Lemmas 4 and 5 in its proof."""

    kappa: Any
    kappa0: Any
    scale4: Any
    scale5: Any


@PAPER.calculator(of="Lemma 1", units=(KAPPA, PER_CURVATURE, NUMBER, KAPPA), assumes=(ACTIVE, ALPHA_DEFINED))
def convex_constants(*, alpha: Real, L: Real, num_clients: Real, num_active: Real) -> ConvexConstants:
    """κ = 8(m/P)(1/α)(L+α)/(α²−20L²), κ₀ = (2/α)(α²−20αL−40L²)/(α²−20L²), and the scales of Lemmas 4 and 5."""
    denominator = alpha**2 - 20 * L**2
    kappa = 8 * num_clients / num_active / alpha * (L + alpha) / denominator
    kappa = named(r"\kappa", kappa)
    kappa0 = 2 / alpha * (alpha**2 - 20 * alpha * L - 40 * L**2) / denominator
    kappa0 = named(r"\kappa_0", kappa0)
    return ConvexConstants(kappa, kappa0, alpha * (L + alpha) / denominator, kappa)


@PAPER.calculator(of="Lemma 1", units=VALUE, assumes=(ACTIVE, ALPHA_LEMMA1))
def convex_bound_of_lemma(
    *, alpha: Real, L: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real
) -> Any:
    """The bound from Lemma 1 before Theorem 2 rounds its constants up: (D0 + κG)/(κ₀T), for every α > (10 + √140)L."""
    constants = convex_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return (D0 + constants.kappa * G) / (constants.kappa0 * T)


class StronglyConvexConstants(NamedTuple):
    """Lemma 8's constants and the multipliers of Lemmas 4 and 5 in its proof."""

    r: Any
    z: Any
    kappa: Any
    kappa0: Any
    scale4: Any
    scale5: Any


@PAPER.calculator(
    of="Lemma 8", units=(NUMBER, Z, KAPPA, PER_CURVATURE, NUMBER, KAPPA),
    assumes=(ACTIVE, ORDERED, ALPHA_STRONGLY_CONVEX),
)  # fmt: skip
def strongly_convex_constants(
    *, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real
) -> StronglyConvexConstants:
    """r = 1 + μ/α, z, κ = 8m(L+α)/z, κ₀ of Lemma 8, and the scales of Lemmas 4 and 5."""
    m, P = num_clients, num_active
    # Lemma 8's z and the numerator of its κ₀, multiplied out as the paper prints them.
    z = (
        alpha**3 * P + alpha**2 * P * mu - alpha**2 * m * mu - 20 * alpha * L**2 * P + 4 * L**2 * m * mu
        - 20 * L**2 * P * mu
    )  # fmt: skip
    z = named("z", z)
    numerator = (
        2 * alpha**3 * P + 2 * alpha**2 * P * mu - 2 * alpha**2 * m * mu - 40 * alpha**2 * L * P
        - 80 * alpha * L**2 * P - 40 * alpha * L * P * mu + 8 * alpha * L * m * mu + 16 * L**2 * m * mu
        - 80 * L**2 * P * mu
    )  # fmt: skip
    return StronglyConvexConstants(
        r=named("r", 1 + mu / alpha),
        z=z,
        kappa=named(r"\kappa", 8 * m * (L + alpha) / z),
        kappa0=named(r"\kappa_0", numerator / (alpha * z)),
        scale4=alpha * (L + alpha) * (P * alpha + P * mu - m * mu) / z,
        scale5=8 * m * (L + alpha) * (alpha + mu) / (alpha * z),
    )


@PAPER.calculator(of="Theorem 3", units=NUMBER)
def growth_sum(*, alpha: Real, mu: Real, T: Real) -> Any:
    """R = Σ_{t<T} r^t = (r^T − 1)/(r − 1), r = 1 + μ/α."""
    return geometric_sum(mu / alpha, T)


def _lemma1_left(
    *, distance_next: Real, C_next: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real
) -> Any:
    constants = convex_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return distance_next + constants.kappa * C_next


@PAPER.statement(
    "Lemma 1", ClaimType.UPPER, page=29, symbol="", units=SQUARED_LENGTH, assumes=(*FEDDYN, *CONVEX, ALPHA_CONVEX),
    left=_lemma1_left,
)  # fmt: skip
def lemma1(*, distance: Real, C: Real, gap: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    """In a round E‖γ^t − θ_*‖² + κC_t decreases by at least κ₀E[ℓ(γ^{t−1}) − ℓ(θ_*)]."""
    constants = convex_constants.formula(alpha=alpha, L=L, num_clients=num_clients, num_active=num_active)
    return distance + constants.kappa * C - constants.kappa0 * gap


@PAPER.statement(
    "Lemma 2",
    ClaimType.IDENTITY,
    page=29,
    symbol=r"E[\gamma^t-\gamma^{t-1}]",
    relation="=",
    units=LENGTH,
    assumes=FEDDYN,
    states=vectors.expected_move,
)
def lemma2(*, alpha: Real, mean_gradient: Real) -> Any:
    """The expected move of the average: −(1/α)(1/m)Σ_k E∇L_k(θ̃_k^t)."""
    return -mean_gradient / alpha


@PAPER.statement(
    "Lemma 3",
    ClaimType.UPPER,
    page=29,
    symbol=r"E\|\gamma^t-\gamma^{t-1}\|^2",
    units=SQUARED_LENGTH,
    assumes=FEDDYN,
    states=vectors.move,
)
def lemma3(*, epsilon: Real) -> Any:
    """The average moves no more than the devices: at most ε_t in mean square."""
    return epsilon + 0


def excess(*, epsilon: Real, alpha: Real, L: Real) -> Any:
    """(1 − 4L²/α²)ε_t, the left side of Lemmas 4 and 11."""
    return (1 - 4 * L**2 / alpha**2) * epsilon


@PAPER.statement(
    "Lemma 4", ClaimType.UPPER, page=30, symbol="", units=SQUARED_LENGTH, assumes=(*FEDDYN, *CONVEX), left=excess
)
def lemma4(*, C: Real, gap: Real, alpha: Real, L: Real) -> Any:
    """(1 − 4L²/α²)ε_t ≤ (8/α²)C_{t−1} + (8L/α²)E[ℓ(γ^{t−1}) − ℓ(θ_*)]."""
    return 8 / alpha**2 * C + 8 * L / alpha**2 * gap


@PAPER.statement(
    "Lemma 5",
    ClaimType.UPPER,
    page=30,
    symbol="C_t",
    units=SQUARED_GRADIENT,
    assumes=(*FEDDYN, *CONVEX),
    states=vectors.C_after,
)
def lemma5(*, C: Real, gap: Real, epsilon: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    """C_t ≤ (1 − P/m)C_{t−1} + 2L²(P/m)ε_t + 4L(P/m)E[ℓ(γ^{t−1}) − ℓ(θ_*)]."""
    part = num_active / num_clients
    return (1 - part) * C + 2 * L**2 * part * epsilon + 4 * L * part * gap


@PAPER.statement(
    "Lemma 6", ClaimType.UPPER, page=30, symbol=r"\big\|\textstyle\sum_j v_j\big\|^2",
    states=square(vectors.vector_sum),
)  # fmt: skip
def lemma6(*, count: Real, total: Real) -> Any:
    """The squared norm of a sum of n vectors is at most n times the sum of their squared norms."""
    return count * total


@PAPER.statement(
    "Lemma 7",
    ClaimType.UPPER,
    page=30,
    symbol=r"E\|h^t\|^2",
    units=SQUARED_GRADIENT,
    assumes=FEDDYN,
    states=vectors.state,
)
def lemma7(*, C_next: Real) -> Any:
    """The server's state is no larger than the devices' errors: E‖h^t‖² ≤ C_t."""
    return C_next + 0


def _lemma8_left(
    *, distance_next: Real, C_next: Real, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real
) -> Any:
    c = strongly_convex_constants.formula(alpha=alpha, L=L, mu=mu, num_clients=num_clients, num_active=num_active)
    return c.r * (distance_next + c.kappa * C_next)


@PAPER.statement(
    "Lemma 8", ClaimType.UPPER, page=32, symbol="", units=SQUARED_LENGTH, left=_lemma8_left,
    assumes=(*FEDDYN, *STRONGLY_CONVEX, ALPHA_STRONGLY_CONVEX),
)  # fmt: skip
def lemma8(
    *, distance: Real, C: Real, gap: Real, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real
) -> Any:
    """r(E‖γ^t − θ_*‖² + κC_t) ≤ E‖γ^{t−1} − θ_*‖² + κC_{t−1} − κ₀E[ℓ(γ^{t−1}) − ℓ(θ_*)], r = 1 + μ/α."""
    c = strongly_convex_constants.formula(alpha=alpha, L=L, mu=mu, num_clients=num_clients, num_active=num_active)
    return distance + c.kappa * C - c.kappa0 * gap


@PAPER.statement(
    "Lemma 9", ClaimType.UPPER, page=33, symbol=r"-\frac{1}{m}\sum_k E\|\tilde\theta_k^t-\theta_*\|^2",
    units=SQUARED_LENGTH, assumes=FEDDYN, states=-vectors.devices_distance,
)  # fmt: skip
def lemma9(*, distance_next: Real) -> Any:
    """The devices' virtual models are no closer to the minimiser than their average: at most −E‖γ^t − θ_*‖²."""
    return -distance_next


def _one_round(distance: Real, gap: Real, epsilon: Real, move: Real, alpha: Real, L: Real) -> Any:
    return distance - 2 / alpha * gap + L / alpha * epsilon + move


@PAPER.statement(
    "Equation (10)",
    ClaimType.UPPER,
    page=30,
    symbol=r"E\|\gamma^t-\theta_*\|^2",
    states=vectors.distance_after,
    units=SQUARED_LENGTH,
    assumes=(*FEDDYN, *CONVEX),
)
def distance_after(*, distance: Real, gap: Real, epsilon: Real, move: Real, alpha: Real, L: Real) -> Any:
    """E‖γ^{t−1} − θ_*‖² − (2/α)E[ℓ(γ^{t−1}) − ℓ(θ_*)] + (L/α)ε_t + E‖γ^t − γ^{t−1}‖²."""
    return _one_round(distance, gap, epsilon, move, alpha, L)


@PAPER.statement(
    "Equation (12)", ClaimType.UPPER, page=33, symbol=r"E\|\gamma^t-\theta_*\|^2", units=SQUARED_LENGTH,
    states=vectors.distance_after,
    assumes=(*FEDDYN, *STRONGLY_CONVEX),
)  # fmt: skip
def distance_after_strongly(
    *, distance: Real, distance_next: Real, gap: Real, epsilon: Real, move: Real, alpha: Real, L: Real, mu: Real
) -> Any:
    """(10) with −(μ/α)E‖γ^t − θ_*‖² on the right."""
    return _one_round(distance, gap, epsilon, move, alpha, L) - mu / alpha * distance_next


def _grown(*, distance_next: Real, alpha: Real, mu: Real) -> Any:
    return (1 + mu / alpha) * distance_next


@PAPER.statement(
    "Equation (13)",
    ClaimType.UPPER,
    page=33,
    symbol="",
    units=SQUARED_LENGTH,
    assumes=(*FEDDYN, *STRONGLY_CONVEX),
    left=_grown,
)
def distance_after_rearranged(*, distance: Real, gap: Real, epsilon: Real, move: Real, alpha: Real, L: Real) -> Any:
    """(12) rearranged: (1 + μ/α)E‖γ^t − θ_*‖² is at most the right-hand side of (10)."""
    return _one_round(distance, gap, epsilon, move, alpha, L)
