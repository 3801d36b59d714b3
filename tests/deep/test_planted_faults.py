"""Faults that implementations have had are planted, and the comparison with plain training rejects each."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from deep_makers import CLIENTS, NETWORK, SGD, mixed, plain_training, towards, vector

import fedconvex as fc
from fedconvex.deep import local_sgd, run
from fedconvex.deep.networks import Batch, LayeredNetwork, Toward
from fedconvex.deep.shards import Shards
from fedconvex.problems.base import Subproblem
from fedconvex.problems.local_sgd import Descent
from fedconvex.runs.rounds import Rounds

pytestmark = pytest.mark.beyond_core  # trains networks

MOMENTUM = replace(SGD, momentum=0.7)
SIZES = [len(X) for X, _ in CLIENTS]


def off(
    monkeypatch: pytest.MonkeyPatch | None = None, fault: Callable[..., None] | None = None, solver: fc.SGD = SGD
) -> float:
    """How far two rounds of FedProx are from plain training, its proximal term written out."""
    expected = NETWORK
    for t in range(2):
        near = towards(expected, 2.0)
        answers = [plain_training(expected, CLIENTS, k, solver, 3, t, 2, near) for k in range(len(CLIENTS))]
        expected = mixed(answers, SIZES)
    if monkeypatch is not None and fault is not None:
        fault(monkeypatch)
    options: dict[str, Any] = {"rounds": 2, "local_solver": solver, "weights": "samples", "seed": 3}
    found = run(fc.FedProx(mu=2), NETWORK, CLIENTS, **options)
    return float(abs(vector(found.model) - vector(expected)).max())


@pytest.mark.sample(1)
@pytest.mark.parametrize("solver", [SGD, MOMENTUM], ids=str)
def test_nothing_planted_nothing_found(solver: fc.SGD) -> None:
    assert off(solver=solver) < 1e-12


def forgotten_padding(patch: pytest.MonkeyPatch) -> None:
    """Every row counts the same, padding too."""
    original = LayeredNetwork._backpropagation

    def wrong(self: Any, parts: Any, batch: Batch, *rest: Any) -> Any:
        equal = torch.full_like(batch.shares, 1 / batch.shares.shape[1])
        return original(self, parts, Batch(batch.inputs, batch.targets, equal), *rest)

    patch.setattr(LayeredNetwork, "_backpropagation", wrong)
    patch.setattr("fedconvex.deep.memory.CACHE", 2**30)  # all clients together, so that there is padding


def padded_rows_of_others(patch: pytest.MonkeyPatch) -> None:
    """A client's batch is taken from its neighbour's samples."""
    original = Shards.fill
    patch.setattr(
        Shards, "fill", lambda self, at, rows, shares: original(self, at, (rows + 1) % len(self.targets), shares)
    )


def wrong_sign_of_the_proximal_term(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(local_sgd, "_toward", lambda center, part, keep: Toward(keep * center, -part / keep))


def centred_on_the_moving_point(patch: pytest.MonkeyPatch) -> None:
    """The reference model is aliased: the proximal term is always zero."""
    patch.setattr(local_sgd, "_toward", lambda *given: None)


def parameters_shared_between_clients(patch: pytest.MonkeyPatch) -> None:
    """Every client starts where the one before it ended."""
    original = local_sgd._descend
    last: list[torch.Tensor] = []

    def wrong(
        clients: Any, network: Any, descent: Descent, subproblem: Subproblem, theta: torch.Tensor, *rest: Any
    ) -> None:
        if last:
            theta.copy_(last[-1].expand_as(theta))
        original(clients, network, descent, subproblem, theta, *rest)
        last.append(theta[-1:].clone())

    patch.setattr(local_sgd, "_descend", wrong)
    patch.setattr("fedconvex.deep.memory.CACHE", 1)


def averaged_without_weights(patch: pytest.MonkeyPatch) -> None:
    original = Rounds._weights_of

    def wrong(self: Rounds, draw: Any) -> Any:
        weights = original(self, draw)
        return torch.full_like(weights, 1 / len(weights))

    patch.setattr(Rounds, "_weights_of", wrong)


def answers_in_the_order_of_their_steps(patch: pytest.MonkeyPatch) -> None:
    """Sorted for the work, and not sorted back."""
    import numpy as np

    patch.setattr(local_sgd.np, "argsort", lambda order, **options: np.arange(len(order)))


def the_last_smaller_batch_is_dropped(patch: pytest.MonkeyPatch) -> None:
    original = local_sgd._batches

    def wrong(clients: Any, descent: Descent, members: Any, scale: Any) -> Any:
        for count, batch in original(clients, descent, members, scale):
            full = (batch.shares > 0).sum(1, keepdim=True) == SGD.batch_size
            yield count, replace(batch, shares=batch.shares * full)

    patch.setattr(local_sgd, "_batches", wrong)


FAULTS = [
    forgotten_padding,
    padded_rows_of_others,
    wrong_sign_of_the_proximal_term,
    centred_on_the_moving_point,
    parameters_shared_between_clients,
    averaged_without_weights,
    answers_in_the_order_of_their_steps,
    the_last_smaller_batch_is_dropped,
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found(fault: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    assert off(monkeypatch, fault) > 1e-6


def _velocities(
    patch: pytest.MonkeyPatch, before: Callable[..., None], after: Callable[..., None] = lambda *given: None
) -> None:
    """Calls before(velocity, members) when clients begin, after(velocity, members) when they have finished."""
    descending, stepping = local_sgd._descend, local_sgd._with_momentum
    held: list[torch.Tensor] = []
    now: list[Any] = [None]

    def whole(clients: Any, network: Any, descent: Any, subproblem: Any, theta: Any, scale: Any, members: Any) -> None:
        held.clear()
        now[0] = members
        descending(clients, network, descent, subproblem, theta, scale, members)
        after(held[0], members)

    def steps(network: Any, plain: Any, velocity: Any, momentum: float) -> Any:
        if not held:
            held.append(velocity)
            before(velocity, now[0])
        return stepping(network, plain, velocity, momentum)

    patch.setattr(local_sgd, "_descend", whole)
    patch.setattr(local_sgd, "_with_momentum", steps)


def momentum_shared_between_clients(patch: pytest.MonkeyPatch) -> None:
    """One velocity for all, which the next client goes on with."""
    last: list[torch.Tensor] = []
    patch.setattr("fedconvex.deep.memory.CACHE", 1)
    _velocities(patch, lambda v, _: v.copy_(last[-1]) if last else None, lambda v, _: last.append(v.clone()))


def velocity_kept_from_the_round_before(patch: pytest.MonkeyPatch) -> None:
    kept = torch.zeros(len(CLIENTS), sum(p.numel() for p in NETWORK.parameters()), dtype=torch.float64)
    _velocities(patch, lambda v, k: v.copy_(kept[k]), lambda v, k: kept.index_copy_(0, torch.as_tensor(k), v))


def finished_clients_roll_on(patch: pytest.MonkeyPatch) -> None:
    """Those without a batch move by what is left of their velocity."""
    patch.setattr("fedconvex.deep.memory.CACHE", 2**30)  # all clients together
    original, whole = local_sgd._with_momentum, []

    def wrong(network: Any, plain: Any, velocity: Any, momentum: float) -> Any:
        theta = plain.theta
        if len(theta) == len(CLIENTS):
            whole[:] = [theta, velocity]
        everyone, velocities = whole
        step = original(network, plain, velocity, momentum)

        def rolling(batch: Batch) -> None:
            step(batch)
            velocities[len(theta) :].mul_(momentum)
            everyone[len(theta) :].add_(velocities[len(theta) :])

        return rolling

    patch.setattr(local_sgd, "_with_momentum", wrong)


@pytest.mark.parametrize(
    "fault",
    [momentum_shared_between_clients, velocity_kept_from_the_round_before, finished_clients_roll_on],
    ids=lambda fault: fault.__name__,
)
def test_a_planted_fault_of_momentum_is_found(fault: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    assert off(monkeypatch, fault, MOMENTUM) > 1e-6
