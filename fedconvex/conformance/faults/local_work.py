"""Faults of the clients' local work: where it starts, its number and size of steps, its optimiser and its data."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from fedconvex.conformance.faults.base import Fault, FaultFamily
from fedconvex.conformance.faults.building_blocks import (
    always,
    both,
    is_proximal,
    last_own_answers,
    steps_repeatedly,
    takes_steps,
    with_subproblem,
)
from fedconvex.conformance.faults.faulty_solvers import Chained, OneClientsData, on_steps
from fedconvex.conformance.faults.properties import LATE, LOCAL_FUNCTION, LOCAL_WORK, START
from fedconvex.conformance.history import LAST_ANSWER
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fednova import FedNova
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.scaffold import Scaffold
from fedconvex.methods.server_optimizer import ServerOptimizer
from fedconvex.participation import Draw


def has_momentum(setup: Setup) -> bool:
    """Whether the local steps have momentum."""
    return isinstance(setup.solver, SGD) and setup.solver.momentum != 0


def starts_matter(setup: Setup) -> bool:
    """Whether local work starts at the server's point, and its result depends on that."""
    return setup.path_length is not None and not isinstance(setup.method, FedPD)


def without(name: str) -> Callable[[Setup], bool]:
    """Whether the local steps have none of this: "momentum", "weight_decay", "clip"."""
    return lambda setup: setup.path_length is not None and not getattr(setup.solver, name, None)


def decaying(factor: Callable[[int], Any]) -> dict[str, Any]:
    """The fields of a fault that multiplies the stepsize of round t by factor(t)."""
    return {"solver": on_steps(factor=lambda round, step: factor(round))}


def only_full_work(draw: Draw, effort: int | None, num_clients: int) -> Draw:
    """The draw without the clients that do less than the full work."""
    return draw if draw.efforts is None else draw.kept(draw.efforts == effort)


def adds_steps(setup: Setup) -> bool:
    """Whether the server adds the clients' steps to its model, which no other rule of theirs refers to."""
    if isinstance(setup.method, Scaffold):
        return setup.method.option == 2  # option I has a gradient at the server's model
    return isinstance(setup.method, FedNova | ServerOptimizer)


