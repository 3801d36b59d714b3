"""How far the runs of edited methods agree with an implementation's, cell by cell.

A cell holds the models that one half of a round computes: first those of the clients, where they are known, then that
of the server. So a fault of the clients shows in a cell before the server's faults of that round do. Errors are in
units of the admissible one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from fedconvex.conformance.identification.play import Candidate, CandidateRounds, can_be_stacked
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Part, Reference
from fedconvex.conformance.setup import Setup
from fedconvex.errors import FedconvexError

FARTHER = 4  # how many times the correct run's tolerance rounding may move a faulty run of equal size
AT_ONCE = 1000  # candidates that are played together
A_CALL = 100  # a round of one candidate takes as long as one more of so many
ENDS = (ZeroDivisionError, OverflowError, FedconvexError, FloatingPointError)


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """A set of edits, in the order in which they are made, and how far it explains the runs."""

    edits: Candidate
    run: int  # position in the order of the runs; their number where all agree
    cell: int
    worst: float  # the largest error so far
    complete: bool

    @property
    def names(self) -> frozenset[str]:
        """The edits' names without their numbers: two sets of equal names are the same."""
        return frozenset(edit.base.name for edit in self.edits)

    @property
    def frontier(self) -> tuple[int, int]:
        """The first cell that does not agree."""
        return self.run, self.cell

    @property
    def rank(self) -> tuple[float, ...]:
        """Few edits first, plain ones before fitted numbers, these before conventions; round numbers before others."""
        numbers = [edit for edit in self.edits if edit.value is not None]
        conventions, late = sum(edit.convention for edit in self.edits), sum(edit.late for edit in self.edits)
        return (len(self.edits), conventions, late, len(numbers), sum(self.digits))

    @property
    def digits(self) -> list[int]:
        """The fitted numbers' significant digits."""
        values = [edit.value for edit in self.edits if edit.value is not None]
        return [len(f"{value:.15e}".partition("e")[0].replace(".", "").rstrip("0").lstrip("-")) for value in values]


