"""One round of FedProx on one-dimensional clients F_k(x) = h_k x²/2 + a_k x from x = 0, written out: a second route.

A client's answer with the residual r_k·a_k, |r_k| ≤ γ, is (r_k − 1)a_k/(h_k + μ). An instance is
(μ, L, L₋, γ, K, ((p_k, h_k, a_k, r_k), …)).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.statements.functions import sqrt

F = Fraction
Instance = tuple[Any, Any, Any, Any, Any, tuple[tuple[Any, ...], ...]]


@final
@dataclass(frozen=True)
class Round:
    """One round, with the quantities that the statements are about."""

    mu: Fraction
    L: Fraction
    L_minus: Fraction
    gamma: Fraction
    K: Fraction
    clients: tuple[tuple[Fraction, ...], ...]

    def mean(self, numbers: Any) -> Fraction:
        return sum((p * x for (p, *_), x in zip(self.clients, numbers, strict=True)), Fraction(0))

    @property
    def gradients(self) -> list[Fraction]:
        return [a for _, _, a, _ in self.clients]

    @property
    def gradient(self) -> Fraction:
        return abs(self.mean(self.gradients))

    @property
    def B(self) -> Fraction:
        root: Fraction = sqrt(self.mean(a * a for a in self.gradients))
        return root / self.gradient

    @property
    def variance(self) -> Fraction:
        """The variance of the clients' gradients."""
        return self.mean(a * a for a in self.gradients) - self.gradient**2

    @property
    def steps(self) -> list[Fraction]:
        return [(r - 1) * a / (h + self.mu) for _, h, a, r in self.clients]

    @property
    def mean_step(self) -> Fraction:
        return self.mean(self.steps)

    @property
    def mean_square_deviation(self) -> Fraction:
        """E|w⁺ − w̄|², over K independent draws."""
        return (self.mean(d * d for d in self.steps) - self.mean_step**2) / self.K

    def value(self, x: Fraction) -> Fraction:
        """f(x); f(0) = 0."""
        return self.mean(h * x * x / 2 + a * x for _, h, a, _ in self.clients)

    @property
    def expected_value(self) -> Fraction:
        """E f(w⁺); as f is quadratic, the variance of w⁺ is enough."""
        return self.value(self.mean_step) + self.mean(h for _, h, _, _ in self.clients) / 2 * self.mean_square_deviation


def admissible_round(instance: Instance) -> Round | None:
    """The round, if the instance is admissible."""
    mu, L, L_minus, gamma, K, clients = instance
    found = Round(F(mu), F(L), F(L_minus), F(gamma), F(K), tuple(tuple(map(F, c)) for c in clients))
    curved = all(-min(found.L_minus, found.L) <= h <= found.L for _, h, _, _ in found.clients)
    solved = all(abs(r) <= found.gamma for *_, r in found.clients) and 0 <= found.gamma <= 1
    weighted = sum(p for p, *_ in found.clients) == 1 and all(p > 0 for p, *_ in found.clients)
    drawn = found.K >= 1 and found.K.denominator == 1
    moving = found.mu > found.L_minus >= 0 and found.gradient > 0
    return found if curved and solved and weighted and drawn and moving else None
