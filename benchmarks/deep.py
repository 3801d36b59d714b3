"""Deep runs on one CPU thread: the FedDyn paper's network for MNIST against a plain PyTorch loop, and measuring B(w).

python benchmarks/deep.py
"""

import statistics
from itertools import pairwise
from typing import Any

import torch
from plain_loop import plain_round
from run import interleaved, median_ratio, record, row
from scipy.linalg.blas import sgemm as blas
from torch import Tensor, nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import models
from fedconvex.deep.losses import loss_of
from fedconvex.deep.measuring.columns import heterogeneity
from fedconvex.deep.networks.products import blas_is_faster
from fedconvex.deep.tasks import task_of
from fedconvex.participation import Draw
from fedconvex.runs.rounds import rounds_of

CLIENTS, SAMPLES, ACTIVE, BATCH, STEPSIZE = 100, 600, 10, 50, 0.1
SIZES = [784, 200, 200, 10]
REPETITIONS, ROUNDS, MATRIX = 9, 5, 1024


def samples() -> list[tuple[Tensor, Tensor]]:
    """Random images in float32: what they show does not change the time."""
    generator = torch.Generator().manual_seed(0)
    return [
        (torch.rand(SAMPLES, 784, generator=generator), torch.randint(0, 10, (SAMPLES,), generator=generator))
        for _ in range(CLIENTS)
    ]


def gradient_pass(model: nn.Module, clients: list[Any]) -> Tensor:
    """The objective's gradient, client after client, as one writes it."""
    model.zero_grad()
    for X, y in clients:
        (nn.functional.cross_entropy(model(X), y) / len(clients)).backward()
    return torch.cat([p.grad.reshape(-1) for p in model.parameters() if p.grad is not None])


def training_operations() -> float:
    """Multiplications and additions of one round's matrix products: forward, errors (not to the inputs), gradients."""
    products = [a * b for a, b in pairwise(SIZES)]
    return 2.0 * ACTIVE * SAMPLES * (3 * sum(products) - products[0])


def main() -> None:
    """Times, compares, records."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, clients = models.fully_connected(SIZES), samples()
    task = task_of(model, clients, loss_of("cross_entropy"), None, 0, torch.device("cpu"), torch.float32)
    solver = fc.SGD(epochs=1, batch_size=BATCH, stepsize=STEPSIZE)
    with task.arithmetic.context():
        rounds = rounds_of(
            fc.FedAvg(epochs=1, batch_size=BATCH, stepsize=STEPSIZE), task.problem, task.arithmetic, solver
        )
        state, square = rounds.start(task.start()), torch.rand(MATRIX, MATRIX)
        transposed = square.numpy().T  # as BLAS stores matrices
        draws: list[Draw] = [participation.Uniform(ACTIVE).draw(task.problem, 0, t) for t in range(ROUNDS)]
        all_clients = task.problem.clients(task.arithmetic)
        times = interleaved(
            {  # as in a run: in every round other clients, whose samples have left the cache
                "ours": lambda: [rounds.advance(state, draw) for draw in draws],
                "loop": lambda: [plain_round(model, clients, draw, BATCH, STEPSIZE) for draw in draws],
                "sgemm": lambda: [square @ square for _ in draws],
                "BLAS": lambda: [blas(1.0, transposed, transposed) for _ in draws],
                "B": lambda: heterogeneity(all_clients, task.problem.weights, state.server),
                "gradient": lambda: gradient_pass(model, clients),
            },
            REPETITIONS,
        )
    moved = rounds.advance(state, draws[0]).server - state.server
    theirs = plain_round(model, clients, draws[0], BATCH, STEPSIZE) - state.server
    assert torch.nn.functional.cosine_similarity(moved, theirs, dim=0) > 0.9  # other batches, the same training
    mean = heterogeneity(all_clients, task.problem.weights, state.server).gradient_norm
    assert abs(mean / float(gradient_pass(model, clients).norm()) - 1) < 1e-4
    for name in ("ours", "loop", "sgemm", "BLAS"):
        times[name] = [taken / ROUNDS for taken in times[name]]
    medians = {name: statistics.median(values) for name, values in times.items()}
    speedup = median_ratio(times["loop"], times["ours"])
    passes = median_ratio(times["B"], times["gradient"])
    rates, of_blas = (
        [
            training_operations() / ours / (2 * MATRIX**3 / product)
            for ours, product in zip(times["ours"], times[library], strict=True)
        ]
        for library in ("sgemm", "BLAS")
    )
    product = f"{MATRIX} × {MATRIX} product"
    note = (
        f"The {product} takes {1e3 * medians['BLAS']:.1f} ms by SciPy's BLAS, of whose rate a round reaches "
        f"{statistics.median(of_blas):.2f}. The rounds' products are "
        f"{'by that BLAS, as it has wider vectors here' if blas_is_faster() else 'by torch'}."
    )
    record(
        "deep",
        [
            row("784-200-200-10, 10 of 100 clients, E = 1, batch 50: times faster than the loop", speedup, 2, "×",
                peer="plain PyTorch loop", peer_value=medians["loop"], peer_unit="s", ratio=1 / speedup, at_least=True,
                seconds=medians["ours"]),
            row("the same: part of the rate of torch's sgemm", statistics.median(rates), 0.8, "×",
                peer=product, peer_value=medians["sgemm"], peer_unit="s",
                ratio=statistics.median(rates), at_least=True),
            row("measuring B(w) over all 100 clients: times a gradient pass", passes, 1.5, "×",
                peer="gradient pass, client after client", peer_value=medians["gradient"], peer_unit="s",
                ratio=passes, seconds=medians["B"]),
        ],
        notes=[note],
    )  # fmt: skip


if __name__ == "__main__":
    main()
