"""Fit the unknown numbers of faults (a weight decay, a momentum, a norm) to an implementation's runs.

Gauss and Newton's method on the errors of some cells, in units of the admissible error. What it finds is believed only
where the whole run then agrees: the fit itself proves nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from fedconvex.conformance.comparison import ComparedRuns
from fedconvex.conformance.faults import Fault, FaultFamily
from fedconvex.errors import FedconvexError

MOST_STEPS = 16
STALLED = 0.5  # a step that leaves more than this part of the error leads nowhere …
PATIENCE = 2  # … but for so many steps at first
BEST = 2  # so many starts of two numbers
NEAR = 0.25  # a path passes near 0 whose distance is at most so many lengths of one of its edges …
BEYOND = 0.25  # … which is continued beyond its ends by so many lengths
DIFFERENCE = 1e-7  # of the derivative's quotient, relative
Errors = Callable[[np.ndarray], np.ndarray | None]


@dataclass(frozen=True)
class Fit:
    """Fitted numbers with the radius within which each fits as well."""

    values: np.ndarray
    radii: np.ndarray


@dataclass(frozen=True, eq=False)
class Fitting:
    """The unknown numbers of faults of some families, beside known faults, to fit to the first cells of run i."""

    comparison: ComparedRuns
    known: Sequence[Fault]
    unknown: Sequence[FaultFamily]
    i: int
    cells: int

    def fit(self, thorough: bool = True) -> list[Fault] | None:
        """The faults of the families with the numbers that fit; None where none do.

        `thorough`: try many starts of two numbers, not only the first and last ones of both.
        """
        many = thorough and len(self.unknown) > 1
        starts = _best_starts(self.errors, self.unknown) if many else _starts(self.unknown)
        return next((found for start in starts if (found := self.refined(np.array(start))) is not None), None)

    def nearby(self) -> list[Fault] | None:
        """The same for one family at a fraction of the time, where the errors are smooth in the number."""
        start = self.near_start()
        return None if start is None else self.refined(np.array([start]))

    def near_start(self) -> float | None:
        """A number of the one family where the errors are small; None where they never are.

        The errors at some numbers are the corners of a path, and the fit begins where that passes near 0.
        """
        (family,), before, begins = self.unknown, None, list[tuple[float, float]]()
        for value in family.scanned:
            there = self.errors(np.array([value]))
            if there is not None and before is not None:
                low, corner = before
                along = there - corner
                square = float(along @ along)
                share = -float(corner @ along) / square if square > 0 else np.inf
                if -BEYOND <= share <= 1 + BEYOND:
                    distance = float(np.linalg.norm(corner + share * along)) / square**0.5
                    begins += [(distance, low + share * (value - low))] if distance <= NEAR else []
            before = None if there is None else (value, there)
        if not begins:
            return None
        start = max(min(begins)[1], family.low)
        return start if start < family.high else family.scanned[-1]

    def refined(self, start: np.ndarray) -> list[Fault] | None:
        """The same as `fit` from one start, with numbers as short as they fit."""
        low, high = (np.array([getattr(family, end) for family in self.unknown]) for end in ("low", "high"))
        found = least_squares(self.errors, start, low, high)
        if found is None:
            return None
        short = [shortest(*pair) for pair in zip(found.values, found.radii, strict=True)]
        details = [f"fitted, {f'±{radius:.1g}' if radius > 0 else 'exactly'}" for radius in found.radii]
        final = self.errors(np.array(short))
        too_short = final is None or np.abs(final).max() > 1
        return self._made(found.values.tolist() if too_short else short, details)

    def errors(self, values: np.ndarray) -> np.ndarray | None:
        """The errors of the cells, given the families' numbers; None where there are none."""
        try:
            faults = [*self.known, *self._made(values.tolist())]
            parts = list(islice(self.comparison.errors(faults, self.i), self.cells))
        except FedconvexError:
            return None
        found = np.concatenate(parts) if len(parts) == self.cells else np.array([np.nan])
        return found if np.isfinite(found).all() else None

    def _made(self, values: Sequence[float], details: Sequence[str] | None = None) -> list[Fault]:
        """The families' faults with these numbers; with details they are results, whose names show all digits."""
        setup = self.comparison.setup
        if details is None:
            return [family.fault(value, setup) for family, value in zip(self.unknown, values, strict=True)]
        numbers = zip(self.unknown, values, details, strict=True)
        return [family.fault(value, setup, shown(value), detail) for family, value, detail in numbers]


def least_squares(errors: Errors, start: np.ndarray, low: np.ndarray, high: np.ndarray) -> Fit | None:
    """Values between the limits whose errors are all at most 1; None where the search ends elsewhere."""
    values = start
    current = errors(values)
    if current is None:
        return None
    for step in range(MOST_STEPS):
        slopes = _slopes(errors, values, current, low, high)
        if slopes is None or not (np.abs(slopes).max(axis=0) > 0).all():
            return None
        move = -np.linalg.lstsq(slopes, current, rcond=None)[0]
        if not np.isfinite(move).all():
            return None
        reached = _damped(errors, values, current, move, low, high)
        if reached is None:
            break
        before, (values, current) = np.linalg.norm(current), reached
        if np.linalg.norm(current) > STALLED * before:
            if np.abs(current).max() <= 1:
                break
            if step >= PATIENCE:
                return None
    if np.abs(current).max() > 1:
        return None
    slopes = _slopes(errors, values, current, low, high)
    if slopes is None:
        return None
    with np.errstate(all="ignore"):
        radii = np.sqrt(np.diagonal(np.linalg.pinv(slopes.T @ slopes)))
    return Fit(values, radii)


def shortest(value: float, radius: float) -> float:
    """The number of fewest decimal digits within the radius of the value."""
    for digits in range(1, 17):
        short = float(f"{value:.{digits}g}")
        if abs(short - value) <= radius:
            return short
    return value


def shown(value: float) -> str:
    """A fitted number as a name has it: its digits up to the twelfth."""
    return f"{value:.12g}"


def _slopes(
    errors: Errors, values: np.ndarray, current: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray | None:
    columns = []
    for j, value in enumerate(values):
        step = DIFFERENCE * max(abs(value), 1e-3)
        if value + step >= high[j]:
            step = -step
        moved = values.copy()
        moved[j] += step
        there = errors(moved)
        if there is None:
            return None
        columns.append((there - current) / step)
    return np.stack(columns, axis=1)


def _damped(
    errors: Errors, values: np.ndarray, current: np.ndarray, move: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """The step, halved until it stays within the limits and the error shrinks; None where it never does."""
    for _ in range(4):
        there = values + move
        if ((there > low) | (values == low) & (there == low)).all() and (there < high).all():
            reached = errors(there)
            if reached is not None and np.linalg.norm(reached) < np.linalg.norm(current):
                return there, reached
        move = move / 2
    return None


def _starts(unknown: Sequence[FaultFamily]) -> list[tuple[float, ...]]:
    """The starts of one family, or the first and last starts of two."""
    if len(unknown) == 1:
        return [(start,) for start in unknown[0].starts]
    return [tuple(family.starts[0] for family in unknown), tuple(family.starts[-1] for family in unknown)]


def _best_starts(errors: Errors, unknown: Sequence[FaultFamily]) -> list[tuple[float, ...]]:
    """Of all numbers of these families those with the smallest errors."""
    sizes = list[tuple[float, tuple[float, ...]]]()
    for values in product(*(family.scanned for family in unknown)):
        there = errors(np.array(values))
        sizes += [] if there is None else [(float(np.linalg.norm(there)), values)]
    return [values for _, values in sorted(sizes)[:BEST]]
