"""Search for the faults that together reproduce an implementation's runs, few faults first.

The runs go from simple to complex, and each from round to round. A set of faults explains them up to the first cell
that it does not reproduce, its frontier. Sets grow by faults that move the frontier; where no single one does, two or
three faults may show for the first time in the same cell, so pairs and triples are tried there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np

from fedconvex.conformance.comparison import ComparedRuns
from fedconvex.conformance.faults import Fault, FaultFamily
from fedconvex.conformance.fitting import fit, refined

MOST_FAULTS = 5
MOST_ROUNDS = 25_000  # rounds that a search may play: seconds
WIDTH = 5  # sets that the quick search extends
BEAM = 24  # sets of each size that are extended
JUMPS = 3  # sets that are extended by pairs
VARIANTS = 40  # sets that differ from a found one by faults with the same effect so far
LEAST_NUMBER = 1e-6  # a momentum or a weight decay smaller than this is none that anybody chose
LEAST_EFFECT = 8.0  # a fault must explain errors of so many admissible ones, or make them so many times smaller


@dataclass(frozen=True, eq=False)
class Explanation:
    """A set of faults, in the order in which they are planted, and how far it explains the runs."""

    faults: tuple[Fault, ...]
    run: int  # position in the order of the runs; their number where all agree
    cell: int
    worst: float  # the largest error so far, in units of the admissible one

    @property
    def names(self) -> frozenset[str]:
        """The faults' names: two sets of equal names are the same."""
        return frozenset(fault.family.name if fault.family else fault.name for fault in self.faults)

    @property
    def rank(self) -> tuple[int, ...]:
        """Plain faults before fitted numbers, these before conventions."""
        conventions = sum(fault.convention for fault in self.faults)
        return (conventions, sum(fault.family is not None for fault in self.faults))


