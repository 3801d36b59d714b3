"""Small federated problems and runs, comparisons of two runs, and frequencies against exact probabilities."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problem_makers import fractions
from scipy.stats import chi2

import fedconvex as fc
from fedconvex.compressors import Contractive, Unbiased
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.methods import METHODS, Method, State
from fedconvex.participation import Draw, Stragglers, Uniform
from fedconvex.runs.rounds import Rounds, rounds_of

QUARTER = Fraction(1, 4)
A = [[[1, 0], [Fraction(1, 2), 1]], [[1, Fraction(1, 2)]], [[0, 1], [Fraction(1, 2), -1]], [[Fraction(1, 2), 1]]]
B = [[1, 2], [-1], [0, 3], [2]]
M = len(A)
EQUAL = fc.LeastSquares(A, B)
UNEQUAL = fc.LeastSquares(A, B, weights=[1, 2, 3, 2])
SILENT = fc.LeastSquares(A, B, weights=[0, 2, 3, 2])  # client 0 has weight 0
START = fractions([1, -2])


def instance(name: str, value: Any = QUARTER) -> Method:
    """The method with `value` for every number that has no default; what compresses draws nothing."""
    still: dict[str, Any] = {"DIANA": {"compressor": Unbiased(0)}, "EF21": {"compressor": Contractive(1)}}
    numbers = [f.name for f in fields(METHODS[name]) if f.metadata.get("number") and f.default is MISSING]
    return METHODS[name](**dict.fromkeys(numbers, value), **still.get(name, {}))


REMEMBERING = [
    "DIANA",
    "Ditto",
    "EF21",
    "FedADMM",
    "FedDyn",
    "FedDynOneGD",
    "FedPD",
    "FedSplit",
    "PFedMe",
    "RegularizedFedSplit",
    "Scaffnew",
    "Scaffold",
]
IRRATIONAL = [name for name in METHODS if METHODS[name].takes_square_roots]
WEIGHTED = [name for name in METHODS if not METHODS[name].plain]


def run(method: Any, problem: Any, participation: Any = None, rounds: int = 3, **options: Any) -> Any:
    """Three rounds from START, exact ones if the method is rational, unless told otherwise."""
    arithmetic = "float" if method.takes_square_roots else "exact"
    return fc.simulate(method, problem, rounds, participation, **{"x0": START, "arithmetic": arithmetic, **options})


def assert_refused(call: Callable[[], Any], *pieces: str) -> InvalidInput:
    """The error of a call: one line that is not long and has these pieces."""
    with pytest.raises(InvalidInput) as caught:
        call()
    text = str(caught.value)
    assert all(piece in text for piece in pieces), text
    assert "\n" not in text
    assert len(text) < 400  # long values are shortened
    assert {ValueError, FedconvexError} <= set(type(caught.value).__mro__)
    return caught.value


@contextmanager
def no_rounds() -> Iterator[None]:
    """No round is played: refusals come before any work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rounds, "play", lambda *_, **__: pytest.fail("a round was played"))
        yield


def round_by_round(methods: Iterable[Any], problem: Any, arithmetic: str = "exact", seed: int = 0) -> np.ndarray:
    """The server's point after a round of each method (or pair of a method and its solver), one after the other."""
    state: Any = None
    for t, method in enumerate(methods):
        method, solver = method if isinstance(method, tuple) else (method, None)
        alone = rounds_of(method, problem, arithmetic, solver)
        state = alone.start(alone.arithmetic.array([0] * problem.dim)) if state is None else state
        state = alone.advance(state, Draw(round=t, seed=seed))
    return np.asarray(alone.arithmetic.publish(state.server))


def assert_resumed(method: Any, other: Any, problem: Any, path: Path, *options: Any) -> None:
    """A run that is stopped after three of six rounds goes on as if it was not; the other method's is refused."""
    whole = fc.simulate(method, problem, 6, *options, seed=1)
    for rounds in (3, 6):
        part = fc.simulate(method, problem, rounds, *options, seed=1, checkpoint=path)
    assert (part.points == whole.points).all()
    with pytest.raises(InvalidInput, match="another run"):
        fc.simulate(other, problem, 6, *options, seed=1, checkpoint=path)


def entries_of(state: State) -> list[Any]:
    """Everything in a state: Fractions where it is exact, else floats."""
    parts = [np.asarray(part).ravel() for part in (state.server, *state.shared.values(), *state.memory.values())]
    return [Fraction(int(v.p), int(v.q)) if type(v).__name__ == "fmpq" else float(v) for part in parts for v in part]


def same_run(one: Any, other: Any) -> bool:
    """Points, records and states of two exact runs, all equal."""
    return np.array_equal(one.points, other.points) and entries_of(one.state) == entries_of(other.state)


def gradient_steps(problem: Any, k: int, w: np.ndarray, e: int, s: Fraction) -> np.ndarray:
    """Where client k of a least-squares problem arrives after e steps from w, in Fractions."""
    design, target, theta = fractions(problem.A[k]), fractions(problem.b[k]), w
    for _ in range(e):
        theta = theta - s * design.T @ (design @ theta - target)
    return theta


def times_drawn(draw: Draw) -> dict[int, int]:
    """How often each of those who take part was drawn."""
    return dict(zip(draw.members.tolist(), draw.shares.tolist(), strict=True))


def averaged(rows: Mapping[int, np.ndarray], shares: Mapping[int, Any], total: Any = None) -> np.ndarray:
    """Σ shares_k rows_k / Σ shares_k, over the clients of `rows`."""
    return sum(shares[k] * row for k, row in rows.items()) / Fraction(total or sum(shares[k] for k in rows))


def misfit(outcomes: Iterable[Any], probabilities: Mapping[Any, Any]) -> float:
    """Pearson's chi-square divided by its quantile at 1 − 1e-9; infinite where something impossible happened.

    Above 1, the outcomes do not have these probabilities.
    """
    counts = Counter(outcomes)
    expected = {cell: float(p) * counts.total() for cell, p in probabilities.items() if p > 0}
    if counts.keys() - expected.keys():
        return float("inf")
    assert min(expected.values()) > 10
    assert abs(sum(probabilities.values()) - 1) < 1e-12
    statistic = sum((counts[cell] - e) ** 2 / e for cell, e in expected.items())
    return float(statistic / chi2.isf(1e-9, len(expected) - 1))


def bits(values: Any) -> Any:
    """Floats to the last bit, rationals exactly, with the shape."""
    array = np.asarray(values)
    return (array.shape, [str(v) for v in array.ravel()] if array.dtype == object else array.tobytes())


def read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an archive."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """An archive of these arrays."""
    with path.open("wb") as file:
        np.savez(file, **arrays)


def stoppable(method: Any, rounds: int = 4, path: Any = None, problem: Any = UNEQUAL, **options: Any) -> Any:
    """A run of four rounds with late clients, that can be stopped and resumed at `path`."""
    late = {"participation": Uniform(3), "stragglers": Stragglers(Fraction(1, 2), "drop")}
    options = {**late, "x0": START, "seed": 4, **options}
    return fc.simulate(method, problem, rounds, checkpoint=path, **options)
