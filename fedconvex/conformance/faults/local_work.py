"""Faults of the clients' local work: where it starts, its number and size of steps, its optimiser and its data."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from fedconvex.conformance.faults.base import LATE, LOCAL_FUNCTION, LOCAL_WORK, START, Rule
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
from fedconvex.conformance.history import LAST_ANSWER
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.averaging import FedNova
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.scaffold import Scaffold
from fedconvex.methods.server_optimizer import ServerOptimizer
from fedconvex.participation import Draw


def has_momentum(setup: Setup) -> bool:
    """Whether the local steps have momentum."""
    return isinstance(setup.solver, SGD) and setup.solver.momentum != 0


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


def fitted(name: str, **others: Any) -> Callable[[Fraction], dict[str, Any]]:
    """The fields of a fault whose steps have the fitted number as this field, and others besides."""
    return lambda number: {"solver": on_steps(**{name: number}, **others)}


STEPS, SEVERAL_STEPS = Rule(LOCAL_WORK, takes_steps(1)), Rule(LOCAL_WORK, steps_repeatedly)
SAME_STEPSIZE = Rule(LOCAL_WORK, takes_steps(1), "use the same stepsize in every round: switch the scheduler off")
BEGINNING = Rule(
    START, takes_steps(1), "load the server's model into the client at the beginning of each of its rounds"
)
OWN_FUNCTION, STRAGGLERS = Rule(LOCAL_FUNCTION, always), Rule(LATE, takes_steps(2))
OWN_OPTIMISER = "switch the optimiser's {0} off, or state it: local_solver=SGD(…, {0}=…)"
STATED = "use the same stepsize in every round, or state the decay"
LAST_STEP_OF_SCHEDULES = 11  # the run of twelve rounds shows what begins in its round 11, counted from 0

# The families of faults whose number is fitted to the runs.
FAMILIES = (
    STEPS.broken_by(
        "local steps have a weight decay of {}",
        OWN_OPTIMISER.format("weight_decay"),
        where=without("weight_decay"),
        changes=fitted("weight_decay"),
        starts=(0.0, 0.1, 1.0),
        neutral=0.0,
    ),
    *(
        rule.broken_by(
            name, cure, where=without("momentum"), changes=changes, starts=(0.9, 0.5, 0.1), neutral=0.0, high=1.0
        )
        for rule, name, cure, changes in (
            (
                SEVERAL_STEPS,
                "local steps have a momentum of {}",
                OWN_OPTIMISER.format("momentum"),
                fitted("momentum"),
            ),
            (
                STEPS,
                "local steps have a Nesterov momentum of {}",
                "switch the optimiser's Nesterov momentum off: SGD(nesterov=False, momentum=0)",
                fitted("momentum", nesterov=True),
            ),
            (
                STEPS,
                "local steps have a momentum of {} that is kept from round to round",
                "give each client a new optimiser in every round, without momentum",
                fitted("momentum", lasting="own"),
            ),
        )
    ),
    STEPS.broken_by(
        "local gradients are clipped to a norm of {}",
        "switch the clipping of gradients off",
        where=without("clip"),
        changes=lambda number: {"solver": on_steps(clip=number), "rational": False},
        # a gradient that is not clipped says nothing of the norm: many starts, from short to long
        starts=(0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        neutral=float("inf"),
    ),
    STEPS.broken_by(
        "local gradients are scaled to a norm of {}",
        "take steps along the gradients as they are",
        where=without("clip"),
        changes=lambda number: {"solver": on_steps(clip=number, normalised=True), "rational": False},
        starts=(1.0,),
        neutral=float("nan"),
    ),
    SAME_STEPSIZE.broken_by(
        "the local stepsize is multiplied by {} every round",
        f"{STATED}: local_solver=SGD(…, decay=…)",
        changes=lambda number: decaying(lambda t: number**t),
        starts=(0.99, 0.5, 0.1),
        neutral=1.0,
        first_round=1,
    ),
    *(
        SAME_STEPSIZE.broken_by(
            f"the local stepsize is multiplied by {{}} after every {rounds} rounds",
            changes=lambda number, rounds=rounds: decaying(lambda t: number ** (t // rounds)),
            starts=(0.9, 0.5, 0.1),
            neutral=1.0,
            first_round=rounds,
        )
        for rounds in range(2, LAST_STEP_OF_SCHEDULES + 1)
    ),
    SAME_STEPSIZE.broken_by(
        "the local stepsize is divided by 1 + {}·t in round t",
        changes=lambda number: decaying(lambda t: 1 / (1 + number * t)),
        starts=(0.01, 0.3),
        neutral=0.0,
        first_round=1,
    ),
    SEVERAL_STEPS.broken_by(
        "the local stepsize is multiplied by {} after every local step",
        "use the same stepsize in every local step",
        changes=lambda number: {"solver": on_steps(factor=lambda round, step: number**step)},
        starts=(0.99, 0.5, 0.1),
        neutral=1.0,
    ),
)

FAULTS = (
    STEPS.broken(
        "clients take one local step too many",
        "count the local steps from 1",
        solver=on_steps(count=lambda steps: steps + 1),
    ),
    STEPS.broken(
        "clients take one local step too few",
        "count the local steps from 1",
        where=takes_steps(2),
        solver=on_steps(count=lambda steps: steps - 1),
    ),
    STEPS.broken(
        "clients take only one local step",
        "let the training loop run through all local steps",
        where=takes_steps(3),
        solver=on_steps(count=lambda steps: 1),
    ),
    SEVERAL_STEPS.broken(
        "local gradients are all taken at the server's model",
        "compute a new gradient, at the local model, in every local step",
        solver=on_steps(frozen=True),
    ),
    STEPS.broken(
        "the local stepsize is divided by the number of the round", STATED, **decaying(lambda t: Fraction(1, t + 1))
    ),
    STEPS.broken(
        "the local stepsize is divided by the square root of the number of the round",
        STATED,
        rational=False,
        **decaying(lambda t: 1 / sqrt(t + 1)),
    ),
    STEPS.broken(
        "local steps are those of Adam",
        "take plain gradient steps: torch.optim.SGD without momentum",
        where=both(without("momentum"), without("weight_decay")),
        solver=on_steps(adam=True),
        rational=False,
    ),
    STEPS.broken(
        "momentum is shared between clients",
        "give each client an optimiser of its own, a new one in every round",
        where=has_momentum,
        solver=on_steps(lasting="shared"),
    ),
    STEPS.broken(
        "momentum is kept from round to round",
        "give each client a new optimiser in every round",
        where=has_momentum,
        solver=on_steps(lasting="own"),
    ),
    *BEGINNING.each(
        "subproblem",
        lambda start: with_subproblem(lambda sub, state: replace(sub, start=start(sub, state))),
        {
            "clients start at their own last model": lambda sub, state: state.memory[LAST_ANSWER],
            "clients start at their own last model, where they have one": last_own_answers,
        },
        where=lambda setup: not isinstance(setup.method, FedPD),  # whose local work starts there
    ),
    BEGINNING.broken(
        "every client starts where the one before it ended",
        "give each client a copy of the server's model: they train one and the same object",
        solver=Chained,
    ),
    BEGINNING.broken(
        "every client starts where the one before it ended, in the first round",
        "send copies of the server's model: in the first round it is the live one (a state_dict has no copies)",
        solver=lambda solver: Chained(solver, rounds=1),
    ),
    *(
        BEGINNING.broken(
            f"every client starts where the one before it ended, and its proximal term pulls there{when}",
            "give each client a copy of the server's model: they train the object that the server sends",
            where=is_proximal,
            solver=lambda solver, rounds=rounds: Chained(solver, rounds, centred=True),
        )
        for when, rounds in (("", None), (", in the first round", 1))
    ),
    BEGINNING.broken(
        "clients train the server's own model, and the server's step begins where the last of them ended",
        "send copies of the server's model: a state_dict has the live parameters, also in later rounds",
        where=adds_steps,
        solver=Chained,
        update=from_last_model,
    ),
    OWN_FUNCTION.broken(
        "the targets are truncated to integers",
        "pass the targets as they are: labels.long() or astype(int) drops what follows the point",
        targets=np.trunc,
    ),
    OWN_FUNCTION.broken(
        "all clients train on the data of the last one",
        "bind each client's data when it is made: a closure over the loop's variable sees its last value",
        solver=OneClientsData,
    ),
    STRAGGLERS.broken("stragglers are dropped", "average the partial work of stragglers, too", draw=only_full_work),
    STRAGGLERS.broken(
        "stragglers do all of the work",
        "stop a client after its own number of local steps",
        draw=lambda draw, effort, num_clients: replace(draw, efforts=None),
    ),
)
