"""`fedconvex.deep.run` against a plain PyTorch loop over clients and batches, and against other packages.

FedProx's Synthetic(1, 1): FedAvg, 30 clients, 10 a round, 20 epochs, batches of 10, multinomial logistic regression
60 → 10 from 0, stepsize 0.01, one thread. The same clients take part in the same rounds everywhere; averages are
weighted by samples. The first rounds warm up and are not counted.

    python benchmarks/deep_local_sgd.py --peer fedjax=/path/to/its/python --peer flower=/path/to/its/python

Peers (flower, pfl, fedlab, fedjax; one script each in peers/) run in environments of their own, in float32. They may
also be named in FEDCONVEX_PEERS, with commas between them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peers.task import Task
from run import FOLDER, interleaved, median_ratio, record, row

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.participation import UniformThenWeighted
from fedconvex.randomness import Purpose, stream

EPOCHS, BATCH, STEPSIZE, CHOSEN, SEED = 20, 10, 0.01, 10, 0
WARM, ROUNDS, REPETITIONS, PEER_REPETITIONS, BESIDE = 2, 6, 5, 3, 3
TARGET, PEER_TARGET = 15, 5
PEERS = ("flower", "pfl", "fedlab", "fedjax")
DTYPES = {"float64": torch.float64, "float32": torch.float32}
CLOSE = {"float64": 1e-9, "float32": 1e-3}  # losses after the same batches; sums in another order in float32
ALIKE = 0.02  # losses after other orders of batches
PEER_SECONDS = 600
ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "CUDA_VISIBLE_DEVICES": "",
}


def make_task() -> Task:
    """The data, and the clients that `run` draws from the same seed."""
    data = fc.data.synthetic(alpha=1, beta=1, seed=SEED)
    problem = data.problem(model="multinomial", ridge=0)
    draws = [UniformThenWeighted(CHOSEN).draw(problem, SEED, t).members for t in range(WARM + ROUNDS)]
    clients = [
        (np.array(X), np.searchsorted(data.classes, y)) for X, y in zip(data.features, data.targets, strict=True)
    ]
    schedule = [[int(k) for k in members] for members in draws if members is not None]
    return Task(clients, schedule, WARM, EPOCHS, BATCH, STEPSIZE, len(data.classes))


def linear(task: Task, dtype: torch.dtype) -> torch.nn.Linear:
    """The model at 0."""
    model = torch.nn.Linear(task.features, task.classes, dtype=dtype)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    return model


class Ours:
    """`run`, as a user calls it."""

    def __init__(self, task: Task, dtype: torch.dtype) -> None:
        self.task, self.dtype = task, dtype
        self.model, self.method = linear(task, dtype), fc.FedAvg(epochs=EPOCHS, batch_size=BATCH, stepsize=STEPSIZE)

    def __call__(self, rounds: int, every: int = WARM + ROUNDS) -> float:
        """The loss after so many rounds, evaluated before the first, every so many, and after the last."""
        found = run(
            self.method, self.model, self.task.clients, rounds=rounds, participation=UniformThenWeighted(CHOSEN),
            weights="samples", seed=SEED, dtype=self.dtype, every=every, progress=False,
        )  # fmt: skip
        assert [record["participants"] for record in found.records[1:]] == [CHOSEN] * rounds
        return float(found.records[-1]["value"])


Order = Callable[[int, int], Callable[[int], torch.Tensor]]  # round, client -> (samples -> an order of them, anew)


def any_order(t: int, k: int) -> Callable[[int], torch.Tensor]:
    """What people write."""
    return torch.randperm


def same_order(t: int, k: int) -> Callable[[int], torch.Tensor]:
    """The orders that `run` draws."""
    generator = stream(SEED, Purpose.MINIBATCHES, t, k)
    return lambda n: torch.from_numpy(generator.permutation(n))


class PlainLoop:
    """What people write: a model, an optimiser, two loops; no DataLoader, which would take as long again."""

    def __init__(self, task: Task, dtype: torch.dtype) -> None:
        self.task, self.model = task, linear(task, dtype)
        self.clients = [(torch.tensor(X, dtype=dtype), torch.tensor(y)) for X, y in task.clients]
        self.server = [torch.zeros_like(p) for p in self.model.parameters()]
        self.criterion = torch.nn.CrossEntropyLoss()

    def __call__(self, first: int, last: int, order: Order = any_order) -> float:
        """The loss after the rounds first, …, last − 1, from wherever the last call ended."""
        for t in range(first, last):
            members = self.task.schedule[t]
            total = sum(len(self.clients[k][1]) for k in members)
            mean = [torch.zeros_like(p) for p in self.server]
            for k in members:
                X, y = self.clients[k]
                for summand, part in zip(mean, self._train(X, y, order(t, k)), strict=True):
                    summand += len(y) / total * part
            self.server = mean
        weight, bias = (p.numpy() for p in self.server)
        return self.task.loss(weight, bias)

    def _train(self, X: torch.Tensor, y: torch.Tensor, order: Callable[[int], torch.Tensor]) -> list[torch.Tensor]:
        with torch.no_grad():
            for parameter, value in zip(self.model.parameters(), self.server, strict=True):
                parameter.copy_(value)
        optimiser = torch.optim.SGD(self.model.parameters(), lr=STEPSIZE)
        for _ in range(EPOCHS):
            for batch in order(len(y)).split(BATCH):
                optimiser.zero_grad()
                self.criterion(self.model(X[batch]), y[batch]).backward()
                optimiser.step()
        return [p.detach().clone() for p in self.model.parameters()]


def of_rounds(times: dict[str, list[float]], name: str) -> list[float]:
    """Seconds a round: the long runs' minus the short ones', which leaves out set-up and evaluations."""
    pairs = zip(times[f"{name}, long"], times[f"{name}, short"], strict=True)
    return [(long - short) / ROUNDS for long, short in pairs]


def against_the_loop(task: Task, ours: dict[str, Ours]) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows for both precisions, after checking that run and loop arrive at the same loss."""
    plain = {name: PlainLoop(task, dtype) for name, dtype in DTYPES.items()}
    notes, calls = [], dict[str, Callable[[], Any]]()
    for name, loop in plain.items():
        loss, peer_loss = ours[name](WARM + ROUNDS), loop(0, WARM + ROUNDS, same_order)
        assert abs(loss - peer_loss) <= CLOSE[name] * abs(loss), f"{name}: {loss} here, {peer_loss} in the plain loop"
        start = np.log(task.classes)
        notes.append(
            f"{name}, loss after {WARM + ROUNDS} rounds: {loss:.6g}, the plain loop's {peer_loss:.6g}, {start:.4g} at 0"
        )
        calls |= {
            f"{name}, long": lambda name=name: ours[name](WARM + ROUNDS),
            f"{name}, short": lambda name=name: ours[name](WARM),
            f"{name}, evaluated": lambda name=name: ours[name](WARM + ROUNDS, 1),
            f"{name}, plain": lambda loop=loop: loop(WARM, WARM + ROUNDS),
        }
    times, steps, rows = interleaved(calls, REPETITIONS), statistics.mean(task.steps[WARM:]), []
    for name in DTYPES:
        taken, peer = of_rounds(times, name), [t / ROUNDS for t in times[f"{name}, plain"]]
        ratio = median_ratio(peer, taken)
        everything = [t / (WARM + ROUNDS) for t in times[f"{name}, evaluated"]]
        rows.append(
            row(
                f"deep.run, {name}: rounds a second, times the plain loop's",
                ratio,
                TARGET,
                "×",
                peer=f"plain PyTorch loop, {name}",
                peer_value=statistics.median(peer),
                peer_unit="s a round",
                ratio=ratio,
                at_least=True,
                steps_a_round=steps,
                seconds_a_round=statistics.median(taken),
                microseconds_a_step=statistics.median(taken) / steps * 1e6,
                peer_microseconds_a_step=statistics.median(peer) / steps * 1e6,
                seconds_a_round_with_set_up_and_evaluations=statistics.median(everything),
            )
        )
    return rows, notes


