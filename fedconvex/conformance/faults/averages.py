"""Faults of the server's average: its weights, whose models are in it, and who takes part."""

from dataclasses import replace
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import Array, nearest_float, to_fmpq
from fedconvex.conformance.faults.base import AVERAGE, PARTICIPANTS, Rule
from fedconvex.conformance.faults.building_blocks import (
    always,
    in_first_round,
    other_than,
    takes_steps,
    updated_rows,
    with_average,
    with_server,
)
from fedconvex.conformance.faults.faulty_solvers import Chained
from fedconvex.conformance.history import ALL_ANSWERS, SAMPLES, WEIGHT
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.averaging import Averaging, FedNova
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.methods.server_optimizer import ServerOptimizer
from fedconvex.participation import Draw


def averages(setup: Setup) -> bool:
    """Whether the server's step contains an average over the active clients."""
    method = setup.method
    of_all = (isinstance(method, FedSplit) and method.server == "all") or isinstance(method, RegularizedFedSplit)
    return not of_all and not (isinstance(method, FedADMM) and method.server_stepsize is None)


def of_models(setup: Setup) -> bool:
    """Whether the average is one of the clients' models, not of steps or of z_k."""
    averages_models = isinstance(setup.method, Averaging | DynamicRegularization)
    return averages_models and not isinstance(setup.method, FedNova | ServerOptimizer)


def in_single_precision(stack: Array, state: State, cohort: Cohort) -> Array:
    """Σ_k weights_k stack_k with each weight rounded to float32: their sum is not quite 1."""
    exact = [nearest_float(weight) for weight in share_of_each(state, cohort)]
    weights = [float(np.float32(weight)) for weight in exact]
    return sum((row * in_type_of(row[0], weight) for row, weight in zip(stack, weights, strict=True)), 0 * stack[0])


def share_of_each(state: State, cohort: Cohort) -> list[Any]:
    """The active clients' weights in the correct average."""
    one = 0 * cohort.points + 1
    unit = [one * 0 for _ in one]
    for k, rows in enumerate(unit):
        rows[k] = one[k]
    return [cohort.average(rows)[0] for rows in unit]


def in_type_of(like: Any, value: float) -> Any:
    """The float as a number of the run's arithmetic."""
    return value if isinstance(like, float) else to_fmpq(value)


def everyone(draw: Draw, effort: int | None, num_clients: int) -> Draw:
    """All clients; those that the schedule leaves out do the full work."""
    members = np.arange(num_clients)
    if draw.efforts is None or draw.members is None:
        return replace(draw, members=members)
    efforts = np.full(num_clients, effort)
    efforts[draw.members] = draw.efforts
    return replace(draw, members=members, efforts=efforts)


def with_inactive(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The average over all m clients' models: inactive clients count with the last model that they sent."""
    all_models = updated_rows(state, ALL_ANSWERS, answers.points)
    weights = state.shared[WEIGHT]
    if method.plain:
        weights = 0 * weights + 1
        weights = weights / weights.sum()
    correct = method.update(state, cohort, answers)
    # exchanged, not assigned: FedDyn's server adds −h/α to the average
    return with_server(correct, correct.server - cohort.average(answers.points) + (weights * all_models).sum(0))


AVERAGED, PRESENT = Rule(AVERAGE, averages), Rule(PARTICIPANTS, of_models)
of_last = with_average(lambda stack, state, cohort: stack[-1])
WEIGHTED, PLAIN = other_than(plain=True), other_than(plain=False)

# |P_t| is the number of active clients in round t, m that of all clients.
FAULTS = (
    AVERAGED.broken(
        "the weights of the average are rounded to float32",
        "compute the weights in the models' precision",
        update=with_average(in_single_precision),
        harmless=True,
    ),
    AVERAGED.broken(
        "only the last client's model counts in the first round",
        "return copies of the local models: a state_dict's entries are the live parameters, not copies",
        update=in_first_round(of_last),
    ),
    AVERAGED.broken(
        "all clients train one live model in the first round, and its end counts for each of them",
        "give each client a copy of the server's model, and return a copy of what it trained",
        where=takes_steps(1),
        solver=lambda solver: Chained(solver, rounds=1),
        update=in_first_round(of_last),
    ),
    AVERAGED.broken(
        "the average is not weighted",
        "weight client k by its number of samples, n_k over the sum of the samples of those who take part",
        where=WEIGHTED,
        update=with_average(lambda stack, state, cohort: stack.sum(0) / len(stack)),
    ),
    AVERAGED.broken(
        "the average is weighted by samples",
        "average plainly: the method's paper minimises the plain mean of the clients' functions",
        where=PLAIN,
        update=with_average(
            lambda stack, state, cohort: (state.memory[SAMPLES] * stack).sum(0) / state.memory[SAMPLES].sum()
        ),
    ),
    AVERAGED.broken(
        "weights of dropped clients are lost",
        "divide by the sum of the weights of those who take part",
        where=WEIGHTED,
        update=with_average(lambda stack, state, cohort: (state.memory[WEIGHT] * stack).sum(0)),
    ),
    AVERAGED.broken(
        "the average is divided by m instead of |P_t|",
        "divide by the number of those who take part",
        where=PLAIN,
        update=with_average(lambda stack, state, cohort: stack.sum(0) / cohort.population),
    ),
    AVERAGED.broken(
        "the clients' models are summed, not averaged",
        "divide by the sum of the weights of those who take part",
        update=with_average(lambda stack, state, cohort: stack.sum(0)),
    ),
    PRESENT.broken(
        "models of inactive clients are averaged in",
        "average over those who take part only",
        update=with_inactive,
    ),
    PRESENT.broken(
        "inactive clients count with the server's model",
        "average over those who take part only, with weights that sum to 1",
        update=with_average(
            lambda stack, state, cohort: (state.memory[WEIGHT] * (stack - cohort.points)).sum(0) + state.server
        ),
    ),
    AVERAGED.broken(
        "only the last client's model counts",
        "collect all local models before you average them",
        update=of_last,
    ),
    AVERAGED.broken(
        "the server's old model is averaged in as one more client",
        "average over the clients' models only",
        where=of_models,
        update=with_average(lambda stack, state, cohort: (stack.sum(0) + state.server) / (len(stack) + 1)),
    ),
    Rule(PARTICIPANTS, always).broken(
        "all clients take part in every round",
        "let only the clients of `active` work",
        draw=everyone,
    ),
)
