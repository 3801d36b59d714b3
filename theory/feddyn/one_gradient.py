"""FedDynOneGD (Algorithm 2): Lemmas 13 to 21 and equations (17) to (20).

A_t = (1/m)Σ E‖h_k^t − ∇L_k(θ_*)‖², B_t = (1/m)Σ E‖h_k^t − ∇L_k(γ^t)‖², ε_t = (1/m)Σ E‖θ̃_k^t − γ^{t−1}‖².
"""

from typing import Any, NamedTuple

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import parameter
from fedconvex.statements.assumptions import Smooth
from fedconvex.statements.notation import (
    CURVATURE,
    LENGTH,
    NUMBER,
    SQUARED_GRADIENT,
    SQUARED_LENGTH,
    VALUE,
)
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.feddyn import vectors
from fedconvex.theory.feddyn.assumptions import (
    ACTIVE,
    ALPHA_ONE_GRADIENT,
    ALPHA_ONE_GRADIENT_NONCONVEX,
    CONVEX,
    ONE_GRADIENT,
    ORDERED,
    STRONGLY_CONVEX,
)
from fedconvex.theory.feddyn.notation import KAPPA, PAPER, PER_CURVATURE, meaning
from fedconvex.types import Real


def of_weighted_gaps(bound: Any) -> Claim:
    """The claim of (18): the gaps, with weights (1 + μ/(3α))^{t−1}, over T."""
    return at_most(vectors.weighted_gaps(1 + parameter("mu") / (3 * parameter("alpha"))), bound, rounds="T")


class OneGradientScales(NamedTuple):
    """The multipliers of Lemmas 14 and 15 in the sum with (17) in which ε_t and A_{t−1}, A_t telescope."""

    scale14: Any
    scale15: Any


@PAPER.calculator(of="Equation (17)", units=(NUMBER, KAPPA), assumes=(ACTIVE, ORDERED, ALPHA_ONE_GRADIENT))
def one_gradient_scales(*, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real) -> OneGradientScales:
    """The multipliers below (17): 1 + μ/α, and for Lemma 15
    ((1+μ/3α)(L+μ)/α³ + (8/α²+4L²/α⁴)(1+μ/α)(1+μ/3α)) / ((P/m)(1−2L²/α²)(1+μ/3α) − μ/3α).
    """
    growth, third = 1 + mu / alpha, mu / (3 * alpha)
    numerator = (1 + third) * (L + mu) / alpha**3
    numerator = numerator + (8 / alpha**2 + 4 * L**2 / alpha**4) * growth * (1 + third)
    part = num_active / num_clients
    return OneGradientScales(growth, numerator / (part * (1 - 2 * L**2 / alpha**2) * (1 + third) - third))


class OneGradientNonconvexScales(NamedTuple):
    """The multipliers of Lemmas 19 and 20 in the sum with (19) that telescopes; scale20 is the paper's z."""

    scale19: Any
    scale20: Any


@PAPER.calculator(of="Equation (19)", units=(CURVATURE, PER_CURVATURE), assumes=(ACTIVE, ALPHA_ONE_GRADIENT_NONCONVEX))
def one_gradient_nonconvex_scales(
    *, alpha: Real, L: Real, num_clients: Real, num_active: Real
) -> OneGradientNonconvexScales:
    """Below (19): z = (2L/α² + 4L³/α⁴ + L²/α³) / (P/(2m−P) − (4P/(2m−P))L²/α² − 8(m/P)L²(1/α² + 2L²/α⁴)), and
    2(m/P)L²z + L/2.
    """
    m, P = num_clients, num_active
    numerator = 2 * L / alpha**2 + 4 * L**3 / alpha**4 + L**2 / alpha**3
    denominator = (
        P / (2 * m - P) - 4 * P / (2 * m - P) * L**2 / alpha**2
        - 8 * m / P * L**2 * (1 / alpha**2 + 2 * L**2 / alpha**4)
    )  # fmt: skip
    z = numerator / denominator
    return OneGradientNonconvexScales(2 * m / P * L**2 * z + L / 2, z)


@PAPER.statement(
    "Lemma 13",
    ClaimType.IDENTITY,
    page=37,
    symbol=r"E[\gamma^t-\gamma^{t-1}]",
    relation="=",
    units=LENGTH,
    assumes=ONE_GRADIENT,
    states=vectors.expected_move,
    redefines=meaning(mean_gradient=(r"\frac{1}{m}\sum_k E\nabla L_k(\theta^{t-1})", vectors.mean_server_gradient)),
)
def lemma13(*, alpha: Real, mean_gradient: Real) -> Any:
    """The expected move of the average: −(1/α)(1/m)Σ_k E∇L_k(θ^{t−1})."""
    return -mean_gradient / alpha