def against_a_peer(task: Task, ours: dict[str, Ours], peer: str, python: str) -> tuple[list[dict[str, Any]], str]:
    """Rows for both precisions, and what the peer's loss was."""
    found, times = [], {name: list[float]() for name in DTYPES}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "task.npz"
        task.save(file)
        for _ in range(PEER_REPETITIONS):
            calls = dict[str, Callable[[], Any]]()
            for name in DTYPES:
                calls[f"{name}, long"] = lambda name=name: ours[name](WARM + ROUNDS)
                calls[f"{name}, short"] = lambda name=name: ours[name](WARM)
            beside = interleaved(calls, BESIDE, warm_up=0)
            found.append(measured(peer, python, file))
            for name in DTYPES:
                times[name].append(statistics.median(of_rounds(beside, name)))
    taken = [statistics.mean(one["seconds"][WARM:]) for one in found]
    steps, peer_steps = statistics.mean(task.steps[WARM:]), statistics.mean(found[0]["steps"][WARM:])
    versions = ", ".join(f"{key} {value}" for key, value in found[0]["versions"].items())
    rows = []
    for name in DTYPES:
        ratio = median_ratio(taken, times[name])
        rows.append(
            row(
                f"deep.run, {name}: rounds a second, times {peer}'s",
                ratio,
                PEER_TARGET,
                "×",
                peer=versions,
                peer_value=statistics.median(taken),
                peer_unit="s a round",
                ratio=ratio,
                at_least=True,
                steps_a_round=steps,
                peer_steps_a_round=peer_steps,
                seconds_a_round=statistics.median(times[name]),
                microseconds_a_step=statistics.median(times[name]) / steps * 1e6,
                peer_microseconds_a_step=statistics.median(taken) / peer_steps * 1e6,
            )
        )
    losses = [one["loss"] for one in found]
    here = ours["float64"](WARM + ROUNDS)
    furthest = max(losses, key=lambda loss: abs(loss - here))
    alike = "alike" if abs(furthest - here) <= ALIKE * here else "NOT ALIKE"
    return rows, f"{peer}, loss after {WARM + ROUNDS} rounds: {furthest:.6g}, {here:.6g} here: {alike}"


