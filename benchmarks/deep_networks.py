"""Local SGD of networks that are not fully connected, on one CPU thread, against a plain PyTorch loop.

FedAvg, float32: a convolutional network with max-pooling, an LSTM on characters, and a transformer's encoder layer of
two sizes: of the smaller one all clients of a round advance together, of the larger one each alone, as in the loop. The
smallest of the ratios counts, each of one pair of runs that follow each other.

python benchmarks/deep_networks.py
"""

import statistics
from collections.abc import Callable
from typing import Any

import torch
from plain_loop import plain_round
from run import interleaved, record, row
from torch import Tensor, nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import models
from fedconvex.deep.devices import products_in
from fedconvex.deep.losses import loss_of
from fedconvex.deep.tasks import task_of
from fedconvex.runs.rounds import rounds_of

CLIENTS, ACTIVE, STEPSIZE, REPETITIONS = 10, 5, 0.05, 5
GENERATOR = torch.Generator().manual_seed(0)
Samples = list[tuple[Tensor, Tensor]]


class Encoder(nn.Module):
    """One layer of a transformer over tokens, and a linear layer on its mean."""

    def __init__(self, width: int, tokens: int = 80, classes: int = 10) -> None:
        super().__init__()
        self.vectors = nn.Embedding(tokens, width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 64, 0.0, batch_first=True)
        self.output = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        outputs: Tensor = self.output(self.layer(self.vectors(x)).mean(1))
        return outputs


def images(samples: int = 100) -> Samples:
    """Random images of CIFAR's size."""
    return [
        (torch.rand(samples, 3, 32, 32, generator=GENERATOR), torch.randint(0, 10, (samples,), generator=GENERATOR))
        for _ in range(CLIENTS)
    ]


def texts(length: int, tokens: int = 80, samples: int = 60) -> Samples:
    """Random tokens."""
    return [
        (
            torch.randint(0, tokens, (samples, length), generator=GENERATOR),
            torch.randint(0, 10, (samples,), generator=GENERATOR),
        )
        for _ in range(CLIENTS)
    ]


CASES: dict[
    str, tuple[float, int, Callable[[], nn.Module], Callable[[], Samples]]
] = {  # the target, the size of batches, …
    "CNN with max-pooling": (1.3, 20, lambda: models.two_layer_cnn(), images),
    "LSTM": (1.0, 20, lambda: models.character_lstm(80), lambda: texts(80)),
    "tiny transformer": (1.2, 10, lambda: Encoder(16), lambda: texts(16)),
    "transformer": (1.0, 20, lambda: Encoder(32), lambda: texts(32)),
}


def measured(model: nn.Module, clients: Samples, batch: int) -> dict[str, list[float]]:
    """Seconds of a round, here and in the loop, in pairs."""
    task = task_of(model, clients, loss_of("cross_entropy"), None, 0, torch.device("cpu"), torch.float32)
    solver = fc.SGD(epochs=1, batch_size=batch, stepsize=STEPSIZE)
    with task.arithmetic.context(), products_in("full"):
        method: Any = fc.FedAvg(epochs=1, batch_size=batch, stepsize=STEPSIZE)
        rounds = rounds_of(method, task.problem, task.arithmetic, solver)
        state, draw = rounds.start(task.start()), participation.Uniform(ACTIVE).draw(task.problem, 0, 0)
        times = interleaved(
            {
                "ours": lambda: rounds.advance(state, draw),
                "loop": lambda: plain_round(model, clients, draw, batch, STEPSIZE),
            },
            REPETITIONS,
        )
        moved = rounds.advance(state, draw).server - state.server
    theirs = plain_round(model, clients, draw, batch, STEPSIZE) - state.server
    assert torch.nn.functional.cosine_similarity(moved, theirs, dim=0) > 0.9  # other batches, the same training
    return times


def main() -> None:
    """Times, compares, records."""
    torch.set_num_threads(1)
    rows = []
    for name, (target, batch, network, clients) in CASES.items():
        torch.manual_seed(0)
        times = measured(network(), clients(), batch)
        ratios = [loop / ours for loop, ours in zip(times["loop"], times["ours"], strict=True)]
        print(name, [f"{ratio:.2f}" for ratio in ratios])
        loop = statistics.median(times["loop"])
        rows.append(
            row(f"{name}: times faster than the loop, the least of {REPETITIONS} pairs", min(ratios), target, "×",
                peer="plain PyTorch loop", peer_value=loop, peer_unit="s", ratio=1 / min(ratios), at_least=True,
                seconds=statistics.median(times["ours"]))
        )  # fmt: skip
    record("deep_networks", rows)


if __name__ == "__main__":
    main()
