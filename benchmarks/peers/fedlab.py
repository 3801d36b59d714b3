"""FedAvg in FedLab: its serial client trainer, server handler and standalone pipeline.

Added as its documentation shows: a data set, who takes part, and weights by samples, which its handler leaves out.

    python -m peers.fedlab task.npz
"""

import sys
import time
import types
from typing import Any

import torch
from peers.task import Batches, Task, load, report

try:
    import torchvision  # noqa: F401 - whether it can be imported is all that counts
except (ImportError, RuntimeError, OSError):
    # FedLab imports torchvision for image data sets that are not used here; its builds may not fit this torch
    for name in ("torchvision", "torchvision.transforms", "torchvision.datasets"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["torchvision"].transforms = sys.modules["torchvision.transforms"]  # type: ignore[attr-defined]
    sys.modules["torchvision"].datasets = sys.modules["torchvision.datasets"]  # type: ignore[attr-defined]
    sys.modules["torchvision.datasets"].CIFAR10 = object  # type: ignore[attr-defined]

from fedlab.contrib.algorithm.basic_client import SGDSerialClientTrainer
from fedlab.contrib.algorithm.basic_server import SyncServerHandler
from fedlab.contrib.dataset.basic_dataset import FedDataset
from fedlab.core.standalone import StandalonePipeline
from fedlab.utils import Aggregators, SerializationTool


class Clients(FedDataset):
    """The task's samples."""

    def __init__(self, task: Task) -> None:
        self.parts = [(torch.tensor(X, dtype=torch.float32), torch.tensor(y)) for X, y in task.clients]

    def get_dataloader(self, id: int, batch_size: int, type: str = "train") -> Batches:
        """Client `id`'s batches."""
        return Batches(*self.parts[id], batch_size)


class Trainer(SGDSerialClientTrainer):
    """FedLab's, sending the number of samples along."""

    def train(self, model_parameters: torch.Tensor, train_loader: Batches) -> list[Any]:
        """One client's training."""
        return [*super().train(model_parameters, train_loader), len(train_loader.y)]


class Server(SyncServerHandler):
    """FedLab's, with the task's participants, and weights by samples."""

    schedule: list[list[int]]

    def sample_clients(self) -> list[int]:
        """The participants of the round."""
        return self.schedule[self.round]

    def global_update(self, buffer: list[Any]) -> None:
        """The weighted average."""
        parameters = Aggregators.fedavg_aggregate([part[0] for part in buffer], [part[1] for part in buffer])
        SerializationTool.deserialize_model(self._model, parameters)


class Pipeline(StandalonePipeline):
    """FedLab's; looks at the clock where others evaluate."""

    ends: list[float]

    def evaluate(self) -> None:
        """At the end of a round."""
        self.ends.append(time.perf_counter())


def main() -> None:
    """Run the task and report."""
    torch.set_num_threads(1)
    task = load(sys.argv[1])
    model = torch.nn.Linear(task.features, task.classes)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    taking_part = len(task.schedule[0])
    server = Server(model, global_round=len(task.schedule), sample_ratio=taking_part / len(task.clients))
    server.schedule = task.schedule
    trainer = Trainer(model, num_clients=len(task.clients))
    trainer.setup_dataset(Clients(task))
    trainer.setup_optim(task.epochs, task.batch_size, task.stepsize)
    pipeline = Pipeline(server, trainer)
    assert server.num_clients_per_round == taking_part
    pipeline.ends = [time.perf_counter()]
    pipeline.main()
    weight, bias = (p.detach().numpy() for p in server.model.parameters())
    report(task, pipeline.ends, weight, bias, ("fedlab", "torch"))


if __name__ == "__main__":
    main()
