"""Fit the unknown numbers of faults (a weight decay, a momentum, a norm) to an implementation's runs.

Gauss and Newton's method on the errors of some cells, in units of the admissible error. What it finds is believed only
where the whole run then agrees: the fit itself proves nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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


def fit(
    comparison: ComparedRuns,
    known: Sequence[Fault],
    unknown: Sequence[FaultFamily],
    i: int,
    cells: int,
    thorough: bool = True,
) -> list[Fault] | None:
    """The faults of the families with the numbers that fit the first cells of run i; None where none do.

    `thorough`: try many starts of two numbers, not only the first and last ones of both.
    """
    errors = errors_of(comparison, known, unknown, i, cells)
    for starts in _best_starts(errors, unknown) if thorough and len(unknown) > 1 else _starts(unknown):
        found = refined(comparison, known, unknown, i, cells, np.array(starts))
        if found is not None:
            return found
    return None


def nearby(
    comparison: ComparedRuns, known: Sequence[Fault], family: FaultFamily, i: int, cells: int
) -> list[Fault] | None:
    """The same for one family at a fraction of the time, where the errors are smooth in the number."""
    start = near_start(comparison, known, family, i, cells)
    return None if start is None else refined(comparison, known, (family,), i, cells, np.array([start]))


def near_start(
    comparison: ComparedRuns, known: Sequence[Fault], family: FaultFamily, i: int, cells: int
) -> float | None:
    """A number where the errors are small; None where they never are.

    The errors at some numbers are the corners of a path, and the fit begins where that passes near 0.
    """
    errors, before = errors_of(comparison, known, (family,), i, cells), None
    begins = list[tuple[float, float]]()
    for value in family.scanned:
        there = errors(np.array([value]))
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


def refined(
    comparison: ComparedRuns,
    known: Sequence[Fault],
    unknown: Sequence[FaultFamily],
    i: int,
    cells: int,
    start: np.ndarray,
) -> list[Fault] | None:
    """The same from one start, with numbers as short as they fit."""
    errors = errors_of(comparison, known, unknown, i, cells)
    found = least_squares(errors, start, np.array([f.low for f in unknown]), np.array([f.high for f in unknown]))
    if found is None:
        return None
    made: list[Fault] = []
    for family, value, radius in zip(unknown, found.values, found.radii, strict=True):
        short = shortest(value, radius)
        spread = f"±{radius:.1g}" if radius > 0 else "exactly"
        made.append(family.fault(short, comparison.setup, shown(short), f"fitted, {spread}"))
    final = errors(np.array([fault.value for fault in made]))
    if final is None or np.abs(final).max() > 1:  # shortened too far
        made = [
            replace(family.fault(value, comparison.setup, shown(value)), detail=fault.detail)
            for family, value, fault in zip(unknown, found.values.tolist(), made, strict=True)
        ]
    return made


def errors_of(
    comparison: ComparedRuns, known: Sequence[Fault], unknown: Sequence[FaultFamily], i: int, cells: int
) -> Errors:
    """The errors of the first cells of run i, given the families' numbers; None where there are none."""

    def errors(values: np.ndarray) -> np.ndarray | None:
        faults = planted(comparison, known, unknown, values)
        try:
            parts = list(islice(comparison.errors(faults, i), cells))
        except FedconvexError:
            return None
        if len(parts) < cells:
            return None
        found = np.concatenate(parts)
        return found if np.isfinite(found).all() else None

    return errors


def planted(
    comparison: ComparedRuns, known: Sequence[Fault], unknown: Sequence[FaultFamily], values: np.ndarray
) -> list[Fault]:
    """The known faults and those of the families with these numbers."""
    pairs = zip(unknown, values.tolist(), strict=True)
    return [*known, *(family.fault(value, comparison.setup) for family, value in pairs)]


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
