"""Identity of a deep run: everything that determines its result, so that no checkpoint is continued as another run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import torch

from fedconvex.arithmetic.rationals import Array
from fedconvex.deep.evaluation import evaluate
from fedconvex.deep.local_mode import name_of, transformed
from fedconvex.deep.problem import training_of
from fedconvex.deep.shards import Shards
from fedconvex.deep.tasks import Task
from fedconvex.fingerprints import fingerprint
from fedconvex.runs.simulator import Simulator

FEW = 64  # samples whose losses are compared, spread over all clients
TOLERANCES = {torch.float64: 1e-8, torch.float32: 1e-4}  # relative to the largest loss: machines round differently


@final
@dataclass(frozen=True)
class RunIdentity:
    """Fingerprints of all that determines a run, by name, and the initial losses of a few samples.

    Code has no fingerprint: the losses reveal a model, a loss function or a transform whose code was changed.
    """

    fingerprints: Mapping[str, str]
    losses: tuple[float, ...]
    tolerance: float

    @staticmethod
    def of(
        task: Task,
        shards: Shards,
        simulator: Simulator,
        start: Array,
        names: tuple[str, ...],
        test: Shards | None,
        *numbers: int,
    ) -> "RunIdentity":
        """The identity of a run. shards: the samples of all clients, of every process.

        names, numbers: the measurements of the run, with their frequency and accuracy.
        """
        training = training_of(task.problem)
        transform = None if training is None or training.transform is None else name_of(training.transform)
        trained = {name for name, parameter in task.module.named_parameters() if parameter.requires_grad}
        held = dict(task.module.named_buffers()) | task.module.state_dict()  # the latter lacks buffers not persistent
        fixed = {name: value for name, value in held.items() if name not in trained}
        parts: dict[str, Any] = {
            "method": simulator.rounds.method,
            "model": [type(task.module).__name__, str(task.module), start, fixed],
            "loss": task.loss.name,
            "clients": [shards.inputs, shards.targets, shards.count, *_factors(shards)],
            "weights": task.problem.exact_weights,
            "ridge": task.ridge,
            "local_solver": simulator.rounds.solver,
            "participation": simulator.participation,
            "stragglers": simulator.stragglers,
            "seed": simulator.seed,
            "dtype": str(shards.dtype),
            "device": shards.device.type,
            "measure": [names, numbers],
            "local_mode": None if training is None else [training.choices, transform],
            "test": None if test is None else [test.inputs, test.targets, *_factors(test)],
        }
        fingerprints = {name: fingerprint(value, name) for name, value in parts.items()}
        rows = (torch.arange(FEW) * len(shards.targets) // FEW).to(shards.targets.device)
        some = shards.rows(rows)
        losses, _ = evaluate(task.module, task.loss, some)
        found = losses.tolist()
        if training is not None and training.transform is not None:
            changed = transformed(training.transform, some.given(some.inputs), 0)
            found += evaluate(task.module, task.loss, replace(some, inputs=changed))[0].tolist()
        return RunIdentity(fingerprints, tuple(found), TOLERANCES[shards.dtype])

    @property
    def saved(self) -> dict[str, Any]:
        """The identity as JSON data, for the argument of `differences` in a later run."""
        return {"marks": dict(self.fingerprints), "losses": self.losses}

    def differences(self, saved: Mapping[str, Any]) -> list[str]:
        """Names of the parts in which a saved run differs. Raises KeyError, TypeError or ValueError for other data."""
        found = [name for name, own in self.fingerprints.items() if saved["marks"][name] != own]
        here, there = np.array(self.losses), np.array(saved["losses"], dtype=float)
        largest = np.abs(here).max(initial=0, where=np.isfinite(here))
        # The tolerance is relative to the largest loss: small losses are differences, rounded as the large ones are.
        if not found and not np.allclose(here, there, rtol=0, atol=self.tolerance * largest, equal_nan=True):
            code = "model, loss or transform" if len(here) > FEW else "model or loss"
            found = [f"{code} (the losses of its first model differ)"]
        return found


def _factors(shards: Shards) -> list[Any]:
    return [] if shards.factors is None else [shards.factors]
