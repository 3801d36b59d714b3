"""Deep runs on one GPU: the FedDyn paper's networks for MNIST and CIFAR-10 against a plain PyTorch loop on it.

python benchmarks/deep_gpu.py
python benchmarks/deep_gpu.py --rehearse    # on the CPU, with little data: whether it works; nothing is recorded
"""

import gc
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from plain_loop import plain_round
from run import RESULTS, interleaved, median_ratio, record, row
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import graphs, models, routes, run
from fedconvex.deep.devices import products_in
from fedconvex.deep.local_sgd import sample_numbers
from fedconvex.deep.losses import loss_of
from fedconvex.deep.memory import TensorMemory
from fedconvex.deep.tasks import task_of
from fedconvex.runs.rounds import rounds_of

REHEARSED = "--rehearse" in sys.argv
CLIENTS, ACTIVE, SAMPLES, BATCH, ROUNDS, REPETITIONS = (4, 2, 10, 5, 1, 1) if REHEARSED else (100, 10, 500, 50, 3, 7)
MATRIX, STEPSIZE = (64 if REHEARSED else 8192), 0.1
PLACE = torch.device("cpu" if REHEARSED else "cuda")


@dataclass(frozen=True)
class Case:
    """A network, the shape of its samples, and the type of its products where that is not float32."""

    name: str
    model: nn.Module
    shape: tuple[int, ...]
    operations: float  # multiplications and additions of one sample's training, those of the input's gradient left out
    lower: torch.dtype | None = None


def finished(call: Callable[[], Any]) -> Callable[[], Any]:
    """The call, until the GPU has done what it was asked for."""

    def run() -> None:
        call()
        if PLACE.type == "cuda":
            torch.cuda.synchronize()

    return run


def operations(model: nn.Module, shape: tuple[int, ...]) -> float:
    """Of one sample's forward pass, weights' gradients and errors: thrice the products, but no errors of the input."""
    counts: list[float] = []

    def count(layer: nn.Module, given: Any, result: torch.Tensor) -> None:
        weight = layer.weight
        assert isinstance(weight, torch.Tensor)
        counts.append(2.0 * weight[0].numel() * result[0].numel())

    hooks = [
        layer.register_forward_hook(count) for layer in model.modules() if isinstance(layer, nn.Linear | nn.Conv2d)
    ]
    model(torch.zeros(1, *shape, device=PLACE))
    for hook in hooks:
        hook.remove()
    return 3 * sum(counts) - counts[0]


def measured(case: Case) -> dict[str, Any]:
    """Seconds of a round of ours and of the loop, and of a product of matrices, in the case's type."""
    generator = torch.Generator().manual_seed(0)
    clients = [
        (torch.rand(SAMPLES, *case.shape, generator=generator), torch.randint(0, 10, (SAMPLES,), generator=generator))
        for _ in range(CLIENTS)
    ]
    on_device = [(X.to(PLACE), y.to(PLACE)) for X, y in clients]
    square = torch.rand(MATRIX, MATRIX, device=PLACE, dtype=case.lower or torch.float32)
    solver = fc.SGD(epochs=1, batch_size=BATCH, stepsize=STEPSIZE)
    task = task_of(case.model, clients, loss_of("cross_entropy"), None, 0, PLACE, torch.float32, lower=case.lower)
    with task.arithmetic.context():
        rounds = rounds_of(
            fc.FedAvg(epochs=1, batch_size=BATCH, stepsize=STEPSIZE), task.problem, task.arithmetic, solver
        )
        state = rounds.start(task.start())
        draws = [participation.Uniform(ACTIVE).draw(task.problem, 0, t) for t in range(ROUNDS)]

        def played() -> None:
            with products_in("full"):  # as in `run`: algorithms that repeat bit for bit
                for draw in draws:
                    rounds.advance(state, draw)

        times = interleaved(
            {
                "ours": finished(played),
                "loop": finished(
                    lambda: [plain_round(case.model, on_device, draw, BATCH, STEPSIZE, case.lower) for draw in draws]
                ),
                "product": finished(lambda: [square @ square for _ in draws]),
            },
            REPETITIONS,
        )
        moved = rounds.advance(state, draws[0]).server - state.server
        theirs = plain_round(case.model, on_device, draws[0], BATCH, STEPSIZE, case.lower) - state.server
        assert torch.nn.functional.cosine_similarity(moved, theirs, dim=0) > 0.8  # other batches, the same training
        profile(case, played)
    return {name: [taken / ROUNDS for taken in values] for name, values in times.items()}