@dataclass(eq=False)
class FaultSearch:
    """One search; `faults` and `families` are those that the setup can have."""

    comparison: ComparedRuns
    faults: Sequence[Fault]
    families: Sequence[FaultFamily]
    order: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        runs = range(len(self.comparison.runs))
        # short runs first: most faults are excluded there, at a fraction of the time
        self.order = sorted(runs, key=lambda i: len(self.comparison.references[i].scenario.rounds))
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
        return self._quickly(root, most) or self._thoroughly(root, most)

    def _quickly(self, root: Explanation, most: int) -> list[Explanation]:
        beam = [root]
        for _ in range(most):
            found: dict[frozenset[str], Explanation] = {}
            for parent in beam:
                for way in (self._by_one, self._by_number, self._by_two, self._by_two_with_numbers):
                    children = [one for one in way(parent) if len(one.faults) <= most]
                    complete = self._complete(children)
                    if complete:
                        return self._with_others(complete)
                    for one in children:
                        found.setdefault(one.names, one)
                    if children:
                        break
            beam = self._best(list(found.values()))[:WIDTH]
        return []

    def _thoroughly(self, root: Explanation, most: int) -> list[Explanation]:
        levels: list[list[Explanation]] = [[root]]
        for size in range(1, most + 1):
            found: dict[frozenset[str], Explanation] = {}
            for way in self._ways(levels, size):
                for one in way:
                    found.setdefault(one.names, one)
                complete = self._complete(list(found.values()))
                if complete:
                    return self._with_others(complete)
                if self.comparison.spent > MOST_ROUNDS:
                    return []
            levels.append(self._best(list(found.values())))
        return []

    def _complete(self, found: Sequence[Explanation]) -> list[Explanation]:
        """Those that explain every run, the plainest first."""
        complete = [one for one in found if self.is_complete(one) and self._has_effect(one)]
        return sorted(complete, key=lambda one: one.rank)

    def _with_others(self, complete: list[Explanation]) -> list[Explanation]:
        """Also the sets that differ in one fault from the first and explain as much."""
        best, others = complete[0], {one.names: one for one in complete}
        for fault in best.faults:
            rest = [other for other in best.faults if other is not fault]
            for other in self.faults:
                if other not in best.faults:
                    one = self.explained((*rest, other))
                    if self.is_complete(one):
                        others.setdefault(one.names, one)
        return sorted(others.values(), key=lambda one: one.rank)

    def is_complete(self, one: Explanation) -> bool:
        """Whether every run agrees."""
        return one.run == len(self.order)

    def explained(self, faults: Sequence[Fault]) -> Explanation:
        """How far these faults explain the runs."""
        ordered, worst = self._sorted(faults), 0.0
        for place, i in enumerate(self.order):
            count, all_agree, error = self.comparison.agreement(ordered, i)
            worst = max(worst, error)
            if not all_agree:
                return Explanation(ordered, place, count, worst)
        return Explanation(ordered, len(self.order), 0, worst)

    def _ways(self, levels: list[list[Explanation]], size: int) -> Iterator[Iterator[Explanation]]:
        """Where sets of this size come from, the plain ones first."""
        yield (one for parent in levels[size - 1] for one in self._by_one(parent))
        if size >= 2:
            yield (one for parent in levels[size - 2][:JUMPS] for one in self._by_two(parent))
        yield (one for parent in levels[size - 1] for one in self._by_number(parent))
        if size >= 2:
            yield (one for parent in levels[size - 2][:JUMPS] for one in self._by_two_with_numbers(parent))
        if size >= 3:
            yield (one for parent in levels[size - 3][:1] for one in self._by_three(parent))

    def _by_one(self, parent: Explanation) -> Iterator[Explanation]:
        """The sets with one fault more."""
        for fault in self.faults:
            if fault not in parent.faults:
                yield from self._advance(parent, (*parent.faults, fault))

    def _by_number(self, parent: Explanation, besides: Sequence[Fault] = ()) -> Iterator[Explanation]:
        """The sets with one fault of a family more, whose number fits."""
        for family in self._families_at(parent):
            yield from self._fitted(parent, besides, (family,))

    def _by_two(self, parent: Explanation) -> Iterator[Explanation]:
        """The sets with two faults more that show in the same cell for the first time."""
        groups = self._effects(parent)
        advanced = False
        for some in combinations(groups, 2):
            for one in self._variants(parent, some):
                advanced = True
                yield one
        if not advanced:  # a fault may show only together with another: a wrong divisor of what is never used
            silent = set(self.faults) - {fault for group in groups for fault in group} - set(parent.faults)
            for group, fault in product(groups, self._sorted(silent)):
                yield from self._variants(parent, (group, [fault]))

    def _by_two_with_numbers(self, parent: Explanation) -> Iterator[Explanation]:
        """The same, where one or both have an unknown number."""
        for group in self._effects(parent):
            yield from self._by_number(parent, (group[0],))
        for two in combinations(self._families_at(parent), 2):
            yield from self._fitted(parent, (), two)

    def _by_three(self, parent: Explanation) -> Iterator[Explanation]:
        """The sets with three faults more that show in the same cell for the first time."""
        for some in combinations(self._effects(parent), 3):
            yield from self._variants(parent, some)

    def _variants(self, parent: Explanation, groups: Sequence[Sequence[Fault]]) -> Iterator[Explanation]:
        """The sets with one fault more of each group; the first ones decide, the others have the same effect so far."""
        first = list(self._advance(parent, (*parent.faults, *(group[0] for group in groups))))
        yield from first
        if first:
            for chosen in list(product(*groups))[1:VARIANTS]:
                yield from self._advance(parent, (*parent.faults, *chosen))

    def _advance(self, parent: Explanation, faults: Sequence[Fault]) -> Iterator[Explanation]:
        """The set, where it explains a cell more than its parent does."""
        if self.comparison.spent > MOST_ROUNDS:
            return
        ordered = self._sorted(faults)
        count, all_agree, _ = self.comparison.agreement(ordered, self.order[parent.run])
        if not all_agree and count <= parent.cell:
            return
        one = self.explained(ordered)
        if (one.run, one.cell) > (parent.run, parent.cell):
            yield self._settled(one)

    def _fitted(
        self, parent: Explanation, besides: Sequence[Fault], unknown: Sequence[FaultFamily]
    ) -> Iterator[Explanation]:
        """The set with faults of these families, fitted to the cell at the frontier."""
        if self.comparison.spent > MOST_ROUNDS:
            return
        known = self._sorted((*parent.faults, *besides))
        made = fit(self.comparison, known, unknown, self.order[parent.run], parent.cell + 1)
        if made is not None:
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
                if abs(fault.value - fault.family.neutral) < LEAST_NUMBER:
                    return False
                if not self.comparison.largest_error(others) >= LEAST_EFFECT:
                    return False
        return True

    def _best(self, found: list[Explanation]) -> list[Explanation]:
        unfinished = [one for one in found if not self.is_complete(one)]
        return sorted(unfinished, key=lambda one: (-one.run, -one.cell, *one.rank))[:BEAM]

    def _sorted(self, faults: Iterable[Fault]) -> tuple[Fault, ...]:
        """The faults in the catalogue's order, those with fitted numbers last."""
        return tuple(sorted(faults, key=lambda fault: self.places.get(fault, len(self.places))))
