"""Faults of the server's average."""

from collections.abc import Callable

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import after_update, updated_rows, with_average, with_server
from fedconvex.conformance.faults.properties import AVERAGE, PARTICIPANTS
from fedconvex.conformance.history import ALL_ANSWERS, SAMPLES, WEIGHT
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.fednova import FedNova
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.regularized_fedsplit import RegularizedFedSplit


def averages(setup: Setup) -> bool:
    """The server's step is an average over those who take part, or contains one."""
    method = setup.method
    return not (isinstance(method, FedSplit) and method.server == "all") and not isinstance(method, RegularizedFedSplit)


def weighted(setup: Setup) -> bool:
    """That average has the problem's weights."""
    return averages(setup) and not setup.method.plain


def plain(setup: Setup) -> bool:
    """That average is plain."""
    return averages(setup) and setup.method.plain


def of_models(setup: Setup) -> bool:
    """The average is of the clients' models."""
    return isinstance(setup.method, Averaging | DynamicRegularization) and not isinstance(setup.method, FedNova)


def sum_over(weights: Callable[[State, Cohort], Array]) -> Callable[[Array, State, Cohort], Array]:
    """Σ_k weight_k stack_k."""
    return lambda stack, state, cohort: (weights(state, cohort) * stack).sum(0)


def shares(state: State, cohort: Cohort) -> Array:
    """The weights of the average over everyone, (K, 1)."""
    return state.memory[WEIGHT]


def with_inactive(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """θ averaged over all m clients, those who take no part with the last model that they sent."""
    everyones = updated_rows(state, ALL_ANSWERS, answers.points)
    weights = state.shared[WEIGHT]
    if method.plain:
        weights = 0 * weights + 1
        weights = weights / weights.sum()
    right = method.update(state, cohort, answers)
    return with_server(right, right.server - cohort.average(answers.points) + (weights * everyones).sum(0))


FAULTS = (
    Fault(
        name="the average is not weighted",
        cure="weight client k by its number of samples, n_k over the sum of the samples of those who take part",
        breaks=AVERAGE,
        applies=weighted,
        update=with_average(lambda stack, state, cohort: stack.sum(0) / len(stack)),
    ),
    Fault(
        name="the average is weighted by samples",
        cure="average plainly: the method's paper minimises the plain mean of the clients' functions",
        breaks=AVERAGE,
        applies=plain,
        update=with_average(
            lambda stack, state, cohort: (state.memory[SAMPLES] * stack).sum(0) / state.memory[SAMPLES].sum()
        ),
    ),
    Fault(
        name="weights of dropped clients are lost",
        cure="divide by the sum of the weights of those who take part",
        breaks=AVERAGE,
        applies=weighted,
        update=with_average(sum_over(shares)),
    ),
    Fault(
        name="the average is divided by m instead of |P_t|",
        cure="divide by the number of those who take part",
        breaks=AVERAGE,
        applies=plain,
        update=with_average(lambda stack, state, cohort: stack.sum(0) / cohort.population),
    ),
    Fault(
        name="the clients' models are summed, not averaged",
        cure="divide by the sum of the weights of those who take part",
        breaks=AVERAGE,
        applies=averages,
        update=with_average(lambda stack, state, cohort: stack.sum(0)),
    ),
    Fault(
        name="models of inactive clients are averaged in",
        cure="average over those who take part only",
        breaks=PARTICIPANTS,
        applies=of_models,
        update=with_inactive,
    ),
    Fault(
        name="inactive clients count with the server's model",
        cure="average over those who take part only, with weights that sum to 1",
        breaks=PARTICIPANTS,
        applies=of_models,
        update=with_average(
            lambda stack, state, cohort: (shares(state, cohort) * (stack - cohort.points)).sum(0) + state.server
        ),
    ),
    Fault(
        name="only the last client's model counts",
        cure="collect all local models before you average them",
        breaks=AVERAGE,
        applies=averages,
        update=with_average(lambda stack, state, cohort: stack[-1]),
    ),
    Fault(
        name="the server's old model is averaged in as one more client",
        cure="average over the clients' models only",
        breaks=AVERAGE,
        applies=of_models,
        update=after_update(
            lambda before, after, cohort, answers: with_server(
                after,
                after.server
                - cohort.average(answers.points)
                + np.concatenate([answers.points, before.server[None]]).sum(0) / (len(answers.points) + 1),
            )
        ),
    ),
)
