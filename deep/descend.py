"""Local SGD of many networks at once: the core's `Descent`, all clients of a round stepping together on the device.

Clients are sorted by their number of steps and leave when they have finished, so that nothing is padded but the last
batches of their epochs; proximal, linear and decay terms are fused into the step.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from fedconvex.deep.networks import Batch
from fedconvex.local_solvers.descent import Descent, in_order_of_steps
from fedconvex.problems.base import Subproblem

if TYPE_CHECKING:
    from fedconvex.deep.problem import NetworkClients


def descend(clients: "NetworkClients", descent: Descent) -> Tensor:
    """The clients' points after their local steps, (K, d)."""
    by_steps, running = in_order_of_steps(descent.batches.steps)
    in_order = bool((by_steps[:-1] < by_steps[1:]).all())  # nothing to sort, nothing to copy
    subproblem = descent.subproblem if in_order else descent.subproblem.of(by_steps)
    theta = subproblem.start.clone()
    scale, plan = clients.scale[by_steps][:, None], _Plan.of(clients, descent, by_steps)
    network, stepsize = clients.network, float(descent.stepsize)
    with torch.no_grad():
        if descent.clip is None:
            keep, push = _affine(descent, subproblem, scale, clients.ridge)
        for t, count in enumerate(running):
            here, batch = theta[:count], plan.batch(t, count)
            if descent.clip is None:
                batch = Batch(batch.inputs, batch.targets, batch.shares * scale[:count])
                rows = keep if isinstance(keep, float) else keep[:count]
                network.step(here, batch, stepsize, rows, None if push is None else push[:count])
                continue
            gradients = scale[:count] * (network.gradients(here, batch) + clients.ridge * here)
            gradients = subproblem.of(np.arange(count)).add_gradients(here, gradients)
            gradients *= (descent.clip / gradients.norm(dim=-1, keepdim=True)).clamp(max=1)
            here.sub_(gradients + descent.weight_decay * here, alpha=stepsize)
        if not in_order:
            theta = theta.index_select(0, torch.as_tensor(np.argsort(by_steps), device=theta.device))
        result: Tensor = theta
        return result


def _affine(
    descent: Descent, subproblem: Subproblem, scale: Tensor, ridge: float
) -> tuple["float | Tensor", Tensor | None]:
    """keep and push with θ ← keep·θ − stepsize·(loss's gradient) + push, which is the step without clipping."""
    stepsize = float(descent.stepsize)
    weight = float(subproblem.weight) if subproblem.center is not None else 0.0
    keep: float | Tensor = 1 - stepsize * (weight + float(descent.weight_decay))
    if ridge:
        keep = keep - stepsize * ridge * scale
        if bool((keep == keep[0]).all()):
            keep = float(keep[0])
    push = None
    if weight and subproblem.center is not None:
        push = stepsize * weight * subproblem.center
    if subproblem.linear is not None:
        push = -stepsize * subproblem.linear if push is None else push.sub_(subproblem.linear, alpha=stepsize)
    return keep, push


@dataclass(frozen=True, eq=False)
class _Plan:
    """The round's batches on the device; clients in the order in which they leave last."""

    clients: "NetworkClients"
    order: Tensor  # (S,)
    bounds: Tensor  # (b + 1,)
    client_batches: Tensor  # (K,)
    widths: np.ndarray  # (T,): the widest t-th batch

    @staticmethod
    def of(clients: "NetworkClients", descent: Descent, by_steps: np.ndarray) -> "_Plan":
        batches, device = descent.batches, clients.scale.device
        begin = batches.client_batches[:-1][by_steps]
        size, steps = np.diff(batches.bounds), batches.steps[by_steps]
        widths = np.zeros(steps.max(initial=0), dtype=np.int64)
        for k, number in enumerate(begin):
            np.maximum(widths[: steps[k]], size[number : number + steps[k]], out=widths[: steps[k]])
        order, bounds, numbers = (torch.as_tensor(a, device=device) for a in (batches.order, batches.bounds, begin))
        return _Plan(clients, order, bounds, numbers, widths)

    def batch(self, t: int, count: int) -> Batch:
        """The t-th batches of the first `count` clients."""
        numbers = self.client_batches[:count] + t
        begin = self.bounds[numbers]
        width = self.bounds[numbers + 1] - begin
        columns = torch.arange(int(self.widths[t]), device=begin.device)
        place = begin[:, None] + torch.minimum(columns, width[:, None] - 1)
        dtype = self.clients.scale.dtype
        shares = (columns < width[:, None]).to(dtype) / width[:, None].to(dtype)
        return self.clients.problem.shards.batch(self.order[place], shares)
