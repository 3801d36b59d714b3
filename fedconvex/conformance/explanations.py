"""A set of faults that explains an implementation's runs up to some cell, or all of them."""

from dataclasses import dataclass
from decimal import Decimal

from fedconvex.conformance.faults import Fault

ROUND = 6  # significant digits of a round number
PER_CONVENTION, NOT_ROUND = 2, 10  # places in the order of the ways to extend a set


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
        """Plain faults before fitted numbers, these before conventions; round numbers before others."""
        numbered = [fault for fault in self.faults if fault.family is not None]
        return (sum(fault.convention for fault in self.faults), len(numbered), sum(self._digits))

    @property
    def doubt(self) -> int:
        """How late a search extends the set: by conventions, and by fitted numbers other than those people choose."""
        is_round = max(self._digits, default=0) <= ROUND
        return PER_CONVENTION * sum(fault.convention for fault in self.faults) + (0 if is_round else NOT_ROUND)

    @property
    def _digits(self) -> list[int]:
        """The fitted numbers' significant digits."""
        numbers = [Decimal(f"{fault.value:.15g}") for fault in self.faults if fault.family is not None]
        return [len(number.normalize().as_tuple().digits) for number in numbers]
