"""Estimate of a run's memory from trial rounds with a few clients: of tensors without content, see `plans`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch

from fedconvex.deep.evaluation import evaluate
from fedconvex.deep.memory import TensorMemory as TensorMemory
from fedconvex.deep.problem import budget_of, used
from fedconvex.deep.tasks import Task
from fedconvex.methods.base import State
from fedconvex.participation import Draw
from fedconvex.runs.simulator import Simulator

PROBES = 8  # clients in a trial round
ROUNDS = 3  # first rounds in which participants are counted


@final
@dataclass(frozen=True)
class Footprint:
    """Bytes of tensors: samples, state with all clients' memory, the most that a round or an evaluation adds, models.

    models: the run's copy, that of evaluations, and the first model.
    """

    samples: int
    state: int
    passing: int
    models: int

    @property
    def total(self) -> int:
        """The sum of the four."""
        return self.samples + self.state + self.passing + self.models

    def __str__(self) -> str:
        from rich.filesize import decimal  # not on every GPU machine

        parts = (
            (self.samples, "samples"), (self.state, "state"), (self.passing, "work"), (self.models, "models")
        )  # fmt: skip
        return f"{decimal(self.total)} ({', '.join(f'{decimal(size)} {name}' for size, name in parts)})"


def footprint(
    task: Task, simulator: Simulator, state: State, rounds: int = ROUNDS, measures: Sequence[str] = ()
) -> Footprint:
    """Estimate the memory of a run of networks; that of Python and its libraries comes on top.

    A trial round with the largest clients, one epoch or step of local work each, is simulated and discarded. If rounds
    have more than PROBES participants, two trials with PROBES/2 and PROBES clients are extrapolated linearly.
    measures: the names of what is measured during the run.
    """
    most = _participants(simulator, min(ROUNDS, rounds))
    if most <= PROBES:
        work = _round_bytes(simulator, state, most) if most else 0
    else:
        half, whole = (_round_bytes(simulator, state, K) for K in (PROBES // 2, PROBES))
        work = whole + (whole - half) * (most - PROBES) // (PROBES - PROBES // 2)
    module = task.module_at(state)
    with TensorMemory() as counter:
        evaluate(module, task.loss, task.shards, budget_of(task.problem))
        task.penalty(state.server)
    if measures:
        work = max(work, _measuring_bytes(task, state, "curvature" in measures))
    held = [state.server, *state.shared.values(), *state.memory.values()]
    # An evaluation comes before the round's undoing is given up: the earlier server's state and participants' memory.
    first = _bytes(state.server, *state.shared.values())
    kept = first + sum(most * rows.shape[1] * rows.element_size() for rows in state.memory.values())
    of_models = 2 * _bytes(*task.module.parameters(), *task.module.buffers()) + first
    return Footprint(task.shards.bytes_on_device, _bytes(*held), max(work, counter.peak + kept), of_models)


def _bytes(*parts: Any) -> int:
    return sum(part.numel() * part.element_size() for part in parts)


def _round_bytes(simulator: Simulator, state: State, clients: int) -> int:
    # The clients with the most samples, whose batches are the largest; one epoch or step each, since further ones take
    # time but no more memory.
    largest = np.argsort(-simulator.rounds.clients.samples().count, kind="stable")[:clients]
    members = np.sort(largest)
    efforts = None if simulator.rounds.solver.effort is None else np.ones(len(members), dtype=np.int64)
    draw = Draw(members, np.ones(len(members), dtype=np.int64), efforts)
    kept = {name: rows[members] for name, rows in state.memory.items()}
    with TensorMemory() as counter:
        round_done = simulator.rounds.play(used(state, simulator.rounds.problem), draw, in_place=True)
        del round_done
    for name, rows in kept.items():  # the trial changed the memory in place: restore it
        state.memory[name][members] = rows
    peak: int = counter.peak
    return peak


def _measuring_bytes(task: Task, state: State, curvature: bool) -> int:
    """The most that a gradient of the clients with the most samples takes; for curvatures, a Hessian product."""
    clients = task.problem.clients(task.arithmetic)
    largest = np.argsort(-clients.samples().count, kind="stable")[:PROBES]
    some, direction = clients.subset(np.sort(largest)), torch.as_tensor(state.server)
    with TensorMemory() as counter:
        if curvature:
            some.hessian_products(direction, direction)
        else:
            for _ in some.gradients_in_parts(direction):
                pass
    peak: int = counter.peak
    return peak


def _participants(simulator: Simulator, rounds: int) -> int:
    """The largest number of participants in the first rounds."""
    problem = simulator.rounds.problem
    draws = (simulator.participation.draw(problem, simulator.seed, t) for t in range(rounds))
    return max((problem.num_clients if d.members is None else max(1, len(d.members)) for d in draws), default=0)
