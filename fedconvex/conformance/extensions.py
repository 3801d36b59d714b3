"""The ways to extend a set of faults that explains an implementation's runs up to some cell, its frontier.

A set grows by faults that move the frontier: by one, by one with a fitted number, by two and three that show for the
first time in the same cell.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from math import isfinite
from typing import final

import numpy as np

from fedconvex.conformance.comparison import ComparedRuns
from fedconvex.conformance.explanations import Explanation
from fedconvex.conformance.faults import Fault, FaultFamily
from fedconvex.conformance.fitting import Fitting

MOST_ROUNDS_OF_PAIRS = 40_000  # that pairs of faults with a number beside them may play
VARIANTS = 40  # sets that differ from a found one by faults with the same effect so far
LEAST_NUMBER = 1e-6  # a momentum or a weight decay smaller than this is none that anybody chose


@final
@dataclass(eq=False)
class Extensions:
    """How far sets of these faults and families explain the runs, and what extends them.

    After `most_rounds` rounds have been played, nothing does.
    """

    comparison: ComparedRuns
    faults: Sequence[Fault]
    families: Sequence[FaultFamily]
    most_rounds: int
    order: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        runs = range(len(self.comparison.runs))
        # short runs first: most faults are excluded there, at a fraction of the time
        self.order = sorted(runs, key=lambda i: len(self.comparison.references[i].scenario.rounds))
        self.places = {fault: place for place, fault in enumerate(self.faults)}

    @property
    def out_of_time(self) -> bool:
        """Whether the rounds that may be played have been."""
        return self.comparison.spent > self.most_rounds

    def is_complete(self, one: Explanation) -> bool:
        """Whether every run agrees."""
        return one.run == len(self.order)

    def explained(self, faults: Sequence[Fault]) -> Explanation:
        """How far these faults explain the runs."""
        ordered, worst = self._sorted(faults), 0.0
        for place, i in enumerate(self.order):
            cells, all_agree, error = self.comparison.agreement(ordered, i)
            worst = max(worst, error)
            if not all_agree:
                return Explanation(ordered, place, cells, worst)
        return Explanation(ordered, len(self.order), 0, worst)

    def ways(self, parent: Explanation) -> tuple[Iterator[list[Explanation]], ...]:
        """What extends a set, the cheap first; sets that explain the same so far come together."""
        return (
            ([one] for one in self.by_one(parent)),
            ([one] for one in self.by_number(parent)),
            self._by_two(parent),
            self._by_two_with_numbers(parent),
            self.by_silent(parent),
            self._by_three(parent),
            self._by_two_and_number(parent),
            self._by_one_and_two_numbers(parent),
        )

    def by_one(self, parent: Explanation) -> Iterator[Explanation]:
        """The sets with one fault more."""
        for fault in self.faults:
            if fault not in parent.faults:
                yield from self._advance(parent, (*parent.faults, fault))

    def by_number(self, parent: Explanation, besides: Sequence[Fault] = ()) -> Iterator[Explanation]:
        """The sets with one fault of a family more, whose number fits."""
        for family in self._families_at(parent):
            yield from self.fitted(parent, besides, (family,))

    def _by_near_number(self, parent: Explanation, besides: Sequence[Fault]) -> Iterator[Explanation]:
        """The same where there are many to try: only from where the errors are near 0 as the number varies."""
        known = self._sorted((*parent.faults, *besides))
        for family in self._families_at(parent):
            if self.out_of_time or family.convention:
                continue
            made = self._at(parent, known, (family,)).nearby()
            if made is not None:
                yield from self._advance(parent, (*known, *made))

    def _by_two(self, parent: Explanation) -> Iterator[list[Explanation]]:
        """The sets with two faults more that show in the same cell for the first time."""
        for some in combinations(self._effects(parent), 2):
            yield list(self._variants(parent, some, first_decides=parent.run > 0))

    def by_silent(self, parent: Explanation) -> Iterator[list[Explanation]]:
        """The sets with one that shows there and one that does so only beside it: a wrong divisor of what is unused."""
        groups = self._effects(parent)
        silent = set(self.faults) - {fault for group in groups for fault in group} - set(parent.faults)
        for group, fault in product(groups, self._sorted(silent)):
            yield list(self._variants(parent, (group, [fault])))

    def _by_two_with_numbers(self, parent: Explanation) -> Iterator[list[Explanation]]:
        """The same, where one or both have an unknown number."""
        for group in self._effects(parent):
            for one in self._by_near_number(parent, (group[0],)):
                kept = [fault for fault in one.faults if fault is not group[0]]  # the others may differ later
                others = [self._advance(parent, (*kept, other)) for other in group[1:VARIANTS]]
                yield [one, *chain.from_iterable(others)]
        for two in combinations(self._families_at(parent), 2):
            yield [one for cells in self._cells(parent) for one in self.fitted(parent, (), two, cells)]

    def _by_two_and_number(self, parent: Explanation) -> Iterator[list[Explanation]]:
        """The sets with two faults and a number more that show in the same cell for the first time."""
        pairs = list(combinations([group[0] for group in self._effects(parent)], 2))
        rounds = self.comparison.round_of(self.order[parent.run], parent.cell)
        runs = sum(len(family.scanned) for family in self._families_at(parent))
        if len(pairs) * runs * rounds <= MOST_ROUNDS_OF_PAIRS:
            for two in pairs:
                yield list(self._by_near_number(parent, two))

    def _by_one_and_two_numbers(self, parent: Explanation) -> Iterator[list[Explanation]]:
        """The sets with one fault and two numbers more, the first of which nearly fits without the second."""
        cells, families = self._cells(parent)[0], self._families_at(parent)
        for group in self._effects(parent):
            known = self._sorted((*parent.faults, group[0]))
            for one in families:
                start = self._at(parent, known, (one,)).near_start()
                others = [other for other in families if other is not one and isfinite(other.neutral)]
                for other in others if start is not None and not self.out_of_time else ():
                    two = self._at(parent, known, (one, other), cells)
                    made = two.refined(np.array([start, other.neutral]))
                    if made is not None:
                        yield list(self._advance(parent, (*known, *made)))

    def _by_three(self, parent: Explanation) -> Iterator[list[Explanation]]:
        """The sets with three faults more that show in the same cell for the first time."""
        for some in combinations(self._effects(parent), 3):
            yield list(self._variants(parent, some))

    def _cells(self, parent: Explanation) -> tuple[int, ...]:
        """How many cells two numbers are fitted to: those of the whole run, for one cell fits many; then few."""
        if parent.run > 0:  # long runs take long
            return (parent.cell + 1,)
        run = self.comparison.runs[self.order[parent.run]]
        whole = len(run.points) + sum(bool(clients) for clients in run.clients)
        return (whole, parent.cell + 1) if whole > parent.cell + 1 else (whole,)

    def _variants(
        self, parent: Explanation, groups: Sequence[Sequence[Fault]], first_decides: bool = True
    ) -> Iterator[Explanation]:
        """The sets with one fault more of each group.

        `first_decides`: only if the first ones explain more, for the others have the same effect so far. Beside a fault
        of another group they need not.
        """
        first = list(self._advance(parent, (*parent.faults, *(group[0] for group in groups))))
        yield from first
        if first or not first_decides:
            for chosen in list(product(*groups))[1:VARIANTS]:
                yield from self._advance(parent, (*parent.faults, *chosen))

    def _advance(self, parent: Explanation, faults: Sequence[Fault]) -> Iterator[Explanation]:
        """The set, where it explains a cell more than its parent does."""
        if self.out_of_time:
            return
        ordered = self._sorted(faults)
        cells, all_agree, _ = self.comparison.agreement(ordered, self.order[parent.run])
        if not all_agree and cells <= parent.cell:
            return
        one = self.explained(ordered)
        if (one.run, one.cell) > (parent.run, parent.cell):
            yield self.settled(one)

    def fitted(
        self, parent: Explanation, besides: Sequence[Fault], unknown: Sequence[FaultFamily], cells: int | None = None
    ) -> Iterator[Explanation]:
        """The set with faults of these families, fitted to so many cells, by default up to the frontier."""
        if self.out_of_time:
            return
        known = self._sorted((*parent.faults, *besides))
        made = self._at(parent, known, unknown, cells).fit(thorough=parent.run == 0)
        if made is not None and all(self.is_chosen(fault) for fault in made):
            yield from self._advance(parent, (*known, *made))

    def _at(
        self, one: Explanation, known: Sequence[Fault], unknown: Sequence[FaultFamily], cells: int | None = None
    ) -> Fitting:
        """The numbers of these families to fit to so many cells, by default up to the set's frontier."""
        return Fitting(self.comparison, known, unknown, self.order[one.run], cells or one.cell + 1)

    def settled(self, one: Explanation) -> Explanation:
        """The set with its numbers fitted again, as long as more cells make it explain more."""
        numbered = [fault for fault in one.faults if fault.family is not None]
        while numbered and not self.is_complete(one):
            known = [fault for fault in one.faults if fault.family is None]
            unknown = [fault.family for fault in numbered if fault.family is not None]
            start = np.array([fault.value for fault in numbered])
            made = self._at(one, known, unknown).refined(start)
            if made is None:
                return one
            again = self.explained((*known, *made))
            if (again.run, again.cell) <= (one.run, one.cell):
                return one
            one, numbered = again, made
        return one

    def _effects(self, parent: Explanation) -> list[list[Fault]]:
        """The faults that change the cell at the frontier, grouped by what they make of it.

        Those that also change a cell before it come last, and apart: alone they explain less.
        """
        i = self.order[parent.run]
        groups: dict[tuple[bool, tuple[float, ...]], list[Fault]] = {}
        _, unchanged = self._cell(parent.faults, i, parent.cell)
        for fault in self.faults:
            if fault in parent.faults:
                continue
            agrees, there = self._cell(self._sorted((*parent.faults, fault)), i, parent.cell)
            if there is None or (unchanged is not None and np.array_equal(there, unchanged)):
                continue
            groups.setdefault((not agrees, tuple(float(f"{x:.9g}") for x in there)), []).append(fault)
        return [groups[key] for key in sorted(groups, key=lambda key: key[0])]

    def _cell(self, faults: Sequence[Fault], i: int, cell: int) -> tuple[bool, np.ndarray | None]:
        """Whether the cells of run i before this one agree, and its errors; None where there are none."""
        agrees = True
        for at, error in enumerate(self.comparison.errors(faults, i)):
            if at == cell:
                return agrees, error if np.isfinite(error).all() else None
            agrees = agrees and bool(np.abs(error).max() <= 1)
        return agrees, None

    def _families_at(self, parent: Explanation) -> list[FaultFamily]:
        """The families that are not in the set and can show first in the round of its frontier."""
        played = self.comparison.round_of(self.order[parent.run], parent.cell) - 1
        taken = {fault.family for fault in parent.faults}
        return [one for one in self.families if one not in taken and one.first_round in (0, played)]

    @staticmethod
    def is_chosen(fault: Fault) -> bool:
        """Whether a fitted number is one that people choose: not the number that changes nothing."""
        return fault.family is None or not abs(fault.value - fault.family.neutral) < LEAST_NUMBER

    def _sorted(self, faults: Iterable[Fault]) -> tuple[Fault, ...]:
        """The faults in the catalogue's order, those with fitted numbers last."""
        return tuple(sorted(faults, key=lambda fault: self.places.get(fault, len(self.places))))
