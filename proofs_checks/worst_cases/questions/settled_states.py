"""States after drawn rounds as new unknown vectors, of which the second moments with all others are known.

Two moments of a draw determine the expected inner products of the next state with itself and with everything before it.
So the next state can be called by new names, with equations for these products, and the round after it is played from
there: functions are evaluated at points that depend on earlier draws, and compared with those of earlier rounds, in the
mean over the clients and the draws. The program is as small for a million clients as for ten, and does not grow with
the number of possible draws. All of this is necessary; that it suffices is not claimed: inequalities of the drawn
clients alone, or between two draws, are missing.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, final

from fedconvex.arithmetic.linear_systems import solution
from fedconvex.methods.base import State
from fedconvex.proofs_checks.symbolic.random_vectors import FIXED, averaged, expected, terms_of
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    Key,
    inner,
    mean,
    shared,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board


@final
@dataclass(frozen=True)
class Settled:
    """A new basic vector, and what it is: vectors that depend on the draw of one round."""

    key: Key
    means: Any  # the vector, or the mean over all clients of `deviations`
    deviations: Any = None  # the clients' vectors, for a deviation from that mean


@final
@dataclass(eq=False)
class SettledStates:
    """The new vectors of every round of draws so far."""

    board: Board
    draws: Draws
    rounds: list[list[Settled]] = field(default_factory=list)
    levels: dict[Key, int] = field(default_factory=dict)  # the number of draws on which a vector may depend

    def settle(self, before: State, after: State, answers: Any) -> tuple[State, Family]:
        """The state after a round, and the average of the drawn clients' answers, in new vectors.

        A vector that does not depend on the draw keeps its coordinates, and one that is a combination of others is that
        of the new ones: the server's h of FedDyn is the mean of the memories there, too.
        """
        self._note([before.server, *before.shared.values(), *before.memory.values()])
        new: list[Settled] = []
        self.rounds.append(new)
        moment_number = len(self.rounds)
        server = self._mean(f"server {moment_number}", after.server)
        vectors = {name: self._mean(f"{name} {moment_number}", u) for name, u in after.shared.items()}
        memory = {}
        for name, u in after.memory.items():
            means = mean(u)
            memory[name] = self._mean(f"{name}_k {moment_number}", means)
            if self.board.clients > 1:
                key = (DEVIATION, f"{name}_k {moment_number}")
                new.append(Settled(key, means, u))
                memory[name] = memory[name] + Family({key: ONE})
        answered = self._mean(f"answers {moment_number}", averaged(answers, self.draws))
        return replace(after, server=server, shared=vectors, memory=memory), answered

    def _mean(self, name: str, u: Any) -> Family:
        """The vector in this round's new ones, of which one more is made where it takes one."""
        new = self.rounds[-1]
        known = [one for one in new if one.key[0] == MEAN]
        weights = _combination(_random_part(u), [_random_part(one.means) for one in known])
        if weights is None:
            new.append(Settled((MEAN, name), u))
            return shared(name)
        rest = _fixed_part(u)
        for c, one in zip(weights, known, strict=True):
            rest = rest + (Family({one.key: ONE}) - _fixed_part(one.means)) * c
        return rest

    def equations(self, used: Collection[Key]) -> list[tuple[str, Form]]:
        """Forms that are 0 in expectation: products of new vectors with those before them, and among them.

        Of the vectors that are used, and of those on which these products depend.
        """
        self._note([])
        found: list[tuple[Key, Key, Form]] = []
        while True:
            size, found = len(found), list(self.products(used))
            if len(found) == size:
                break
            used = {*used, *(key for *_, form in found for pair in form.products for key in pair)}
        return [(f"⟨{a[1]}, {b[1]}⟩ of {a[0]}s", inner(Family({a: ONE}), Family({b: ONE})) - x) for a, b, x in found]

    def products(self, used: Collection[Key]) -> Iterator[tuple[Key, Key, Form]]:
        """Round by round, for a new vector and one before it or beside it, what their product is in expectation."""
        for number, new in enumerate(self.rounds, 1):
            earlier = sorted(key for key, level in self.levels.items() if level < number and key in used)
            kept = [one for one in new if one.key in used]
            for place, one in enumerate(kept):
                for key in earlier:
                    if key[0] == one.key[0]:
                        yield one.key, key, inner(self._expected(one), Family({key: ONE}))
                for other in kept[: place + 1]:
                    if other.key[0] == one.key[0]:
                        yield one.key, other.key, self._product(one, other)

    def _note(self, vectors: Iterable[Any]) -> None:
        """Notes the level of what is new: that of the point for a gradient there, else the number of draws so far."""
        for one in (one for new in self.rounds[-1:] for one in new):
            self.levels[one.key] = len(self.rounds)
        for evaluation in self.board.evaluations:
            inside = {*evaluation.point.parts}
            unknown = {*evaluation.gradient.parts} - {*self.levels} - inside
            if inside <= {*self.levels}:
                level = max((self.levels[key] for key in inside), default=0)
                self.levels.update(dict.fromkeys(unknown, level))
        residuals = (u for r in self.board.residuals for u in (r.left, r.first))
        points = (u for e in self.board.evaluations for u in (e.point, e.gradient))
        for u in (*vectors, *residuals, *points):
            self.levels.update(dict.fromkeys({*u.parts} - {*self.levels}, len(self.rounds)))

    def _expected(self, one: Settled) -> Family:
        found: Family = expected(one.means if one.deviations is None else one.deviations)
        return found

    def _product(self, one: Settled, other: Settled) -> Form:
        of_means = inner(one.means, other.means)
        if one.deviations is None or other.deviations is None:
            return of_means
        return inner(one.deviations, other.deviations) - of_means


def _fixed_part(u: Any) -> Family:
    return terms_of(u).get(FIXED, Family())


def _random_part(u: Any) -> dict[Any, Any]:
    return {(p, key): c for p, v in terms_of(u).items() if p != FIXED for key, c in v.parts.items()}


def _combination(u: dict[Any, Any], others: list[dict[Any, Any]]) -> list[Any] | None:
    """Weights c with u = Σ c·other; None where there are none."""
    keys = dict.fromkeys(key for v in (u, *others) for key in v)
    rows = [[v.get(key, ZERO) for v in others] for key in keys]
    return solution(rows, [u.get(key, ZERO) for key in keys], len(others))