def rows_of_the_device(model: nn.Module) -> list[dict[str, Any]]:
    """What only a device has: steps in CUDA graphs, batches from page-locked memory.

    Each against the same run without it; the sizes are small, so that launches and copies take a part of the time.
    """
    generator = torch.Generator().manual_seed(0)
    clients = [
        (torch.rand(SAMPLES, 784, generator=generator), torch.randint(0, 10, (SAMPLES,), generator=generator))
        for _ in range(CLIENTS)
    ]
    usual = graphs.recorder_for
    options: dict[str, Any] = {
        "rounds": ROUNDS, "participation": participation.Uniform(ACTIVE), "dtype": "float32", "device": PLACE.type,
        "local_solver": fc.SGD(epochs=5, batch_size=BATCH, stepsize=STEPSIZE), "progress": False,
    }  # fmt: skip

    def once(recorder: Any = usual, **more: Any) -> None:
        graphs.recorder_for = recorder
        try:
            run(fc.FedAvg(epochs=5, batch_size=BATCH, stepsize=STEPSIZE), model, clients, **(options | more))
        finally:
            graphs.recorder_for = usual

    # In the rehearsal a recorder that repeats the calls takes the place of CUDA's.
    recorder: Any = (lambda place: lambda calls: calls) if REHEARSED else usual
    calls = {
        "graphs": finished(lambda: once(recorder)),
        "calls": finished(lambda: once(lambda place: None)),
        "disk": finished(lambda: once(recorder, storage="disk")),
        "training": finished(lambda: once(local_mode="training")),
    }
    times = interleaved(calls, REPETITIONS)
    medians = {name: statistics.median(values) for name, values in times.items()}
    what = {
        "graphs": ("784-200-200-10: seconds of a run with steps in CUDA graphs", 1),
        "disk": ("the same with samples on disk, batches from page-locked memory", 1.5),
        "training": ("the same with local steps in training mode, client by client", 10),
    }
    return [
        row(text, median_ratio(times[name], times["calls"]), most, "×", peer="the same run, call by call",
            peer_value=medians["calls"], peer_unit="s", ratio=median_ratio(times[name], times["calls"]))
        for name, (text, most) in what.items()
    ]  # fmt: skip


def row_of_memory(name: str, model: nn.Module, shape: tuple[int, ...]) -> dict[str, Any]:
    """The estimate of a run's memory, which leaves out what CUDA's libraries take for themselves, and the peak."""
    generator = torch.Generator().manual_seed(0)
    clients = [
        (torch.rand(SAMPLES, *shape, generator=generator), torch.randint(0, 10, (SAMPLES,), generator=generator))
        for _ in range(ACTIVE)
    ]
    solver, told = fc.SGD(epochs=1, batch_size=BATCH, stepsize=STEPSIZE), list[Any]()

    def once() -> None:
        run(fc.FedAvg(epochs=1, batch_size=BATCH, stepsize=STEPSIZE), model, clients, rounds=2, local_solver=solver,
            dtype="float32", device=PLACE.type, before=told.append, progress=False)  # fmt: skip

    once()  # torch keeps workspaces of products from the first one on
    if PLACE.type == "cuda":
        gc.collect()  # what is left of the first run
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        begun = torch.cuda.memory_allocated()
        once()
        taken = torch.cuda.max_memory_allocated() - begun
    else:
        with TensorMemory() as counter:
            once()
        taken = counter.peak
    ratio = told[-1].total / taken
    return row(f"{name}: memory, estimated before anything is copied, of the peak", max(ratio, 1 / ratio), 1.2, "×",
               peer="measured peak", peer_value=taken / 1e6, peer_unit="MB", ratio=ratio)  # fmt: skip


def row_of_orders() -> dict[str, Any]:
    """The sample numbers of a round's batches, expanded on the device, against the same on the host and copied."""
    steps, widest = 10 * SAMPLES // BATCH, BATCH
    order = torch.randperm(SAMPLES * ACTIVE).repeat(10)
    numbers = torch.arange(steps * ACTIVE).reshape(ACTIVE, steps).T.contiguous()
    begins = torch.arange(steps * ACTIVE) * widest
    width = torch.full_like(numbers, widest)

    def on(place: torch.device) -> torch.Tensor:
        return sample_numbers(order.to(place), begins.to(place), numbers.to(place), width.to(place), widest)

    host = torch.device("cpu")
    assert torch.equal(on(PLACE).cpu(), on(host))
    times = interleaved(
        {
            "device": finished(lambda: on(PLACE)),
            "host": finished(lambda: on(host).to(PLACE)),
        },
        REPETITIONS,
    )
    ratio = median_ratio(times["device"], times["host"])
    return row("orders of 10 epochs' batches, expanded on the device", ratio, 0.5, "×", peer="on the host, then copied",
               peer_value=statistics.median(times["host"]), peer_unit="s", ratio=ratio)  # fmt: skip


def row_of_routes(model: nn.Module, shape: tuple[int, ...]) -> dict[str, Any]:
    """Steps of convolutions by the route that was measured to be the faster one, against the other."""
    with products_in("full"):
        return _row_of_routes(model, shape)


