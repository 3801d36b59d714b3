"""The sides of a claim as sums of known coefficients times unknown quantities, and the ratio that a claim bounds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.claims.claim import Claim
from fedconvex.claims.on_runs.evaluation import number_at
from fedconvex.claims.terms import Number, number, parts
from fedconvex.proofs_checks.worst_cases.questions.ratios import ROUND
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed
from fedconvex.proofs_checks.worst_cases.questions.terms import (
    is_scalar,
)

ONE = number(1)


@final
@dataclass(frozen=True)
class Addend:
    """coefficient · quantity; `subtracted` where it is written behind a minus sign, whatever its value."""

    coefficient: Any  # rational or a ball
    quantity: Number
    subtracted: bool = False
    factor: Number = ONE  # the coefficient as a term

    @property
    def negative(self) -> "Addend":
        """On the other side."""
        return replace(self, coefficient=self.coefficient * -1, factor=-self.factor)

    @property
    def term(self) -> Number:
        """As a term of the claim language."""
        return self.factor * self.quantity


def addends(side: Number, numbers: Mapping[str, Any]) -> list[Addend]:
    """What the side is a sum of, in the order in which it is written; sums inside expectations stay together."""
    return [
        Addend(value * -1 if minus else value, quantity, minus, -factor if minus else factor)
        for factor, quantity, minus in _flat(side, number(1), False)
        if (value := number_at(factor, numbers)) is not None and not (is_scalar(quantity) and value == 0)
    ]


def _flat(term: Number, factor: Number, minus: bool) -> Iterator[tuple[Number, Number, bool]]:
    match term.head, term.args:
        case _ if is_scalar(term):
            yield factor * term, number(1), minus
        case "named", (_, x) if x.head in ("+", "-", "*", "/", "neg"):
            yield from _flat(x, factor, minus)
        case "+", (x, y):
            yield from _flat(x, factor, minus)
            yield from _flat(y, factor, minus)
        case "-", (x, y):
            yield from _flat(x, factor, minus)
            yield from _flat(y, factor, not minus)
        case "neg", (x,):
            yield from _flat(x, factor, not minus)
        case "*", (x, y) if is_scalar(x):
            yield from _flat(y, factor * x, minus)
        case "*", (x, y) if is_scalar(y):
            yield from _flat(x, factor * y, minus)
        case "/", (x, y) if is_scalar(y):
            yield from _flat(x, factor / y, minus)
        case _:
            yield factor, plain(term), minus


def plain(term: Any) -> Any:
    """The term without names."""
    if type(term) is type(number(0)) or hasattr(term, "head"):
        if term.head == "named":
            return plain(term.args[1])
        return type(term)(term.head, tuple(plain(a) if hasattr(a, "head") else a for a in term.args))
    return term


@final
@dataclass(frozen=True)
class BoundedRatio:
    """upper · (what is bounded) <= what it is bounded by, both sums."""

    left: tuple[Addend, ...]
    right: tuple[Addend, ...]

    @property
    def terms(self) -> tuple[Number, Number]:
        """Both sums as terms of the claim language."""
        left, right = (sum((a.term for a in side), number(0)) for side in (self.left, self.right))
        return left, right


def ratio_of(claim: Claim, numbers: Mapping[str, Any]) -> BoundedRatio:
    """The ratio that a claim left ≤ right bounds by 1.

    Where the right side subtracts what a round gains, this is the ratio of the first such gain to all that is left of
    the claim: V⁺ ≤ V − c·gap bounds c·gap by V − V⁺. A claim about a gain at the beginning of the round is one as it is
    written.
    """
    left, right = addends(claim.left, numbers), addends(claim.right, numbers)
    gains = [a.quantity for a in right if a.subtracted]
    happened = any(a.subtracted or 1 in times(a.quantity) or speaks_of(a.quantity, *ROUND) for a in left)
    if not gains or not happened:
        return BoundedRatio(tuple(left), tuple(right))
    gained = [a.negative for a in right if a.quantity == gains[0]]
    rest = [a for a in right if a.quantity != gains[0]] + [a.negative for a in left]
    return BoundedRatio(tuple(gained), tuple(rest))


def times(term: Any) -> set[int]:
    """The moments of which a term speaks; what happens in a round is neither."""
    return {a for p in parts(term) for a in p.args if type(a) is int and p.head != "constant"}


def speaks_of(term: Any, *heads: str) -> bool:
    """Whether one of these operations occurs."""
    return any(p.head in heads for p in parts(term))


def is_about_one_moment(claim: Claim) -> bool:
    """Whether it only speaks of the moment after a round, which is then any moment."""
    sides = (claim.left, claim.right)
    return not claim.of_run and {t for s in sides for t in times(s)} == {1} and not any(
        speaks_of(s, *ROUND) for s in sides
    )  # fmt: skip


def moved_back(term: Any) -> Any:
    """The term with the moment before the round in the place of the moment after it."""
    if type(term) is int:
        return 0
    return type(term)(term.head, tuple(map(moved_back, term.args))) if hasattr(term, "head") else term


def merged(found: tuple[Addend, ...]) -> dict[Number, Any]:
    """The coefficients by quantity, without expectations around them, and without those that cancel."""
    total: dict[Number, Any] = {}
    for a in found:
        for sign, part in _parts_of(a.quantity):
            total[part] = total.get(part, to_fmpq(0)) + a.coefficient * sign
    return {part: c for part, c in total.items() if not c == 0}  # noqa: SIM201 (a ball that may be 0)


def _parts_of(quantity: Number) -> Iterator[tuple[int, Number]]:
    """An expectation of a sum, and the expectation around it, are dropped."""
    for factor, part, minus in _flat(quantity.args[0] if quantity.head == "expected" else quantity, number(1), False):
        if factor != number(1):
            yield 1, quantity
            return
        yield (-1 if minus else 1), part


def rational(a: Addend) -> Any:
    """The coefficient. Raises NotPosed where it is irrational."""
    if type(a.coefficient).__name__ == "arb":
        raise NotPosed("numbers", a.quantity, "has an irrational coefficient, and certificates have rational "
                       "numbers only", "give numbers for which it is rational")  # fmt: skip
    return a.coefficient
