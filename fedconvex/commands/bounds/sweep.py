"""`fedconvex bounds --sweep`: a formula over a grid of parameters in floating point, as a table."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.arithmetic.rationals import nearest_float
from fedconvex.commands.bounds.formulas import Computable, option
from fedconvex.commands.bounds.parameters import Value, missing, require_complete, require_known, written
from fedconvex.commands.terminal import say
from fedconvex.display.documents import TableBlock
from fedconvex.display.text import print_table as print_block
from fedconvex.errors import InvalidInput
from fedconvex.json_files import plain_data, to_json
from fedconvex.statements import Calculator, Sign
from fedconvex.statements.conditions import RELATIONS
from fedconvex.statements.notation import Shape
from fedconvex.statements.results import named_parts
from fedconvex.validation import exact_number

if TYPE_CHECKING:
    import pandas
    from rich.console import Console

MOST_ROWS = 100_000
LARGEST_INTEGER = 1 << 53  # every integer up to here is a float
BORDER = 1e-9  # relative distance to a condition's bound below which floats do not decide the condition
SHOWN = 10  # first and last rows that a terminal shows


@final
@dataclass(frozen=True, eq=False)
class Axis:
    """One swept parameter."""

    values: np.ndarray
    logarithmic: bool


@final
@dataclass(frozen=True, eq=False)
class Sweep:
    """The values of a formula on a grid; rows that violate the statement's conditions hold NaN."""

    entry: Computable
    axes: Mapping[str, Axis]
    fixed: Mapping[str, Value]
    columns: Mapping[str, np.ndarray]  # the swept parameters, row by row
    numbers: Mapping[str, np.ndarray]  # the value, or its parts, and the left-hand side
    signs: np.ndarray | None  # proved signs, for statements that promise something only if positive
    refusals: Counter[str] = field(default_factory=Counter)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the grid."""
        return tuple(len(axis.values) for axis in self.axes.values())

    @cached_property
    def is_positive(self) -> np.ndarray:
        """For each row whether the value is proved to be positive."""
        if self.signs is None:
            return np.zeros(len(self.frame), dtype=bool)
        return np.array([sign is Sign.POSITIVE for sign in self.signs])

    @cached_property
    def frame(self) -> "pandas.DataFrame":
        """One row for each grid point: the swept parameters, the numbers, the sign."""
        import pandas

        columns: dict[str, Any] = {**self.columns}
        for name, values in self.numbers.items():
            columns[name if name not in self.entry.parameters else f"{name}_value"] = values
        if self.signs is not None:
            columns["sign"] = [None if sign is None else sign.name.lower() for sign in self.signs]
        return pandas.DataFrame(columns)

    @cached_property
    def tidy(self) -> "pandas.DataFrame":
        """The frame with the fixed parameters, too, so that a saved file is complete."""
        frame = self.frame.copy()
        for i, (name, value) in enumerate(self.fixed.items(), start=len(self.axes)):
            frame.insert(i, name, ",".join(map(str, value)) if isinstance(value, tuple) else nearest_float(value))
        return frame

    def to_dictionary(self) -> dict[str, Any]:
        """The sweep for JSON; refused rows hold null."""
        return {
            "statement": self.entry.identifier,
            "source": self.entry.source,
            "claim": self.entry.claim,
            "arguments": {name: written(value) for name, value in self.fixed.items()},
            "sweep": list(self.axes),
            "rows": plain_data(self.frame.astype(object).to_dict("records")),
            "refused": dict(self.refusals),
        }


def run_sweep(entry: Computable, values: Mapping[str, Value], texts: Sequence[str]) -> Sweep:
    """Evaluate the formula on the grid. Raises InvalidInput if every row violates a condition."""
    axes = _axes(entry, texts)
    for name in axes.keys() & values.keys():
        raise InvalidInput(option(name), written(values[name]), "is swept too", "give one value, or the sweep")
    require_complete(entry, {**values, **axes})
    rows = math.prod(len(axis.values) for axis in axes.values())
    if rows > MOST_ROWS:
        raise InvalidInput("--sweep", " ".join(texts), f"has {rows} rows", f"sweep over {MOST_ROWS} at most")
    grid = np.meshgrid(*(axis.values for axis in axes.values()), indexing="ij")
    columns = {name: points.ravel() for name, points in zip(axes, grid, strict=True)}
    evaluation = _Evaluation(entry.calculator, values, columns)
    if not evaluation.done.any():
        reasons = "; ".join(evaluation.refusals)
        raise InvalidInput("--sweep", " ".join(texts), f"{entry.identifier} refuses every row", reasons)
    numbers = dict(evaluation.numbers)
    if entry.left is not None and not missing(entry.left, {**values, **axes}):
        left = _Evaluation(entry.left, values, columns)
        numbers["left_side"] = next(iter(left.numbers.values()), np.full(rows, np.nan))
    signs = _signs(entry.calculator, values, columns, evaluation.done) if entry.positive else None
    return Sweep(entry, axes, values, columns, numbers, signs, evaluation.refusals)


def print_table(sweep: Sweep, console: "Console | None") -> None:
    """Print the first and last rows on a terminal; without a console, all rows, separated by tabs."""
    frame = sweep.frame
    if console is None:
        say(frame.to_csv(sep="\t", index=False, lineterminator="\n"), nl=False)
        return
    rows = [[_shown(value) for value in row] for row in frame.itertuples(index=False)]
    if len(rows) > 2 * SHOWN + 1:
        rows[SHOWN:-SHOWN] = [["…"] * len(frame.columns)]
    print_block(TableBlock(list(frame.columns), rows, len(frame.columns)), console)


def notes(sweep: Sweep) -> Iterable[str]:
    """Remarks on the sweep: how many rows are refused and why, and where the value is largest."""
    rows, name = len(sweep.frame), sweep.entry.calculator.name
    if sweep.entry.statement is not None and sweep.entry.statement.phrases.differs:
        yield str(sweep.entry.statement.phrases)
    for cure, count in sweep.refusals.items():
        yield f"{count} of {rows} rows are empty, refused by {sweep.entry.identifier}: {cure}"
    if sweep.signs is None:
        return
    if not sweep.is_positive.any():
        yield f"{sweep.entry.identifier} guarantees nothing here: {name} > 0 in none of {rows} rows"
        return
    best = int(np.nanargmax(sweep.numbers[name]))
    place = ", ".join(f"{parameter} = {_shown(values[best])}" for parameter, values in sweep.columns.items())
    yield f"{name} > 0 in {sweep.is_positive.sum()} of {rows} rows; largest {sweep.numbers[name][best]:.6g} at {place}"


def file_content(sweep: Sweep, ending: str) -> bytes:
    """The complete table as .csv, .parquet or .json (a list of rows)."""
    if ending == ".parquet":
        from fedconvex.sweeps.tables import to_parquet

        return to_parquet(sweep.tidy)
    if ending == ".json":
        return to_json(sweep.tidy.astype(object).to_dict("records"), ascii_only=True).encode()
    return sweep.tidy.to_csv(index=False).encode()


class _Evaluation:
    """A calculator on all rows that satisfy its conditions.

    Conditions are evaluated on whole columns in floats. A row near a condition's bound is passed to the calculator,
    which compares exactly; it refuses all its rows at once, so they are halved until single rows are left.
    """

    def __init__(self, calculator: Calculator, fixed: Mapping[str, Any], columns: Mapping[str, np.ndarray]) -> None:
        self.calculator = calculator
        self.fixed = {name: value for name, value in fixed.items() if name in calculator.parameters}
        self.columns = {n: v.astype(np.float64) for n, v in columns.items() if n in calculator.parameters}
        self.rows = len(next(iter(columns.values())))
        self.numbers: dict[str, np.ndarray] = {}
        self.done = np.zeros(self.rows, dtype=bool)
        self.refusals: Counter[str] = Counter()
        self._run(np.flatnonzero(self._possible_rows()))

    def _possible_rows(self) -> np.ndarray:
        """The rows that violate no condition clearly; counts the others by the condition."""
        values: dict[str, Any] = {
            **{n: nearest_float(v) for n, v in self.fixed.items() if not isinstance(v, tuple)},
            **self.columns,
        }
        left, clear = np.ones((2, self.rows), dtype=bool)
        for condition in self.calculator.all_conditions:
            if not {condition.argument, *condition.names} <= values.keys():
                continue
            with np.errstate(all="ignore"):
                value, bound = values[condition.argument], condition.bound_at(values)
                close = abs(value - bound) <= BORDER * (abs(value) + abs(bound))
                violated = ~np.broadcast_to(RELATIONS[condition.relation](value, bound), self.rows)
            wrong = left & clear & violated & ~close
            # a row that may violate an earlier condition is left to the exact comparison, which names that one
            clear &= ~(violated & close)
            if wrong.any():
                self.refusals[f"give {condition.text(self.calculator.parameters)}"] += int(wrong.sum())
                left &= ~wrong
        return left

    def _run(self, rows: np.ndarray) -> None:
        """Fill these rows; halve them if the calculator refuses one, until it is found."""
        if not len(rows):
            return
        try:
            result = self.calculator(**self.fixed, **{name: values[rows] for name, values in self.columns.items()})
        except InvalidInput as error:
            if len(rows) > 1:
                self._run(rows[: len(rows) // 2])
                self._run(rows[len(rows) // 2 :])
                return
            self.refusals[error.cure] += 1
            return
        for name, part in named_parts(self.calculator.name, result).items():
            whole = self.numbers.setdefault(name, np.full(self.rows, np.nan))
            whole[rows] = np.asarray(part, dtype=np.float64) if hasattr(part, "dtype") else nearest_float(part)
        self.done[rows] = True


def _signs(
    calculator: Calculator, fixed: Mapping[str, Any], columns: Mapping[str, np.ndarray], done: np.ndarray
) -> np.ndarray:
    """Proved signs at the grid points, which are floats taken exactly; None in refused rows."""
    signs = np.full(len(done), None, dtype=object)
    arrays = {
        name: values[done].astype(np.float64) for name, values in columns.items() if name in calculator.parameters
    }
    signs[done] = calculator.sign(**fixed, **arrays)
    return signs


def _axes(entry: Computable, texts: Sequence[str]) -> dict[str, Axis]:
    """The axes of `mu=1:100:200` and `mu=log:1:1e4:200`."""
    axes: dict[str, Axis] = {}
    for text in texts:
        name, _, grid = text.strip().removeprefix("--").partition("=")
        name = name.replace("-", "_")
        scale, _, limits = grid.rpartition("log:")
        parts = limits.split(":")
        if len(parts) != 3 or scale:
            raise InvalidInput(
                "--sweep", text, "is not understood", "write NAME=LOWEST:HIGHEST:COUNT, as in mu=1:100:50"
            )
        require_known(entry, [name], grid)
        if name in axes:
            raise InvalidInput("--sweep", text, f"sweeps {name} again", "sweep it once")
        axes[name] = _axis(entry, name, text, parts, logarithmic=grid.startswith("log:"))
    return axes


def _axis(entry: Computable, name: str, text: str, parts: list[str], *, logarithmic: bool) -> Axis:
    parameter = entry.parameters[name]
    if parameter.shape not in (Shape.SCALAR, Shape.VECTOR):
        raise InvalidInput(
            "--sweep", text, f"{name} is {parameter.shape.value}", "sweep a parameter that is one number"
        )
    lowest, highest, count = (exact_number(part, "--sweep") for part in parts)
    limits = nearest_float(lowest), nearest_float(highest)
    if not (lowest < highest and all(map(math.isfinite, limits))):
        raise InvalidInput("--sweep", text, "has no range", "give a lowest number below the highest")
    if count.denominator != 1 or not 2 <= count <= MOST_ROWS:
        raise InvalidInput("--sweep", text, f"has a count of {count}", f"give an integer from 2 to {MOST_ROWS}")
    if logarithmic and not limits[0] > 0:
        raise InvalidInput("--sweep", text, "has no logarithms", "give a lowest number > 0")
    points = (np.geomspace if logarithmic else np.linspace)(*limits, int(count))
    if parameter.integer:
        if highest > LARGEST_INTEGER or lowest < -LARGEST_INTEGER:
            raise InvalidInput("--sweep", text, "has integers that floats do not hold", f"stay below {LARGEST_INTEGER}")
        # rounding may repeat an integer, or leave the range
        points = np.unique(np.rint(points).astype(np.int64))
        points = points[(points >= math.ceil(lowest)) & (points <= math.floor(highest))]
        if not len(points):
            raise InvalidInput("--sweep", text, f"{name} is an integer, and there is none", "give a wider range")
    return Axis(points, logarithmic)


def _shown(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}" if math.isfinite(value) else ""
    return "" if value is None else str(value)