@PAPER.statement(
    "Lemma 14", ClaimType.UPPER, page=38, symbol=r"\epsilon_t", units=SQUARED_LENGTH, assumes=(*ONE_GRADIENT, *CONVEX),
    states=vectors.epsilon,
)  # fmt: skip
def lemma14(*, A: Real, gap: Real, alpha: Real, L: Real) -> Any:
    """ε_t ≤ (8/α² + 4L²/α⁴)A_{t−1} + (8L/α²)E[ℓ(γ^{t−1}) − ℓ(θ_*)]."""
    return (8 / alpha**2 + 4 * L**2 / alpha**4) * A + 8 * L / alpha**2 * gap


@PAPER.statement(
    "Lemma 15", ClaimType.UPPER, page=38, symbol="A_t", units=SQUARED_GRADIENT, assumes=(*ONE_GRADIENT, *CONVEX),
    states=vectors.A_after,
)  # fmt: skip
def lemma15(*, A: Real, gap: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real) -> Any:
    """A_t ≤ (1 − P/m + (P/m)(2L²/α²))A_{t−1} + 4L(P/m)E[ℓ(γ^{t−1}) − ℓ(θ_*)]."""
    part = num_active / num_clients
    return (1 - part + part * 2 * L**2 / alpha**2) * A + 4 * L * part * gap


@PAPER.statement(
    "Lemma 16",
    ClaimType.UPPER,
    page=38,
    symbol=r"-E\|\theta^{t-1}-\theta_*\|^2",
    units=SQUARED_LENGTH,
    assumes=ONE_GRADIENT,
    states=-vectors.server_distance,
)
def lemma16(*, distance_next: Real, move: Real, A: Real, alpha: Real) -> Any:
    """−E‖θ^{t−1} − θ_*‖² ≤ −(1/3)E‖γ^t − θ_*‖² + E‖γ^t − γ^{t−1}‖² + (1/α²)A_{t−1}."""
    return -distance_next / 3 + move + A / alpha**2


@PAPER.statement(
    "Lemma 17", ClaimType.UPPER, page=39, symbol=r"E\|h^t\|^2", units=SQUARED_GRADIENT, assumes=ONE_GRADIENT,
    states=vectors.state,
)  # fmt: skip
def lemma17(*, A_next: Real) -> Any:
    """The server's state is no larger than the memories' errors: E‖h^t‖² ≤ A_t."""
    return A_next + 0


@PAPER.statement(
    "Lemma 18", ClaimType.UPPER, page=39, symbol=r"E\|\theta^t-\gamma^t\|^2", units=SQUARED_LENGTH,
    assumes=ONE_GRADIENT, states=vectors.lag,
)  # fmt: skip
def lemma18(*, A_next: Real, alpha: Real) -> Any:
    """The server's point is close to the average: E‖θ^t − γ^t‖² ≤ A_t/α²."""
    return A_next / alpha**2


@PAPER.statement(
    "Lemma 19", ClaimType.UPPER, page=40, symbol=r"\epsilon_t", units=SQUARED_LENGTH, assumes=(*ONE_GRADIENT, Smooth()),
    states=vectors.epsilon,
)  # fmt: skip
def lemma19(*, B: Real, gradient_square: Real, alpha: Real, L: Real) -> Any:
    """ε_t ≤ (4/α² + 8L²/α⁴)B_{t−1} + (4/α² + 8L²/α⁴)E‖∇ℓ(γ^{t−1})‖²."""
    factor = 4 / alpha**2 + 8 * L**2 / alpha**4
    return factor * B + factor * gradient_square


@PAPER.statement(
    "Lemma 20", ClaimType.UPPER, page=40, symbol="B_t", units=SQUARED_GRADIENT, assumes=(*ONE_GRADIENT, Smooth()),
    states=vectors.B_after,
)  # fmt: skip
def lemma20(
    *, B: Real, gradient_square: Real, epsilon: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real
) -> Any:
    """B_t ≤ (2m/(2m−P))(1 + (P/m)(2L²/α² − 1))B_{t−1} + (L²/α²)(4P/(2m−P))E‖∇ℓ(γ^{t−1})‖² + (2m/P)L²ε_t."""
    m, P = num_clients, num_active
    shrunk = 2 * m / (2 * m - P) * (1 + P / m * (2 * L**2 / alpha**2 - 1)) * B
    return shrunk + L**2 / alpha**2 * 4 * P / (2 * m - P) * gradient_square + 2 * m / P * L**2 * epsilon


