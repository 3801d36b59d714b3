"""What a run recorded, round by round: its suboptimality, or its squared gradient norm, from here or from a file."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np

from fedconvex.audit.intervals import gaps_to
from fedconvex.errors import InvalidInput
from fedconvex.ground_truths import GroundTruth
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import without_term
from fedconvex.runs.simulation import Trajectory
from fedconvex.safe_text import one_line
from fedconvex.validation import from_torch, is_choice, is_tensor

KINDS = ("loss", "gradient_norm")
LOSSES = "f(x_t) − f*"
COLUMNS = {"loss": ("loss", "value", "objective"), "gradient_norm": ("gradient_norm", "grad_norm")}
FEWEST = 5  # rounds that show anything
BELOW = 1e-6  # a loss below the minimum by more than this part of it is a loss of another objective
MOST_BYTES = 100_000_000  # of a file of losses
MOST_ROUNDS = 10_000_000
EMPTY = ("", "na", "n/a", "none", "null")  # cells of rounds without a loss


@dataclass(frozen=True, eq=False)
class RunSeries:
    """A run's progress: f(x_t) − f*, or ‖∇f(x_t)‖², in some of the rounds t. Both fall like the squared distance."""

    values: np.ndarray  # (n,); infinite from the round on in which the run overflowed
    places: np.ndarray  # (n,) the rounds that were recorded: 0, …, T
    of_point: Callable[[np.ndarray], float]  # the same quantity at any point
    name: str
    resolution: np.ndarray  # (n,) differences below are rounding of the recorded numbers
    recorded: bool = False  # by another program: nothing but the numbers is known

    @property
    def rounds(self) -> int:
        """T."""
        return int(self.places[-1])


def of_trajectory(run: Trajectory, truth: GroundTruth) -> RunSeries:
    """The suboptimality of a simulated run."""
    from fedconvex import arithmetic as arithmetics

    gap = gaps_to(without_term(run.problem), truth.point)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.array([gap(x) for x in arithmetics.of(run.points).to_float(run.points)])
    return _series(np.where(np.isfinite(values), values, np.inf), gap, LOSSES, np.zeros(len(values)), recorded=False)


def of_losses(losses: Any, problem: Problem, truth: GroundTruth, kind: str = "loss") -> RunSeries:
    """The series of recorded losses or gradient norms, the first before round 1; NaN where a round has none.

    Raises InvalidInput where the values belong to another objective.
    """
    if not is_choice(kind, KINDS):
        raise InvalidInput("kind", kind, "is unknown", f"choose {' or '.join(KINDS)}")
    recorded = _numbers(losses)
    if (recorded == -np.inf).any():
        cure = "cut the losses before it; an objective with a minimiser has no such value"
        raise InvalidInput("losses", -np.inf, "is below every minimum", cure)
    if kind == "gradient_norm":
        finite = recorded[np.isfinite(recorded)]
        if (finite < 0).any():
            raise InvalidInput("losses", finite.min(), "is no norm", "give kind='loss' for losses")
        step = _step(recorded)
        with np.errstate(over="ignore", invalid="ignore"):
            return _series(
                recorded**2, partial(_squared_gradient_norm, problem), "‖∇f(x_t)‖²", 2 * step * recorded + step**2
            )
    gap = gaps_to(problem, truth.point)
    values = recorded - truth.value
    at_0 = gap(np.zeros(problem.dim)) + truth.value
    scale = max(abs(truth.value), abs(at_0 - truth.value))
    lowest = float(values[np.isfinite(values)].min())
    resolution = np.maximum(_step(recorded), np.finfo(float).eps * 8 * abs(truth.value))
    if lowest < -max(BELOW * scale, float(resolution.max())):
        raise InvalidInput(
            "losses", float(recorded[np.isfinite(recorded)].min()), f"is below the minimum f* = {truth.value:.8g}",
            "give the losses of the same objective: same data, ridge, weights, and mean or sum over samples"
            + _multiple(float(recorded[0]), at_0, problem),
        )  # fmt: skip
    return _series(np.where(recorded < np.inf, np.maximum(values, 0.0), recorded), gap, LOSSES, resolution)


def _multiple(first: float, at_0: float, problem: Problem) -> str:
    """Which usual multiple of the objective the first loss is at 0, such as the mean squared error; "" if none."""
    N, m = sum(len(A) for A in getattr(problem, "A", ())), problem.num_clients
    usual = {"twice it": 2.0, "the mean over samples": m / max(N, 1), "the mean squared error": 2 * m / max(N, 1)}
    for words, factor in usual.items():
        if isclose(first, factor * at_0, rel_tol=1e-3):
            return f"; the first is {words}: multiply the losses by {1 / factor:.10g}"
    return ""


def _squared_gradient_norm(problem: Problem, x: np.ndarray) -> float:
    return float(np.sum(problem.gradient(x) ** 2))


