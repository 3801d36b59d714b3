"""The measurements that `measure` selects, and the columns of the run's table that each of them fills.

| name | columns | measured at |
|---|---|---|
| heterogeneity | gradient_norm, dissimilarity, gradient_variance | the server's model before the round |
| curvature | smoothness, weak_convexity with their errors, least_curvature | the same |
| | smoothness_of_round, least_curvature_of_round: the extremes, widened by their errors | `points_of_round` |
| | smoothness_between, least_curvature_between: what gradients and values say of them | between these points |
| decrease | decrease, decrease_error, inexactness_of_all | the next round, over all draws of clients |
| memory | memory_error | the same: relative error of FedDyn's identity h = mean g_k |
| inexactness, drift | inexactness, drift | the round that led to the model |
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.claims.on_runs.findings import ROUNDING
from fedconvex.deep.measuring.curvature import between, curvature
from fedconvex.deep.measuring.decrease import expected_decrease, require_memoryless, round_of_all
from fedconvex.deep.problem import training_of
from fedconvex.deep.tasks import Task
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.names import one_of
from fedconvex.once import Once
from fedconvex.problems.base import Clients, Problem
from fedconvex.runs.rounds import RoundResult, Share
from fedconvex.runs.simulator import Simulator


@final
@dataclass(frozen=True)
class Heterogeneity:
    """The variance E_k‖∇f_k − ∇f‖² of the clients' gradients, and ‖∇f‖²; E_k is the mean with the problem's weights."""

    variance: float
    square: float

    @property
    def gradient_norm(self) -> float:
        """‖∇f‖."""
        return float(self.square**0.5)

    @property
    def dissimilarity(self) -> float:
        """B = √(E_k‖∇f_k‖²)/‖∇f‖ (FedProx paper, Definition 3); inf if only ∇f is 0, 1 if all gradients are."""
        if self.square == 0:
            return inf if self.variance > 0 else 1.0
        return (1 + self.variance / self.square) ** 0.5 if np.isfinite(self.square) else nan


def heterogeneity(clients: Clients, weights: np.ndarray, point: Array, among: Share | None = None) -> Heterogeneity:
    """Compute the heterogeneity at a point (d,), in one pass, with the gradients of a few clients in memory at a time.

    among: with several processes, the clients of this one, whose weights these are; the result is over all processes.

    Mean and squared deviations are updated by the formula of Chan, Golub and LeVeque: the difference of E_k‖∇f_k‖² and
    ‖∇f‖² would cancel where the gradients are nearly equal.
    """
    mean: Any = None
    xp: Any = clients.arithmetic.xp  # type: ignore[attr-defined]
    spread = total = 0.0
    for members, gradients in clients.gradients_in_parts(point):
        share = weights[members]
        weight = float(share.sum())
        if weight == 0:  # weights may be 0: such clients contribute nothing, and the average would be 0/0
            continue
        normalised = clients.arithmetic.array(share / weight)
        here = clients.arithmetic.average(normalised, gradients)
        gradients -= here  # in place: this array is not used again
        squares = xp.einsum("kd,kd->k", gradients, gradients)  # without a (K, d) array of squares
        spread += weight * float(normalised @ squares)
        if mean is None:
            mean, total = here, weight
            continue
        step = here - mean
        spread += float((step * step).sum()) * total * weight / (total + weight)
        total += weight
        mean = mean + step * (weight / total)
    if among is not None:
        # The same formula once more: the parts are now the processes.
        own = clients.arithmetic.array(np.zeros(clients.dim)) if mean is None else mean
        everything = float(among.total_numbers(np.array([total]))[0])
        mean = among.total(own * (total / everything))
        step = own - mean
        spread = float(among.total_numbers(np.array([spread + total * float((step * step).sum())]))[0])
        total = everything
    return Heterogeneity(spread / total, float((mean * mean).sum()))


# fmt: off
AT_POINTS: dict[str, tuple[str, ...]] = {
    "heterogeneity": ("gradient_norm", "dissimilarity", "gradient_variance"),
    "curvature": (
        "smoothness", "smoothness_error", "weak_convexity", "weak_convexity_error", "least_curvature",
        "smoothness_of_round", "least_curvature_of_round", "smoothness_between", "least_curvature_between",
    ),
    "decrease": ("decrease", "decrease_error", "inexactness_of_all"),
    "memory": ("memory_error",),
}
# fmt: on
OF_ROUNDS = ("inexactness", "drift")
NAMES = (*AT_POINTS, *OF_ROUNDS)


def names_of(measure: "str | Sequence[str] | None") -> tuple[str, ...]:
    """The names in `measure`; for "all" every name, of which `Measuring.of` keeps those that the method supports.

    Raises InvalidInput for unknown names.
    """
    given = () if measure is None else measure
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    for name in names:
        if name not in (*NAMES, "all"):
            raise InvalidInput("measure", name, "is unknown", one_of(name, ("all", *NAMES)))
    return NAMES if "all" in names else names


def in_mode_of(names: tuple[str, ...], everything: bool, problem: Problem) -> tuple[str, ...]:
    """The names that are defined where local steps are in training mode; all of them for other runs.

    Raises InvalidInput for the others, unless `everything` that can be measured was asked for.
    """
    if (training := training_of(problem)) is None:
        return names
    # The model after a round has other buffers, and with buffers of their own the clients have no common function.
    undefined = [n for n in names if n == "decrease" or (training.keeps and n != "drift")]
    if undefined and not everything:
        lacking = "a client's function at the server's model" if training.keeps else "one objective before and after"
        problem_text = f"needs {lacking} a round, which local_mode='training' has not"
        raise InvalidInput("measure", undefined[0], problem_text, "leave it out")
    return tuple(name for name in names if name not in undefined)


@final
@dataclass(frozen=True, eq=False)
class Measuring:
    """Measures the server's models of a run; `seconds` adds up the time of each kind of measurement."""

    names: tuple[str, ...]
    simulator: Simulator
    task: Task
    lanczos_steps: int
    draws: int
    rounding: float = ROUNDING  # of values of the objective, relative
    seconds: dict[str, float] = field(default_factory=dict)

    @staticmethod
    def of(
        names: tuple[str, ...],
        everything: bool,
        simulator: Simulator,
        task: Task,
        lanczos_steps: int,
        draws: int,
        rounding: float,
    ) -> "Measuring":
        """Raises InvalidInput for a measurement that the method does not support; with `everything` leaves it out."""
        kept = []
        for name in names:
            try:
                # "all" means all that the method has; a name given on its own must not be dropped silently.
                _require(name, simulator)
                kept.append(name)
            except InvalidInput:
                if not everything:
                    raise
        return Measuring(tuple(kept), simulator, task, lanczos_steps, draws, rounding)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are measured at models, in order."""
        return tuple(column for name in self.names for column in AT_POINTS.get(name, ()))

    def at(self, state: State, t: int) -> dict[str, float]:
        """The columns measured at the state before round t."""
        found: dict[str, float] = {}
        if (training := training_of(self.task.problem)) is not None:
            training.load(self.task.module, state)  # the functions measured are those of the server's buffers
            state = training.use(state)
        # Curvature and decrease both need it: every client's answer is computed once.
        whole = Once(lambda: round_of_all(self.simulator.rounds, state, t, self.simulator.seed))
        for name in self.names:
            if name in AT_POINTS:
                begun = time.perf_counter()
                values = getattr(self, f"_{name}")(state, t, whole)
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun
                found |= dict(zip(AT_POINTS[name], values, strict=True))
        return found

    @property
    def _share(self) -> Share | None:
        """The clients of this process, or None with a single process."""
        return self.simulator.rounds.share

    def nothing(self) -> dict[str, float]:
        """The columns of a model that is not measured: NaN."""
        return dict.fromkeys(self.columns, nan)

    def _heterogeneity(self, state: State, t: int, whole: Callable[[], RoundResult]) -> tuple[float, ...]:
        clients, weights = self.task.problem.clients(self.task.arithmetic), self.task.problem.weights
        if self._share is not None:
            weights = weights[self._share.members]  # the clients of this process, as in `clients`
        found = heterogeneity(clients, weights, state.server, self._share)
        return found.gradient_norm, found.dissimilarity, found.variance

    def _curvature(self, state: State, t: int, whole: Callable[[], RoundResult]) -> tuple[float, ...]:
        clients, share = self.task.problem.clients(self.task.arithmetic), self._share

        def everyones(own: np.ndarray) -> np.ndarray:
            return own if share is None else share.everyones(own, share.members, self.task.problem.num_clients)

        points = [*points_of_round(clients, state.server, whole())]
        at = [curvature(clients, point, self.lanczos_steps, self.simulator.seed, everyones) for point in points]
        here = at[0]
        return (
            here.smoothness, here.smoothness_error, here.weak_convexity, here.least_error, here.least,
            max(found.widened_smoothness for found in at), min(found.widened_least for found in at),
            *between(clients, points, self.rounding, everyones),
        )  # fmt: skip

    def _decrease(self, state: State, t: int, whole: Callable[[], RoundResult]) -> tuple[float, ...]:
        simulator = self.simulator
        found = expected_decrease(
            simulator.rounds, simulator.participation, state, t, simulator.seed, self.draws, whole()
        )
        return found.mean, found.error, found.inexactness

    def _memory(self, state: State, t: int, whole: Callable[[], RoundResult]) -> tuple[float, ...]:
        number = self.task.arithmetic.to_float
        total = state.memory["gradient"].sum(0)
        if self._share is not None:
            total = self._share.total(total)
        # The identity is exact in exact arithmetic: what is measured is rounding, or a fault.
        h, mean = number(state.shared["h"]), number(total) / self.task.problem.num_clients
        size = max(float(np.linalg.norm(h)), float(np.linalg.norm(mean)))
        return (float(np.linalg.norm(h - mean)) / size if size else 0.0,)


def points_of_round(clients: Clients, before: Array, result: RoundResult) -> Iterator[Array]:
    """The points of a round at which curvature is measured, one (d,) for all clients or (m, d), each client's own.

    They are the server's model, the clients' answers, the model after the round, and the points half-way.
    """
    answers, after = result.answers.points, result.state.server
    yield before
    yield answers
    yield (clients.rows(before) + answers) / 2
    yield after
    yield (before + after) / 2


def _require(name: str, simulator: Simulator) -> None:
    method: Any = simulator.rounds.method
    if name == "decrease":
        require_memoryless(simulator.rounds)
        if simulator.stragglers is not None:
            raise InvalidInput("measure", name, "is the expectation without stragglers", "leave out one of them")
    if name == "memory" and not hasattr(method, "alpha"):
        raise InvalidInput("measure", name, f"is for FedDyn, the method is {type(method).__name__}", "leave it out")
