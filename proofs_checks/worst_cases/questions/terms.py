"""Terms of claims on a board: what each one means, as vectors and quadratic forms in the board's unknowns.

`histories` plays the rounds: of everyone, of those who take part as random vectors, or draw by draw on an
`EnumeratedBoard`. A number is a scalar, a form (linear in inner products and values), or a `Length`, a form's root.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.claims.terms import Number, Term, Vector, parts
from fedconvex.participation import Draw
from fedconvex.proofs_checks.symbolic.random_vectors import averaged, expected, is_random
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    Family,
    Form,
    inner,
    mean,
    of_group,
    shared,
    square,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.form_arithmetic import (
    Length,
    negative,
    power,
    product,
    quotient,
    random_length,
    rational_root,
    total,
)
from fedconvex.proofs_checks.worst_cases.questions.histories import Histories, History
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed

LEAST = "least"  # the name of the objective's infimum, where there may be no minimiser
ARITHMETIC = ("constant", "parameter", "named", "+", "-", "*", "/", "^", "neg", "root", "max")


class DecidesWhere(NotPosed):
    """A term that evaluates functions at a point that depends on the draw: all draws must be enumerated for it."""


def _nothing() -> None:
    pass


@final
@dataclass(frozen=True, eq=False)
class TermsOnBoard:
    """The terms' meanings in `rounds` rounds, in expectation over the draws. Time 0 is the start and time 1 the end.

    Inside a sum over the rounds, and where there is one round, they are the moments before and after a round. `played`
    are the rounds that the terms need: the last one may not matter.
    """

    histories_of: Histories
    rounds: int
    played: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    smooth: Any = None  # L: values at drawn points are bounded by the descent lemma, from above
    check: Callable[[], None] = _nothing  # after each history, to stop where there are too many

    @property
    def board(self) -> Any:
        return self.histories_of.board

    @cached_property
    def _reached(self) -> tuple[list[History], Iterator[History]]:
        return [], self.histories_of.of(self.played)

    @property
    def histories(self) -> Iterator[History]:
        """All histories, played when they are looked at."""
        known, others = self._reached
        for place in count():
            if place == len(known):
                new = next(others, None)
                if new is None:
                    return
                known.append(new)
            yield known[place]

    @property
    def first(self) -> History:
        """The only history, where nothing is enumerated."""
        return next(self.histories)

    def number(self, term: Number) -> Any:
        """A scalar, a form or a length. Raises NotPosed."""
        return self._expected(term, None)

    def form(self, term: Number) -> Form:
        """A side of a ratio. Raises NotPosed, for constants and for lengths that are not squared, too."""
        found = self.number(term)
        if isinstance(found, Length):
            raise NotPosed("metric", term, "is a length that is not squared", "give square(u) for norm(u)")
        if not isinstance(found, Form):
            raise NotPosed("metric", term, "is a constant", "give terms of the run in both places")
        return found

    def vector(self, term: Vector) -> Any:
        """The vectors, expected ones where they depend on the draw. Raises NotPosed."""
        return self._expected(term, None)

    def in_round(self, t: int, term: Term) -> Any:
        """What the term means in round t of the first history. Raises NotPosed."""
        return self._of(term, self.first, t)

    # ---- expectations over the draws

    def _expected(self, term: Term, t: int | None) -> Any:
        if self.histories_of.branches and depends_on_draws(term, t):
            return self._over_draws(term, t)
        found = self._of(term, self.first, t)
        return expected(found)  # a number is an expectation already

    def _over_draws(self, term: Term, t: int | None) -> Any:
        total: Any = None
        for history in self.histories:
            found = self._of(term, history, t)
            if isinstance(found, Length):
                raise random_length(term)
            total = found * history.chance if total is None else total + found * history.chance
            self.check()
        return total

    def _weights(self, ratio: Number) -> list[Any]:
        r = self._scalar(ratio)
        return [r**t for t in range(self.rounds)]

    def _moment(self, t: int | None, later: int) -> int:
        """The number of rounds before that moment."""
        return later * self.rounds if t is None else t + later

    def _round(self, t: int | None, term: Term) -> int:
        if t is None and self.rounds > 1:
            raise NotPosed("term", term, f"is about one round, of which there are {self.rounds}",
                           "give rounds=1, or sum_of_rounds(…)")  # fmt: skip
        return t or 0

    # ---- one history

    def _of(self, term: Term, history: History, t: int | None) -> Any:
        match term.head, term.args:
            case "named", (_, x):
                return self._of(x, history, t)
            case "expected", (x,):
                return self._expected(x, t)
            case ("+" | "-") as sign, (x, y):
                a, b = self._of(x, history, t), self._of(y, history, t)
                return total(a, b if sign == "+" else negative(b), term)
            case "*", (x, y):
                return product(self._of(x, history, t), self._of(y, history, t), term)
            case "/", (x, y):
                return quotient(self._of(x, history, t), self._of(y, history, t), term)
        return (self._vector if type(term) is Vector else self._number)(term, history, t)  # type: ignore[arg-type]

    def _vector(self, term: Vector, history: History, t: int | None) -> Any:
        match term.head, term.args:
            case "server", (later,):
                return history.states[self._moment(t, later)].server
            case ("shared" | "memory") as where, (name, later):
                place = self._moment(t, later)
                known = getattr(history.states[place], where)
                if name not in known:
                    raise NotPosed("term", term, f"is not in the state of {self.histories_of.method}",
                                   f"it has {', '.join(sorted(known)) or 'none'}")  # fmt: skip
                return known[name]
            case "last answers", (later,):
                return history.latest[self._moment(t, later)]()
            case "answers", ():
                return history.answers[self._round(t, term)]()
            case "solutions", ():
                return history.solutions[self._round(t, term)]()
            case "residuals", () if not isinstance(self.board, EnumeratedBoard):
                history.answers[self._round(t, term)]()
                return self.board.residuals[self._round(t, term)].left if self.board.residuals else Family()
            case "minimiser", ():
                if not self.board.minimiser:
                    raise NotPosed("term", term, "need not exist for these clients",
                                   "give convex clients, or a term without a minimiser")  # fmt: skip
                return Family()
            case "gradient", (at,):
                return self.board.gradient(self._point(at, history, t))
            case "mean", (u,):
                return mean(self._of(u, history, t))
            case "drawn", (u,):
                return self._drawn(self._of(u, history, t), history.draws[self._round(t, term)], term)
            case "mean of rounds", (ratio, u):
                weights = self._weights(ratio)
                total = sum((self._of(u, history, s) * w for s, w in enumerate(weights)), start=Family())
                return total / sum(weights)
            case "free", (name,):
                return shared(f"free {name}")
            case "family", (name,):
                return self.board.vectors(f"any {name}")
        raise NotPosed("term", term, "has no meaning here", "give terms of points, gradients and values")

    def _point(self, at: Vector, history: History, t: int | None) -> Any:
        """The point at which functions are evaluated."""
        found = self._of(at, history, t)
        if is_random(found):
            raise DecidesWhere("term", at, "depends on the draw, and functions are evaluated there: all draws "
                               "must be enumerated", "give few clients, or use full participation")  # fmt: skip
        return found

    def _drawn(self, u: Any, draw: Draw | None, term: Term) -> Any:
        if draw is None:
            if is_random(u):
                raise NotPosed("term", term, "averages what already depends on the draw", "leave it out")
            if self.histories_of.settled is not None:
                raise NotPosed("term", term, "is of one of too many draws to enumerate", "give fewer clients or rounds")
            return averaged(u, self.histories_of.draws)
        assert draw.members is not None
        assert draw.shares is not None
        members, total = draw.members.tolist(), int(draw.shares.sum())
        shares = [to_fmpq(Fraction(int(n), total)) for n in draw.shares]
        return sum((of_group(u, k) * c for k, c in zip(members, shares, strict=True)), start=Family())

    def _number(self, term: Number, history: History, t: int | None) -> Any:
        match term.head, term.args:
            case "constant", (c,):
                return to_fmpq(c)
            case "parameter", (name,):
                if name not in self.parameters:
                    raise NotPosed("term", name, "is a parameter without a value", "give a number in its place")
                return self.parameters[name]
            case "inner", (u, v):
                first = self._of(u, history, t)
                return square(first) if u == v else inner(first, self._of(v, history, t))
            case "norm", (u,):
                found = self._of(u, history, t)
                if is_random(found):
                    raise random_length(term)
                return Length(square(found))
            case "value", (at,):
                if self.smooth is None:
                    return self.board.mean_value(self.board.at(self._point(at, history, t)))
                point = self._of(at, history, t)
                middle = expected(point)
                above = (square(point) - square(middle)) * (self.smooth / 2)
                return self.board.mean_value(self.board.at(middle)) + above
            case "infimum", ():
                return Form() if self.board.minimiser else value(LEAST)
            case "neg", (x,):
                return negative(self._of(x, history, t))
            case "after", (x,):
                return self._expected(x, self.rounds)
            case ("sum of rounds" | "mean of rounds") as head, (ratio, x):
                weights = self._weights(ratio)
                total = sum((self._expected(x, s) * w for s, w in enumerate(weights)), start=Form())
                return total / sum(weights) if head == "mean of rounds" else total
            case "^", (x, exponent):
                return power(self._of(x, history, t), self._scalar(exponent), term)
            case "root", (x,):
                found = self._of(x, history, t)
                return Length(found) if isinstance(found, Form) else rational_root(found, term)
            case "max", (x, y):
                a, b = self._scalar(x), self._scalar(y)
                return max(a, b)
        raise NotPosed("term", term, "has no meaning here", "give terms of points, gradients and values")

    def _scalar(self, term: Number) -> Any:
        if not is_scalar(term):
            raise NotPosed("term", term, "stands where only known numbers can: in a maximum, an exponent, or "
                           "as the ratio of weights", "give a formula in parameters")  # fmt: skip
        return self._of(term, History(Fraction(1), (), ()), 0)


def is_scalar(term: Number) -> bool:
    """Whether the term is a formula in parameters."""
    return all(type(part) is Number and part.head in ARITHMETIC for part in parts(term))


def depends_on_draws(term: Term, t: int | None) -> bool:
    """Whether the term, inside round t of a sum or outside, may be another one for another draw."""
    if t:
        return True
    sums = ("drawn", "mean of rounds", "sum of rounds", "after")
    return any(p.head in sums or 1 in [a for a in p.args if type(a) is int] for p in parts(term))