def read_losses(path: str | Path, kind: str | None = None) -> tuple[np.ndarray, str]:
    """The numbers in a CSV file, and what they are: a column `loss` or `gradient_norm`, and optionally `round`.

    NaN where a round has no row or an empty cell; rounds without a number at the end are left out.

    Raises InvalidInput for files without such a column, and with rounds out of order.
    """
    import pandas

    file = Path(path)
    if not file.is_file():
        raise InvalidInput("losses", str(path), "is no file", "give a CSV file with a column loss or gradient_norm")
    if file.stat().st_size > MOST_BYTES:
        raise InvalidInput("losses", str(path), "is too large for a file of losses", "give one row for each round")
    try:
        frame = pandas.read_csv(file, dtype=str, keep_default_na=False, skipinitialspace=True)
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError) as error:
        cure = "give a CSV file with a column loss or gradient_norm"
        raise InvalidInput("losses", str(path), one_line(f"cannot be read: {str(error).strip()}"), cure) from None
    if not isinstance(frame.index, pandas.RangeIndex):  # pandas would take the first column for names of rows
        cure = "give every row as many fields as the header"
        raise InvalidInput("losses", str(path), "has rows with more fields than the header", cure)
    names = {str(name).strip().lower(): name for name in frame.columns}
    found = [(k, names[n]) for k in KINDS for n in COLUMNS[k] if n in names and kind in (None, k)]
    if not found:
        problem = f"has the columns {', '.join(map(str, frame.columns))}"
        other = any(mark in str(name) for name in frame.columns for mark in ";\t|")
        cure = "separate the columns by commas" if other else "name one of them loss or gradient_norm"
        raise InvalidInput("losses", str(path), one_line(problem), cure)
    chosen, column = found[0]
    if f"{column}.1" in frame.columns:  # what pandas calls the second of two
        raise InvalidInput("losses", str(path), one_line(f"has two columns {column}"), "keep the run's")
    cells = frame[column].str.strip()
    try:
        values = np.array([np.nan if cell.lower() in EMPTY else float(cell) for cell in cells])
    except ValueError as error:
        raise InvalidInput("losses", str(path), one_line(str(error)), "give numbers") from None
    places = _rounds(frame[names["round"]].tolist()) if "round" in names else np.arange(len(values))
    recorded = np.flatnonzero(~cells.str.lower().isin(EMPTY))
    end = int(recorded[-1]) + 1 if len(recorded) else 0
    losses = np.full(places[end - 1] + 1 if end else 0, np.nan)
    losses[places[:end]] = values[:end]
    return losses, chosen


def _rounds(cells: list[str]) -> np.ndarray:
    """The numbers of the rounds, from 0 on."""
    try:
        rounds = [int(float(cell)) for cell in cells]
    except (ValueError, OverflowError):
        raise InvalidInput("round", cells, "has entries that are not whole numbers", "number the rounds") from None
    for before, after in pairwise(rounds):
        if not before < after <= rounds[0] + MOST_ROUNDS:
            cure = "give every round once, in order, or remove the column if the rows are consecutive rounds"
            raise InvalidInput("round", after, f"follows round {before}", cure)
    return np.array(rounds, dtype=int) - min(rounds, default=0)


def _numbers(losses: Any) -> np.ndarray:
    """The losses as floats; infinite and NaN ones at the end are a run that overflowed."""
    try:
        values = from_torch(losses, "run") if is_tensor(losses) else losses
        recorded = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        cure = "give a run of fedconvex.simulate, or a list with one number for each round"
        raise InvalidInput("run", losses, "is neither a run nor a list of losses", cure) from None
    if recorded.ndim != 1:
        raise InvalidInput("run", f"an array of shape {recorded.shape}", "must have one axis", "give a loss per round")
    finite = np.flatnonzero(np.isfinite(recorded))
    if len(finite) == 0:
        raise InvalidInput("losses", recorded, "has no finite number", "give the losses from before round 1 on")
    inside = recorded[: finite[-1]]
    if np.isnan(recorded[0]) or np.isinf(inside).any():
        place = 0 if np.isnan(recorded[0]) else int(np.argmax(np.isinf(inside)))
        words = "is missing, and every other loss is compared with it" if place == 0 else "is followed by finite ones"
        raise InvalidInput(f"losses[{place}]", recorded[place], words, "give the losses from before round 1 on")
    if np.count_nonzero(~np.isnan(recorded)) < FEWEST:
        raise InvalidInput("losses", recorded, f"has fewer than {FEWEST} rounds", "run more rounds")
    gaps = np.diff(np.flatnonzero(~np.isnan(recorded)))
    if (after := recorded[finite[-1] + 1 :]).size >= gaps.max():  # not only rounds without a loss, as there were before
        after[np.isnan(after)] = np.inf
    return recorded


def _series(
    values: np.ndarray,
    of_point: Callable[[np.ndarray], float],
    name: str,
    resolution: np.ndarray,
    recorded: bool = True,
) -> RunSeries:
    places = np.flatnonzero(~np.isnan(values))
    values = values[places]
    if len(values) < FEWEST:
        raise InvalidInput("run", f"{len(values) - 1} rounds", "are too few for a diagnosis", "run more rounds")
    if not values[0] > 0:
        cure = "start the run at another point"
        raise InvalidInput("run", float(values[0]), "is the suboptimality before the first round", cure)
    if not values[0] < np.inf:
        cure = "start the run nearer to the minimiser, or rescale the objective"
        raise InvalidInput("run", name, "is beyond the range of float64 before the first round", cure)
    return RunSeries(values, places, of_point, name, resolution[places], recorded)


def _step(recorded: np.ndarray) -> np.ndarray:
    """What rounding may have changed: the last decimal place of numbers with few of them, or that of float32."""
    finite = np.unique(recorded[np.isfinite(recorded)])
    digits = max(17 if "e" in (text := repr(float(value))) else len(text.partition(".")[2]) for value in finite[:200])
    if digits <= 9:
        return np.full(len(recorded), 10.0**-digits)
    with np.errstate(over="ignore"):
        single = bool((finite.astype(np.float32) == finite).all())
    return np.abs(np.where(np.isfinite(recorded), recorded, 0.0)) * np.finfo(np.float32).eps * 4 * single
