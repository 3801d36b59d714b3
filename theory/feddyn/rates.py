"""FedDyn: the cases of Theorems 1 and 5, with constants in the place of O(·). The papers' proofs choose α so."""

from typing import Any

from fedconvex.statements.assumptions import Smooth
from fedconvex.statements.notation import SQUARED_GRADIENT, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.feddyn import vectors
from fedconvex.theory.feddyn.assumptions import CASES, FEDDYN, ONE_GRADIENT, ONE_GRADIENT_CASES, ORDERED
from fedconvex.theory.feddyn.notation import PAPER
from fedconvex.theory.feddyn.theorems import (
    GROWTH,
    MEAN_GAP,
    MEAN_GRADIENT,
    ONE_GRADIENT_GROWTH,
    WEIGHTED_GAP,
    beta_of_one_gradient_rates,
    beta_of_rates,
    convex_rate,
    nonconvex_rate,
    strongly_convex_rate,
)
from fedconvex.types import Real


@PAPER.statement(
    "Theorem 1, strongly convex", ClaimType.UPPER, symbol=WEIGHTED_GAP, units=VALUE, ours=True,
    assumes=(*FEDDYN, Smooth(), ORDERED, *CASES[0]),
    states=vectors.gap_of_weighted_mean(GROWTH),
)  # fmt: skip
def strongly_convex_rate_bound(
    *, L: Real, mu: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real
) -> Any:
    """Theorem 1 for strongly convex devices, α = β = max(5(m/P)μ, 30L), with the constant 1240/3.

    Theorem 3 has 400; 1/r^{T−1} = r/r^T, and r = 1 + μ/β is at most 31/30.
    """
    drawn = {"num_clients": num_clients, "num_active": num_active}
    beta = beta_of_rates(L=L, mu=mu, **drawn)
    return 1240 * strongly_convex_rate(T=T, D0=D0, G=G, beta=beta, r=1 + mu / beta, **drawn) / 3


@PAPER.statement(
    "Theorem 1, convex", ClaimType.UPPER, symbol=MEAN_GAP, units=VALUE, ours=True,
    assumes=(*FEDDYN, Smooth(), *CASES[1]),
    states=vectors.gap_of_mean,
)  # fmt: skip
def convex_rate_bound(*, L: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real) -> Any:
    """Theorem 1 for convex devices, α = 30L√(m/P), with the constant 300: Theorem 2 at this α."""
    return 300 * convex_rate(L=L, num_clients=num_clients, num_active=num_active, T=T, D0=D0, G=G)


@PAPER.statement(
    "Theorem 1, nonconvex", ClaimType.UPPER, symbol=MEAN_GRADIENT, units=SQUARED_GRADIENT, ours=True,
    assumes=(*FEDDYN, Smooth(), *CASES[2]), states=vectors.mean_square_gradient,
)  # fmt: skip
def nonconvex_rate_bound(*, L: Real, num_clients: Real, num_active: Real, T: Real, delta: Real, spread: Real) -> Any:
    """Theorem 1 for smooth devices, α = 30L m/P, with the constant 90: Theorem 4 at this α.

    γ_T with the theorem's index is one of γ⁰, …, γ^{T−1}, each with probability 1/T, and not the last one.
    """
    return 90 * nonconvex_rate(L=L, num_clients=num_clients, num_active=num_active, T=T, delta=delta, spread=spread)


@PAPER.statement(
    "Theorem 5, strongly convex", ClaimType.UPPER, symbol=WEIGHTED_GAP, units=VALUE, ours=True,
    assumes=(*ONE_GRADIENT, Smooth(), ORDERED, *ONE_GRADIENT_CASES[0]),
    states=vectors.gap_of_weighted_mean(ONE_GRADIENT_GROWTH),
)  # fmt: skip
def one_gradient_strongly_convex_rate_bound(
    *, L: Real, mu: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real
) -> Any:
    """Theorem 5 for strongly convex devices, α = β = max(50(m/P)μ, 50L), with the constant 151/15.

    (18) has 10; the sum of the r^t is at least r^{T−1}, and r = 1 + μ/(3β) is at most 151/150.
    """
    drawn = {"num_clients": num_clients, "num_active": num_active}
    beta = beta_of_one_gradient_rates(L=L, mu=mu, **drawn)
    return 151 * strongly_convex_rate(T=T, D0=D0, G=G, beta=beta, r=1 + mu / (3 * beta), **drawn) / 15


@PAPER.statement(
    "Theorem 5, convex", ClaimType.UPPER, symbol=MEAN_GAP, units=VALUE, ours=True,
    assumes=(*ONE_GRADIENT, Smooth(), *ONE_GRADIENT_CASES[1]),
    states=vectors.gap_of_mean,
)  # fmt: skip
def one_gradient_convex_rate_bound(*, L: Real, num_clients: Real, num_active: Real, T: Real, D0: Real, G: Real) -> Any:
    """Theorem 5 for convex devices, α = 50L√(m/P), with the constant 50: (18) with μ = 0 at this α."""
    return 50 * convex_rate(L=L, num_clients=num_clients, num_active=num_active, T=T, D0=D0, G=G)


@PAPER.statement(
    "Theorem 5, nonconvex", ClaimType.UPPER, symbol=MEAN_GRADIENT, units=SQUARED_GRADIENT, ours=True,
    assumes=(*ONE_GRADIENT, Smooth(), *ONE_GRADIENT_CASES[2]),
    states=vectors.mean_square_gradient,
)  # fmt: skip
def one_gradient_nonconvex_rate_bound(
    *, L: Real, num_clients: Real, num_active: Real, T: Real, delta: Real, spread: Real
) -> Any:
    """Theorem 5 for smooth devices, α = 50L m/P, with the constant 200: (20) at this α.

    Algorithm 2 has the input ∇L_k(θ_k⁰) = 0, which is the first memory h_k⁰: so B_0 ≤ L² (1/m)Σ‖θ_k⁰ − θ⁰‖².
    """
    return 200 * nonconvex_rate(L=L, num_clients=num_clients, num_active=num_active, T=T, delta=delta, spread=spread)