def from_last_model(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update of the model that the last client left, with steps from where each client started."""
    starts = np.concatenate([state.server[None], answers.points[:-1]])
    live = State(answers.points[-1], state.shared, state.memory)
    return method.update(live, replace(cohort, points=starts), answers)


OWN_OPTIMISER = "switch the optimiser's {0} off, or state it: local_solver=SGD(…, {0}=…)"
LAST_STEP_OF_SCHEDULES = 11  # the run of twelve rounds shows what begins in its round 11, counted from 0

# The families of faults whose number is fitted to the runs.
FAMILIES = (
    FaultFamily(
        name="local steps have a weight decay of {}",
        cure=OWN_OPTIMISER.format("weight_decay"),
        breaks=LOCAL_WORK,
        applies=both(takes_steps(1), without("weight_decay")),
        changes=lambda number: {"solver": on_steps(weight_decay=number)},
        starts=(0.0, 0.1, 1.0),
        neutral=0.0,
    ),
    FaultFamily(
        name="local steps have a momentum of {}",
        cure=OWN_OPTIMISER.format("momentum"),
        breaks=LOCAL_WORK,
        applies=both(steps_repeatedly, without("momentum")),
        changes=lambda number: {"solver": on_steps(momentum=number)},
        starts=(0.9, 0.5, 0.1),
        neutral=0.0,
        high=1.0,
    ),
    FaultFamily(
        name="local steps have a Nesterov momentum of {}",
        cure="switch the optimiser's Nesterov momentum off: SGD(nesterov=False, momentum=0)",
        breaks=LOCAL_WORK,
        applies=both(takes_steps(1), without("momentum")),
        changes=lambda number: {"solver": on_steps(momentum=number, nesterov=True)},
        starts=(0.9, 0.5, 0.1),
        neutral=0.0,
        high=1.0,
    ),
    FaultFamily(
        name="local steps have a momentum of {} that is kept from round to round",
        cure="give each client a new optimiser in every round, without momentum",
        breaks=LOCAL_WORK,
        applies=both(takes_steps(1), without("momentum")),
        changes=lambda number: {"solver": on_steps(momentum=number, lasting="own")},
        starts=(0.9, 0.5, 0.1),
        neutral=0.0,
        high=1.0,
    ),
    FaultFamily(
        name="local gradients are clipped to a norm of {}",
        cure="switch the clipping of gradients off",
        breaks=LOCAL_WORK,
        applies=both(takes_steps(1), without("clip")),
        changes=lambda number: {"solver": on_steps(clip=number), "rational": False},
        # a gradient that is not clipped says nothing of the norm: many starts, from short to long
        starts=(0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        neutral=float("inf"),
    ),
    FaultFamily(
        name="local gradients are scaled to a norm of {}",
        cure="take steps along the gradients as they are",
        breaks=LOCAL_WORK,
        applies=both(takes_steps(1), without("clip")),
        changes=lambda number: {"solver": on_steps(clip=number, normalised=True), "rational": False},
        starts=(1.0,),
        neutral=float("nan"),
    ),
    FaultFamily(
        name="the local stepsize is multiplied by {} every round",
        cure="use the same stepsize in every round, or state the decay: local_solver=SGD(…, decay=…)",
        breaks=LOCAL_WORK,
        applies=takes_steps(1),
        changes=lambda number: decaying(lambda t: number**t),
        starts=(0.99, 0.5, 0.1),
        neutral=1.0,
        first_round=1,
    ),
    *(
        FaultFamily(
            name=f"the local stepsize is multiplied by {{}} after every {rounds} rounds",
            cure="use the same stepsize in every round: switch the scheduler off",
            breaks=LOCAL_WORK,
            applies=takes_steps(1),
            changes=lambda number, rounds=rounds: decaying(lambda t: number ** (t // rounds)),  # type: ignore[misc]
            starts=(0.9, 0.5, 0.1),
            neutral=1.0,
            first_round=rounds,
        )
        for rounds in range(2, LAST_STEP_OF_SCHEDULES + 1)
    ),
    FaultFamily(
        name="the local stepsize is divided by 1 + {}·t in round t",
        cure="use the same stepsize in every round: switch the scheduler off",
        breaks=LOCAL_WORK,
        applies=takes_steps(1),
        changes=lambda number: decaying(lambda t: 1 / (1 + number * t)),
        starts=(0.01, 0.3),
        neutral=0.0,
        first_round=1,
    ),
    FaultFamily(
        name="the local stepsize is multiplied by {} after every local step",
        cure="use the same stepsize in every local step",
        breaks=LOCAL_WORK,
        applies=steps_repeatedly,
        changes=lambda number: {"solver": on_steps(factor=lambda round, step: number**step)},
        starts=(0.99, 0.5, 0.1),
        neutral=1.0,
    ),
)

FAULTS = (
    Fault(
        name="clients take one local step too many",
        cure="count the local steps from 1",
        breaks=LOCAL_WORK,
        applies=takes_steps(1),
        solver=on_steps(count=lambda steps: steps + 1),
    ),
    Fault(
        name="clients take one local step too few",
        cure="count the local steps from 1",
        breaks=LOCAL_WORK,
        applies=takes_steps(2),
        solver=on_steps(count=lambda steps: steps - 1),
    ),
    Fault(
        name="clients take only one local step",
        cure="let the training loop run through all local steps",
        breaks=LOCAL_WORK,
        applies=takes_steps(3),
        solver=on_steps(count=lambda steps: 1),
    ),
    Fault(
        name="local gradients are all taken at the server's model",
        cure="compute a new gradient, at the local model, in every local step",
        breaks=LOCAL_WORK,
        applies=steps_repeatedly,
        solver=on_steps(frozen=True),
    ),
    Fault(
        name="the local stepsize is divided by the number of the round",
        cure="use the same stepsize in every round, or state the decay",
        breaks=LOCAL_WORK,
        applies=takes_steps(1),
        **decaying(lambda t: Fraction(1, t + 1)),
    ),
    Fault(
        name="the local stepsize is divided by the square root of the number of the round",
        cure="use the same stepsize in every round, or state the decay",
        breaks=LOCAL_WORK,
        applies=takes_steps(1),
        rational=False,
        **decaying(lambda t: 1 / sqrt(t + 1)),
    ),
    Fault(
        name="local steps are those of Adam",
        cure="take plain gradient steps: torch.optim.SGD without momentum",
        breaks=LOCAL_WORK,
        applies=both(takes_steps(1), without("momentum"), without("weight_decay")),
        solver=on_steps(adam=True),
        rational=False,
    ),
    Fault(
        name="momentum is shared between clients",
        cure="give each client an optimiser of its own, a new one in every round",
        breaks=LOCAL_WORK,
        applies=has_momentum,
        solver=on_steps(lasting="shared"),
    ),
    Fault(
        name="momentum is kept from round to round",
        cure="give each client a new optimiser in every round",
        breaks=LOCAL_WORK,
        applies=has_momentum,
        solver=on_steps(lasting="own"),
    ),
    Fault(
        name="clients start at their own last model",
        cure="load the server's model into the client at the beginning of each of its rounds",
        breaks=START,
        applies=starts_matter,
        subproblem=with_subproblem(lambda sub, state: replace(sub, start=state.memory[LAST_ANSWER])),
    ),
    Fault(
        name="clients start at their own last model, where they have one",
        cure="load the server's model into the client at the beginning of each of its rounds",
        breaks=START,
        applies=starts_matter,
        subproblem=with_subproblem(
            lambda subproblem, state: replace(subproblem, start=last_own_answers(subproblem, state))
        ),
    ),
    Fault(
        name="every client starts where the one before it ended",
        cure="give each client a copy of the server's model: they train one and the same object",
        breaks=START,
        applies=takes_steps(1),
        solver=Chained,
    ),
    Fault(
        name="every client starts where the one before it ended, in the first round",
        cure="send copies of the server's model: in the first round it is the live one (a state_dict has no copies)",
        breaks=START,
        applies=takes_steps(1),
        solver=lambda solver: Chained(solver, rounds=1),
    ),
    *(
        Fault(
            name=f"every client starts where the one before it ended, and its proximal term pulls there{when}",
            cure="give each client a copy of the server's model: they train the object that the server sends",
            breaks=START,
            applies=both(takes_steps(1), is_proximal),
            solver=lambda solver, rounds=rounds: Chained(solver, rounds, centred=True),  # type: ignore[misc]
        )
        for when, rounds in (("", None), (", in the first round", 1))
    ),
    Fault(
        name="clients train the server's own model, and the server's step begins where the last of them ended",
        cure="send copies of the server's model: a state_dict has the live parameters, also in later rounds",
        breaks=START,
        applies=both(takes_steps(1), adds_steps),
        solver=Chained,
        update=from_last_model,
    ),
    Fault(
        name="the targets are truncated to integers",
        cure="pass the targets as they are: labels.long() or astype(int) drops what follows the point",
        breaks=LOCAL_FUNCTION,
        applies=always,
        targets=np.trunc,
    ),
    Fault(
        name="all clients train on the data of the last one",
        cure="bind each client's data when it is made: a closure over the loop's variable sees its last value",
        breaks=LOCAL_FUNCTION,
        applies=always,
        solver=OneClientsData,
    ),
    Fault(
        name="stragglers are dropped",
        cure="average the partial work of stragglers, too",
        breaks=LATE,
        applies=takes_steps(2),
        draw=only_full_work,
    ),
    Fault(
        name="stragglers do all of the work",
        cure="stop a client after its own number of local steps",
        breaks=LATE,
        applies=takes_steps(2),
        draw=lambda draw, effort, num_clients: replace(draw, efforts=None),
    ),
)
