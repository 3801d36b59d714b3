"""FedAvg in pfl-research: its simulated backend, federated averaging, PyTorch model and data sets.

Its in-memory data sets are cut into batches once and not shuffled.

    python -m peers.pfl task.npz
"""

import sys
import time
from itertools import chain
from typing import Any

import torch
from peers.task import load, report
from pfl.aggregate.simulate import SimulatedBackend
from pfl.aggregate.weighting import WeightByDatapoints
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.pytorch import PyTorchTensorDataset
from pfl.hyperparam.base import NNEvalHyperParams, NNTrainHyperParams
from pfl.metrics import Metrics, Weighted
from pfl.model.pytorch import PyTorchModel


class Linear(torch.nn.Linear):
    """A model as pfl wants it: with a loss and metrics of its own."""

    def loss(self, X: torch.Tensor, y: torch.Tensor, eval: bool = False) -> torch.Tensor:
        """The mean over a batch."""
        self.eval() if eval else self.train()
        return torch.nn.functional.cross_entropy(self(X), y)

    @torch.no_grad()
    def metrics(self, X: torch.Tensor, y: torch.Tensor, eval: bool = True) -> dict[str, Any]:
        """What is evaluated, if anything is."""
        return {"loss": Weighted(self.loss(X, y, eval=eval).item() * len(y), len(y))}


class Clock(TrainingProcessCallback):
    """Looks at the clock at the end of every round."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_train_begin(self, *, model: Any) -> Metrics:
        """At the start."""
        self.ends.append(time.perf_counter())
        return Metrics()

    def after_central_iteration(
        self, aggregate_metrics: Metrics, model: Any, *, central_iteration: int
    ) -> tuple[bool, Metrics]:
        """At the end of a round; the run goes on."""
        self.ends.append(time.perf_counter())
        return False, Metrics()


def main() -> None:
    """Run the task and report."""
    torch.set_num_threads(1)
    task = load(sys.argv[1])
    module = Linear(task.features, task.classes)
    for parameter in module.parameters():
        torch.nn.init.zeros_(parameter)
    model = PyTorchModel(module, torch.optim.SGD, torch.optim.SGD(module.parameters(), lr=1.0))
    parts = [
        PyTorchTensorDataset((torch.tensor(X, dtype=torch.float32), torch.tensor(y)), user_id=str(k))
        for k, (X, y) in enumerate(task.clients)
    ]
    participants = chain.from_iterable(task.schedule)
    data = FederatedDataset(parts.__getitem__, lambda: next(participants))
    backend = SimulatedBackend(training_data=data, val_data=data, postprocessors=[WeightByDatapoints()])
    params = NNAlgorithmParams(
        central_num_iterations=len(task.schedule),
        evaluation_frequency=len(task.schedule),  # in the first round, which is not counted
        train_cohort_size=len(task.schedule[0]),
        val_cohort_size=0,
    )
    training = NNTrainHyperParams(
        local_num_epochs=task.epochs, local_learning_rate=task.stepsize, local_batch_size=task.batch_size
    )
    clock = Clock()
    FederatedAveraging().run(params, backend, model, training, NNEvalHyperParams(local_batch_size=None), [clock])
    weight, bias = (p.detach().numpy() for p in module.parameters())
    report(task, clock.ends, weight, bias, ("pfl", "torch"))


if __name__ == "__main__":
    main()
