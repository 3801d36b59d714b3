"""FedDyn: Theorems 1 to 5, for P of m devices drawn uniformly in every round; the objective is the plain mean.

Theorems 2 to 4 are bounds with constants; Theorems 1 and 5 are rates up to constants and no guarantees for a number of
rounds.
"""

from typing import Any, NamedTuple

from fedconvex.claims.terms import parameter
from fedconvex.statements.assumptions import Smooth, StartsAtLocalMinima
from fedconvex.statements.functions import maximum, named, power, sqrt
from fedconvex.statements.notation import SQUARED_GRADIENT, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.feddyn import vectors
from fedconvex.theory.feddyn.assumptions import (
    ALPHA_CONVEX,
    ALPHA_NONCONVEX,
    ALPHA_STRONGLY_CONVEX,
    CASES,
    CONVEX,
    FEDDYN,
    ONE_GRADIENT,
    ONE_GRADIENT_CASES,
    ORDERED,
    STRONGLY_CONVEX,
)
from fedconvex.theory.feddyn.notation import PAPER
from fedconvex.types import Real

MEAN_GAP = r"E\,\ell\left(\frac{1}{T}\sum_{t=0}^{T-1}\gamma^t\right)-\ell(\theta_*)"
WEIGHTED_GAP = r"E\,\ell\left(\frac{1}{R}\sum_{t=0}^{T-1}r^t\gamma^t\right)-\ell(\theta_*)"
MEAN_GRADIENT = r"E\,\frac{1}{T}\sum_{t=1}^T\|\nabla\ell(\gamma^{t-1})\|^2"

GROWTH = named("r", 1 + parameter("mu") / parameter("alpha"))
ONE_GRADIENT_GROWTH = named("r", 1 + parameter("mu") / (3 * parameter("alpha")))


class Rates(NamedTuple):
    """The three cases of Theorems 1 and 5."""

    strongly_convex: Any
    convex: Any
    nonconvex: Any


# Theorems 1 and 5 have the same three formulas, with another β and r in the first.


def strongly_convex_rate(*, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real, beta: Any, r: Any) -> Any:
    """(1/r^T)(β D0 + (m/P) G/β)."""
    return (beta * D0 + num_clients / num_active * G / beta) / power(r, T)


def convex_rate(*, L: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real) -> Any:
    """(1/T)√(m/P)(L D0 + G/L)."""
    return sqrt(num_clients / num_active) * (L * D0 + G / L) / T


def nonconvex_rate(*, L: Real, num_clients: Real, num_active: Real, T: Real, delta: Real, spread: Real) -> Any:
    """(1/T)(L(m/P)(ℓ(θ⁰) − ℓ_*) + L² (1/m)Σ‖θ_k⁰ − θ⁰‖²)."""
    return (L * (num_clients / num_active) * delta + L**2 * spread) / T


def _rates(
    L: Real,
    num_clients: Real,
    num_active: Real,
    T: Real,
    D0: Real,
    G: Real,
    delta: Real,
    spread: Real,
    beta: Any,
    r: Any,
) -> Rates:
    drawn = {"num_clients": num_clients, "num_active": num_active, "T": T}
    return Rates(
        strongly_convex_rate(D0=D0, G=G, beta=beta, r=r, **drawn),
        convex_rate(L=L, D0=D0, G=G, **drawn),
        nonconvex_rate(L=L, delta=delta, spread=spread, **drawn),
    )


def beta_of_rates(*, L: Real, mu: Real, num_clients: Real, num_active: Real) -> Any:
    """β = max(5(m/P)μ, 30L), the α of Theorem 1's first case."""
    return named(r"\beta", maximum(5 * num_clients * mu / num_active, 30 * L))


def beta_of_one_gradient_rates(*, L: Real, mu: Real, num_clients: Real, num_active: Real) -> Any:
    """β = max(50(m/P)μ, 50L), the α of Theorem 5's first case."""
    return named(r"\beta", maximum(50 * num_clients * mu / num_active, 50 * L))


@PAPER.statement(
    "Theorem 1", ClaimType.ASYMPTOTIC, page=5, symbol=(WEIGHTED_GAP, MEAN_GAP, r"E\|\nabla\ell(\gamma_T)\|^2"),
    relation=r"= O(\cdot)", units=(VALUE, VALUE, SQUARED_GRADIENT), assumes=(*FEDDYN, Smooth(), ORDERED), cases=CASES,
    parts=("Theorem 1, strongly convex", "Theorem 1, convex", "Theorem 1, nonconvex"),
    states=(vectors.gap_of_weighted_mean(GROWTH), vectors.gap_of_mean, vectors.mean_square_gradient),
)  # fmt: skip
def rates(
    *, L: Real, mu: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real, delta: Real, spread: Real
) -> Rates:
    """FedDyn's rates for strongly convex, convex and non-convex devices, up to constants.

    (1/r^T)(β D0 + (m/P) G/β) with β = max(5(m/P)μ, 30L), r = 1 + μ/β; (1/T)√(m/P)(L D0 + G/L);
    (1/T)(L(m/P)(ℓ(θ⁰) − ℓ_*) + L² (1/m)Σ‖θ_k⁰ − θ⁰‖²). Each for its own α; for one much larger it fails.
    """
    beta = beta_of_rates(L=L, mu=mu, num_clients=num_clients, num_active=num_active)
    return _rates(L, num_clients, num_active, T, D0, G, delta, spread, beta, named("r", 1 + mu / beta))


