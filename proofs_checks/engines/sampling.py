"""The moments of the average over drawn clients, exactly, for any number of clients.

Let u, v be families (`hilbert`), S the draw, ū the mean with the clients' weights. Then E[avg_S u] = ū, and

    E⟨avg_S u − ū, avg_S v − v̄⟩ = scale · Σ_k p_k⟨u_k − ū, v_k − v̄⟩,

with scale = 1/K for K independent draws with probabilities p_k, and (m − P)/(P(m − 1)) for P of m clients drawn
without replacement, where all sets are equally likely and p_k = 1/m. (For m = 1 the deviations are 0.) `Moments`
derives both factors from the distribution of the draw, and compares them with the sum over all draws for m ≤ 4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, final

import sympy

from fedconvex.proofs_checks.engines.algebra import is_zero
from fedconvex.proofs_checks.engines.hilbert import HilbertVector, deviation, drawn, expected, inner, mean
from fedconvex.proofs_checks.proof import Check, CheckOutcome, Relation
from fedconvex.verdicts import Verdict


@final
@dataclass(frozen=True)
class Independent:
    """`drawn` independent draws, each client k with probability p_k (FedProx); a client may be drawn several times."""

    drawn: Any  # K

    @property
    def scale(self) -> Any:
        """Of the average's second moments."""
        return 1 / self.drawn

    def average_of_products(self) -> Any:
        """E⟨avg_S u, avg_S v⟩ in terms of s = ⟨ū, v̄⟩ and q = Σ_k p_k⟨u_k, v_k⟩, from the draw's generating function.

        The counts N_k of the clients have the generating function (Σ_k p_k x_k)^K. For the moments of two of them the
        others can be merged: (p₁x₁ + p₂x₂ + 1 − p₁ − p₂)^K.
        """
        p1, p2, x1, x2 = sympy.symbols("p_1 p_2 x_1 x_2", positive=True)
        generating = (p1 * x1 + p2 * x2 + 1 - p1 - p2) ** self.drawn
        ones = {x1: 1, x2: 1}
        pairs = sympy.diff(generating, x1, x2).subs(ones)  # E[N₁N₂]
        factorial = sympy.diff(generating, x1, x1).subs(ones)  # E[N₁(N₁ − 1)]
        count = sympy.diff(generating, x1).subs(ones)  # E[N₁]
        s, q = sympy.symbols("s q")
        of_pairs, of_one = sympy.simplify(pairs / (p1 * p2)), sympy.simplify(count / p1)
        # E[N_k N_l] = of_pairs·p_k p_l for k ≠ l, and E[N_k²] = of_pairs·p_k² + of_one·p_k; the assertion
        # checks the former factor for k = l. So Σ_{k,l} E[N_k N_l]⟨u_k, v_l⟩ = of_pairs·s + of_one·q.
        assert sympy.simplify(factorial / p1**2 - of_pairs) == 0
        return (of_pairs * s + of_one * q) / self.drawn**2

    @staticmethod
    def draws(clients: int, size: int, weights: list[Fraction]) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Every draw with its probability."""
        for chosen in product(range(clients), repeat=size):
            chance = Fraction(1)
            for k in chosen:
                chance *= weights[k]
            yield chance, chosen


@final
@dataclass(frozen=True)
class WithoutReplacement:
    """`drawn` of `clients` clients, every set equally likely (FedDyn); the weights are 1/clients."""

    clients: Any  # m
    drawn: Any  # P

    @property
    def scale(self) -> Any:
        """Of the average's second moments."""
        return (self.clients - self.drawn) / (self.drawn * (self.clients - 1))

    def average_of_products(self) -> Any:
        """E⟨avg_S u, avg_S v⟩ in terms of s and q, from the numbers of sets that contain one client, or two."""
        m, P = self.clients, self.drawn
        one = sympy.combsimp(sympy.binomial(m - 1, P - 1) / sympy.binomial(m, P))
        two = sympy.combsimp(sympy.binomial(m - 2, P - 2) / sympy.binomial(m, P))
        s, q = sympy.symbols("s q")
        return (one * m * q + two * (m**2 * s - m * q)) / P**2  # Σ_{k≠l}⟨u_k, v_l⟩ = m²s − mq

    @staticmethod
    def draws(clients: int, size: int, weights: list[Fraction]) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Every draw with its probability."""
        sets = list(combinations(range(clients), size))
        for chosen in sets:
            yield Fraction(1, len(sets)), chosen


Scheme = Independent | WithoutReplacement


def second_moment(u: HilbertVector, v: HilbertVector, scheme: Scheme) -> Relation:
    """E⟨avg_S u, avg_S v⟩ = ⟨ū, v̄⟩ + scale · Σ_k p_k⟨u_k − ū, v_k − v̄⟩, to be shown by `Moments(scheme)`."""
    right = inner(mean(u), mean(v)) + scheme.scale * inner(deviation(u), deviation(v))
    return Relation(inner(drawn(u, scheme.scale), drawn(v, scheme.scale)), "=", right, name="moments of the draw")


@final
@dataclass(frozen=True)
class Moments(Check):
    """Proves `second_moment(u, v, scheme)`: symbolically for any number of clients, and by enumeration up to four."""

    scheme: Scheme

    engine = "moments"

    def run(self, claim: Relation) -> CheckOutcome:
        s, q = sympy.symbols("s q")
        moment = self.scheme.average_of_products()
        if not is_zero(sympy.simplify(moment - s - self.scheme.scale * (q - s))):
            return CheckOutcome(Verdict.REFUTED, f"the second moment is {moment}")
        wrong = _enumerated(self.scheme)
        if wrong:
            return CheckOutcome(Verdict.REFUTED, wrong)
        if claim.relation != "=" or not is_zero(claim.right - claim.left):
            return CheckOutcome(Verdict.UNKNOWN, "the claim is another one")
        return CheckOutcome(
            Verdict.PROVED, "from the generating function of the draw, and by enumeration up to 4 clients"
        )


def _enumerated(scheme: Scheme) -> str:
    """A disagreement between `scale` and the sum over all draws for 2 to 4 clients; "" if there is none."""
    u, v = ([Fraction(n) for n in numbers] for numbers in ((3, -1, 4, 2), (1, 5, -9, 2)))
    for m in range(2, 5):
        # Unequal weights where the scheme admits them, and numbers that are not symmetric: an error must not cancel.
        weights = [Fraction(1, m)] * m
        if isinstance(scheme, Independent):
            weights = [Fraction(2 * (k + 1), m * (m + 1)) for k in range(m)]
        for size in range(1, m + 1 if isinstance(scheme, WithoutReplacement) else 4):
            values = {scheme.drawn: size}
            if isinstance(scheme, WithoutReplacement):
                values[scheme.clients] = m
            mean_u, mean_v = (sum(p * x for p, x in zip(weights, family, strict=False)) for family in (u, v))
            apart = sum(p * (a - mean_u) * (b - mean_v) for p, a, b in zip(weights, u, v, strict=False))
            found: Any = 0
            first: Any = 0
            for chance, chosen in scheme.draws(m, size, weights):
                average_u, average_v = (sum(family[k] for k in chosen) / size for family in (u, v))
                found += chance * (average_u - mean_u) * (average_v - mean_v)
                first += chance * average_u
            scale = sympy.Rational(sympy.sympify(scheme.scale).subs(values))
            if first != mean_u or found != Fraction(int(scale.p), int(scale.q)) * apart:
                return f"for m = {m} and {size} drawn the average's moments are {first} and {found}"
    return ""


__all__ = ["Independent", "Moments", "Scheme", "WithoutReplacement", "expected", "second_moment"]
