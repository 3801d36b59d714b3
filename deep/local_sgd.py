"""Local SGD of many networks at once: a `Descent` of the core, with all clients' steps batched on the device.

Clients are sorted by their number of steps and leave when they have finished, so that only the last batches of epochs
are padded. Proximal, linear and weight-decay terms are fused into the step. On a CPU only as many clients advance
together as fit into its cache, since every step reads and writes all their parameters.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, final

import numpy as np
import torch
from torch import Tensor

from fedconvex.deep.graphs import graphed
from fedconvex.deep.local_mode import own_generators
from fedconvex.deep.networks import Batch, DescentStep, Network, Toward
from fedconvex.problems.base import Subproblem
from fedconvex.problems.local_sgd import Descent, Moments, in_order_of_steps

if TYPE_CHECKING:
    from fedconvex.deep.problem import NetworkClients

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register
ROWS_AT_ONCE = 2_000_000  # sample numbers that are computed in advance, for many steps together


def descend(clients: "NetworkClients", descent: Descent) -> Tensor:
    """The clients' parameters after their local steps, (K, d)."""
    by_steps, _ = in_order_of_steps(descent.batches.steps)
    in_order = bool((by_steps[:-1] < by_steps[1:]).all())  # usual: all have as many steps, nothing to sort or copy
    subproblem = descent.subproblem if in_order else descent.subproblem.of(by_steps)
    theta, scale = _aligned_copy(subproblem.start), clients.scale[by_steps][:, None]
    mode = clients.problem.training
    with torch.no_grad(), nullcontext() if mode is None else own_generators(theta.device):
        widest = int(np.diff(descent.batches.bounds).max(initial=0))
        # Beside parameters and gradients, each client holds a batch and, with momentum or Adam, what these keep.
        more = widest * clients.problem.shards.numbers_per_sample + clients.dim * (
            2 if descent.moments is not None else 1 if descent.momentum else 0
        )
        # In training mode one by one: padding would change the statistics of a batch.
        more = _more(clients, theta, widest, more)
        at_once = clients.problem.budget.clients_per_step(theta, more) if mode is None else 1
        begin = 0
        while begin < len(theta):
            part = slice(begin, begin + (at_once if clients.network.takes_several else 1))
            of_part = _part(subproblem, part), theta[part], scale[part], by_steps[part]
            if mode is None:
                _descend(clients, clients.network, descent, *of_part)
            else:
                with mode.of_client(clients, descent, int(by_steps[begin]), theta[begin]) as network:
                    _descend(clients, network, descent, *of_part)
            begin = part.stop
        if not in_order:
            # The argsort of a permutation is its inverse: back to the order of the clients.
            theta = theta.index_select(0, torch.as_tensor(np.argsort(by_steps), device=theta.device))
        result: Tensor = theta
        return result


def _more(clients: "NetworkClients", theta: Tensor, widest: int, more: int) -> int:
    """The numbers of each client beside its parameters: `more`; on a CPU those that a step with a full batch makes."""
    on_cpu = clients.problem.budget.kind_of(theta.device) == "cpu"
    if not on_cpu or len(theta) < 2 or widest == 0:
        return 0 if on_cpu else more
    shards, first = clients.problem.shards, clients.members[:1]
    rows = shards.first[first] + np.arange(widest)[None] % shards.count[first]
    batch = shards.batch(rows, torch.ones(1, widest, dtype=shards.dtype, device=theta.device))
    return clients.network.working_numbers(theta, batch)