@PAPER.statement(
    "Lemma 21", ClaimType.UPPER, page=41,
    symbol=r"\tfrac1m\textstyle\sum_k E\|\nabla L_k(\gamma^t)-\nabla L_k(\theta^t)\|^2",
    units=SQUARED_GRADIENT, assumes=(*ONE_GRADIENT, Smooth()), states=vectors.gradients_apart,
)  # fmt: skip
def lemma21(*, B_next: Real, gradient_square_next: Real, alpha: Real, L: Real) -> Any:
    """The devices' gradients at the server's point and at the average: at most (2L²/α²)(B_t + E‖∇ℓ(γ^t)‖²) apart."""
    return 2 * L**2 / alpha**2 * B_next + 2 * L**2 / alpha**2 * gradient_square_next


@PAPER.statement(
    "Equation (17)", ClaimType.UPPER, page=38, symbol="", units=SQUARED_LENGTH, assumes=(*ONE_GRADIENT,
    *STRONGLY_CONVEX),
    left=lambda *, gap, alpha: 2 / alpha * gap,
)  # fmt: skip
def one_gradient_round(
    *, distance: Real, distance_next: Real, A: Real, epsilon: Real, alpha: Real, L: Real, mu: Real
) -> Any:
    """(2/α)E[ℓ(γ^{t−1}) − ℓ(θ_*)] is at most
    E‖γ^{t−1} − θ_*‖² − (1 + μ/(3α))E‖γ^t − θ_*‖² + ((L+μ)/α³)A_{t−1} + (1 + μ/α)ε_t.
    """
    shrunk = (1 + mu / (3 * alpha)) * distance_next
    return distance - shrunk + (L + mu) / alpha**3 * A + (1 + mu / alpha) * epsilon


@PAPER.statement(
    "Equation (18)", ClaimType.UPPER, page=38,
    symbol=r"\frac{1}{T}\sum_{t=1}^T\left(1+\frac{\mu}{3\alpha}\right)^{t-1}E[\ell(\gamma^{t-1})-\ell(\theta_*)]",
    units=VALUE, assumes=(*ONE_GRADIENT, *STRONGLY_CONVEX, ALPHA_ONE_GRADIENT), states=of_weighted_gaps,
)  # fmt: skip
def one_gradient_bound(
    *, D0: Real, G: Real, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real, T: Real
) -> Any:
    """(1/T)(α‖γ⁰ − θ_*‖² + 10(m/P)(1/α)A₀); A₀ = (1/m)Σ‖∇L_k(θ_*)‖² = G where the memories start at 0.

    (`L` and `mu` are in the condition only.)
    """
    return (alpha * D0 + 10 * num_clients / num_active / alpha * G) / T


@PAPER.statement(
    "Equation (19)", ClaimType.UPPER, page=41, symbol=r"E\ell(\gamma^t)-E\ell(\gamma^{t-1})", units=VALUE,
    assumes=(*ONE_GRADIENT, Smooth()), states=vectors.loss_after - vectors.loss,
)  # fmt: skip
def one_gradient_decrease(*, B: Real, gradient_square: Real, epsilon: Real, alpha: Real, L: Real) -> Any:
    """(L²/α³)B_{t−1} − (1/(2α) − L²/α³)E‖∇ℓ(γ^{t−1})‖² + (L/2)ε_t."""
    return L**2 / alpha**3 * B - (1 / (2 * alpha) - L**2 / alpha**3) * gradient_square + L / 2 * epsilon


@PAPER.statement(
    "Equation (20)", ClaimType.UPPER, page=41, symbol=r"\frac{1}{T}\sum_{t=1}^T E\|\nabla\ell(\gamma^{t-1})\|^2",
    units=SQUARED_GRADIENT, assumes=(*ONE_GRADIENT, Smooth(), ALPHA_ONE_GRADIENT_NONCONVEX),
    states=lambda bound: at_most(vectors.mean_square_slope, bound, rounds="T"),
)  # fmt: skip
def one_gradient_nonconvex_bound(
    *, delta: Real, B0: Real, alpha: Real, L: Real, num_clients: Real, num_active: Real, T: Real
) -> Any:
    """(1/T)(4α(ℓ(θ⁰) − ℓ_*) + 50(m/P)(1/α)L B₀)."""
    return (4 * alpha * delta + 50 * num_clients / num_active / alpha * L * B0) / T
