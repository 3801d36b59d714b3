"""Search for the faults that together reproduce an implementation's runs, few faults first.

The runs go from simple to complex, and each from round to round. A set of faults explains them up to the first cell
that it does not reproduce, its frontier. Sets grow by faults that move the frontier; where no single one does, two or
three faults may show for the first time in the same cell, so pairs and triples are tried there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain, combinations, count, product
from math import isfinite

import numpy as np

from fedconvex.conformance.comparison import ComparedRuns
from fedconvex.conformance.explanations import Explanation
from fedconvex.conformance.faults import Fault, FaultFamily
from fedconvex.conformance.fitting import fit, near_start, nearby, refined

MOST_FAULTS = 5
MOST_ROUNDS = 60_000  # rounds that a search may play: some fifteen seconds …
LAST = 6  # … and where these name nothing, one for so many of them more, for what had to wait
DEAR = 2  # the ways to extend a set before this one try few others
MOST_ROUNDS_OF_PAIRS = 40_000  # of MOST_ROUNDS, what pairs of faults with a number beside them may take
VARIANTS = 40  # sets that differ from a found one by faults with the same effect so far
LEAST_NUMBER = 1e-6  # a momentum or a weight decay smaller than this is none that anybody chose
LEAST_EFFECT = 8.0  # a fault must explain errors of so many admissible ones, or make them so many times smaller


@dataclass(eq=False)
class FaultSearch:
    """One search; `faults` and `families` are those that the setup can have."""

    comparison: ComparedRuns
    faults: Sequence[Fault]
    families: Sequence[FaultFamily]
    order: Sequence[int] = field(init=False)
    most_rounds: int = field(init=False)

    def __post_init__(self) -> None:
        runs = range(len(self.comparison.runs))
        # short runs first: most faults are excluded there, at a fraction of the time
        self.order = sorted(runs, key=lambda i: len(self.comparison.references[i].scenario.rounds))
        self.most_rounds = MOST_ROUNDS
        self.places = {fault: place for place, fault in enumerate(self.faults)}

    def explanations(self, most: int = MOST_FAULTS) -> list[Explanation]:
        """Sets of faults that reproduce every run, the most likely first; none where none do.

        First all single faults; then quickly, each set extended in the simplest way that moves its frontier; then,
        where that ends nowhere, all sets of two faults, of three and so on.
        """
        root = self.explained(())
        if self.is_complete(root):  # what deviates is nearly admissible: only faults that fit far better explain it
            alone = [self.explained((fault,)) for fault in self.faults]
            return self._complete([one for one in alone if LEAST_EFFECT * one.worst <= root.worst])
        for way in (self._by_one(root), self._by_number(root)):
            found = self._complete(list(way))
            if found:
                return found
        if most == 1:
            return []
        return self._several(root, most)

    def _several(self, root: Explanation, most: int) -> list[Explanation]:
        """Sets of two faults and more, best first.

        Whatever can extend any set by one fault comes before what extends one by two, the set with the farthest
        frontier first: a fault that explains a cell to twelve digits is hardly ever wrong. A convention may be, which
        often does what two faults do in one cell, and so may a fitted number that is not round: these come later.
        """
        agenda, numbers = list[tuple[tuple[int, ...], bool, Iterator[list[Explanation]]]](), count()
        reached, extended = dict[frozenset[str], tuple[int, int]](), list[Explanation]()

        def extend(parent: Explanation) -> None:
            extended.append(parent)
            for cost, way in enumerate(self._ways(parent)):
                key = (cost + parent.doubt, -parent.run, -parent.cell, *parent.rank, next(numbers))
                heappush(agenda, (key, cost < DEAR, way))

        extend(root)
        while agenda and self.comparison.spent <= self.most_rounds:
            key, cheap, way = heappop(agenda)
            complete = list[Explanation]()
            for some in way:
                new = [one for one in some if len(one.faults) <= most and self._goes_beyond(one, reached)]
                for one in new:
                    if self.is_complete(one):  # one whose numbers have no effect has no frontier to extend, either
                        complete.append(one)
                    else:
                        extend(one)
                if cheap:
                    continue
                if new and not complete:  # the rest waits until this leads nowhere
                    heappush(agenda, (key, cheap, way))
                    break
                if any(one.doubt == 0 for one in complete):  # else a plainer set may follow that explains as much
                    break
            found = self._complete(complete)
            if found:
                return self._with_others(self._minimal(found[0]), found[1:])
        return self._at_last(extended, most) if self.comparison.spent > self.most_rounds else []

    def _at_last(self, extended: Sequence[Explanation], most: int) -> list[Explanation]:
        """What the search had no time for: the sets with the farthest frontier, few faults first, and two faults more.

        One of the two shows there only beside the other. Larger sets that explain no more kept these waiting.
        """
        self.most_rounds = self.comparison.spent + MOST_ROUNDS // LAST
        for parent in sorted(extended, key=lambda one: (-one.run, -one.cell, len(one.faults), one.rank)):
            for some in self._by_silent(parent) if len(parent.faults) + 2 <= most else ():
                found = self._complete(some)
                if found:
                    return self._with_others(self._minimal(found[0]), found[1:])
                if self.comparison.spent > self.most_rounds:
                    return []
        return []

    @staticmethod
    def _goes_beyond(one: Explanation, reached: dict[frozenset[str], tuple[int, int]]) -> bool:
        """Whether a set explains more than with other numbers before; `reached` is brought up to date."""
        if reached.get(one.names, (-1, 0)) >= (one.run, one.cell):
            return False
        reached[one.names] = (one.run, one.cell)
        return True

    def _ways(self, parent: Explanation) -> tuple[Iterator[list[Explanation]], ...]:
        """What extends a set, the cheap first; sets that explain the same so far come together."""
        return (
            ([one] for one in self._by_one(parent)),
            ([one] for one in self._by_number(parent)),
            self._by_two(parent),
            self._by_two_with_numbers(parent),
            self._by_silent(parent),
            self._by_three(parent),
            self._by_two_and_number(parent),
            self._by_one_and_two_numbers(parent),
        )

    def _complete(self, found: Sequence[Explanation]) -> list[Explanation]:
        """Those that explain every run, the plainest first."""
        complete = [one for one in found if self.is_complete(one) and self._has_effect(one)]
        return sorted(complete, key=lambda one: one.rank)

    def _minimal(self, one: Explanation) -> Explanation:
        """The set without the faults that it does not need."""
        for fault in one.faults:
            less = self.explained([other for other in one.faults if other is not fault])
            if self.is_complete(less):
                return self._minimal(less)
        return one

    def _with_others(self, best: Explanation, complete: Sequence[Explanation]) -> list[Explanation]:
        """Also the sets that differ in one fault, and in the fitted numbers, and explain as much."""
        others = {one.names: one for one in (best, *complete)}
        for fault in best.faults:
            rest = [other for other in best.faults if other is not fault]
            for other in self.faults:
                if other not in best.faults and self.comparison.spent <= self.most_rounds:
                    for one in self._complete(list(self._refitted((*rest, other)))):
                        others.setdefault(one.names, one)
        return sorted(others.values(), key=lambda one: one.rank)

    def _refitted(self, faults: Sequence[Fault]) -> Iterator[Explanation]:
        """The set with its numbers fitted anew: from where they are, and from where the search for them begins."""
        one = self._settled(self.explained(faults))
        yield one
        families = [fault.family for fault in faults if fault.family is not None]
        if families and not self.is_complete(one):
            yield from self._fitted(self.explained([fault for fault in faults if fault.family is None]), (), families)

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

    def _by_one(self, parent: Explanation) -> Iterator[Explanation]:
        """The sets with one fault more."""
        for fault in self.faults:
            if fault not in parent.faults:
                yield from self._advance(parent, (*parent.faults, fault))

    def _by_number(self, parent: Explanation, besides: Sequence[Fault] = ()) -> Iterator[Explanation]:
        """The sets with one fault of a family more, whose number fits."""
        for family in self._families_at(parent):
            yield from self._fitted(parent, besides, (family,))

    def _by_near_number(self, parent: Explanation, besides: Sequence[Fault]) -> Iterator[Explanation]:
        """The same where there are many to try: only from where the errors are near 0 as the number varies."""
        known = self._sorted((*parent.faults, *besides))
        for family in self._families_at(parent):
            if self.comparison.spent > self.most_rounds or family.convention:
                continue
            made = nearby(self.comparison, known, family, self.order[parent.run], parent.cell + 1)
            if made is not None:
                yield from self._advance(parent, (*known, *made))

    def _by_two(self, parent: Explanation) -> Iterator[list[Explanation]]:
        """The sets with two faults more that show in the same cell for the first time."""
        for some in combinations(self._effects(parent), 2):
            yield list(self._variants(parent, some, first_decides=parent.run > 0))

    def _by_silent(self, parent: Explanation) -> Iterator[list[Explanation]]:
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
            yield [one for cells in self._cells(parent) for one in self._fitted(parent, (), two, cells)]

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
        i, cells, families = self.order[parent.run], self._cells(parent)[0], self._families_at(parent)
        for group in self._effects(parent):
            known = self._sorted((*parent.faults, group[0]))
            for one in families:
                start = near_start(self.comparison, known, one, i, parent.cell + 1)
                others = [other for other in families if other is not one and isfinite(other.neutral)]
                for other in others if start is not None and self.comparison.spent <= self.most_rounds else ():
                    made = refined(self.comparison, known, (one, other), i, cells, np.array([start, other.neutral]))
                    if made is not None:
                        yield list(self._advance(parent, (*known, *made)))

    def _cells(self, parent: Explanation) -> tuple[int, ...]:
        """How many cells two numbers are fitted to: those of the whole run, for one cell fits many; then few."""
        if parent.run > 0:  # long runs take long
            return (parent.cell + 1,)
        run = self.comparison.runs[self.order[parent.run]]
        whole = len(run.points) + sum(bool(clients) for clients in run.clients)
        return (whole, parent.cell + 1) if whole > parent.cell + 1 else (whole,)

    def _by_three(self, parent: Explanation) -> Iterator[list[Explanation]]:
        """The sets with three faults more that show in the same cell for the first time."""
        for some in combinations(self._effects(parent), 3):
            yield list(self._variants(parent, some))

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
        if self.comparison.spent > self.most_rounds:
            return
        ordered = self._sorted(faults)
        cells, all_agree, _ = self.comparison.agreement(ordered, self.order[parent.run])
        if not all_agree and cells <= parent.cell:
            return
        one = self.explained(ordered)
        if (one.run, one.cell) > (parent.run, parent.cell):
            yield self._settled(one)

    def _fitted(
        self, parent: Explanation, besides: Sequence[Fault], unknown: Sequence[FaultFamily], cells: int | None = None
    ) -> Iterator[Explanation]:
        """The set with faults of these families, fitted to so many cells, by default up to the frontier."""
        if self.comparison.spent > self.most_rounds:
            return
        known = self._sorted((*parent.faults, *besides))
        made = fit(self.comparison, known, unknown, self.order[parent.run], cells or parent.cell + 1, parent.run == 0)
        if made is not None and all(self._is_chosen(fault) for fault in made):
            yield from self._advance(parent, (*known, *made))

    def _settled(self, one: Explanation) -> Explanation:
        """The set with its numbers fitted again, as long as more cells make it explain more."""
        numbered = [fault for fault in one.faults if fault.family is not None]
        while numbered and not self.is_complete(one):
            known = [fault for fault in one.faults if fault.family is None]
            unknown = [fault.family for fault in numbered if fault.family is not None]
            start = np.array([fault.value for fault in numbered])
            made = refined(self.comparison, known, unknown, self.order[one.run], one.cell + 1, start)
            if made is None:
                return one
            again = self.explained((*known, *made))
            if (again.run, again.cell) <= (one.run, one.cell):
                return one
            one, numbered = again, made
        return one

    def _effects(self, parent: Explanation) -> list[list[Fault]]:
        """The faults that change the cell at the frontier, grouped by what they make of it."""
        i = self.order[parent.run]
        groups: dict[tuple[float, ...], list[Fault]] = {}
        unchanged = self._cell(parent.faults, i, parent.cell)
        for fault in self.faults:
            if fault in parent.faults:
                continue
            there = self._cell(self._sorted((*parent.faults, fault)), i, parent.cell)
            if there is None or (unchanged is not None and np.array_equal(there, unchanged)):
                continue
            groups.setdefault(tuple(float(f"{x:.9g}") for x in there), []).append(fault)
        return list(groups.values())

    def _cell(self, faults: Sequence[Fault], i: int, cell: int) -> np.ndarray | None:
        found = next((error for at, error in enumerate(self.comparison.errors(faults, i)) if at == cell), None)
        return found if found is not None and np.isfinite(found).all() else None

    def _families_at(self, parent: Explanation) -> list[FaultFamily]:
        """The families that are not in the set and can show first in the round of its frontier."""
        played = self.comparison.round_of(self.order[parent.run], parent.cell) - 1
        taken = {fault.family for fault in parent.faults}
        return [one for one in self.families if one not in taken and one.first_round in (0, played)]

    def _has_effect(self, one: Explanation) -> bool:
        """Whether each fitted number is one that people choose, and explains much more than rounding errors."""
        for fault in one.faults:
            if fault.family is not None:
                others = tuple(other for other in one.faults if other is not fault)
                if not self._is_chosen(fault) or not self.comparison.largest_error(others) >= LEAST_EFFECT:
                    return False
        return True

    @staticmethod
    def _is_chosen(fault: Fault) -> bool:
        """Whether a fitted number is one that people choose: not the number that changes nothing."""
        return fault.family is None or not abs(fault.value - fault.family.neutral) < LEAST_NUMBER

    def _sorted(self, faults: Iterable[Fault]) -> tuple[Fault, ...]:
        """The faults in the catalogue's order, those with fitted numbers last."""
        return tuple(sorted(faults, key=lambda fault: self.places.get(fault, len(self.places))))
