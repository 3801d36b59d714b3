"""`looseness`: how loose a bound is, as bound/(exact worst case) at given numbers, proved both ways."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.arithmetic.rationals import root_above, root_below, to_fraction
from fedconvex.claims.claim import Claim
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.looseness.asked import Asked, identifier_of, question_about
from fedconvex.proofs_checks.worst_cases.looseness.asked import looseness_of as looseness_of
from fedconvex.proofs_checks.worst_cases.looseness.products import BITS, ROOT_UNIT, product_quotient
from fedconvex.proofs_checks.worst_cases.looseness.quotients import Quotient, quotient
from fedconvex.proofs_checks.worst_cases.looseness.registry import (
    Compared,
    Multiplied,
    Played,
)
from fedconvex.proofs_checks.worst_cases.result import WorstCase
from fedconvex.proofs_checks.worst_cases.worst_case import worst_case
from fedconvex.shown import on_screen
from fedconvex.statements.statement import Statement
from fedconvex.verdicts import Verdict

FEW_DRAWS = 20  # possible draws of two clients that are enumerated besides
DIGITS = 4  # of a factor in words
SAME = Fraction(1, 10**6)  # relative: bounds that are shown as one number
INFINITE = float("inf")
Number = Any  # a Fraction, or the float that is infinite


@final
@dataclass(frozen=True, eq=False)
class Looseness:
    """`factor`: a lower and an upper bound on bound/(exact worst case); for a decrease on (worst case)/bound.

    The worst case's certificate proves the lower one: the bound holds with that factor to spare. An instance attains
    the upper one: no valid bound is smaller by more. Below 1 the statement is refuted at these numbers, except where it
    is about one round from any state: perhaps no run reaches the worst one.
    """

    statement: Any  # a Statement, or the Claim that was given
    numbers: dict[str, Any]
    bound: Any  # exact or a ball, per unit of the divisor; None for the quotient of a statement's two sides
    worst: WorstCase | Quotient  # of the square where `power` is 2
    factor: tuple[Number, Number]
    power: int = 1
    remark: str = ""
    few: WorstCase | None = None  # with two clients, where the worst case for any number has no sharp bound

    @property
    def lower(self) -> Any:
        """The lower bound on the worst case."""
        return self.worst.lower

    @property
    def upper(self) -> Any:
        """The upper bound on it; for a decrease that holds for any number, two clients may attain a smaller one."""
        return self.worst.upper if self.few is None else min(self.worst.upper, self.few.upper)

    @property
    def verdict(self) -> Verdict:
        """Whether the statement holds at these numbers, as the worst case alone shows."""
        lower, upper = self.factor
        if lower >= 1:
            return Verdict.PROVED
        return Verdict.REFUTED if upper < 1 and not self._any_state else Verdict.UNKNOWN

    @property
    def _any_state(self) -> bool:
        """Whether the worst case starts in a state that perhaps no run reaches."""
        compared = self.worst.compared if isinstance(self.worst, Quotient) else None
        return isinstance(compared, Compared) and compared.any_state

    @property
    def says(self) -> str:
        """The result in words."""
        few = "" if self.few is None else f"; attained with 2 clients ({self.few.says})"
        return f"{self._found} ({self.worst.says}){'; ' * bool(self.remark)}{self.remark}{few}"

    @property
    def _found(self) -> str:
        lower, upper = self.factor
        if upper < 1:
            broken = "BROKEN by a state, which perhaps no run reaches," if self._any_state else "REFUTED"
            missed = "any factor" if upper <= 0 else f"a factor of {_short(1 / upper, Rounding.FLOOR)}"
            return f"{broken} at these numbers: the worst case violates the bound by {missed}"
        is_one: bool = upper - lower <= SAME * lower
        if is_one and abs(upper - 1) <= SAME:
            nearly = f", up to {float(SAME):.0e}" if lower < upper else ""
            return f"attained: the bound is the exact worst case{nearly}"
        if is_one:
            return f"{_short(upper, Rounding.NEAREST)} times as loose as the exact worst case"
        undecided = "not decided: " if self.verdict is Verdict.UNKNOWN else ""
        most = "" if upper == INFINITE else f", at most {_short(upper, Rounding.CEILING)} times"
        return f"{undecided}at least {_short(lower, Rounding.FLOOR)} times as loose as the exact worst case{most}"

    @property
    def metric(self) -> str:
        """The metric of `worst_case`, or the quotient of the statement's two sides."""
        return self.worst.question.spec.metric if isinstance(self.worst, WorstCase) else "left side / right side"

    def __str__(self) -> str:
        return on_screen(f"{identifier_of(self.statement)}: {self.says}")

    def __repr__(self) -> str:
        return f"<{identifier_of(self.statement)}: {self.says}>"


