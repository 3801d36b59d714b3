"""Local SGD of networks that are not fully connected, on one CPU thread, against a plain PyTorch loop.

FedAvg, float32: a convolutional network with max-pooling, an LSTM on characters, and a transformer's encoder layer of
two sizes: of the smaller one all clients of a round advance together, of the larger one each alone, as in the loop. The
smallest of the ratios counts, each of one pair of runs that follow each other. The last row says how many times faster
than torch's LSTM anything can be that computes its matrix products one by one, as the runner does.

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
from fedconvex.arithmetic.dense import TorchArithmetic
from fedconvex.deep import models
from fedconvex.deep.devices import products_in
from fedconvex.deep.losses import loss_of
from fedconvex.deep.networks.products import product_calls
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


class ByKernel(nn.Module):
    """The model of `character_lstm` as people write it, with torch's LSTM; its parameters have the same order."""

    def __init__(self, tokens: int = 80) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.randn(tokens, 8))
        self.lstm = nn.LSTM(8, 100, 2, batch_first=True)
        self.output = nn.Linear(100, tokens)

    def forward(self, x: Tensor) -> Tensor:
        outputs: Tensor = self.output(self.lstm(self.vectors[x])[0][:, -1])
        return outputs


Models = Callable[[], tuple[nn.Module, nn.Module]]  # the one that is run here, and the loop's
CASES: dict[str, tuple[float, int, Models, Callable[[], Samples]]] = {  # the target, the size of batches, …
    "CNN with max-pooling": (1.3, 20, lambda: (models.two_layer_cnn(),) * 2, images),
    "LSTM": (1.5, 20, lambda: (models.character_lstm(80), ByKernel()), lambda: texts(80)),
    "tiny transformer": (1.2, 10, lambda: (Encoder(16),) * 2, lambda: texts(16)),
    "transformer": (1.0, 20, lambda: (Encoder(32),) * 2, lambda: texts(32)),
}


def measured(model: nn.Module, peer: nn.Module, clients: Samples, batch: int) -> dict[str, list[float]]:
    """Seconds of a round, here and in the loop, in pairs."""
    nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(model.parameters()).detach(), peer.parameters())
    task = task_of(model, clients, loss_of("cross_entropy"), None, 0, torch.device("cpu"), torch.float32)
    solver = fc.SGD(epochs=1, batch_size=batch, stepsize=STEPSIZE)
    with task.arithmetic.context(), products_in("full"):
        method: Any = fc.FedAvg(epochs=1, batch_size=batch, stepsize=STEPSIZE)
        rounds = rounds_of(method, task.problem, task.arithmetic, solver)
        state, draw = rounds.start(task.start()), participation.Uniform(ACTIVE).draw(task.problem, 0, 0)
        times = interleaved(
            {
                "ours": lambda: rounds.advance(state, draw),
                "loop": lambda: plain_round(peer, clients, draw, batch, STEPSIZE),
            },
            REPETITIONS,
        )
        moved = rounds.advance(state, draw).server - state.server
    theirs = plain_round(peer, clients, draw, batch, STEPSIZE) - state.server
    assert torch.nn.functional.cosine_similarity(moved, theirs, dim=0) > 0.9  # other batches, the same training
    return times


def of_products(samples: int = 20, length: int = 80, width: int = 100) -> dict[str, list[float]]:
    """Seconds of a gradient of a two-layer LSTM by its kernel, and of the matrix products in it alone, in pairs."""
    lstm = nn.LSTM(8, width, 2, batch_first=True)
    inputs, every = torch.randn(samples, length, 8), samples * length
    state, gates = torch.randn(1, samples, width), torch.randn(1, samples, 4 * width)
    states, all_gates = torch.randn(1, every, width), torch.randn(1, every, 4 * width)
    forward, backward = torch.randn(1, width, 4 * width), torch.randn(1, 4 * width, width)
    # one after another in each layer: a step needs the state of the one before
    one_step = [
        *product_calls(state, forward, torch.empty_like(gates)),
        *product_calls(gates, backward, torch.empty_like(state)),
    ]
    calls = 2 * length * one_step
    # the inputs of the second layer; those of the first are 8 wide
    calls += product_calls(states, forward, torch.empty_like(all_gates))
    calls += product_calls(all_gates, backward, torch.empty_like(states))
    calls += 3 * product_calls(all_gates.mT, states, torch.empty_like(backward))

    def kernel() -> None:
        lstm.zero_grad()
        lstm(inputs)[0][:, -1].sum().backward()

    with TorchArithmetic().context():
        return interleaved({"kernel": kernel, "products": lambda: [call() for call in calls]}, 4 * REPETITIONS)


def main() -> None:
    """Times, compares, records."""
    torch.set_num_threads(1)
    rows = []
    for name, (target, batch, networks, clients) in CASES.items():
        torch.manual_seed(0)
        times = measured(*networks(), clients(), batch)
        ratios = [loop / ours for loop, ours in zip(times["loop"], times["ours"], strict=True)]
        print(name, [f"{ratio:.2f}" for ratio in ratios])
        loop = statistics.median(times["loop"])
        rows.append(
            row(f"{name}: times faster than the loop, the least of {REPETITIONS} pairs", min(ratios), target, "×",
                peer="plain PyTorch loop", peer_value=loop, peer_unit="s", ratio=1 / min(ratios), at_least=True,
                seconds=statistics.median(times["ours"]))
        )  # fmt: skip
    times = of_products()
    room = [kernel / products for kernel, products in zip(times["kernel"], times["products"], strict=True)]
    rows.append(
        row("LSTM: a gradient by torch's kernel over its matrix products alone", statistics.median(room), 1.2, "×",
            peer="the products", peer_value=statistics.median(times["products"]), peer_unit="s",
            ratio=statistics.median(room), at_least=True)
    )  # fmt: skip
    record("deep_networks", rows)


if __name__ == "__main__":
    main()
