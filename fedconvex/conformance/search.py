"""Search for the faults that together reproduce an implementation's runs, few faults first.

The runs go from simple to complex, and each from round to round. A set of faults explains them up to the first cell
that it does not reproduce, its frontier. Sets grow by faults that move the frontier; where no single one does, two or
three faults may show for the first time in the same cell, so pairs and triples are tried there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain, combinations, count
from typing import final

from fedconvex.conformance.comparison import ComparedRuns
from fedconvex.conformance.explanations import Explanation
from fedconvex.conformance.extensions import Extensions
from fedconvex.conformance.faults import Fault, FaultFamily

MOST_FAULTS = 5
MOST_ROUNDS = 60_000  # rounds that a search may play: some fifteen seconds …
LAST = 6  # … and where these name nothing, one for so many of them more, for what had to wait
DEAR = 2  # the ways to extend a set before this one try few others
MANY = 4  # faults, in the place of two of which the search looks for one
LEAST_EFFECT = 8.0  # a fault must explain errors of so many admissible ones, or make them so many times smaller


@final
@dataclass(eq=False)
class FaultSearch:
    """One search; `faults` and `families` are those that the setup can have."""

    comparison: ComparedRuns
    faults: Sequence[Fault]
    families: Sequence[FaultFamily]
    extensions: Extensions = field(init=False)

    def __post_init__(self) -> None:
        self.extensions = Extensions(self.comparison, self.faults, self.families, MOST_ROUNDS)

    def explanations(self, most: int = MOST_FAULTS) -> list[Explanation]:
        """Sets of faults that reproduce every run, the most likely first; none where none do.

        First all single faults; then quickly, each set extended in the simplest way that moves its frontier; then,
        where that ends nowhere, all sets of two faults, of three and so on.
        """
        root = self.extensions.explained(())
        if self.extensions.is_complete(root):
            # what deviates is nearly admissible: only faults that fit far better explain it
            alone = [self.extensions.explained((fault,)) for fault in self.faults]
            return self._complete([one for one in alone if LEAST_EFFECT * one.worst <= root.worst])
        for way in (self.extensions.by_one(root), self.extensions.by_number(root)):
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
            for cost, way in enumerate(self.extensions.ways(parent)):
                key = (cost + parent.doubt, -parent.run, -parent.cell, *parent.rank, next(numbers))
                heappush(agenda, (key, cost < DEAR, way))

        extend(root)
        while agenda and not self.extensions.out_of_time:
            key, cheap, way = heappop(agenda)
            complete = list[Explanation]()
            for some in way:
                new = [one for one in some if len(one.faults) <= most and self._goes_beyond(one, reached)]
                for one in new:
                    if self.extensions.is_complete(one):
                        # one whose numbers have no effect has no frontier to extend, either
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
                return self._with_others(self._plainest(found[0]), found[1:])
        return self._at_last(extended, most) if self.extensions.out_of_time else []

    def _at_last(self, extended: Sequence[Explanation], most: int) -> list[Explanation]:
        """What the search had no time for: the sets with the farthest frontier, few faults first, and two faults more.

        One of the two shows there only beside the other. Larger sets that explain no more kept these waiting.
        """
        self.extensions.most_rounds = self.comparison.spent + MOST_ROUNDS // LAST
        for parent in sorted(extended, key=lambda one: (-one.run, -one.cell, len(one.faults), one.rank)):
            for some in self.extensions.by_silent(parent) if len(parent.faults) + 2 <= most else ():
                found = self._complete(some)
                if found:
                    return self._with_others(self._plainest(found[0]), found[1:])
                if self.extensions.out_of_time:
                    return []
        return []

    @staticmethod
    def _goes_beyond(one: Explanation, reached: dict[frozenset[str], tuple[int, int]]) -> bool:
        """Whether a set explains more than with other numbers before; `reached` is brought up to date."""
        if reached.get(one.names, (-1, 0)) >= (one.run, one.cell):
            return False
        reached[one.names] = (one.run, one.cell)
        return True

    def _complete(self, found: Sequence[Explanation]) -> list[Explanation]:
        """Those that explain every run, the plainest first."""
        complete = [one for one in found if self.extensions.is_complete(one) and self._has_effect(one)]
        return sorted(complete, key=lambda one: one.rank)

    def _plainest(self, one: Explanation) -> Explanation:
        """The set without the faults that it does not need; of four and more, with one in the place of two."""
        least = self._minimal(one)
        for two in combinations(least.faults, 2) if len(least.faults) >= MANY else ():
            rest = [fault for fault in least.faults if fault not in two]
            for other in self.faults:
                if other.convention or other in least.faults or self.extensions.out_of_time:
                    continue
                less = self.extensions.explained((*rest, other))
                if self.extensions.is_complete(less) and self._has_effect(less):
                    return self._plainest(less)
        return least

    def _minimal(self, one: Explanation) -> Explanation:
        """The set without the faults that it does not need: one, or two of which each undoes the other."""
        for left_out in chain(combinations(one.faults, 1), combinations(one.faults, 2)):
            less = self.extensions.explained([fault for fault in one.faults if fault not in left_out])
            if self.extensions.is_complete(less):
                return self._minimal(less)
        return one

    def _with_others(self, best: Explanation, complete: Sequence[Explanation]) -> list[Explanation]:
        """Also the sets that differ in one fault, and in the fitted numbers, and explain as much."""
        others = {one.names: one for one in (best, *complete)}
        for fault in best.faults:
            rest = [other for other in best.faults if other is not fault]
            for other in self.faults:
                if other not in best.faults and not self.extensions.out_of_time:
                    for one in self._complete(list(self._refitted((*rest, other)))):
                        others.setdefault(one.names, one)
        return sorted(others.values(), key=lambda one: one.rank)

    def _refitted(self, faults: Sequence[Fault]) -> Iterator[Explanation]:
        """The set with its numbers fitted anew: from where they are, and from where the search for them begins."""
        one = self.extensions.settled(self.extensions.explained(faults))
        yield one
        families = [fault.family for fault in faults if fault.family is not None]
        if families and not self.extensions.is_complete(one):
            plain = self.extensions.explained([fault for fault in faults if fault.family is None])
            yield from self.extensions.fitted(plain, (), families)

    def _has_effect(self, one: Explanation) -> bool:
        """Whether each fitted number is one that people choose, and explains much more than rounding errors."""
        for fault in one.faults:
            if fault.family is not None:
                others = tuple(other for other in one.faults if other is not fault)
                if not self.extensions.is_chosen(fault) or not self.comparison.largest_error(others) >= LEAST_EFFECT:
                    return False
        return True