def looseness(statement: Statement | Claim | str, setting: Any = None, **numbers: Any) -> Looseness:
    """How loose a bound (or a guaranteed decrease) is at given numbers: of the catalogue, or a claim of your own.

    Use it before you rely on a bound's constants, or try to improve them: at 1 there is nothing to improve. The
    question is read off the claim: the quantities that it compares, the method, the class of the clients and who is
    drawn, with the bound from the statement's own calculator. The worst case is over all clients of the class, all
    starts, and, for inexact solutions, all γ-inexact answers. A bound that is linear in quantities of the start (D0 and
    G, Δ and S) is compared with the worst case over all of them together, so that these are not given. A claim about
    one round of a method with memory is compared over all states that have what all states of runs have in common.
    `looseness_of()` lists the statements, with the numbers that they take.

    Args:
        statement: the statement or its identifier, as in "fedprox.theorem4"; or a claim left ≤ right, with `setting`.
        setting: a `ClaimSetting`, all that the claim assumes, as `Statement.setting` is for a statement.
        **numbers: exact, a float being the dyadic rational that it is. Where f is evaluated after a draw of K of any
            number of clients, the worst case has no sharp bound; with `num_clients` it is exact for that many, if they
            are few.

    Raises:
        InvalidInput: a statement without a worst case, a claim with terms that no such program can contain (lengths
            that are not squared, products of unknown numbers), a number that is missing, unknown, or outside of the
            statement's assumptions, and numbers at which it guarantees nothing.
    """
    asked = question_about(statement, setting)
    name, wanted = asked.identifier, asked.needed
    unknown = [given for given in numbers if given not in asked.taken]
    if unknown:
        cure = f"give {', '.join(wanted)}; the worst case is over all starts"
        raise InvalidInput(unknown[0], numbers[unknown[0]], f"is no argument of the worst case of {name}", cure)
    missing = [given for given in wanted if given not in numbers]
    if missing:
        raise InvalidInput(missing[0], None, f"is needed by {name}", f"give {', '.join(wanted)}")
    exact = {given: to_fraction(value, given) for given, value in numbers.items()}
    asked.check(exact)
    found, built = asked.statement, asked.build(**exact)
    # A factor inverts the worst case, so that the upper bound on the one is a lower bound on the other.
    if isinstance(built, Compared):
        compared = quotient(built)
        factor = _roots(_inverse(compared.upper), _inverse(compared.lower), built.power)
        return Looseness(found, exact, None, compared, factor, built.power, built.remark)
    if isinstance(built, Multiplied):
        low, high = _interval(built.bound)
        worst = product_quotient(built)
        factor = low * _inverse(worst.upper), high * _inverse(worst.lower)
        return Looseness(found, exact, built.bound, worst, factor, remark=built.remark)
    return _played(asked, exact, built)


def _played(asked: Asked, numbers: dict[str, Any], played: Played) -> Looseness:
    statement = asked.statement
    worst = worst_case(**played.question)
    low, high = _interval(played.bound)
    if worst.question.spec.metric == "descent":
        if not low > 0:
            problem = f"is not positive: {asked.identifier} guarantees nothing there"
            raise InvalidInput(asked.bound, played.bound, problem, "give other numbers")
        # A decrease that holds for any number of clients holds for two, so what these attain bounds it from above.
        few = _few(played, worst)
        upper = worst.upper if few is None else few.upper
        factor = worst.lower / high, upper / low
        return Looseness(statement, numbers, played.bound, worst, factor, remark=played.remark, few=few)
    power = played.power
    factor = _roots(_inverse(worst.upper) * low**power, _inverse(worst.lower) * high**power, power)
    return Looseness(statement, numbers, played.bound, worst, factor, power, played.remark)


def _few(played: Played, worst: WorstCase) -> WorstCase | None:
    """The exact worst case of two clients, where it attains a smaller decrease than is known for any number."""
    draws = worst.question.spec.draws
    if draws.everyone or draws.clients or Draws(draws.K, 2, draws.replaced).number > FEW_DRAWS:
        return None
    few = worst_case(**{**played.question, "num_clients": 2})
    return few if few.upper < worst.upper else None


def _inverse(number: Any) -> Number:
    if number == INFINITE:
        return Fraction(0)
    return INFINITE if number <= 0 else 1 / to_fraction(number)


def _roots(low: Number, high: Number, power: int) -> tuple[Number, Number]:
    """The numbers, or for power 2 rational numbers below and above their square roots."""
    if power == 1:
        return low, high
    # Roots are rounded outwards, so that the factor's bounds stay true.
    below = root_below(Fraction(low), ROOT_UNIT / Fraction(low).denominator)
    return below, high if high == INFINITE else root_above(Fraction(high), ROOT_UNIT / Fraction(high).denominator)


def _interval(value: Any) -> tuple[Fraction, Fraction]:
    """The ends of a ball, or twice the exact number."""
    if type(value).__name__ != "arb":
        exact = to_fraction(value)
        return exact, exact
    import flint

    with flint.ctx.workprec(2 * BITS):
        ends = [end.mid().man_exp() for end in (value.lower(), value.upper())]
    low, high = (int(mantissa) * Fraction(2) ** int(exponent) for mantissa, exponent in ends)
    return low, high


def _short(number: Any, rounding: Rounding) -> str:
    """A number with a few digits, rounded in the given direction."""
    return "infinitely many" if abs(number) == INFINITE else to_text(number, DIGITS, rounding)