@final
@dataclass(eq=False)
class Agreement:
    """The runs of an implementation, each with its reference, at the implementation's precision."""

    setup: Setup
    references: Sequence[Reference]
    runs: Sequence[ObservedRun]
    bits: int
    part: Part
    limit: float = float("inf")  # of the rounds of single candidates that may be played
    spent: float = 0.0  # those played so far
    order: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        # short runs first: most edits are excluded there, at a fraction of the time
        self.order = sorted(range(len(self.runs)), key=lambda i: len(self.references[i].scenario.rounds))

    def explained(self, candidates: Sequence[Candidate]) -> list[Explanation]:
        """How far each of these explains the runs."""
        found: list[Explanation] = []
        for chunk in range(0, len(candidates), AT_ONCE):
            some = candidates[chunk : chunk + AT_ONCE]
            late = self.spent > self.limit
            found += [Explanation(one, -1, -1, np.inf, False) for one in some] if late else self._explained(some)
        return found

    def _explained(self, candidates: Sequence[Candidate]) -> list[Explanation]:
        reached = [(len(self.order), 0)] * len(candidates)
        worst = np.zeros(len(candidates))
        for places in self._groups(candidates):
            alive = places
            for place, i in enumerate(self.order):
                if not alive:
                    break
                played = self._played(i, [candidates[e] for e in alive])
                left = list(range(len(alive)))  # positions of those that agree so far
                cell, finished = 0, True
                for cell, errors in enumerate(self._cells(played, i)):
                    sizes = np.abs(errors).max(1, initial=0.0)
                    agrees = sizes <= 1
                    for position, size, fine in zip(left, sizes, agrees, strict=True):
                        if fine:
                            worst[alive[position]] = max(worst[alive[position]], size)
                        else:
                            reached[alive[position]] = (place, cell)
                    if not agrees.all():
                        left = [position for position, fine in zip(left, agrees, strict=True) if fine]
                        if not left:
                            finished = False
                            break
                        assert played is not None  # else there was no cell that agrees
                        played.keep_only(agrees)
                alive = [alive[position] for position in left] if finished else []
        return [
            Explanation(candidate, run, cell, float(size), run == len(self.order))
            for candidate, (run, cell), size in zip(candidates, reached, worst, strict=True)
        ]

    def errors(self, candidates: Sequence[Candidate], place: int, cells: int) -> np.ndarray:
        """(E, n): the errors of the first cells of one run; NaN where there are none."""
        found: list[np.ndarray | None] = [None] * len(candidates)
        for places in self._groups(candidates):
            played = self._played(self.order[place], [candidates[e] for e in places])
            parts = []
            for number, errors in enumerate(self._cells(played, self.order[place])):
                parts.append(errors)
                if number + 1 >= cells:
                    break
            rows = np.concatenate(parts, axis=1) if len(parts) == cells else np.full((len(places), 1), np.nan)
            for e, row in zip(places, rows, strict=True):
                found[e] = row
        width = max(len(row) for row in found if row is not None)
        return np.stack([row if row is not None and len(row) == width else np.full(width, np.nan) for row in found])

    def shows(self, candidates: Sequence[Candidate], clients: bool = False) -> list[frozenset[str]]:
        """The scenarios in which each changes the server's points of the correct run by more than the tolerance.

        `clients`: a change of the clients' models counts, too.
        """
        seen: list[set[str]] = [set() for _ in candidates]
        for places in self._groups(candidates):
            for reference in self.references:
                for e in self._showing(reference, [candidates[e] for e in places], clients):
                    seen[places[e]].add(reference.scenario.name)
        return [frozenset(one) for one in seen]

    def _showing(self, reference: Reference, candidates: Sequence[Candidate], clients: bool) -> list[int]:
        played = CandidateRounds(self.setup, reference.scenario, candidates, self.part)
        tolerances, found = reference.tolerances(self.bits), list[int]()
        names = np.arange(len(candidates))
        off = ~(np.abs(played.w - reference.points[0]).max(1) <= tolerances[0])
        try:
            for t, models in enumerate(played):
                pairs = [(models.server, reference.points[t + 1])]
                if clients:
                    right = reference.moments[t].clients
                    pairs += [(x, right[k]) for k, x in models.clients.items() if k in right]
                off |= ~np.all([np.abs(x - y).max(1) <= tolerances[t + 1] for x, y in pairs], axis=0)
                if off.any():
                    found += names[off].tolist()
                    names = names[~off]
                    if not len(names):
                        return found
                    played.keep_only(~off)
                    off = np.zeros(len(names), dtype=bool)
        except ENDS:
            found += names.tolist()
        return found

    def _groups(self, candidates: Sequence[Candidate]) -> list[list[int]]:
        """Positions of candidates that can be played together: with the same edits of the setup and of the draw."""
        groups: dict[tuple[object, ...], list[int]] = {}
        stacked = can_be_stacked(self.setup)
        for e, candidate in enumerate(candidates):
            key: tuple[object, ...] = tuple(
                (id(edit.base), edit.value) for edit in candidate if edit.draw is not None or edit.setup is not None
            )
            groups.setdefault(key if stacked else (e,), []).append(e)
        return list(groups.values())

    def _played(self, i: int, candidates: Sequence[Candidate]) -> CandidateRounds | None:
        try:
            return CandidateRounds(self.setup, self.references[i].scenario, candidates, self.part)
        except ENDS:  # a parameter that the method refuses
            return None

    def _cells(self, played: CandidateRounds | None, i: int) -> Iterator[np.ndarray]:
        """The errors (E, n) of every cell; NaN where there is no such round. In between candidates may be left out."""
        reference, run = self.references[i], self.runs[i]
        if played is None or not run.points:
            if run.points:
                yield np.full((1, 1), np.nan)
            return
        tolerances, size = reference.tolerances(self.bits), np.abs(reference.points).max(axis=1)
        right = max(float(size[0]), 1e-300)
        grown = np.maximum(1.0, played.largest / right)
        yield (run.points[0] - played.server) / (FARTHER * tolerances[0] * grown)[:, None]
        rounds = iter(played)
        for t, point in enumerate(run.points[1:], start=1):
            self.spent += played.count + A_CALL
            try:
                models = next(rounds)
            except ENDS:
                yield np.full((played.count, 1), np.nan)
                return
            theirs = run.clients[t - 1] if t <= len(run.clients) else {}
            pairs = [(x, models.clients[k]) for k, x in theirs.items() if k in models.clients]
            if pairs:
                # before the server's new model: edits with the same effect on the clients have the same errors here
                known = max(float(np.abs(x).max()) for x in reference.moments[t - 1].clients.values())
                clients = np.max([np.abs(found).max(1) for _, found in pairs], axis=0)
                grown = np.maximum(1.0, np.maximum(played.largest, clients) / max(right, known))
                allowed = FARTHER * tolerances[t] * grown
                yield np.concatenate([expected - found for expected, found in pairs], axis=1) / allowed[:, None]
            played.largest = np.fmax(played.largest, np.abs(played.server).max(1))
            right = max(right, float(size[t]))
            # rounding errors grow with the numbers, and a faulty run may grow larger than the correct one
            allowed = FARTHER * tolerances[t] * np.maximum(1.0, played.largest / right)
            yield (point - played.server) / allowed[:, None]

    def round_of(self, frontier: tuple[int, int]) -> int:
        """The number t of the round, counted from 1, to which a cell belongs; 0: the initial point."""
        run = self.runs[self.order[frontier[0]]]
        places = [0]
        for t in range(1, len(run.points)):
            known = t <= len(run.clients) and bool(run.clients[t - 1])
            places += [t, t] if known else [t]
        return places[min(frontier[1], len(places) - 1)]

    def cells_of(self, place: int) -> int:
        """The number of cells of a run."""
        run = self.runs[self.order[place]]
        return len(run.points) + sum(bool(clients) for clients in run.clients[: len(run.points) - 1])