def _row_of_routes(model: nn.Module, shape: tuple[int, ...]) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(0)
    clients = [
        (torch.rand(SAMPLES, *shape, generator=generator), torch.randint(0, 10, (SAMPLES,), generator=generator))
        for _ in range(ACTIVE)
    ]
    solver = fc.SGD(epochs=1, batch_size=BATCH, stepsize=STEPSIZE)
    calls: dict[bool, Callable[[], Any]] = {}
    found = False
    for together in (True, False):
        task = task_of(model, clients, loss_of("cross_entropy"), None, 0, PLACE, torch.float32)
        if together:
            found = bool(routes.take_route(task, solver, None))
        routes.take_route(task, solver, together)
        rounds = rounds_of(
            fc.FedAvg(epochs=1, batch_size=BATCH, stepsize=STEPSIZE), task.problem, task.arithmetic, solver
        )
        state, draw = rounds.start(task.start()), participation.Uniform(ACTIVE).draw(task.problem, 0, 0)
        calls[together] = finished(partial(rounds.advance, state, draw))
    times = interleaved({"chosen": calls[found], "other": calls[not found]}, REPETITIONS)
    ratio = median_ratio(times["chosen"], times["other"])
    name = "together" if found else "one by one"
    return row(f"CNN: a round by the measured route ({name})", ratio, 1.1, "×", peer="the other route",
               peer_value=statistics.median(times["other"]), peer_unit="s", ratio=ratio)  # fmt: skip


def profile(case: Case, call: Callable[[], Any]) -> None:
    """Where the time of rounds goes, kernel by kernel, in results/deep_gpu_NAME.txt."""
    from torch.profiler import ProfilerActivity, profile

    watched = [ProfilerActivity.CPU] if REHEARSED else [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=watched) as found:
        finished(call)()
    order = "self_cpu_time_total" if REHEARSED else "self_cuda_time_total"
    table = found.key_averages().table(sort_by=order, row_limit=25, max_name_column_width=60)
    if not REHEARSED:
        (RESULTS / f"deep_gpu_{case.name}.txt").write_text(table, "utf-8")


def rows(case: Case, what: str, share: float | None) -> list[dict[str, Any]]:
    """The case's lines of the table; share: what part of the matrix throughput is to be reached."""
    times = measured(case)
    medians = {name: statistics.median(values) for name, values in times.items()}
    speedup = median_ratio(times["loop"], times["ours"])
    work = case.operations * ACTIVE * SAMPLES
    rate = statistics.median(
        work / ours / (2.0 * MATRIX**3 / product) for ours, product in zip(times["ours"], times["product"], strict=True)
    )
    found = [
        row(f"{what}: times faster than the loop", speedup, 10, "×", peer="plain PyTorch loop",
            peer_value=medians["loop"], peer_unit="s", ratio=1 / speedup, at_least=True, seconds=medians["ours"])
    ]  # fmt: skip
    if share is not None:
        found.append(
            row("the same: part of the device's matrix throughput", rate, share, "×",
                peer=f"{MATRIX} × {MATRIX} product", peer_value=medians["product"], peer_unit="s", ratio=rate,
                at_least=True)
        )  # fmt: skip
    return found


def main() -> None:
    """Times, compares, records; does nothing where there is no GPU."""
    if not REHEARSED and not torch.cuda.is_available():
        print("deep_gpu: torch sees no GPU here, nothing was measured")
        return
    torch.manual_seed(0)
    dense = models.fully_connected([784, 200, 200, 10]).to(PLACE)
    size, filters, hidden = (16, (2, 3), (5, 4)) if REHEARSED else (32, (64, 64), (394, 192))
    convolutions = models.two_layer_cnn(10, 3, size, filters, hidden).to(PLACE)
    many = f"{ACTIVE} of {CLIENTS} clients, E = 1, batch {BATCH}"
    found = [
        *rows(Case("dense", dense, (784,), operations(dense, (784,))), f"784-200-200-10, {many}", None),
        *rows(
            Case("cnn", convolutions, (3, size, size), operations(convolutions, (3, size, size)), torch.bfloat16),
            f"CNN on {size} × {size} × 3, bf16, {many}",
            0.4,
        ),
    ]
    found += [*rows_of_the_device(dense), row_of_orders(), row_of_routes(convolutions, (3, size, size))]
    found += [row_of_memory("784-200-200-10", dense, (784,)), row_of_memory("CNN", convolutions, (3, size, size))]
    if REHEARSED:
        print("rehearsed:", ", ".join(f"{line['what']} {line['value']:.3g}" for line in found))
        return
    record("deep_gpu", found, gpu=torch.cuda.get_device_name(PLACE), profiles=sorted(map(str, profiles())))


def profiles() -> list[Path]:
    """The files that say where the time goes."""
    return [file.relative_to(RESULTS.parent) for file in RESULTS.glob("deep_gpu_*.txt")]


if __name__ == "__main__":
    main()