def _aligned_copy(rows: Tensor) -> Tensor:
    """A copy whose rows start at multiples of ALIGNMENT, where vector instructions read fastest."""
    numbers = ALIGNMENT // rows.element_size()
    stride = -(-rows.shape[1] // numbers) * numbers
    return rows.new_empty(len(rows), stride)[:, : rows.shape[1]].copy_(rows)


def _part(subproblem: Subproblem, part: slice) -> Subproblem:
    """The subproblems of a range of clients, as views."""
    start, center, linear = (
        None if rows is None else rows[part] for rows in (subproblem.start, subproblem.center, subproblem.linear)
    )
    return Subproblem(start, subproblem.weight, center, linear)


def _descend(
    clients: "NetworkClients",
    network: Network,
    descent: Descent,
    subproblem: Subproblem,
    theta: Tensor,
    scale: Tensor,
    members: np.ndarray,
) -> None:
    """Take all steps of some clients, sorted by decreasing number of steps, in place."""
    stepsize, decay = float(descent.stepsize), float(descent.weight_decay)
    momentum = float(descent.momentum)
    velocity = torch.zeros_like(theta) if momentum else None
    shrink, linear = _ridge_of_each(clients.ridge, scale), subproblem.linear
    weight = float(subproblem.weight) if subproblem.center is not None else 0.0
    center = subproblem.center if weight else None  # of a proximal term, whose gradient is weight·(θ − center)
    keep = 1 - stepsize * (shrink + decay)
    nothing_left = center is not None and not bool(torch.as_tensor(keep).all())
    if descent.clip is None and descent.factors is None and descent.moments is None and not nothing_left:
        # One fused update: theta ← keep·theta, moved to keep·center by a part − stepsize·(gradient of losses) + push.
        push = None if linear is None else linear * -stepsize
        toward = None if center is None or velocity is not None else _toward(center, stepsize * weight, keep)
        running = 0
        for count, batch in _batches(clients, descent, members, scale):
            if count != running:  # the first step, or clients have finished: plan the step for those that remain
                here, rows = theta[:count], keep if isinstance(keep, float) else keep[:count]
                pushed = None if push is None else push[:count]
                if velocity is None:
                    own = None if toward is None else toward.of(count)
                    step = network.step_function(DescentStep(here, stepsize, rows, pushed, toward=own))
                else:
                    own = None if center is None else Toward(center[:count], stepsize * weight)
                    plain = DescentStep(here, stepsize, rows, pushed, toward=own)
                    step = _with_momentum(network, plain, velocity[:count], momentum)
                if network.repeats:
                    changed = [here] if velocity is None else [here, velocity[:count]]
                    step = graphed(step, changed, int(descent.batches.steps[members].max()))
                running = count
            step(batch)
        return
    # Clipping needs the norm of each client's gradient before the step, Adam its square: nothing can be fused.
    moments = None if descent.moments is None else _Moments(descent.moments, theta)
    room = torch.empty_like(theta) if center is not None else theta
    for taken, (count, batch) in enumerate(_batches(clients, descent, members, scale)):
        here, stepsize = theta[:count], float(descent.stepsize_at(taken))
        gradients = network.gradients(here, batch)
        if linear is not None:
            gradients += linear[:count]
        if center is not None:
            gradients.add_(torch.sub(here, center[:count], out=room[:count]), alpha=weight)
        if isinstance(shrink, Tensor):
            gradients.addcmul_(here, shrink[:count])
        elif shrink:
            gradients.add_(here, alpha=shrink)
        if descent.clip is not None:
            gradients.mul_((descent.clip / gradients.norm(dim=-1, keepdim=True)).clamp_(max=1))
        # Weight decay is not clipped, as in `Descent`.
        if moments is not None:
            moments.step(here, gradients, stepsize, decay, taken + 1)
        elif velocity is None:
            if decay:
                here.mul_(1 - stepsize * decay)
            here.sub_(gradients, alpha=stepsize)
        else:
            here.sub_(velocity[:count].mul_(momentum).add_(gradients).add_(here, alpha=decay), alpha=stepsize)


@final
class _Moments:
    """Adam's moments of some clients, (K, d) each, and its steps in place."""

    def __init__(self, rule: Moments, theta: Tensor) -> None:
        self.rule, self.first, self.second = rule, torch.zeros_like(theta), torch.zeros_like(theta)

    def step(self, theta: Tensor, gradients: Tensor, stepsize: float, decay: float, number: int) -> None:
        """Step number 1, 2, … of the first clients; the gradients are overwritten."""
        (one, two), count = self.rule.betas, len(theta)
        if decay and self.rule.decoupled:
            theta.mul_(1 - stepsize * decay)
        elif decay:
            gradients.add_(theta, alpha=decay)
        first = self.first[:count].mul_(one).add_(gradients, alpha=1 - one)
        second = self.second[:count].mul_(two).addcmul_(gradients, gradients, value=1 - two)
        scale = torch.div(second, 1 - two**number, out=gradients).sqrt_().add_(self.rule.epsilon)
        theta.addcdiv_(first, scale, value=-stepsize / (1 - one**number))


def _with_momentum(network: Network, plain: DescentStep, velocity: Tensor, momentum: float) -> Callable[[Batch], None]:
    """A function that takes one step: v ← momentum·v + (the change of theta without momentum), then theta ← theta + v.

    `velocity` holds this v, which is −stepsize times the velocity of the core and of torch.optim.SGD.
    """
    theta, toward = plain.theta, plain.toward
    accumulate = network.step_function(replace(plain, keep=momentum, into=velocity, toward=None))
    shrink, room = plain.keep - 1, None if toward is None else torch.empty_like(theta)

    def step(batch: Batch) -> None:
        accumulate(batch)
        if toward is not None:
            velocity.add_(torch.sub(toward.center, theta, out=room), alpha=float(toward.part))
        if isinstance(shrink, Tensor):
            velocity.addcmul_(theta, shrink)
        elif shrink:
            velocity.add_(theta, alpha=shrink)
        theta.add_(velocity)

    return step


def _ridge_of_each(ridge: float, scale: Tensor) -> "float | Tensor":
    """The curvature of the clients' ridges: a number, which can be fused into a matrix product, or a column (K, 1)."""
    if not ridge:
        return 0.0
    of_each = ridge * scale
    return float(of_each[0]) if bool((of_each == of_each[0]).all()) else of_each


def _toward(center: Tensor, part: float, keep: "float | Tensor") -> Toward:
    """The pull part·(center − θ) as one on keep·θ ≠ 0, whose rounding is that of keep·center: it is 0 at the center."""
    return Toward(keep * center, part / keep)


def _batches(
    clients: "NetworkClients", descent: Descent, members: np.ndarray, scale: Tensor
) -> Iterator[tuple[int, Batch]]:
    """Yield for every step the number of clients that still take it, and their batches, with shares times `scale`.

    The sample numbers are computed for many steps at once, where the inputs are stored: for a single step that would
    take as long as the step. Only the order of the samples and the batches' bounds are copied there.
    A batch is valid until the next one is requested, which may be written into the same memory.
    """
    batches, shards, device = descent.batches, clients.problem.shards, clients.scale.device
    stored = shards.inputs.device
    first, steps = batches.client_batches[:-1][members], batches.steps[members]
    size = np.diff(batches.bounds)
    widest = max((int(size[f : f + s].max(initial=0)) for f, s in zip(first, steps, strict=True)), default=0)
    room = lru_cache(maxsize=2)(shards.empty_batch)  # two sizes: full batches, and the last ones of epochs
    many = max(1, ROWS_AT_ONCE // max(1, len(members) * widest))
    order, begins = (torch.as_tensor(part, device=stored) for part in (batches.order, batches.bounds[:-1]))
    for begin in range(0, int(steps.max(initial=0)), many):
        times = np.arange(begin, min(begin + many, int(steps[0])))
        running = np.searchsorted(-steps, -times, side="left")  # how many have more than t steps: the first ones
        # Numbers of batches, (T, K); those of finished clients are meaningless, and are cut off below.
        numbers = np.minimum(first[None, :] + times[:, None], len(size) - 1)
        width = size[numbers]
        rows = sample_numbers(
            order, begins, torch.as_tensor(numbers, device=stored), torch.as_tensor(width, device=stored), widest
        )
        shares = _shares(torch.as_tensor(width, device=device), widest).to(shards.dtype)
        shares *= scale
        widths = np.where(np.arange(len(members)) < running[:, None], width, 0).max(1).tolist()
        for row, share, count, wide in zip(rows.unbind(), shares.unbind(), running.tolist(), widths, strict=True):
            if row.shape != (count, wide):
                row, share = row[:count, :wide], share[:count, :wide]
            batch = room(*row.shape)
            shards.fill(batch, row, share)
            yield count, batch


def sample_numbers(order: Tensor, begins: Tensor, numbers: Tensor, width: Tensor, widest: int) -> Tensor:
    """The samples of batches, (T, K, B): entries of the order from where each begins; padding repeats its last one."""
    columns = torch.arange(widest, device=order.device)
    places = begins[numbers][..., None] + torch.minimum(columns, width[..., None] - 1)
    return order[places.clamp_(max=len(order) - 1)]


def _shares(width: Tensor, widest: int) -> Tensor:
    """1/width for the samples of a batch, 0 in padding, (T, K, B)."""
    columns = torch.arange(widest, device=width.device)
    return (columns < width[..., None]).double() / width[..., None]