def measured(peer: str, python: str, file: Path) -> dict[str, Any]:
    """What the peer's script reports."""
    # as a module of peers: run by its path, peers/fedjax.py would be found where it imports fedjax
    done = subprocess.run(
        [python, "-m", f"peers.{peer}", str(file)],
        cwd=FOLDER, env={**os.environ, **ONE_THREAD, "PYTHONPATH": str(FOLDER)},
        capture_output=True, text=True, timeout=PEER_SECONDS,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{peer} failed:\n{done.stderr[-3000:]}")
    report: dict[str, Any] = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    return report


def interpreters() -> dict[str, str]:
    """Which peers are installed where."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON", help=f"one of {', '.join(PEERS)}")
    given = [part for part in os.environ.get("FEDCONVEX_PEERS", "").split(",") if part] + parser.parse_args().peer
    found = {name.strip(): python.strip() for name, _, python in (part.partition("=") for part in given)}
    for name, python in found.items():
        if name not in PEERS or not Path(python).is_file():
            parser.error(f"{name}={python}: give one of {', '.join(PEERS)} and a Python interpreter that is there")
    return found


def main() -> None:
    """Measure and record."""
    found = interpreters()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    task = make_task()
    ours = {name: Ours(task, dtype) for name, dtype in DTYPES.items()}
    rows, notes = against_the_loop(task, ours)
    for peer in PEERS:
        if peer not in found:
            notes.append(f"{peer} was not measured: no interpreter with it was given (--peer {peer}=…)")
            continue
        print(f"measuring {peer}", file=sys.stderr)
        more, note = against_a_peer(task, ours, peer, found[peer])
        rows += more
        notes.append(note)
    record("deep_local_sgd", rows, notes=notes)


if __name__ == "__main__":
    main()
