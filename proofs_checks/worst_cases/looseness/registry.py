"""Which question a statement asks: a registry, filled by `proofs_checks/<paper>/worst.py` and `textbooks.py`.

A question is a method played by `worst_case` (`Played`), or two quantities of one or more rounds that are compared
(`Compared`), the first of them perhaps a mean of products of lengths (`Multiplied`). Each is made from exact numbers;
the formula is always the statement's own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from inspect import Parameter, signature
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import Form
from fedconvex.statements.functions import sqrt
from fedconvex.statements.statement import Statement


@final
@dataclass(frozen=True, eq=False)
class Played:
    """`worst_case(**question)` against `bound`, per unit of what the metric is measured in.

    `bound` is exact, or a ball. `power` 2: the metric is the square of what the statement bounds, as `bound` is not.
    For "descent" the bound is the promised decrease.
    """

    question: Mapping[str, Any]
    bound: Any
    power: int = 1
    remark: str = ""


@final
@dataclass(frozen=True, eq=False)
class Compared:
    """happens <= promised: forms in the vectors and values on the board.

    With `power` 2 they are the squares of what the statement compares. `more` are inequalities beyond the board's.
    `any_state`: the round begins in any state, to which no run need come.
    """

    board: Board
    happens: Form
    promised: Form
    more: tuple[tuple[str, Form], ...] = ()
    power: int = 1
    remark: str = ""
    any_state: bool = False


Product = tuple[Fraction, Form, Form]  # a probability, and the squares of two lengths


@final
@dataclass(frozen=True, eq=False)
class Multiplied:
    """E[a·b] <= bound·promised, a and b being lengths that depend on the draw.

    `shapes`: of every kind of draw that is not another one's by renaming clients, all draws. Where a is more than some
    clients make it, `inside` has what some do.
    """

    board: Any
    shapes: tuple[tuple[Product, ...], ...]
    promised: Form
    bound: Any
    more: tuple[tuple[str, Form], ...] = ()
    inside: "Multiplied | None" = None
    remark: str = ""


Ask = Callable[..., Played | Compared | Multiplied]
_ASKS: dict[str, tuple[Statement, Ask]] = {}


def asks(*statements: Statement) -> Callable[[Ask], Ask]:
    """Registers how to ask: a function of the statement and of keyword-only numbers, those that a user gives."""

    def register(ask: Ask) -> Ask:
        for statement in statements:
            assert statement.identifier not in _ASKS, statement.identifier
            _ASKS[statement.identifier] = (statement, ask)
        return ask

    return register


def registered() -> dict[str, tuple[Statement, Ask]]:
    """Statements by identifier, with how to ask."""
    return dict(_ASKS)


def taken(ask: Ask) -> tuple[str, ...]:
    """The numbers that a question takes."""
    return tuple(name for name, p in signature(ask).parameters.items() if p.kind is p.KEYWORD_ONLY)


def needed(ask: Ask) -> tuple[str, ...]:
    """Those without which there is no question."""
    return tuple(name for name in taken(ask) if signature(ask).parameters[name].default is Parameter.empty)


@final
@dataclass(frozen=True)
class Length:
    """factor · √square, for formulas that are linear in a length; its square is a form."""

    square: Form
    factor: Any = field(default_factory=lambda: Fraction(1))

    def __mul__(self, factor: Any) -> "Length":
        return Length(self.square, self.factor * factor)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> Form:
        assert exponent == 2, "only squares are forms"
        form: Form = self.square * self.factor**2
        return form


def sides(statement: Statement, known: Mapping[str, Any], left: Any = None) -> tuple[Any, Any]:
    """The statement's own two sides, run on forms; `left` where the left one is a symbol, and no formula."""
    right = statement.calculator.formula(**{name: known[name] for name in statement.calculator.names})
    if statement.left is not None:
        left = statement.left.formula(**{name: known[name] for name in statement.left.names})
    return left, right


def compared(board: Board, statement: Statement, known: Mapping[str, Any], left: Any = None, **more: Any) -> Compared:
    """left <= right as the statement has it."""
    happens, promised = sides(statement, known, left)
    if isinstance(promised, Length):
        return Compared(board, happens, promised**2, power=2, **more)
    return Compared(board, happens, promised, **more)


def decreasing(
    board: Board,
    statement: Statement,
    known: Mapping[str, Any],
    by: str,
    left: Any = None,
    zero: Any = None,
    **more: Any,
) -> Compared:
    """left <= right, where `by` counts negatively on the right: c·by <= (the rest of the right side) − left."""
    below, right = sides(statement, known, left)
    _, rest = sides(statement, {**known, by: Form()}, left)
    return Compared(board, rest - right, rest - below, **more)


def rational_root(number: Any, argument: str, what: str) -> Fraction:
    """√number. Raises InvalidInput where it is irrational: a question has rational numbers only."""
    from fedconvex.statements.functions import Irrational

    try:
        return Fraction(sqrt(Fraction(number)))
    except Irrational:
        raise InvalidInput(
            argument, number, f"makes {what} irrational", "give numbers for which it is rational"
        ) from None
