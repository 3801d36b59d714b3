"""How loose is a bound? `looseness`: the bound divided by the exact worst case, at given numbers, proved both ways."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.looseness.products import BITS, product_quotient, root_below
from fedconvex.proofs_checks.worst_cases.looseness.quotients import Quotient, quotient
from fedconvex.proofs_checks.worst_cases.looseness.registry import (
    Ask,
    Compared,
    Multiplied,
    Played,
    needed,
    registered,
    taken,
)
from fedconvex.proofs_checks.worst_cases.questions.sampling import Draws
from fedconvex.proofs_checks.worst_cases.worst_case import WorstCase, worst_case
from fedconvex.statements.conditions import by_definition, refuse
from fedconvex.statements.statement import Statement
from fedconvex.verdicts import Verdict

FEW_WAYS = 20  # to draw from two clients
SAME = Fraction(1, 10**6)  # relatively: ends that are told as one number
INFINITE = float("inf")
Number = Any  # a Fraction, or the float that is infinite


@final
@dataclass(frozen=True, eq=False)
class Looseness:
    """`factor`: two numbers between which bound/(exact worst case) lies; of a promised decrease (worst case)/promise.

    The lower one is proved by the worst case's certificate: the bound holds with that factor to spare. The upper one is
    attained: no bound of this form can be smaller by more. Below 1 the statement is refuted at these numbers; a lemma
    about one round from any state is so only where a run comes to that state.
    """

    statement: Statement
    numbers: dict[str, Any]
    bound: Any  # exact or a ball, per unit; None where two quantities of the rounds are compared
    worst: WorstCase | Quotient  # of the square where `power` is 2
    factor: tuple[Number, Number]
    power: int = 1
    remark: str = ""
    few: WorstCase | None = None  # of two clients, where draws from any number are bounded from one side only

    @property
    def lower(self) -> Any:
        """The lower end of the worst case."""
        return self.worst.lower

    @property
    def upper(self) -> Any:
        """Its upper end; a promised decrease is for two clients, too, and what these attain is the worst for any."""
        return self.worst.upper if self.few is None else min(self.worst.upper, self.few.upper)

    @property
    def verdict(self) -> Verdict:
        """Whether the statement holds at these numbers, by the worst case alone."""
        lower, upper = self.factor
        if lower >= 1:
            return Verdict.PROVED
        return Verdict.REFUTED if upper < 1 and not self._any_state else Verdict.UNKNOWN

    @property
    def _any_state(self) -> bool:
        """Whether the worst case is a state to which no run need come."""
        compared = self.worst.compared if isinstance(self.worst, Quotient) else None
        return isinstance(compared, Compared) and compared.any_state

    @property
    def says(self) -> str:
        """The finding in words."""
        few = "" if self.few is None else f"; attained with 2 clients ({self.few.says})"
        return f"{self._found} ({self.worst.says}){'; ' * bool(self.remark)}{self.remark}{few}"

    @property
    def _found(self) -> str:
        lower, upper = self.factor
        if upper < 1:
            broken = "BROKEN by a state, to which perhaps no run comes," if self._any_state else "REFUTED"
            missed = "any factor" if upper <= 0 else f"a factor of {_short(1 / upper, ROUND_FLOOR)}"
            return f"{broken} at these numbers: the worst case misses what is promised by {missed}"
        is_one: bool = upper - lower <= SAME * lower
        if is_one and abs(upper - 1) <= SAME:
            nearly = f", up to {float(SAME):.0e}" if lower < upper else ""
            return f"attained: what is promised is what happens at worst{nearly}"
        if is_one:
            return f"{_short(upper, ROUND_HALF_EVEN)} times as loose as the exact worst case"
        undecided = "not decided: " if self.verdict is Verdict.UNKNOWN else ""
        most = "" if upper == INFINITE else f", at most {_short(upper, ROUND_CEILING)} times"
        return f"{undecided}at least {_short(lower, ROUND_FLOOR)} times as loose as the exact worst case{most}"

    @property
    def metric(self) -> str:
        """What the worst case is of: a metric of `worst_case`, or a quotient."""
        return self.worst.question.metric if isinstance(self.worst, WorstCase) else "happens / promised"

    def __repr__(self) -> str:
        return f"<{self.statement.identifier}: {self.says}>"


def looseness(statement: Statement | str, **numbers: Any) -> Looseness:
    """How loose an upper bound (or a promised decrease) of the catalogue is, at given numbers.

    The bound is what its own calculator gives; the worst case is over all clients of the class that the statement
    assumes, all starts, and, for inexact solutions, all answers that are inexact enough. A bound that is linear in
    quantities of the start (D0 and G, Δ and S) is compared with the worst case over all of them together, so that these
    are not given. `looseness_of()` lists the statements that can be asked, with the numbers that they take.

    Args:
        statement: or its identifier, as in "fedprox.theorem4".
        **numbers: taken exactly, a float as the dyadic rational that it is. Where f is looked at after a draw of K of
            any number of clients, the worst case is bounded only; with `num_clients` it is exact for that many, if they
            are few.

    Raises:
        InvalidInput: for a statement that cannot be asked so, a number that is missing, unknown, or outside of what the
            statement assumes, and where the statement promises nothing.
    """
    found, ask = _found(statement)
    wanted = needed(ask)
    unknown = [name for name in numbers if name not in taken(ask)]
    if unknown:
        cure = f"give {', '.join(wanted)}; over what the start is like the worst is taken"
        raise InvalidInput(unknown[0], numbers[unknown[0]], f"is not asked for by {found.identifier}", cure)
    missing = [name for name in wanted if name not in numbers]
    if missing:
        raise InvalidInput(missing[0], None, f"is needed by {found.identifier}", f"give {', '.join(wanted)}")
    exact = {name: to_fraction(value, name) for name, value in numbers.items()}
    _check(found, exact)
    asked = ask(found, **exact)
    if isinstance(asked, Compared):
        compared = quotient(asked)
        factor = _roots(_inverse(compared.upper), _inverse(compared.lower), asked.power)
        return Looseness(found, exact, None, compared, factor, asked.power, asked.remark)
    if isinstance(asked, Multiplied):
        low, high = _ends(asked.bound)
        worst = product_quotient(asked)
        factor = low * _inverse(worst.upper), high * _inverse(worst.lower)
        return Looseness(found, exact, asked.bound, worst, factor, remark=asked.remark)
    return _played(found, exact, asked)


def looseness_of() -> dict[str, tuple[str, ...]]:
    """The statements whose looseness can be asked for, with the numbers that they take."""
    _load()
    return {identifier: needed(ask) for identifier, (_, ask) in registered().items()}


def _played(statement: Statement, numbers: dict[str, Any], asked: Played) -> Looseness:
    worst = worst_case(**asked.question)
    low, high = _ends(asked.bound)
    if worst.question.metric == "descent":
        if not low > 0:
            name = statement.calculator.name
            raise InvalidInput(name, asked.bound, f"is not positive: {statement.identifier} promises nothing there",
                               "give other numbers")  # fmt: skip
        few = _few(asked, worst)
        upper = worst.upper if few is None else few.upper
        factor = worst.lower / high, upper / low
        return Looseness(statement, numbers, asked.bound, worst, factor, remark=asked.remark, few=few)
    power = asked.power
    factor = _roots(_inverse(worst.upper) * low**power, _inverse(worst.lower) * high**power, power)
    return Looseness(statement, numbers, asked.bound, worst, factor, power, asked.remark)


def _few(asked: Played, worst: WorstCase) -> WorstCase | None:
    """The exact worst case of two clients, where that attains more than what is known of any number."""
    draws = worst.question.draws
    if draws.everyone or draws.clients or Draws(draws.K, 2, draws.replaced).number > FEW_WAYS:
        return None
    few = worst_case(**{**asked.question, "num_clients": 2})
    return few if few.upper < worst.upper else None


def _inverse(number: Any) -> Number:
    if number == INFINITE:
        return Fraction(0)
    return INFINITE if number <= 0 else 1 / to_fraction(number)


def _roots(low: Number, high: Number, power: int) -> tuple[Number, Number]:
    """The numbers, or rational numbers below and above their square roots."""
    if power == 1:
        return low, high
    below = root_below(Fraction(low))
    if high == INFINITE:
        return below, high
    above = root_below(Fraction(high))
    return below, above if above**2 == high else above + Fraction(1, 2**BITS)


def _ends(value: Any) -> tuple[Fraction, Fraction]:
    """Of a ball; of an exact number itself."""
    if type(value).__name__ != "arb":
        exact = to_fraction(value)
        return exact, exact
    import flint

    with flint.ctx.workprec(2 * BITS):
        ends = [end.mid().man_exp() for end in (value.lower(), value.upper())]
    low, high = (int(mantissa) * Fraction(2) ** int(exponent) for mantissa, exponent in ends)
    return low, high


def _check(statement: Statement, numbers: dict[str, Any]) -> None:
    """Refuses numbers that the statement excludes, those of the method among them that its formula does not show."""
    letters = statement.paper.notation
    for name, value in numbers.items():
        if (name not in letters or letters[name].integer) and value.denominator != 1:
            raise InvalidInput(name, value, f"{statement.identifier} needs an integer", "give an integer")
    stated = (c for assumption in statement.assumptions for c in assumption.conditions)
    for condition in (*(c for name in numbers if name in letters for c in by_definition(name, letters[name])), *stated):
        if numbers.keys() >= {condition.argument, *condition.names}:
            offence = condition.check(condition.argument, numbers)
            if offence is not None:
                raise refuse(statement.identifier, condition, offence, letters)


def _found(statement: Statement | str) -> tuple[Statement, Ask]:
    _load()
    if isinstance(statement, str):
        from fedconvex.theory import statement as find

        statement = find(statement)
    known = registered()
    if statement.identifier not in known:
        raise InvalidInput("statement", statement.identifier, "is no bound of a method that can be played",
                           "`looseness_of()` lists those that are")  # fmt: skip
    return statement, known[statement.identifier][1]


@cache
def _load() -> None:
    """Imports the questions, which are next to the papers' proofs."""
    from fedconvex.proofs_checks.verification import papers_with_proofs

    import_module("fedconvex.proofs_checks.worst_cases.looseness.textbooks")
    for name in papers_with_proofs():
        import_module(f"fedconvex.proofs_checks.{name}")


def _short(number: Any, rounding: str, digits: int = 4) -> str:
    """Rounded to a few digits, in the direction that stays true."""
    if abs(number) == INFINITE:
        return "infinitely many"
    context = Context(prec=digits, rounding=rounding)
    return f"{float(context.divide(Decimal(number.numerator), Decimal(number.denominator))):.{digits}g}"
