"""Whether the steps of several clients with convolutions are taken together on a device: a small measurement decides.

Together, a convolution is one grouped call for all clients, which a device's library may compute more slowly than one
call after another. On a CPU the size of a step decides (`memory`), and training mode takes clients one by one.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules.conv import _ConvNd

from fedconvex.deep.devices import wait_for
from fedconvex.deep.memory import Budget, with_room
from fedconvex.deep.networks.base import DescentStep
from fedconvex.deep.networks.functional import FunctionalNetwork
from fedconvex.deep.problem import NetworkProblem
from fedconvex.deep.processes import Processes
from fedconvex.deep.tasks import Task
from fedconvex.local_solvers import LocalSolver

CLIENTS, REPETITIONS = 8, 5
SAMPLES = 50  # of each client's batch, where the local solver has no batches


def route_of(task: Task, budget: Budget) -> dict[str, Any]:
    """How the run computes by now, on which its last digits depend: for a checkpoint, as JSON data."""
    found: dict[str, Any] = {"numbers": budget.numbers, "of_sample": dict(budget.of_sample)}
    if isinstance(network := getattr(task.problem, "network", None), FunctionalNetwork):
        found |= {"together": network.takes_several, "compared": sorted(network.compared)}
    return found


def continue_on(task: Task, budget: Budget, saved: Mapping[str, Any]) -> None:
    """Compute as the run did that a checkpoint's `route_of` is from."""
    budget.numbers = min(budget.numbers, int(saved.get("numbers", budget.numbers)))
    budget.of_sample |= saved.get("of_sample", {})
    if isinstance(network := getattr(task.problem, "network", None), FunctionalNetwork):
        network.compared |= set(saved.get("compared", ()))
        if not saved.get("together", True):
            network.take_one_by_one()


def take_route(task: Task, solver: LocalSolver, chosen: bool | None, processes: Processes | None = None) -> bool | None:
    """Let the network take clients together or one by one; whether together, None where nothing is to be chosen.

    Results of the two differ in rounding, so a run that continues gives the `chosen` route of its checkpoint, and of
    several processes the first one measures for all.
    """
    problem = task.problem
    if not isinstance(problem, NetworkProblem) or not isinstance(network := problem.network, FunctionalNetwork):
        return None
    if not is_open(problem, task.module):
        return None
    if chosen is None:
        first = processes is None or processes.rank == 0
        found = with_room(lambda: is_faster_together(task, problem, solver), problem.budget) if first else None
        chosen = found if processes is None else bool(processes.from_first(found))
    if not chosen:
        network.take_one_by_one()
    return chosen


def is_open(problem: NetworkProblem, module: nn.Module) -> bool:
    """Whether both routes are possible, and it is not known which is faster."""
    on_device = problem.budget.kind_of(problem.shards.device) != "cpu" and problem.training is None
    several = problem.network.takes_several and problem.num_clients > 1
    return on_device and several and any(isinstance(layer, _ConvNd) for layer in module.modules())


def is_faster_together(task: Task, problem: NetworkProblem, solver: LocalSolver) -> bool:
    """Whether a step of some clients takes less time together: the least times of a few steps that change nothing."""
    shards, network = problem.shards, problem.network
    size = min(int(shards.count.max()), getattr(solver, "batch_size", None) or SAMPLES)
    theta = torch.as_tensor(task.start())[None]
    several = min(CLIENTS, len(shards.count), problem.budget.clients_per_step(theta, size * shards.numbers_per_sample))
    theta = theta.repeat(several, 1)
    rows = shards.first[:several, None] + np.arange(size)[None] % shards.count[:several, None]
    ones = torch.ones(several, size, dtype=shards.dtype, device=shards.device)
    batch = shards.batch(rows, ones)
    alone = [(theta[k : k + 1], shards.batch(rows[k : k + 1], ones[k : k + 1])) for k in range(several)]
    with torch.no_grad():
        together = network.step_function(DescentStep(theta, 0.0))
        steps = [(network.step_function(DescentStep(own, 0.0)), samples) for own, samples in alone]
        calls = (lambda: together(batch), lambda: [step(samples) for step, samples in steps])
        taken = [[seconds_of(call, shards.device) for call in calls] for _ in range(1 + REPETITIONS)]
    least = np.min(taken[1:], axis=0)  # the first calls may compile and allocate
    return network.takes_several and bool(least[0] <= least[1])


def seconds_of(call: Callable[[], object], device: torch.device) -> float:
    """Seconds of a call, until the device has done what it was asked for."""
    wait_for(device)
    begun = time.perf_counter()
    call()
    wait_for(device)
    return time.perf_counter() - begun
