"""Faults that were found in published frameworks; docs/frameworks.md says where."""

from dataclasses import replace
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import AVERAGE, CORRECTION, MEMORY, PULL, SERVER_STEP, START, Rule
from fedconvex.conformance.faults.building_blocks import (
    after_update,
    always,
    in_first_round,
    of_method,
    original_method,
    returning,
    server_to,
    takes_steps,
    with_client_memory,
    with_cohort,
    with_server,
    with_shared,
    with_subproblem,
)
from fedconvex.conformance.history import LAST_MEAN
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.base import Subproblem

is_feddyn = of_method(DynamicRegularization)


def without_their_change(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
    """The update with c changed only by newcomers: for the others old and new c_k are one buffer, and cancel."""
    change = after.memory["c"] - before.memory["c"]
    return with_shared(after, c=before.shared["c"] + cohort.population_mean(returning(before, 0 * change, change)))


def first_step_of_first_client(state: State, cohort: Cohort, stepsize: Any) -> Array:
    """The server's model after the first local step of the first client, before anything corrects that step."""
    return state.server - stepsize * cohort.gradients()[0]


def later_clients_from_there(method: Method, state: State, cohort: Cohort) -> Subproblem:
    """The subproblems in which all but the first client start at the model that the first one's step left."""
    correct = method.subproblem(state, cohort)
    start = correct.start + 0
    start[1:] = first_step_of_first_client(state, cohort, original_method(method).stepsize)
    return replace(correct, start=start)


def from_there(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update of that model, with the clients' changes from where they started."""
    there, points = first_step_of_first_client(state, cohort, original_method(method).stepsize), cohort.points + 0
    points[1:] = there
    return method.update(with_server(state, there), replace(cohort, points=points, everyone=False), answers)


def scaled_correction(method: Method, state: State, cohort: Cohort) -> Subproblem:
    """The subproblem with α times its linear term; with the client's own α, where another fault makes it so."""
    correct = method.subproblem(state, cohort)
    if correct.linear is None:  # another fault has left the term out
        return correct
    alpha = correct.weight if isinstance(correct.weight, np.ndarray) else original_method(method).alpha
    return replace(correct, linear=alpha * correct.linear)


def where_newcomers_start(state: State, cohort: Cohort) -> Array:
    """The server's point (K, d); for clients that take part for the first time, the mean of the last local models."""
    return returning(state, cohort.points, 0 * cohort.points + state.shared[LAST_MEAN])


FAULTS = (
    Rule(START, is_feddyn).broken(
        "clients that take part for the first time start at the mean of the local models, without −h/alpha",
        "send the model from which all others start: mean(θ_k) − h/alpha",
        subproblem=lambda method, state, cohort: method.subproblem(
            state, replace(cohort, points=where_newcomers_start(state, cohort))
        ),
        update=with_cohort(lambda state, cohort: {"points": where_newcomers_start(state, cohort)}),
    ),
    Rule(START, of_method(Scaffold)).broken(
        "the server's model keeps the first local step of the first client, in the first round",
        "send copies of the server's model: `param.data = …` ends the sharing only after that step",
        where=takes_steps(1),
        subproblem=in_first_round(later_clients_from_there),
        update=in_first_round(from_there),
    ),
    Rule(CORRECTION, is_feddyn).broken(
        "the correction of the local gradient is multiplied by alpha",
        "the memory has the factor alpha already: the loss has −⟨g_k, θ⟩",
        subproblem=scaled_correction,
    ),
    Rule(SERVER_STEP, is_feddyn).broken(
        "the server adds the mean memory of those who take part, instead of −h/alpha",
        "w ← mean(θ_k) − h/alpha, with h ← h − (alpha/m)·Σ(θ_k − w), m counting all clients",
        update=server_to(
            lambda method, before, after, cohort, answers: (
                cohort.average(answers.points) + after.memory["gradient"].sum(0) / len(answers.points)
            )
        ),
    ),
    Rule(AVERAGE, always).broken(
        "the server's step is multiplied by m/|P_t|",
        "the average is over those who take part already; m/|P_t| goes with weights 1/m, not with 1/|P_t|",
        update=server_to(
            lambda method, before, after, cohort, answers: (
                before.server + (after.server - before.server) * cohort.population / len(cohort.points)
            )
        ),
    ),
    Rule(PULL, is_feddyn).broken(
        "the regulariser has no gradient",
        "form its terms of the parameters themselves: serialised or detached copies (.data) have no gradient",
        subproblem=with_subproblem(lambda subproblem, state: replace(subproblem, linear=None, weight=0, center=None)),
    ),
    Rule(MEMORY, of_method(Scaffold, option=1)).broken(
        "the stored control variates are overwritten before they are used",
        "store a copy of c_k: the tensor that was stored is a buffer into which the next gradient is written",
        # the new c_k of clients that have one is in the place of the stored one
        subproblem=with_client_memory(
            lambda state, cohort: {"c": returning(state, cohort.gradients(), state.memory["c"])}
        ),
        update=after_update(without_their_change),
    ),
)
