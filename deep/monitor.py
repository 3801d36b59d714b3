"""Looks at the server's models of a run, and keeps the time."""

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan
from typing import Any, final

import numpy as np
from torch import nn

from fedconvex.deep.evaluation import evaluate
from fedconvex.deep.measuring.columns import Measuring
from fedconvex.deep.memory import Budget, with_room
from fedconvex.deep.problem import budget_of
from fedconvex.deep.processes import Processes
from fedconvex.deep.shards import Shards
from fedconvex.deep.tasks import Task
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.runs.measurements import OF_CLIENTS

EVALUATIONS = ("all", "test")


@final
@dataclass(frozen=True, eq=False)
class Monitor:
    """Evaluates and measures before every `every`-th round, and after the last."""

    task: Task
    test: Shards | None
    measuring: Measuring
    every: int
    rounds: int
    processes: Processes | None
    evaluate: str = "all"

    @cached_property
    def module(self) -> nn.Module:
        """A copy of the module to look at points with."""
        return deepcopy(self.task.module)

    @cached_property
    def budget(self) -> Budget:
        """That of all that the run computes for networks; of evaluations alone elsewhere."""
        return budget_of(self.task.problem) or Budget()

    @property
    def seconds(self) -> dict[str, float]:
        """By what was done."""
        return self.measuring.seconds

    def took(self, what: str, begun: float) -> None:
        """Adds the time since `begun`."""
        self.seconds[what] = self.seconds.get(what, 0.0) + time.perf_counter() - begun

    def record(self, t: int, state: State, of_round: dict[str, Any]) -> dict[str, Any]:
        """The row of the model before round t."""
        rest = {name: v.tolist() if name == OF_CLIENTS else v for name, v in of_round.items()}
        if not self._looks_at(t):
            return {"round": t} | self._nothing() | rest | self.measuring.nothing()
        begun = time.perf_counter()
        seen = {"round": t} | with_room(lambda: self._evaluated(state), self.budget, self.processes)
        self.took("evaluation", begun)
        measuring = budget_of(self.task.problem)
        return seen | rest | with_room(lambda: self.measuring.at(state, t), measuring, self.processes)

    def finds_finite(self, record: dict[str, Any]) -> bool:
        """Whether the record's value is a number, or was not looked for; that of the test set where it stands alone."""
        looked = self._looks_at(record["round"])
        return not looked or isfinite(record["value" if self.evaluate == "all" else "test_value"])

    def seen_on_the_way(self, last: dict[str, Any]) -> dict[str, Any]:
        """A checkpoint's last record, as it is if the run goes on from there: looked at for being the last, no more."""
        return last if self._looks_at(last["round"]) else last | self._nothing() | self.measuring.nothing()

    def _looks_at(self, t: int) -> bool:
        return t % self.every == 0 or t == self.rounds

    def _nothing(self) -> dict[str, float]:
        names = ("value", "accuracy", *(("test_value", "test_accuracy") if self.test is not None else ()))
        return dict.fromkeys(names, nan)

    def has_seen(self, until: Callable[[dict[str, Any]], bool] | None, record: dict[str, Any]) -> bool:
        """Whether the run is to end; of several processes the first one decides, so that all end together."""
        if until is None:
            return False
        ended = bool(until(record))
        return ended if self.processes is None else bool(self.processes.from_first(ended))

    def _evaluated(self, state: State) -> dict[str, float]:
        self.task.load(self.module, state.server)
        seen = {"value": nan, "accuracy": nan} if self.evaluate == "test" else self._of_clients(state)
        if self.test is not None:
            losses, correct = evaluate(self.module, self.task.loss, self.test, self.budget)
            seen |= {"test_value": float(losses.mean()), "test_accuracy": correct / len(losses)}
        return seen

    def _of_clients(self, state: State) -> dict[str, float]:
        losses, correct = evaluate(self.module, self.task.loss, self.task.shards, self.budget)
        sums = np.array([self.task.loss_of(losses), correct, float(len(losses))])
        if self.processes is not None:
            sums = self.processes.total_numbers(sums)
        loss, right, samples = sums.tolist()
        return {"value": loss + self.task.penalty(state.server), "accuracy": right / samples}


def require_evaluation(evaluate: str, test: Shards | None) -> None:
    """Raises InvalidInput for an unknown word, and for "test" where there is no test set."""
    if evaluate not in EVALUATIONS:
        raise InvalidInput("evaluate", evaluate, "is unknown", f"give one of {', '.join(EVALUATIONS)}")
    if evaluate == "test" and test is None:
        raise InvalidInput("evaluate", evaluate, "needs a test set, and none was given", "give test=(inputs, targets)")
