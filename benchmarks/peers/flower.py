"""FedAvg in Flower: its message API, FedAvg strategy and simulation engine, one worker on one core.

python -m peers.flower task.npz
"""

import sys
import time
from collections.abc import Iterable
from typing import Any

import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from peers.task import Batches, Task, load, report


class Strategy(FedAvg):
    """Flower's, with the task's participants: the nodes are alike, the message says whose samples to take."""

    def __init__(self, task: Task) -> None:
        nodes, taking_part = len(task.clients), len(task.schedule[0])
        super().__init__(
            fraction_train=taking_part / nodes,
            fraction_evaluate=0.0,
            min_train_nodes=taking_part,
            min_available_nodes=nodes,
        )
        self.task, self.ends = task, list[float]()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The messages of a round; the clock is looked at when the first begins and whenever one has ended."""
        self.ends.append(time.perf_counter())
        messages = list(super().configure_train(server_round, arrays, config, grid))
        for k, message in zip(self.task.schedule[server_round - 1], messages, strict=True):
            message.content = RecordDict({"arrays": arrays, "config": ConfigRecord({**config, "client": k})})
        return messages


def client_app(task: Task, path: str) -> ClientApp:
    """Local SGD, as the quickstart for PyTorch does it."""
    app = ClientApp()
    classes, features = task.classes, task.features
    epochs, batch_size, stepsize = task.epochs, task.batch_size, task.stepsize

    @app.train()
    def train(message: Message, context: Context) -> Message:
        torch.set_num_threads(1)
        X, y = load(path).clients[int(message.content["config"]["client"])]
        model = torch.nn.Linear(features, classes)
        model.load_state_dict(message.content["arrays"].to_torch_state_dict())
        criterion = torch.nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(model.parameters(), lr=stepsize)
        batches = Batches(torch.tensor(X, dtype=torch.float32), torch.tensor(y), batch_size)
        model.train()
        for _ in range(epochs):
            for inputs, labels in batches:
                optimizer.zero_grad()
                criterion(model(inputs), labels).backward()
                optimizer.step()
        content = {"arrays": ArrayRecord(model.state_dict()), "metrics": MetricRecord({"num-examples": len(y)})}
        return Message(content=RecordDict(content), reply_to=message)

    return app


def main() -> None:
    """Run the task and report."""
    path = sys.argv[1]
    task = load(path)
    strategy = Strategy(task)
    server = ServerApp()
    found: dict[str, Any] = {}

    @server.main()
    def serve(grid: Grid, context: Context) -> None:
        model = torch.nn.Linear(task.features, task.classes)
        for parameter in model.parameters():
            torch.nn.init.zeros_(parameter)
        result = strategy.start(grid, ArrayRecord(model.state_dict()), num_rounds=len(task.schedule))
        strategy.ends.append(time.perf_counter())
        found.update(result.arrays.to_torch_state_dict())

    run_simulation(
        server,
        client_app(task, path),
        num_supernodes=len(task.clients),
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}, "init_args": {"num_cpus": 1}},
    )
    report(task, strategy.ends, found["weight"].numpy(), found["bias"].numpy(), ("flwr", "ray", "torch"))


if __name__ == "__main__":
    main()
