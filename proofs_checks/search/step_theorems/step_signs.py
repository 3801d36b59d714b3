"""Which functions of the parameters and of e, the number of local steps, are ≥ 0 in the whole domain, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.claims.terms import number
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.proofs import (
    BernoulliPower,
    Combine,
    Earlier,
    Fact,
    Line,
    Nonnegative,
    Product,
    facts,
)
from fedconvex.proofs_checks.search.scalars import factors
from fedconvex.proofs_checks.search.step_theorems.step_symbols import BEFORE, PART, WHOLE, Symbols
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, ZERO, Family
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parametric, at


@final
@dataclass(frozen=True, eq=False)
class Room:
    """A weight that must be ≥ 0, by its place, the vector whose square it multiplies, and lines that show it."""

    place: int
    weight: Any
    vector: Family
    lines: tuple[Line, ...]
    condition: Any  # a function that must be ≥ 0; None where the lines show the sign


@final
@dataclass(frozen=True, eq=False)
class StepSigns:
    """Signs of functions: first at points, then by the kernel, then by Bernoulli's inequalities.

    Args:
        symbols: of the functions.
        points: of the domain, with e.
    """

    symbols: Symbols
    points: Sequence[tuple[Mapping[str, Any], int]]

    def lowest(self, x: Any) -> Any:
        """The least value at the points."""
        return min(self.values(x), default=0)

    def values(self, x: Any) -> list[Any]:
        """The values at the points."""
        s, found = self.symbols, []
        for at_point in self._places:
            try:
                found.append(at(s.function(x), at_point))
            except ZeroDivisionError:
                continue
        return found

    @cached_property
    def ratios(self) -> list[Any]:
        """q at the points."""
        return self.values(self.symbols.q)

    @cached_property
    def _places(self) -> list[list[Any]]:
        names = [str(x) for x in self.symbols.parameters.sample]
        places = []
        for point, e in self.points:
            known = {name: to_fmpq(x) for name, x in point.items()} | {self.symbols.count: to_fmpq(e), WHOLE: ZERO,
                     PART: ONE, BEFORE: ZERO}  # fmt: skip
            known[WHOLE] = at(self.symbols.q, [known[name] for name in names]) ** e
            places.append([known[name] for name in names])
        return places

    def decisive(self, board: SettingParameters, x: Any) -> Any:
        """The product of the factors whose sign is open, which has the sign of x."""
        s, found = self.symbols, self.symbols.function(1)
        rest = s.function(x)
        for factor, power in factors(rest.value):
            base = Parametric(factor, s.parameters)
            rest = rest / base**power
            for sign in (1, -1):
                if self.is_shown(board, base * sign, strictly=True):
                    found = found * sign ** abs(power)
                    break
            else:
                found = found * base ** (power % 2)
        return found if rest.sampled > 0 else -found

    def by_bernoulli(self, board: SettingParameters, x: Any, name: str) -> tuple[Line, ...]:
        """Lines that show x ≥ 0, a quadratic in q^e, from 0 ≤ q^e − 1 + e(1 − q) ≤ e(e − 1)(1 − q)²/2; none where
        they do not.

        With these bounds low and high, x is x(low) + slope·(q^e − low) + … or x(high) − slope·(high − q^e) + …
        """
        s = self.symbols
        known = s.in_powers(x)
        if known is None:
            return ()
        c, b, a = known
        low = 1 - s.e * (1 - s.q)
        width = s.e * (s.e - 1) * (1 - s.q) ** 2 / 2
        high = low + width

        def value_at(y: Any) -> Any:
            return c + b * y + a * y * y

        chord = b + a * (low + high)
        below, above = f"{name}: power from below", f"{name}: power from above"
        one, other = Earlier(below), Earlier(above)
        ways: tuple[tuple[Any, tuple[Any, Fact], tuple[Any, Fact]], ...] = (
            (value_at(low), (b + 2 * a * low, one), (a, Product(below, below))),
            (value_at(high), (-b - 2 * a * high, other), (a, Product(above, above))),
            (value_at(low), (chord, one), (-a, Product(below, above))),
            (value_at(high), (-chord, other), (-a, Product(below, above))),
        )
        for rest, *uses in ways:
            if all(self.is_shown(board, y) for y in (rest, *(y for y, _ in uses))):
                power, q = s.term(s.whole), s.q.term
                return (
                    Combine(number(0), power - s.term(low), facts((1, BernoulliPower(q, 1))), name=below),
                    Combine(number(0), s.term(high) - power, facts((1, BernoulliPower(q, 2))), name=above),
                    Combine(number(0), s.term(x), facts(*((s.term(y), fact) for y, fact in uses),
                                                        (1, Nonnegative(s.term(rest)))), name=name),
                )  # fmt: skip
        return ()

    def is_shown(self, board: SettingParameters, x: Any, strictly: bool = False) -> bool:
        """Whether the kernel sees that the function is ≥ 0, or > 0; not, where that takes too large polynomials."""
        least = self.lowest(x)
        if least < 0 or (strictly and self._places and not least):
            return False
        try:
            of = board.value(self.symbols.term(x))
            return board.field.is_positive(of) if strictly else board.field.is_nonnegative(of)
        except Refused:
            return False
