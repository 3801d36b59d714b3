"""What determines a deep run, so that no run goes on from a checkpoint of another one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import torch

from fedconvex.arithmetic.rationals import Array
from fedconvex.deep.evaluation import evaluate
from fedconvex.deep.shards import Shards
from fedconvex.deep.tasks import Task
from fedconvex.fingerprints import fingerprint
from fedconvex.runs.simulator import Simulator

FEW = 64  # samples, from all over
SHARED = {torch.float64: 1e-8, torch.float32: 1e-4}  # up to which part of the largest loss machines agree


@final
@dataclass(frozen=True)
class RunIdentity:
    """Fingerprints of all that determines a run, by name, and the losses of a few samples at its start.

    These tell models and losses whose code is another one, which has no fingerprint.
    """

    marks: Mapping[str, str]
    losses: tuple[float, ...]
    tolerance: float

    @staticmethod
    def of(
        task: Task,
        shards: Shards,
        player: Simulator,
        start: Array,
        names: tuple[str, ...],
        test: Shards | None,
        *numbers: int,
    ) -> "RunIdentity":
        """shards: all clients' samples. names, numbers: what is measured, and how often and how well."""
        trained = {name for name, parameter in task.module.named_parameters() if parameter.requires_grad}
        held = dict(task.module.named_buffers()) | task.module.state_dict()  # that one lacks what is not persistent
        fixed = {name: value for name, value in held.items() if name not in trained}
        parts: dict[str, Any] = {
            "method": player.rounds.method,
            "model": [type(task.module).__name__, str(task.module), start, fixed],
            "loss": task.loss.name,
            "clients": [shards.inputs, shards.targets, shards.count],
            "weights": task.problem.exact_weights,
            "ridge": task.ridge,
            "local_solver": player.rounds.solver,
            "participation": player.participation,
            "stragglers": player.stragglers,
            "seed": player.seed,
            "dtype": str(shards.dtype),
            "device": shards.inputs.device.type,
            "measure": [names, numbers],
            "test": None if test is None else [test.inputs, test.targets],
        }
        marks = {name: fingerprint(value, name) for name, value in parts.items()}
        rows = (torch.arange(FEW) * len(shards.targets) // FEW).to(shards.targets.device)
        some = replace(shards, inputs=shards.inputs[rows], targets=shards.targets[rows])
        losses, _ = evaluate(task.module, task.loss, some)
        return RunIdentity(marks, tuple(losses.tolist()), SHARED[shards.dtype])

    @property
    def saved(self) -> dict[str, Any]:
        """What `differences` compares with, for JSON."""
        return {"marks": dict(self.marks), "losses": self.losses}

    def differences(self, saved: Mapping[str, Any]) -> list[str]:
        """What another run has otherwise, by name. Raises KeyError, TypeError or ValueError for anything else."""
        found = [name for name, mark in self.marks.items() if saved["marks"][name] != mark]
        here, there = np.array(self.losses), np.array(saved["losses"], dtype=float)
        largest = np.abs(here).max(initial=0, where=np.isfinite(here))
        if not found and not np.allclose(here, there, rtol=0, atol=self.tolerance * largest, equal_nan=True):
            found = ["model or loss (that of its first model is not the same)"]
        return found
