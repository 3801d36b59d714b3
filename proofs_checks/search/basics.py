"""A board's unknown vectors as terms, so that squares found in coordinates can be written down."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, final

from fedconvex.claims.terms import (
    Vector,
    answers,
    family,
    free,
    gradient,
    last_answers,
    mean,
    memory,
    minimiser,
    residuals,
    server,
    shared,
    solutions,
)
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.scalars import Refused, Scalar, require
from fedconvex.proofs_checks.kernel.vectors import APART, SAME, Vec
from fedconvex.proofs_checks.search.scalars import number_of
from fedconvex.symbols import IllFormed


@contextmanager
def leaving_unproved() -> Iterator[None]:
    """Ends a part of a search where something has no meaning in the setting; raises what the search wrote wrongly."""
    try:
        yield
    except IllFormed:
        raise
    except (Refused, ValueError, ArithmeticError, KeyError, RecursionError):
        pass


Basic = tuple[str, str]  # kind (a mean or a deviation) and name
NAMED: Mapping[str, Callable[[str], Vector]] = {
    "free": free, "family": family, "shared": lambda name: shared(name, 0), "memory": lambda name: memory(name, 0),
}  # fmt: skip
UNNAMED = {"w": server(0), "last": last_answers(0), "x*": minimiser}


@final
class Basics:
    """The unknown vectors of a board, and the terms that denote them.

    Args:
        board: the board.
        points: terms of points; a gradient there is written as the gradient at that term.
    """

    def __init__(self, board: RoundBoard, points: Sequence[Vector]):
        self.board = board
        self.by_key = {board.vector(p).key: p for p in reversed(points)}
        self.at = {next(iter(g.parts))[1]: key for key, g in board.round.gradients.items() if _is_basic(g)}

    def whole(self, name: str) -> Vector:
        """The term of an unknown vector: its mean together with its deviation. Raises Refused."""
        setting = self.board.setting
        if name in self.at:
            return gradient(minimiser if name == "g*" else self._point(self.at[name]))
        if name == "e":
            return residuals if setting.answers == "inexact" else answers - solutions
        kind, _, rest = name.partition(" ")
        if rest and kind in NAMED:
            return NAMED[kind](rest)
        require(name in UNNAMED, f"{name} has no term")
        return UNNAMED[name]

    def _point(self, key: Any) -> Vector:
        return self.by_key[key] if key in self.by_key else self.vector(dict(key))

    def of(self, basic: Basic, differs: bool) -> Vector:
        """The mean or the deviation of an unknown vector that differs between clients, or not."""
        kind, name = basic
        whole = self.whole(name)
        if not differs or self.board.round.one_client:
            return whole
        if name == "g*":  # the mean of the gradients at the minimiser is 0
            return whole
        return mean(whole) if kind == SAME else whole - mean(whole)

    def vector(self, parts: Mapping[Basic, Scalar]) -> Vector:
        """The combination as a term: a whole vector where mean and deviation have one coefficient."""
        require(all(kind in (SAME, APART) for kind, _ in parts), "a vector that depends on the draw")
        found: list[tuple[Any, Vector]] = []
        for name in dict.fromkeys(name for _, name in parts):
            same, apart = parts.get((SAME, name)), parts.get((APART, name))
            if same is not None and apart is not None and same == apart:
                found.append((same, self.whole(name)))
                continue
            # A vector that all clients share has no deviation; others are taken apart.
            differs = apart is not None or self.differs(name)
            found += [
                (c, self.of((kind, name), differs)) for kind, c in ((SAME, same), (APART, apart)) if c is not None
            ]
        total: Vector | None = None
        for c, u in found:
            minus = c == -1
            term = u if minus or c == 1 else number_of(c) * u
            total = (-term if minus else term) if total is None else total - term if minus else total + term
        if total is None:
            raise Refused("no vector")
        return total

    def differs(self, name: str) -> bool:
        """Whether the unknown vector has a deviation."""
        return bool(self.board.vector(self.whole(name)).only(APART).parts)


def _is_basic(of: Vec) -> bool:
    return len({name for _, name in of.parts}) == 1 and all(c == 1 for c in of.parts.values())
