"""The worst cases that statements are compared with: by hand for textbooks, and what questions look like.

A worst case is that of a method (`Played`, solved by `worst_case`), the largest quotient of a statement's two sides
(`Compared`, by `quotients`), or that of a mean of products of lengths (`Multiplied`, by `products`). Statements that
say in the claim language what they claim need no question here: `claimed` reads it off the claim. `textbooks` and
`fedprox.worst_case_questions` pose the few others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from inspect import Parameter, signature
from typing import Any, final
from weakref import WeakKeyDictionary

from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Form
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.statements.statement import Statement


@final
@dataclass(frozen=True, eq=False)
class Played:
    """The worst case `worst_case(**question)`, to compare with `bound`.

    `bound` is exact or a ball, per unit of the metric's divisor; for "descent" the decrease that the statement
    guarantees. With `power` 2 the metric is the square of what the statement bounds, while `bound` is not squared.
    """

    question: Mapping[str, Any]
    bound: Any
    power: int = 1
    remark: str = ""


@final
@dataclass(frozen=True, eq=False)
class Compared:
    """The two sides of a statement, left <= right, as forms in the vectors and values on the board.

    With `power` 2 they are the squares of the statement's sides. `more` are inequalities beyond the board's.
    `any_state`: the round starts in any state, even one that no run reaches.
    """

    board: Board
    left: Form
    right: Form
    more: tuple[tuple[str, Form], ...] = ()
    power: int = 1
    remark: str = ""
    any_state: bool = False


Product = tuple[Fraction, Form, Form]  # a probability, and the squares of two lengths


@final
@dataclass(frozen=True, eq=False)
class Multiplied:
    """E[a·b] <= bound·right, where a and b are lengths that depend on the draw.

    `shapes` groups the draws that differ by a permutation of the clients only. Where a is only an upper bound on a
    length, `inside` has a lower bound on it, from which a worst case that is attained follows.
    """

    board: Any
    shapes: tuple[tuple[Product, ...], ...]
    right: Form
    bound: Any
    more: tuple[tuple[str, Form], ...] = ()
    inside: "Multiplied | None" = None
    remark: str = ""


Builder = Callable[..., Played | Compared | Multiplied]
_BUILDERS: WeakKeyDictionary[Statement, Builder] = WeakKeyDictionary()


def worst_case_of(*statements: Statement) -> Callable[[Builder], Builder]:
    """Registers the decorated function, which builds the worst case of these statements.

    Its arguments are the statement and, by keyword only, the numbers that a user gives.
    """

    def register(build: Builder) -> Builder:
        for statement in statements:
            assert statement not in _BUILDERS, statement.identifier
            _BUILDERS[statement] = build
        return build

    return register


def registered() -> dict[Statement, Builder]:
    """The statements, with the functions that build their worst cases."""
    return dict(_BUILDERS)


def taken(build: Builder) -> tuple[str, ...]:
    """The names of the numbers that a builder takes."""
    return tuple(name for name, p in signature(build).parameters.items() if p.kind is p.KEYWORD_ONLY)


def needed(build: Builder) -> tuple[str, ...]:
    """The names of those without a default."""
    return tuple(name for name in taken(build) if signature(build).parameters[name].default is Parameter.empty)
