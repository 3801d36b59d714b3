"""Priced functions, searched for and certified: V with what it pays, and an exact proof."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.search.lyapunov.functions import written
from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair
from fedconvex.proofs_checks.search.lyapunov.priced_programs import PricedProposal, priced_proposal
from fedconvex.proofs_checks.search.lyapunov.priced_rounds import WEIGHT, PricedRound
from fedconvex.proofs_checks.search.lyapunov.semidefinite import NO_MARGIN
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate, is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.certificates.search import balanced, nearest
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    MEAN,
    ONE,
    ZERO,
    Form,
    combination,
)

SLACK = 1e-6  # relative cost that a proof may have more, so that it has an interior
DENOMINATORS = (1000, 10**6, 10**9, 2**60)  # of the entries of V, simplest first
BITS = 60  # of multipliers
NOISE = (0.0, 1e-6, 1e-5, 1e-4)  # relative sizes below which multipliers may be meant to be 0


@final
@dataclass(frozen=True, eq=False)
class PricedFunction:
    """V and the proof of E V(next state) <= rate·V(state) + prices · sizes, where V >= ‖the server's error‖².

    Where V has a function value, which is worth a multiple of ‖measured‖², V >= 0 is what holds.

    Raises ValueError: V is smaller, or the multipliers are no proof.
    """

    posed: PricedRound
    entries: dict[Pair, Fraction]
    prices: tuple[Fraction, ...]
    rate: Fraction
    multipliers: tuple[Fraction, ...]
    certificate: DualCertificate = field(init=False)

    def __post_init__(self) -> None:
        server, worth = [to_fraction(c) for c in self.posed.measured], self.posed.worth
        if {*self.entries} != {*self.posed.squares} or min(self.prices, default=0) < 0:
            raise ValueError("this is no Lyapunov function")
        less = Fraction(1) if worth is None else -to_fraction(worth) * self.entries[WEIGHT]
        for part in self.posed.parts:
            rest = [
                [to_fmpq(c - (less * server[i] * server[j] if part == MEAN else 0)) for j, c in enumerate(row)]
                for i, row in enumerate(self.matrix(part))
            ]  # fmt: skip
            if not is_positive_semidefinite(rest):
                raise ValueError("this is no Lyapunov function")
        program = self.posed.program({p: to_fmpq(c) for p, c in self.entries.items()}, tuple(map(to_fmpq, self.prices)))
        object.__setattr__(self, "certificate", DualCertificate(program, self.rate, self.multipliers))

    def matrix(self, part: str) -> list[list[Fraction]]:
        """One of V's symmetric matrices."""
        n = self.posed.parts[part]
        return [[self.entries[(part, min(i, j)), (part, max(i, j))] for j in range(n)] for i in range(n)]

    def __str__(self) -> str:
        return written(self.entries, self.posed.names)


def cheapest(posed: PricedRound, rate: Fraction, weights: tuple[Fraction, ...]) -> PricedFunction | None:
    """A certified function of this rate with nearly the least Σ weights · prices; None where none is found."""
    best = priced_proposal(posed, float(rate), weights)
    if best is None:
        return None
    for slack in (SLACK, 10 * SLACK, 100 * SLACK, 1000 * SLACK, 10_000 * SLACK):
        found = priced_proposal(posed, float(rate), weights, best.cost + abs(best.cost) * slack)
        # With zeros the margin may be 0, of which the solver gives noise: the exact proof decides.
        if found is None or found.margin <= (-NO_MARGIN if posed.zeros else 0.0):
            continue
        # Rounding should not ask for more than the solver found: a little more is paid, or less earned. But where sizes
        # are function values this moves others, and the proof's own margin has to do.
        signs = np.array([-1.0 if weight < 0 else 1.0 for weight in weights])
        for change in (slack, 0.0):
            for exact in _rounded(posed, rate, replace(found, prices=found.prices * (1 + change * signs))):
                return exact
    return None


def least_cost(posed: PricedRound, rate: float, weights: tuple[Fraction, ...]) -> float:
    """About the least Σ weights · prices at this rate, in floating point; infinite where there is none."""
    found = priced_proposal(posed, rate, weights)
    return float("inf") if found is None else found.cost


def _rounded(posed: PricedRound, rate: Fraction, found: PricedProposal) -> Iterator[PricedFunction]:
    count, more = len(posed.inequalities), len(posed.equations)
    signed = found.multipliers[count:]
    split = [*found.multipliers[:count], *np.maximum(signed, 0), *np.maximum(-signed, 0)]
    assert len(split) == count + 2 * more
    for largest, least in product(DENOMINATORS, NOISE if posed.zeros else NOISE[:1]):
        kept = [c if c > least * max(split) else 0.0 for c in split]
        multipliers = [to_fmpq(Fraction(round(c * 2**BITS), 2**BITS)) for c in kept]
        entries = {pair: nearest(c, largest) for pair, c in found.entries.items()}
        prices = tuple(nearest(c, 2**60) for c in found.prices)
        program = posed.program(entries, prices)
        zeros = [program.coordinates(zero) for zero in posed.zeros]
        tried = [(entries, balanced(program, to_fmpq(rate), multipliers, zeros))]
        if zeros:  # V may have to vary, too
            tried.append(_balanced_together(posed, rate, entries, prices, multipliers))
        for V, exact in tried:
            if exact is None or any(c < 0 for c in exact):
                continue
            fractions = {pair: to_fraction(c) for pair, c in V.items()}
            try:
                numbers = tuple(map(to_fraction, exact))
                yield PricedFunction(posed, fractions, tuple(map(to_fraction, prices)), rate, numbers)
            except ValueError:
                continue


def _balanced_together(
    posed: PricedRound, rate: Fraction, entries: dict[Pair, Any], prices: tuple[Any, ...], multipliers: list[Any]
) -> tuple[dict[Pair, Any], list[Any] | None]:
    """V and multipliers next to these with which the form vanishes where it has to; None where that is impossible."""
    changes = [
        (str((a, b)), combination((-to_fmpq(rate), before), (ONE, after)) * (1 if a == b else 2))
        for (a, b), (before, after) in posed.squares.items()
    ]
    paid = combination(*zip(prices, posed.sizes, strict=True))
    program, count = Program(Form(), paid, (*posed.relations, *changes)), len(multipliers)
    numbers = [*multipliers, *(entries[pair] for pair in posed.squares)]
    found = balanced(program, ZERO, numbers, [program.coordinates(zero) for zero in posed.zeros])
    if found is None:
        return entries, None
    return dict(zip(posed.squares, found[count:], strict=True)), found[:count]
