"""Metrics of recorded runs: the functions that the formulas of an experiment's numbers and claims can call.

In a formula, `data` and `method` are labels; the label of a method with a grid stands for the best of its variants.
Metrics are medians over the seeds, or the values of one seed. A run that is no longer finite counts as infinitely bad.
"""

import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.expressions import evaluate
from fedconvex.methods import METHODS
from fedconvex.reproduce.execution import seeds
from fedconvex.reproduce.inputs import FUNCTIONS, constants, problem_of, setting_of
from fedconvex.reproduce.specification import Experiment
from fedconvex.theory import fedsplit

if TYPE_CHECKING:
    import pandas

QUARTER = 0.25  # `tail` is the median over this part of the rounds, the last ones
ROUNDS_BACK, RISE = 10, 1.0  # FedProx, appendix C.3.2: divergence is f_t − f_(t−10) > 1
LOGS = "fedprox_logs/*.csv*"
OF_LOGS = {"value": "train_loss", "test_accuracy": "test_acc", "gradient_variance": "grad_variance"}


@final
@dataclass(frozen=True, eq=False)
class ExperimentMetrics:
    """The runs of one experiment, with the metrics that its formulas use."""

    experiment: Experiment
    frame: "pandas.DataFrame"
    data_dir: Path | None = None
    seed: int | None = None  # None: medians over all seeds
    _curves: dict[tuple[str, str, str], np.ndarray] = field(default_factory=dict)

    def of_seed(self, seed: int) -> "ExperimentMetrics":
        """The metrics of one seed."""
        return ExperimentMetrics(self.experiment, self.frame, self.data_dir, seed, self._curves)

    def names(self) -> dict[str, Any]:
        """Every function and name that a formula may use."""
        given: tuple[Callable[..., Any], ...] = (
            self.first, self.rounds_to, self.models_to, self.models, self.floor, self.distance, self.constant,
            self.contraction, self.official, self.level, self.typical_classes,
        )  # fmt: skip
        if "until" not in self.experiment.run:  # with `until` runs end early, and metrics over all rounds mean nothing
            given += (self.last, self.tail, self.lowest, self.highest, self.roughness, self.rises, self.at)
        return FUNCTIONS | {"inf": math.inf, "abs": abs} | {call.__name__: call for call in given}

    def number(self, row: Mapping[str, Any], key: str) -> float:
        """The value of a formula in an entry of `numbers`: `key` is ours, theory or released."""
        names = self.names() | row.get("given", {})
        return float(evaluate(row[key], names, f"{self.experiment.id}: numbers"))

    def curves(self, column: str, data: str, method: str) -> np.ndarray:
        """A column (seeds, T + 1) of one method's runs; rounds that were not evaluated repeat the last value."""
        key = (column, data, method)
        if key not in self._curves:
            rows = self.frame[(self.frame["problem"] == data) & (self.frame["method"] == method)]
            if rows.empty or column not in rows:
                cure = "correct the labels or the column in the experiment's file"
                raise InvalidInput(self.experiment.id, str(key), "there is no such run", cure)
            # dropna=False keeps rounds that no run evaluated, so that column t of the array is round t
            table = rows.pivot_table(index="seed", columns="round", values=column, dropna=False)
            self._curves[key] = table.ffill(axis=1).to_numpy(dtype=float)
        curves = self._curves[key]
        return curves if self.seed is None else curves[self.seed : self.seed + 1]

    def first(self, column: str, data: str, method: str) -> float:
        """The value before the first round."""
        return self._median(column, data, self.variants(method, data)[0], lambda c: c[0])

    def last(self, column: str, data: str, method: str) -> float:
        """The value after the last round."""
        return self._median(column, data, method, lambda c: c[-1])

    def at(self, round: int, column: str, data: str, method: str) -> float:
        """The value after `round` rounds, or the last one if there are fewer."""
        return self._median(column, data, method, lambda c: c[min(round, len(c) - 1)])

    def tail(self, column: str, data: str, method: str) -> float:
        """The median over the last quarter of the rounds."""
        return self._median(column, data, method, lambda c: float(np.median(c[-max(1, int(len(c) * QUARTER)) :])))

    def lowest(self, column: str, data: str, method: str) -> float:
        """The least value over all rounds."""
        return self._median(column, data, method, lambda c: float(np.min(c)))

    def highest(self, column: str, data: str, method: str) -> float:
        """The largest value over all rounds."""
        return self._median(column, data, method, lambda c: float(np.max(c)))

    def roughness(self, column: str, data: str, method: str) -> float:
        """The mean absolute change per round over the second half of the rounds: 0 is perfectly stable."""

        def rough(c: np.ndarray) -> float:
            half = c[len(c) // 2 :]
            return float(np.mean(np.abs(np.diff(half)))) if np.isfinite(half).all() else math.inf

        return self._median(column, data, method, rough)

    def rises(self, column: str, data: str, method: str) -> float:
        """The share of rounds t with f_t − f_(t−10) > 1: divergence as the FedProx paper defines it."""

        def rising(c: np.ndarray) -> float:
            with np.errstate(invalid="ignore"):
                rise = c[ROUNDS_BACK:] - c[:-ROUNDS_BACK]
            # ~(≤), not >: NaN counts as divergence
            return float(np.mean(~(rise <= RISE))) if rise.size else 0.0

        return self._median(column, data, method, rising)

    def rounds_to(self, level: float, column: str, data: str, method: str) -> float:
        """The first round with value <= level (accuracy >= level); inf if there is none; of variants the least."""

        def reached(c: np.ndarray) -> float:
            hit = np.flatnonzero(c >= level if "accuracy" in column else c <= level)
            return float(hit[0]) if hit.size else math.inf

        return min(self._median(column, data, variant, reached) for variant in self.variants(method, data))

    def models_to(self, level: float, column: str, data: str, method: str) -> float:
        """The models that a client sends until that round, the unit of the tables: SCAFFOLD sends two in a round."""
        sent = {METHODS[str(self.experiment.methods[v]["name"])].vectors_up for v in self.variants(method, data)}
        return max(sent) * self.rounds_to(level, column, data, method)

    def models(self, which: int, data: str, method: str) -> float:
        """The models that a client sends until the test accuracy reaches level number `which` of the data."""
        return self.models_to(self.level(data, which), "test_accuracy", data, method)

    def floor(self, data: str, method: str) -> float:
        """The error floor f(fixed point) − f*, from the fixed point's closed form, not from a run."""
        from fedconvex.fixed_points import fixed_point

        return self._over_seeds(lambda problem: float(fixed_point(self._method(method, problem), problem).gap), data)

    def distance(self, data: str) -> float:
        """‖x*‖, the initial distance of runs that start at 0."""
        from fedconvex.ground_truths import ground_truth

        return self._over_seeds(lambda problem: float(np.linalg.norm(ground_truth(problem).point)), data)

    def constant(self, name: str, data: str) -> float:
        """L, mu, kappa or m of the problem."""
        return self._over_seeds(lambda problem: constants(problem)[name], data)

    def contraction(self, data: str) -> float:
        """FedSplit's 1 − 2/(√κ + 1), Theorem 1."""
        return float(fedsplit.contraction(kappa=self.constant("kappa", data)))

    def official(self, run: str, column: str) -> float:
        """`tail` of a curve of the released FedProx code; NaN without its files."""
        curve = official_curves(self.data_dir).get(run, {}).get(column)
        return math.nan if curve is None else float(np.median(curve[-max(1, int(len(curve) * QUARTER)) :]))

    def level(self, data: str, which: int) -> float:
        """Level number `which` (0, 1, …) of the data in the figure's section."""
        return float(self.experiment.figure["levels"][data][which])

    def typical_classes(self, data: str, share: float) -> float:
        """The median over clients of the number of classes that hold this share of the samples (partitions only)."""
        rows = self.frame[(self.frame["problem"] == data) & np.isclose(self.frame["share"], share)]
        return float(np.median(np.repeat(rows["classes"], rows["clients"])))

    def variants(self, method: str, data: str) -> list[str]:
        """The methods that a label stands for with these data: itself, or all variants of its grid."""
        methods = self.experiment.methods
        found = [method] if method in methods else [m for m in methods if methods[m]["family"] == method]
        found = [label for label in found if data in methods[label].get("only", [data])]
        if not found:
            raise InvalidInput(self.experiment.id, method, "is no method", f"known: {', '.join(methods)}")
        return found

    def _method(self, label: str, problem: Any) -> Any:
        return setting_of(self.experiment, label, problem).method

    def _median(self, column: str, data: str, method: str, of: Callable[[np.ndarray], float]) -> float:
        return float(np.median([of(curve) for curve in self.curves(column, data, method)]))

    def _over_seeds(self, of: Callable[[Any], float], data: str) -> float:
        chosen: Iterator[int] = iter(seeds(self.experiment)) if self.seed is None else iter([self.seed])
        return float(np.median([of(problem_of(self.experiment, data, seed)) for seed in chosen]))


def official_curves(data_dir: Path | None) -> dict[str, dict[str, np.ndarray]]:
    """Run -> column -> curve of the released FedProx code on the authors' data; empty without the file."""
    files = [] if data_dir is None else sorted(data_dir.glob(LOGS))
    if not files:
        return {}
    import pandas

    wanted = {"run", "round", *OF_LOGS.values()}
    kinds = dict.fromkeys(("round", *OF_LOGS.values()), float) | {"run": str}
    try:
        table = pandas.read_csv(files[0], dtype=kinds, index_col=False)
    except (OSError, ValueError, OverflowError, EOFError, zlib.error) as error:  # pandas' own errors are ValueErrors
        problem = f"is no table of numbers ({str(error)[:80]})"
        raise InvalidInput("fedprox_logs", str(files[0]), problem, "download the file again") from None
    if not wanted <= set(table.columns):
        problem = f"has columns {', '.join(map(str, table.columns))}"
        raise InvalidInput("fedprox_logs", str(files[0]), problem, f"give a CSV file with {', '.join(sorted(wanted))}")
    return {
        str(run): {ours: rows[theirs].dropna().to_numpy(dtype=float) for ours, theirs in OF_LOGS.items()}
        for run, rows in table.sort_values("round").groupby("run")
    }
