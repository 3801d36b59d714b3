"""Theorem 4's ρ and its slope in μ, once more: rational in √(2K), which is 2·√(K/2) and K·√(2/K)."""

from fractions import Fraction
from math import isqrt
from typing import Any

import flint


def root_of_double(K: int) -> Fraction | flint.arb:
    """√(2K): exactly where it is an integer, else a ball of the working precision."""
    return Fraction(isqrt(2 * K)) if isqrt(2 * K) ** 2 == 2 * K else flint.arb(2 * K).sqrt()


def parts(B: Any, gamma: Any, K: int, root: Any) -> tuple[Any, Any, Any, Any]:
    """(p, q, r, s) with ρ = p/μ − q/μ̄ − L(r/(μμ̄) + s/μ̄²)."""
    c = B * (1 + gamma)
    return 1 - gamma * B, c * root / K, c, c * c / 2 + c * c * (2 * root + 2) / K


def rho(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: int, root: Any) -> Any:
    p, q, r, s = parts(B, gamma, K, root)
    x = mu - L_minus
    return p / mu - q / x - L * (r / (mu * x) + s / (x * x))


def slope(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: int, root: Any) -> Any:
    """∂ρ/∂μ, term by term."""
    p, q, r, s = parts(B, gamma, K, root)
    x = mu - L_minus
    return -p / (mu * mu) + q / (x * x) + L * (r * (mu + x) / (mu * mu * x * x) + 2 * s / (x * x * x))


def smoothness_of_no_decrease(mu: Any, L_minus: Any, B: Any, gamma: Any, K: int, root: Any) -> Any:
    """The L with ρ = 0: ρ falls linearly in L."""
    p, q, r, s = parts(B, gamma, K, root)
    x = mu - L_minus
    return (p / mu - q / x) / (r / (mu * x) + s / (x * x))


def some_mu_decreases(B: Fraction, gamma: Fraction, K: int) -> bool:
    """Whether 1 − γB > B(1 + γ)√(2/K), squared."""
    room = 1 - gamma * B
    return room > 0 and room**2 * K > 2 * (B * (1 + gamma)) ** 2
