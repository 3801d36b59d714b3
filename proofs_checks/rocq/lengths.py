"""Lengths as unknown numbers whose squares stay as they are: what an identity needs to know of n² = ⟨u, u⟩."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, final

from fedconvex.claims.terms import Number, Vector
from fedconvex.proofs_checks.kernel.board import IN_MEAN, IN_ONE_DRAW, RoundBoard
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.scalars import Refused
from fedconvex.proofs_checks.kernel.vectors import Monomial, Quantity, Vec

Length = tuple[Vec, str, Vector]  # a vector on the kernel's board, the name of its length, and its term


@final
class FreeProducts:
    """Numbers as polynomials in which the square of a length stays one."""

    def __init__(
        self, board: RoundBoard, meaning: Callable[[Vector], Vec], lengths: Sequence[Length],
        drawn: Sequence[Length] = (),
    ):  # fmt: skip
        self.board, self.meaning, self.lengths, self.drawn = board, meaning, lengths, drawn
        self.in_outcome = False  # what is read is inside an expectation

    def in_draws(self, x: Number) -> Quantity:
        """A number in every outcome of a draw."""
        inside = copy(self)
        inside.in_outcome = True
        return inside.number(x)

    def number(self, x: Number) -> Quantity:
        """The number. Raises Refused."""
        board = self.board
        match x.head, x.args:
            case "norm", (of,):
                u = board.round.put(self.meaning(of))
                drawn = self.in_outcome and u.is_random
                for place, (v, _, _) in enumerate(self.drawn if drawn else self.lengths):
                    c = ratio(u, v)
                    if c is not None:
                        size = c if board.field.is_nonnegative(c) else -c
                        return Quantity({((IN_ONE_DRAW if drawn else "‖", str(place)),): size})
                return Quantity()
            case "expected", (y,):
                return self._averaged(self.in_draws(y))
            case "inner", (u, v):
                return board.inner(self.meaning(u), self.meaning(v))
            case "value", (u,):
                return board.value(self.meaning(u))
            case ("+" | "-") as sign, (y, z):
                return self.number(y) + self.number(z) * (1 if sign == "+" else -1)
            case "neg", (y,):
                return self.number(y) * -1
            case "*", (y, z):
                return self.number(y).times(self.number(z))
            case "/", (y, z) if not is_of_parameters(x):
                return self.number(y) * (1 / board.parameters.value(z))
            case "^", (y, Number("constant", (n,))) if not is_of_parameters(x):
                found, base = board.constant(1), self.number(y)
                for _ in range(int(n)):
                    found = found.times(base)
                return found
            case "named", (_, y):
                return self.number(y)
        return board.constant(board.parameters.value(x))

    def _averaged(self, of: Quantity) -> Quantity:
        """The expectation of a polynomial in lengths: E‖u‖², which is ⟨u, u⟩, and other expectations of products."""
        found = Quantity()
        for m, c in of.terms.items():
            places, rest = drawn_places(m), tuple(x for x in m if x[0] != IN_ONE_DRAW)
            one = Quantity({tuple(sorted((*rest, *([(IN_MEAN, *places)] if places else [])))): c})
            if len(places) == 2 and places[0] == places[1]:
                u = self.drawn[int(places[0])][0]
                one = Quantity({rest: c}).times(self.board.inner(u, u))
            found = found + one
        return found


def drawn_places(of: Monomial) -> tuple[str, ...]:
    """The lengths in an outcome among the factors, by their places."""
    return tuple(x[1] for x in of if x[0] == IN_ONE_DRAW)


def ratio(u: Vec, v: Vec) -> Any:
    """c with u = cv, or None."""
    if u.parts.keys() != v.parts.keys():
        return None
    for key in sorted(u.parts):
        try:
            c = u.parts[key] / v.parts[key]
        except Refused:  # the coefficient may be 0
            continue
        return c if (u - v * c).key == frozenset() else None
    return None
