"""Identify what an implementation does: the fewest edits of the method that reproduce its runs.

The runs go from simple to complex, and each from round to round. A set of edits explains them up to the first cell that
it does not reproduce, its frontier. Sets grow by edits that move the frontier; unknown numbers are fitted there by
Gauss and Newton's method. The runs include one of other data, at another stepsize, other numbers of local steps and
other participants: what fits by coincidence does not fit there. `Identification.explanations` is the entry point.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import combinations, count, product
from typing import final

import numpy as np

from fedconvex.conformance.identification.agreement import Agreement, Explanation
from fedconvex.conformance.identification.edits import Edit, UnknownNumber
from fedconvex.conformance.identification.play import Candidate

MOST_EDITS = 5
MOST_ROUNDS = 250_000  # rounds of single candidates that a search may play: some six seconds
LEAST_EFFECT = 8.0  # an edit must explain errors of so many admissible ones, or make them so many times smaller
LEAST_NUMBER = 1e-6  # a momentum or a weight decay smaller than this is none that anybody chose
MOST_STEPS = 12  # of a fit …
JOBS = 100  # so many fits at once
STARTS = 3  # … of one number, from so many starts
DIFFERENCE = 1e-7  # of the derivative's quotient, relative
ROUND = 6  # significant digits of a round number
PER_CONVENTION, NOT_ROUND = 2, 10  # places in the order of the ways to extend a set
MOST_GROUPS = 40  # of edits with the same effect on a cell, of which pairs are tried
VARIANTS = 40  # sets that differ from a found one by edits with the same effect so far


@final
@dataclass(eq=False)
class Identification:
    """One search among the edits that the setup can have."""

    agreement: Agreement
    edits: Sequence[Edit]
    plain: Sequence[Edit] = field(init=False)
    numbered: Sequence[Edit] = field(init=False)

    def __post_init__(self) -> None:
        self.agreement.limit = self.agreement.spent + MOST_ROUNDS
        self.places = {edit: place for place, edit in enumerate(self.edits)}
        self.plain = [edit for edit in self.edits if edit.number is None]
        self.numbered = [edit for edit in self.edits if edit.number is not None]
        self._seen: dict[tuple[tuple[int, float | None], ...], Explanation] = {}

    @property
    def out_of_time(self) -> bool:
        """Whether the rounds that may be played have been."""
        return self.agreement.spent > self.agreement.limit

    def explanations(self, most: int = MOST_EDITS) -> list[Explanation]:
        """Sets of at most so many edits that reproduce every run, the most likely first; none where none do.

        Sets that follow the first fit as well: the runs do not tell which of them it is.
        """
        (root,) = self.explained([()])
        if root.complete:
            # what deviates is nearly admissible: only edits that fit far better explain it
            alone = self.explained([(edit,) for edit in self.plain])
            return self._sorted(one for one in alone if one.complete and LEAST_EFFECT * one.worst <= root.worst)
        for found in (self.by_one(root), self.by_number(root, late=False), self.by_number(root, late=True)):
            complete = [one for one in found if one.complete]
            if complete:
                return self._sorted(complete)
        return self._several(root, most) if most > 1 else []

    def explained(self, candidates: Sequence[Candidate]) -> list[Explanation]:
        """How far each of these explains the runs; what was asked before is known."""
        keys = [tuple((id(edit.base), edit.value) for edit in candidate) for candidate in candidates]
        new = {key: one for key, one in zip(keys, candidates, strict=True) if key not in self._seen}
        for key, found in zip(new, self.agreement.explained(list(new.values())), strict=True):
            self._seen[key] = found
        return [self._seen[key] for key in keys]

    # --- sets of several edits ------------------------------------------------------------------------------------

    def _several(self, root: Explanation, most: int) -> list[Explanation]:
        """Sets of two edits and more, best first: the farthest frontier, and what extends it in the simplest way.

        An edit that explains a cell to twelve digits is hardly ever wrong. A convention may be, which often does what
        two edits do in one cell, and so may a fitted number that is not round: these come later.
        """
        agenda: list[tuple[tuple[float, ...], Iterator[list[Explanation]]]] = []
        numbers, reached = count(), dict[frozenset[str], tuple[int, int]]()

        def extend(parent: Explanation) -> None:
            late = PER_CONVENTION * sum(edit.convention for edit in parent.edits)
            late += NOT_ROUND * (max(parent.digits, default=0) > ROUND) + sum(edit.late for edit in parent.edits)
            for cost, way in enumerate(self._ways(parent)):
                heappush(agenda, ((cost + late, -parent.run, -parent.cell, *parent.rank, next(numbers)), way))

        extend(root)
        while agenda and not self.out_of_time:
            key, way = heappop(agenda)
            some = next(way, None)
            if some is None:
                continue
            heappush(agenda, (key, way))
            complete = []
            for one in some:
                if len(one.edits) > most or reached.get(one.names, (-1, -1)) >= one.frontier:
                    continue
                reached[one.names] = one.frontier
                if one.complete:
                    complete.append(one)
                else:
                    extend(one)
            complete = [one for one in complete if self._has_effect(one)]
            if complete:
                return self._with_others(self._minimal(self._sorted(complete)[0]), complete)
        return []

    def _ways(self, parent: Explanation) -> tuple[Iterator[list[Explanation]], ...]:
        """What extends a set, the cheap first."""
        return (
            self._lazily(lambda: self.by_one(parent)),
            self._lazily(lambda: self.by_number(parent, late=False)),
            self._lazily(lambda: self._of_groups(parent, 2)),
            self._lazily(lambda: self.by_number(parent, late=True)),
            self._lazily(lambda: self.by_one_and_number(parent)),
            self._lazily(lambda: self.by_silent(parent)),
            self._lazily(lambda: self.by_two_numbers(parent)),
            self._lazily(lambda: self._of_groups(parent, 3)),
            self._lazily(lambda: self.by_two_and_number(parent)),
        )

    @staticmethod
    def _lazily(make: Callable[[], list[Explanation]]) -> Iterator[list[Explanation]]:
        yield make()

    def by_one(self, parent: Explanation) -> list[Explanation]:
        """The sets with one plain edit more that explain more."""
        return self._beyond(parent, [self._joined(parent, edit) for edit in self.plain if edit not in parent.edits])

    def by_number(self, parent: Explanation, late: bool, besides: Candidate = ()) -> list[Explanation]:
        """The sets with one edit more whose number fits."""
        jobs = [(edit,) for edit in self._numbered_at(parent) if edit.late == late]
        return self._fitted(parent, [(besides, job) for job in jobs])

    def _of_groups(self, parent: Explanation, size: int) -> list[Explanation]:
        groups = self._effects(parent)[: MOST_GROUPS if size == 2 else MOST_GROUPS // 2]
        sets = list(combinations(groups, size))
        first = self.explained([self._joined(parent, *(group[0] for group in chosen)) for chosen in sets])
        found = []
        for chosen, one in zip(sets, first, strict=True):
            if one.frontier > parent.frontier:
                others = list(product(*chosen))[:VARIANTS]
                found += self._beyond(parent, [self._joined(parent, *edits) for edits in others])
        return found

    def by_silent(self, parent: Explanation) -> list[Explanation]:
        """The sets with one edit that shows there and one that does so only beside it."""
        groups = self._effects(parent)
        shown = {edit for group in groups for edit in group}
        silent = [edit for edit in self.plain if edit not in shown and edit not in parent.edits]
        return self._beyond(
            parent, [self._joined(parent, group[0], edit) for group in groups[:MOST_GROUPS] for edit in silent]
        )

    def by_one_and_number(self, parent: Explanation) -> list[Explanation]:
        """The sets with a plain edit and one with a number that show in the same cell for the first time."""
        unknown = [(edit,) for edit in self._numbered_at(parent) if not (edit.convention or edit.late)]
        found = []
        for group in self._effects(parent)[:MOST_GROUPS]:
            for one in self._fitted(parent, [((group[0],), job) for job in unknown]):
                found.append(one)
                kept = [edit for edit in one.edits if edit is not group[0]]  # the others may differ later
                found += self._beyond(parent, [self._ordered((*kept, other)) for other in group[1:VARIANTS]])
            if any(one.complete for one in found) or self.out_of_time:
                break
        return found

    def by_two_numbers(self, parent: Explanation) -> list[Explanation]:
        """The sets with two numbers more, fitted together: over the whole run, for one cell fits many."""
        unknown = [edit for edit in self._numbered_at(parent) if not (edit.convention or edit.late)]
        return self._fitted(parent, [((), pair) for pair in combinations(unknown, 2)], whole=parent.run == 0)

    def by_two_and_number(self, parent: Explanation) -> list[Explanation]:
        """The sets with two plain edits and a number more."""
        groups = [group[0] for group in self._effects(parent)][: MOST_GROUPS // 2]
        unknown = [(edit,) for edit in self._numbered_at(parent) if not (edit.convention or edit.late)]
        return self._fitted(parent, [(pair, job) for pair in combinations(groups, 2) for job in unknown])

    def _effects(self, parent: Explanation) -> list[list[Edit]]:
        """The plain edits that change the cell at the frontier, grouped by what they make of it.

        Those that also change a cell before it come last, and apart: alone they explain less.
        """
        place, cell = parent.frontier
        edits = [edit for edit in self.plain if edit not in parent.edits]
        candidates = [parent.edits, *(self._joined(parent, edit) for edit in edits)]
        errors = self.agreement.errors(candidates, place, cell + 1)
        before = self.agreement.errors([parent.edits], place, cell).shape[1] if cell else 0
        groups: dict[tuple[bool, tuple[float, ...]], list[Edit]] = {}
        for edit, row in zip(edits, errors[1:], strict=True):
            there = row[before:]
            if np.isfinite(row).all() and not np.array_equal(there, errors[0, before:]):
                early = bool((np.abs(row[:before]) > 1).any())
                groups.setdefault((early, tuple(float(f"{x:.9g}") for x in there)), []).append(edit)
        return [groups[key] for key in sorted(groups, key=lambda key: key[0])]

    def _beyond(self, parent: Explanation, candidates: Sequence[Candidate]) -> list[Explanation]:
        """Those that explain a cell more than the parent does, their numbers fitted again."""
        found = [one for one in self.explained(candidates) if one.frontier > parent.frontier]
        return [self._settled(one) for one in found]

    def _joined(self, parent: Explanation, *edits: Edit) -> Candidate:
        return self._ordered((*parent.edits, *edits))

    def _ordered(self, edits: Sequence[Edit]) -> Candidate:
        return tuple(sorted(edits, key=lambda edit: self.places[edit.base]))

    def _sorted(self, found: Iterable[Explanation]) -> list[Explanation]:
        return sorted(found, key=lambda one: one.rank)

    # --- unknown numbers ------------------------------------------------------------------------------------------

    def _numbered_at(self, parent: Explanation) -> list[Edit]:
        """The edits with a number that are not in the set and can show first in the round of its frontier."""
        played = self.agreement.round_of(parent.frontier) - 1
        taken = {edit.base for edit in parent.edits}
        rounds = [(edit, edit.number.first_round) for edit in self.numbered if edit.number is not None]
        return [edit for edit, first in rounds if edit not in taken and first in (0, played)]

    def _fitted(
        self, parent: Explanation, jobs: Sequence[tuple[Candidate, Candidate]], whole: bool = False
    ) -> list[Explanation]:
        """The sets with (known edits, edits whose numbers are fitted) more that explain more."""
        place, cell = parent.frontier
        cells = self.agreement.cells_of(place) if whole else cell + 1
        made = list[Candidate | None]()
        for begin in range(0, len(jobs), JOBS):
            some = [(self._joined(parent, *known), unknown) for known, unknown in jobs[begin : begin + JOBS]]
            made += [] if self.out_of_time else self.fits(some, place, cells)
        chosen = [self._ordered(edits) for edits in made if edits is not None and all(map(is_chosen, edits))]
        return self._beyond(parent, chosen)

    def _settled(self, one: Explanation) -> Explanation:
        """The set with its numbers fitted again, as long as more cells make it explain more."""
        while not one.complete and any(edit.value is not None for edit in one.edits):
            known = tuple(edit for edit in one.edits if edit.value is None)
            unknown = [edit for edit in one.edits if edit.value is not None]
            start = [edit.value for edit in unknown if edit.value is not None]
            bases = tuple(edit.base for edit in unknown)
            (made,) = self.fits([(known, bases)], one.run, one.cell + 1, [start])
            if made is None:
                return one
            (again,) = self.explained([self._ordered(made)])
            if again.frontier <= one.frontier:
                return one
            one = again
        return one

    def fits(
        self,
        jobs: Sequence[tuple[Candidate, Candidate]],
        place: int,
        cells: int,
        starts: Sequence[Sequence[float]] | None = None,
    ) -> list[Candidate | None]:
        """For each (known edits, edits with a number) all edits with the numbers that fit the first cells of a run."""
        if not jobs:
            return []
        if starts is None:
            many = STARTS if max(len(unknown) for _, unknown in jobs) == 1 else 1
            best = self._best_starts(jobs, place, cells, many)
            again = [j for j, values in enumerate(best) for _ in values]
            begins = [value for values in best for value in values]
            made: list[Candidate | None] = [None] * len(jobs)
            for j, one in zip(again, self.fits([jobs[j] for j in again], place, cells, begins), strict=True):
                made[j] = made[j] or one
            return made
        values = [np.array(one, float) for one in starts]
        active = list(range(len(jobs)))
        found: list[Candidate | None] = [None] * len(jobs)
        size = dict.fromkeys(active, np.inf)
        for step in range(MOST_STEPS):
            if not active or self.out_of_time:
                break
            moved = []
            for j in active:
                moved.append(values[j])
                for n, value in enumerate(values[j]):
                    shift = values[j].copy()
                    shift[n] = value + _difference(value, jobs[j][1][n].number)
                    moved.append(shift)
            owners = [j for j in active for _ in range(1 + len(values[j]))]
            errors = self.agreement.errors(
                [self._with_values(jobs[j], value) for j, value in zip(owners, moved, strict=True)], place, cells
            )
            place_of, left = 0, list[int]()
            for j in active:
                k = len(values[j])
                here, slopes = errors[place_of], []
                for n in range(k):
                    with np.errstate(invalid="ignore"):
                        change = errors[place_of + 1 + n] - here
                    slopes.append(change / _difference(values[j][n], jobs[j][1][n].number))
                place_of += 1 + k
                norm = float(np.linalg.norm(here))
                matrix = np.stack(slopes, axis=1)
                if not np.isfinite(norm) or not np.isfinite(matrix).all() or not (np.abs(matrix).max(0) > 0).all():
                    continue
                move = -np.linalg.lstsq(matrix, here, rcond=None)[0]
                if np.abs(here).max() <= 1:
                    polished = _within(values[j], move, jobs[j][1])
                    found[j] = self._shortest(jobs[j], polished, matrix, place, cells)
                    continue
                if norm > 0.5 * size[j] and step > 3:
                    continue
                size[j] = min(size[j], norm)
                values[j] = _within(values[j], move, jobs[j][1])
                left.append(j)
            active = left
        return found

    def _best_starts(
        self, jobs: Sequence[tuple[Candidate, Candidate]], place: int, cells: int, many: int
    ) -> list[list[tuple[float, ...]]]:
        """Of the numbers near which those that people choose lie so many with the smallest errors."""
        tried = [list(product(*(edit.number.starts for edit in unknown if edit.number))) for _, unknown in jobs]
        candidates = [
            self._with_values(job, np.array(value)) for job, values in zip(jobs, tried, strict=True) for value in values
        ]
        sizes = np.linalg.norm(self.agreement.errors(candidates, place, cells), axis=1)
        sizes = np.where(np.isfinite(sizes), sizes, np.inf)
        best, begin = [], 0
        for values in tried:
            own = sizes[begin : begin + len(values)]
            # of numbers with the same errors one alone: there none of them has any effect
            differing = {f"{own[n]:.9g}": values[n] for n in np.argsort(own, kind="stable")[::-1]}
            best.append(list(differing.values())[::-1][:many])
            begin += len(values)
        return best

    def _with_values(self, job: tuple[Candidate, Candidate], values: np.ndarray, digits: int = 6) -> Candidate:
        known, unknown = job
        setup = self.agreement.setup
        made = [edit.with_value(float(value), setup) for edit, value in zip(unknown, values, strict=True)]
        return self._ordered((*known, *made))

    def _shortest(
        self, job: tuple[Candidate, Candidate], values: np.ndarray, slopes: np.ndarray, place: int, cells: int
    ) -> Candidate:
        """The edits with numbers as short as they fit, whose names show all digits."""
        with np.errstate(all="ignore"):
            radii = np.sqrt(np.diagonal(np.linalg.pinv(slopes.T @ slopes)))
        short = np.array([shortest(value, radius) for value, radius in zip(values, radii, strict=True)])
        errors = self.agreement.errors([self._with_values(job, short)], place, cells)
        chosen = short if np.abs(errors).max() <= 1 else values
        made = [
            edit.with_value(float(value), self.agreement.setup, f"fitted, ±{radius:.1g}", digits=12)
            for edit, value, radius in zip(job[1], chosen, radii, strict=True)
        ]
        return self._ordered((*job[0], *made))

    # --- what is found --------------------------------------------------------------------------------------------

    def _minimal(self, one: Explanation) -> Explanation:
        """The set without the edits that it does not need: one, or two of which each undoes the other."""
        fewer = [
            tuple(edit for edit in one.edits if edit not in left_out)
            for size in (1, 2)
            for left_out in combinations(one.edits, size)
            if size < len(one.edits)
        ]
        for less in self.explained(fewer):
            if less.complete:
                return self._minimal(less)
        return one

    def _with_others(self, best: Explanation, complete: Sequence[Explanation]) -> list[Explanation]:
        """Also the sets that differ in one plain edit and explain as much."""
        others = {one.names: one for one in (best, *complete) if len(one.edits) <= len(best.edits)}
        swapped = []
        for edit in best.edits:
            rest = [other for other in best.edits if other is not edit]
            swapped += [self._ordered((*rest, other)) for other in self.plain if other not in best.edits]
        for one in self.explained(swapped):
            if one.complete and self._has_effect(one):
                others.setdefault(one.names, one)
        return self._sorted(others.values())

    def _has_effect(self, one: Explanation) -> bool:
        """Whether each fitted number is one that people choose, and explains much more than rounding errors."""
        numbered = [edit for edit in one.edits if edit.value is not None]
        fewer = [tuple(edit for edit in one.edits if edit is not left) for left in numbered]
        return all(map(is_chosen, numbered)) and not any(less.complete for less in self.explained(fewer))


def is_chosen(edit: Edit) -> bool:
    """Whether a fitted number is one that people choose: not the number that changes nothing."""
    neutral = edit.number.neutral if edit.number is not None else np.nan
    return edit.value is None or not abs(edit.value - neutral) < LEAST_NUMBER


def shortest(value: float, radius: float) -> float:
    """The number of fewest decimal digits within the radius of the value."""
    for digits in range(1, 17):
        short = float(f"{value:.{digits}g}")
        if abs(short - value) <= radius:
            return short
    return value


def _difference(value: float, number: UnknownNumber | None) -> float:
    step = DIFFERENCE * max(abs(value), 1e-3)
    return -step if number is not None and value + step >= number.high else step


def _within(values: np.ndarray, move: np.ndarray, unknown: Candidate) -> np.ndarray:
    """The values after the move, halved until they stay within the limits."""
    for _ in range(30):
        there: np.ndarray = values + move
        limits = [edit.number for edit in unknown]
        if all(n is None or n.low < x < n.high for n, x in zip(limits, there, strict=True)):
            return there
        move = move / 2
    return values
