"""Textbook inequalities as sums of the kernel's facts and of squares.

Each function returns the `Parts` that make up one inequality; parts are added, and multiplied by numbers. Nothing here
is trusted: a wrong sum is refused when the kernel replays the line.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import Number, Vector, gradient, mean, minimiser, number
from fedconvex.proofs_checks.kernel.proofs import (
    ONE,
    ZERO,
    Between,
    CauchySchwarz,
    Combine,
    Derivation,
    During,
    Earlier,
    Fact,
    Line,
    Lower,
    Root,
    Telescope,
    Upper,
)


@final
@dataclass(frozen=True)
class Parts:
    """Facts and squares with multipliers, whose sum is ≥ 0."""

    facts: tuple[tuple[Number, Fact], ...] = ()
    squares: tuple[tuple[Number, Vector], ...] = ()

    def __add__(self, other: "Parts") -> "Parts":
        return Parts(self.facts + other.facts, self.squares + other.squares)

    def __mul__(self, factor: Any) -> "Parts":
        c = number(factor)
        if c == number(0):
            return Parts()
        return Parts(tuple((c * a, f) for a, f in self.facts), tuple((c * a, v) for a, v in self.squares))

    __rmul__ = __mul__


def by(fact: Fact) -> Parts:
    """One fact, as it is."""
    return Parts(((number(1), fact),))


def squared(u: Vector) -> Parts:
    """‖u‖² ≥ 0."""
    return Parts((), ((number(1), u),))


def concluding(claim: Claim, parts: Parts, name: str = "") -> Combine:
    """The line that concludes a claim from its parts."""
    return Combine(claim.left, claim.right, parts.facts, parts.squares, claim.relation, name)


def interpolation(b: Vector, a: Vector, least: Any, most: Any) -> Parts:
    """F(b) − F(a) − ⟨∇F(a), b − a⟩ ≥ (‖g‖² + ℓL‖d‖² − 2ℓ⟨g, d⟩)/(2(L − ℓ)), d = b − a, g = ∇F(b) − ∇F(a).

    The quadratic above at b and the one below at a, compared where they are closest. For ℓ = 0 it is cocoercivity:
    F(b) − F(a) − ⟨∇F(a), b − a⟩ ≥ ‖∇F(b) − ∇F(a)‖²/(2L). ℓ may be smaller than the setting's, L larger.
    """
    least, most = number(least), number(most)
    closest = (most * b - least * a - (gradient(b) - gradient(a))) / (most - least)
    return by(Upper(closest, b, most)) + by(Lower(closest, a, least))


def lipschitz(b: Vector, a: Vector, most: Any) -> Parts:
    """‖∇F(b) − ∇F(a)‖² ≤ L²‖b − a‖², for curvatures in [−L, L]."""
    return by(Between(b, a, -number(most), number(most)))


def sum_of(*vectors: Vector) -> Parts:
    """‖Σ_j v_j‖² ≤ n Σ_j‖v_j‖² for n vectors: the difference is Σ_{i<j}‖v_i − v_j‖²."""
    return sum((squared(u - v) for u, v in combinations(vectors, 2)), start=Parts())


def jensen(u: Vector) -> Parts:
    """‖mean u‖² ≤ mean‖u_k‖²."""
    return squared(u - mean(u))


def split(u: Vector, v: Vector, z: Any) -> Parts:
    """‖u + v‖² ≤ (1 + z)‖u‖² + (1 + 1/z)‖v‖²."""
    return number(z) * squared(u - v / number(z))


def suboptimal(at: Vector) -> Parts:
    """f(at) ≥ f(x*), at a point that all clients share."""
    return by(Lower(at, minimiser, number(0)))


def gap_above_slope(at: Vector, most: Any) -> Parts:
    """‖∇f(at)‖² ≤ 2L(f(at) − f(x*)), at a point that all clients share."""
    parts: Parts = 2 * most * interpolation(at, minimiser, 0, most) + jensen(gradient(at) - gradient(minimiser))
    return parts


def young(u: Vector, v: Vector) -> Parts:
    """2⟨u, v⟩ ≤ ‖u‖² + ‖v‖²."""
    return squared(u - v)


def cauchy_schwarz(u: Vector, v: Vector, sign: int = 1) -> Parts:
    """sign·⟨u, v⟩ ≤ ‖u‖‖v‖."""
    return by(CauchySchwarz(u, v, sign))


def triangle(u: Vector, v: Vector) -> Parts:
    """‖u + v‖² ≤ (‖u‖ + ‖v‖)²."""
    return 2 * cauchy_schwarz(u, v)


def rooted(left: Number, right: Number, parts: Parts, name: str) -> tuple[Combine, Root]:
    """The lines that conclude left ≤ right, by name, from parts that show left² ≤ right²."""
    once = f"{name}, squared"
    return concluding(at_most(left**2, right**2), parts, once), Root(left, right, once, name)


NOTHING = Parts()


def cited(line: str) -> Parts:
    """An earlier line."""
    return by(Earlier(line))


def added_up(
    claim: Claim, once: Parts, potential: Number, gain: Number, share: Number, *, start: Parts = NOTHING,
    end: Parts = NOTHING, rest: Parts = NOTHING, ratio: Number = ONE, error: Number = ZERO, name: str = "all rounds",
    invariants: tuple[tuple[str, Vector], ...] = (), of_round: tuple[Line, ...] = (),
) -> Derivation:  # fmt: skip
    """A proof over rounds from `once`, the parts of ratio·V⁺ + gain ≤ V + error in a round, with the potential V.

    The claim is `share` times their sum and what `start` and `end` say then, and the rest.
    """
    rounds = Telescope(potential, gain, ratio, error, once.facts, once.squares, name)
    known = cited(name)
    for when, parts in (("start", start), ("end", end)):
        known += by(During(when, parts.facts, parts.squares)) if parts != NOTHING else NOTHING
    return Derivation((rounds, concluding(claim, share * known + rest)), invariants, of_round)
