"""Evaluates and measures the server's models during a deep run, and adds up the time that this takes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, nan
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from fedconvex.deep.devices import wait_for
from fedconvex.deep.evaluation import evaluate
from fedconvex.deep.measuring.columns import Measuring
from fedconvex.deep.memory import Budget, with_room
from fedconvex.deep.metrics import Metric, computed
from fedconvex.deep.networks.layout import duplicate
from fedconvex.deep.problem import budget_of, training_of
from fedconvex.deep.processes import Processes
from fedconvex.deep.shards import Shards
from fedconvex.deep.tasks import Task
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.names import one_of
from fedconvex.runs.measurements import OF_CLIENTS

EVALUATIONS = ("all", "test", "clients")


@final
@dataclass(frozen=True, eq=False)
class Monitor:
    """Evaluates and measures the model before every `every`-th round and after the last."""

    task: Task
    test: Shards | None
    measuring: Measuring
    every: int
    rounds: int
    processes: Processes | None
    evaluate: str = "all"
    metrics: Mapping[str, Metric] = field(default_factory=dict)

    @cached_property
    def module(self) -> nn.Module:
        """A copy of the module, into which the server's models are loaded: the user's own stays unchanged."""
        return duplicate(self.task.module)

    @cached_property
    def budget(self) -> Budget:
        """Of networks: the budget that training and evaluation share; of linear models: one for evaluations alone."""
        return budget_of(self.task.problem) or Budget()

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds by activity: rounds, evaluation, and each kind of measurement."""
        return self.measuring.seconds

    def took(self, what: str, begun: float) -> None:
        """Adds the time since `begun` to that activity."""
        wait_for(self.task.shards.device)
        self.seconds[what] = self.seconds.get(what, 0.0) + time.perf_counter() - begun

    def record(self, t: int, state: State, of_round: dict[str, Any]) -> dict[str, Any]:
        """The row of the model before round t, beside the columns of the round that led to it."""
        rest = {name: v.tolist() if name == OF_CLIENTS else v for name, v in of_round.items()}
        if not self._evaluates_before(t):
            return {"round": t} | self._nothing() | rest | self.measuring.nothing()
        begun = time.perf_counter()
        seen = {"round": t} | with_room(lambda: self._evaluated(state), self.budget, self.processes)
        self.took("evaluation", begun)
        measuring = budget_of(self.task.problem)
        return seen | rest | with_room(lambda: self.measuring.at(state, t), measuring, self.processes)

    def is_finite(self, record: dict[str, Any]) -> bool:
        """Whether the recorded value is finite, or was not evaluated; the test value where only that is evaluated."""
        evaluated = self._evaluates_before(record["round"])
        return not evaluated or isfinite(record["test_value" if self.evaluate == "test" else "value"])

    def as_not_last(self, last: dict[str, Any]) -> dict[str, Any]:
        """A checkpoint's last record as a longer run has it: a row evaluated only for being the last becomes NaN."""
        if self._evaluates_before(last["round"]):
            return last
        numbers = {name: value for name, value in last.items() if name == OF_CLIENTS or not isinstance(value, list)}
        return numbers | self._nothing() | self.measuring.nothing()

    def _evaluates_before(self, t: int) -> bool:
        return t % self.every == 0 or t == self.rounds

    def _nothing(self) -> dict[str, float]:
        of_test = ("test_value", "test_accuracy", *(f"test_{name}" for name in self.metrics))
        names = ("value", "accuracy", *(of_test if self.test is not None else ()))
        return dict.fromkeys(names, nan)

    def ends(self, until: Callable[[dict[str, Any]], bool] | None, record: dict[str, Any]) -> bool:
        """Whether `until` ends the run; with several processes the first one decides, so that all end together."""
        if until is None:
            return False
        ended = bool(until(record))
        return ended if self.processes is None else bool(self.processes.from_first(ended))

    def _evaluated(self, state: State) -> dict[str, Any]:
        self.task.load(self.module, state)
        seen = {"value": nan, "accuracy": nan} if self.evaluate == "test" else self._of_clients(state)
        if self.test is not None:
            kept: list[Tensor] | None = [] if self.metrics else None
            losses, right = evaluate(self.module, self.task.loss, self.test, self.budget, kept)
            seen |= {"test_value": float(losses.mean()), "test_accuracy": float(right.mean())}
            if self.evaluate == "clients" and len(self.test.count) == len(self.task.shards.count):
                seen |= self._of_each("client_test", losses, right, self.test)
            if kept:
                seen |= computed(self.metrics, torch.cat(kept), self.test.targets)
        return seen

    def _of_clients(self, state: State) -> dict[str, Any]:
        losses, right = self._of_samples(state)
        sums = np.array([self.task.loss_of(losses), float(right.sum()), float(len(losses))])
        if self.processes is not None:
            sums = self.processes.total_numbers(sums)
        loss, correct, samples = sums.tolist()
        seen = {"value": loss + self.task.penalty(state.server), "accuracy": correct / samples}
        return seen | self._of_each("client", losses, right, self.task.shards) if self.evaluate == "clients" else seen

    def _of_each(self, name: str, losses: Tensor, right: Tensor, shards: Shards) -> dict[str, Any]:
        """The mean loss and the accuracy of every client's samples."""
        means = ([float(part.mean()) for part in found.split(shards.count.tolist())] for found in (losses, right))
        return dict(zip((f"{name}_value", f"{name}_accuracy"), means, strict=True))

    def _of_samples(self, state: State) -> tuple[Tensor, Tensor]:
        """The losses of all samples, and which are classified correctly."""
        task, training = self.task, training_of(self.task.problem)
        if training is None or not training.keeps:
            return evaluate(self.module, task.loss, task.shards, self.budget)
        found = []
        for k in range(len(task.shards.count)):  # with its own buffers
            task.load(self.module, state, k)
            found.append(evaluate(self.module, task.loss, task.shards.of_client(k), self.budget))
        task.load(self.module, state)
        losses, right = (torch.cat(parts) for parts in zip(*found, strict=True))
        return losses, right


def require_evaluation(evaluate: str, test: Shards | None, processes: Processes | None) -> None:
    """Raises InvalidInput for an unknown value of `evaluate`, and for one that the run cannot have."""
    if evaluate not in EVALUATIONS:
        raise InvalidInput("evaluate", evaluate, "is unknown", one_of(evaluate, EVALUATIONS))
    if evaluate == "test" and test is None:
        raise InvalidInput("evaluate", evaluate, "needs a test set, and none was given", "give test=(inputs, targets)")
    if evaluate == "clients" and processes is not None:
        raise InvalidInput("evaluate", evaluate, "is for one process", "give evaluate='all'")
