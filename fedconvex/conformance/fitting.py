"""Fit the unknown numbers of faults (a weight decay, a momentum, a norm) to an implementation's runs.

Gauss and Newton's method on the errors of some cells, in units of the admissible error. What it finds is believed only
where the whole run then agrees: the fit itself proves nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from fedconvex.conformance.comparison import ComparedRuns
from fedconvex.conformance.faults import Fault, FaultFamily
from fedconvex.errors import FedconvexError

MOST_STEPS = 16
STALLED = 0.5  # a step that leaves more than this part of the error leads nowhere …
PATIENCE = 2  # … but for so many steps at first
DIFFERENCE = 1e-7  # of the derivative's quotient, relative
Errors = Callable[[np.ndarray], np.ndarray | None]


@dataclass(frozen=True)
class Fit:
    """Fitted numbers with the radius within which each fits as well."""

    values: np.ndarray
    radii: np.ndarray


def fit(
    comparison: ComparedRuns, known: Sequence[Fault], unknown: Sequence[FaultFamily], i: int, cells: int
) -> list[Fault] | None:
    """The faults of the families with the numbers that fit the first cells of run i; None where none do."""
    for starts in _starts(unknown):
        found = refined(comparison, known, unknown, i, cells, np.array(starts))
        if found is not None:
            return found
    return None


def refined(
    comparison: ComparedRuns,
    known: Sequence[Fault],
    unknown: Sequence[FaultFamily],
    i: int,
    cells: int,
    start: np.ndarray,
) -> list[Fault] | None:
    """The same from one start, with numbers as short as they fit."""

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
    """The starts of one family, or the first starts of two."""
    if len(unknown) == 1:
        return [(start,) for start in unknown[0].starts]
    return [tuple(family.starts[0] for family in unknown), tuple(family.starts[-1] for family in unknown)]