@PAPER.statement(
    "Theorem 2",
    ClaimType.UPPER,
    page=28,
    symbol=MEAN_GAP,
    units=VALUE,
    assumes=(*FEDDYN, *CONVEX, ALPHA_CONVEX),
    states=vectors.gap_of_mean,
)
def convex_bound(*, alpha: Real, L: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real) -> Any:
    """For convex devices and α ≥ 25L, the gap of the mean of γ⁰, …, γ^{T−1} after T rounds:
    (1/T)(10α D0 + 100 (m/P)(1/α) G), with D0 = ‖θ⁰ − θ_*‖² and G = (1/m)Σ‖∇L_k(θ_*)‖².

    Use it for a guarantee at a given α; `best_alpha_convex` chooses α, and `convex_bound_sharper` is at least 20 times
    smaller. L occurs only in the condition. `convex_bound_of_lemma` is the bound that the paper's proof gives before it
    rounds the constants up.
    """
    return (10 * alpha * D0 + 100 * num_clients / num_active / alpha * G) / T


@PAPER.statement(
    "Theorem 3", ClaimType.UPPER, page=32, symbol=WEIGHTED_GAP, units=VALUE,
    assumes=(*FEDDYN, *STRONGLY_CONVEX, ALPHA_STRONGLY_CONVEX),
    states=vectors.gap_of_weighted_mean(GROWTH),
)  # fmt: skip
def strongly_convex_bound(
    *, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real
) -> Any:
    """For strongly convex devices and α ≥ max(5(m/P)μ, 30L), the gap of the r^t-weighted mean of the γ^t:
    (1/r^{T−1})(20α D0 + 400 (m/P)(1/α) G), r = 1 + μ/α.
    """
    r = named("r", 1 + mu / alpha)
    return (20 * alpha * D0 + 400 * num_clients / num_active / alpha * G) / power(r, T - 1)


@PAPER.statement(
    "Theorem 3, other reading", ClaimType.UPPER, symbol=WEIGHTED_GAP, units=VALUE, ours=True,
    assumes=(*FEDDYN, *STRONGLY_CONVEX, ALPHA_STRONGLY_CONVEX),
    states=vectors.gap_of_weighted_mean(GROWTH),
)  # fmt: skip
def strongly_convex_bound_read_otherwise(
    *, alpha: Real, L: Real, mu: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real
) -> Any:
    """Theorem 3 if its printed factor is read as 1/(r^T − 1) in the place of 1/r^{T−1}, which holds, too.

    This bound is α/μ times the other one for T = 1, and falls to 1/r times it for large T. Theorem 1 needs the other
    one: here, its O(1/r^T) would hide the factor α/μ.
    """
    r = named("r", 1 + mu / alpha)
    return (20 * alpha * D0 + 400 * num_clients / num_active / alpha * G) / (power(r, T) - 1)


@PAPER.statement(
    "Theorem 4", ClaimType.UPPER, page=33, symbol=MEAN_GRADIENT, units=SQUARED_GRADIENT,
    assumes=(*FEDDYN, Smooth(), StartsAtLocalMinima(), ALPHA_NONCONVEX),
    states=vectors.mean_square_gradient,
)  # fmt: skip
def nonconvex_bound(
    *, alpha: Real, L: Real, num_clients: Real, num_active: Real, T: Real, delta: Real, spread: Real
) -> Any:
    """For smooth devices and α ≥ 20L m/P, the mean squared gradient over T rounds:
    (1/T)(3α(ℓ(θ⁰) − ℓ_*) + 30L³(m/P)(1/α) (1/m)Σ‖θ_k⁰ − θ⁰‖²).

    θ_k⁰ are the devices' first models, where the algorithm's input ∇L_k(θ_k⁰) = 0 holds.
    """
    return (3 * alpha * delta + 30 * L**3 * num_clients / num_active / alpha * spread) / T


@PAPER.statement(
    "Theorem 5", ClaimType.ASYMPTOTIC, page=37, symbol=(WEIGHTED_GAP, MEAN_GAP, r"E\|\nabla\ell(\gamma_T)\|^2"),
    relation=r"= O(\cdot)", units=(VALUE, VALUE, SQUARED_GRADIENT), assumes=(*ONE_GRADIENT, Smooth(), ORDERED),
    cases=ONE_GRADIENT_CASES, parts=("Theorem 5, strongly convex", "Theorem 5, convex", "Theorem 5, nonconvex"),
    states=(vectors.gap_of_weighted_mean(ONE_GRADIENT_GROWTH), vectors.gap_of_mean, vectors.mean_square_gradient),
)  # fmt: skip
def one_gradient_rates(
    *, L: Real, mu: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real, delta: Real, spread: Real
) -> Rates:
    """FedDynOneGD's rates, up to constants: those of Theorem 1 with β = max(50(m/P)μ, 50L), r = 1 + μ/(3β)."""
    beta = beta_of_one_gradient_rates(L=L, mu=mu, num_clients=num_clients, num_active=num_active)
    return _rates(L, num_clients, num_active, T, D0, G, delta, spread, beta, named("r", 1 + mu / (3 * beta)))
