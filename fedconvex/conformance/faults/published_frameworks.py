"""Faults that were found in published frameworks; docs/frameworks.md says where."""

from dataclasses import replace
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    after_update,
    always,
    both,
    in_first_round,
    of_method,
    original_method,
    takes_steps,
    with_client_memory,
    with_cohort,
    with_server,
    with_shared,
    with_subproblem,
)
from fedconvex.conformance.faults.properties import AVERAGE, CORRECTION, MEMORY, PULL, SERVER_MEMORY, SERVER_STEP, START
from fedconvex.conformance.history import LAST_MEAN, LAST_ROUND
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.base import Subproblem

is_feddyn = of_method(DynamicRegularization)


def is_first_option(setup: Setup) -> bool:
    """Whether the method is SCAFFOLD with option I."""
    return isinstance(setup.method, Scaffold) and setup.method.option == 1


def subtracted_once(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with h ← h − (α/m)(Σ_k θ_k − w)."""
    after = method.update(state, replace(cohort, everyone=False), answers)
    missing = original_method(method).alpha * (len(cohort.points) - 1) * state.server / cohort.population
    h = after.shared["h"] - missing
    return with_shared(with_server(after, after.server + missing / original_method(method).alpha), h=h)


def scaled_up(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
    """The update with the server's point w + (m/|P_t|)(w⁺ − w)."""
    return with_server(after, before.server + (after.server - before.server) * cohort.population / len(cohort.points))


def overwritten(state: State, cohort: Cohort) -> dict[str, Array]:
    """The memory in which clients that have been active before already have the new c_k, ∇F_k(w)."""
    rows, gradients = state.memory["c"] + 0, cohort.gradients()
    for i, last in enumerate(state.memory[LAST_ROUND]):
        if last[0] >= 0:
            rows[i] = gradients[i]
    return {"c": rows}


def without_their_change(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
    """The update with c changed only by newcomers: for the others old and new c_k are one buffer, and cancel."""
    change = after.memory["c"] - before.memory["c"]
    for i, last in enumerate(before.memory[LAST_ROUND]):
        if last[0] >= 0:
            change[i] = 0 * change[i]
    return with_shared(after, c=before.shared["c"] + cohort.population_mean(change))


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
    rows = cohort.points + 0
    for i, last in enumerate(state.memory[LAST_ROUND]):
        if last[0] < 0:
            rows[i] = state.shared[LAST_MEAN]
    return rows


def with_memory_added(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
    """The update with w ← mean θ_k + mean g_k, both over those who take part."""
    own = after.memory["gradient"]
    return with_server(after, cohort.average(answers.points) + own.sum(0) / len(own))


FAULTS = (
    Fault(
        name="clients that take part for the first time start at the mean of the local models, without −h/alpha",
        cure="send the model from which all others start: mean(θ_k) − h/alpha",
        breaks=START,
        applies=is_feddyn,
        subproblem=lambda method, state, cohort: method.subproblem(
            state, replace(cohort, points=where_newcomers_start(state, cohort))
        ),
        update=with_cohort(lambda state, cohort: {"points": where_newcomers_start(state, cohort)}),
    ),
    Fault(
        name="the server's model keeps the first local step of the first client, in the first round",
        cure="send copies of the server's model: `param.data = …` ends the sharing only after that step",
        breaks=START,
        applies=both(of_method(Scaffold), takes_steps(1)),
        subproblem=in_first_round(later_clients_from_there),
        update=in_first_round(from_there),
    ),
    Fault(
        name="the correction of the local gradient is multiplied by alpha",
        cure="the memory has the factor alpha already: the loss has −⟨g_k, θ⟩",
        breaks=CORRECTION,
        applies=is_feddyn,
        subproblem=scaled_correction,
    ),
    Fault(
        name="the server adds the mean memory of those who take part, instead of −h/alpha",
        cure="w ← mean(θ_k) − h/alpha, with h ← h − (alpha/m)·Σ(θ_k − w), m counting all clients",
        breaks=SERVER_STEP,
        applies=is_feddyn,
        update=after_update(with_memory_added),
    ),
    Fault(
        name="the server's step is multiplied by m/|P_t|",
        cure="the average is over those who take part already; m/|P_t| goes with weights 1/m, not with 1/|P_t|",
        breaks=AVERAGE,
        applies=always,
        update=after_update(scaled_up),
    ),
    Fault(
        name="the regulariser has no gradient",
        cure="form its terms of the parameters themselves: serialised or detached copies (.data) have no gradient",
        breaks=PULL,
        applies=is_feddyn,
        subproblem=with_subproblem(lambda subproblem, state: replace(subproblem, linear=None, weight=0, center=None)),
    ),
    Fault(
        name="server memory subtracts the server's model once, not from every client's",
        cure="h ← h − (alpha/m)·Σ(θ_k − w): the bracket that the paper leaves open goes around the difference",
        breaks=SERVER_MEMORY,
        applies=is_feddyn,
        update=subtracted_once,
    ),
    Fault(
        name="the stored control variates are overwritten before they are used",
        cure="store a copy of c_k: the tensor that was stored is a buffer into which the next gradient is written",
        breaks=MEMORY,
        applies=is_first_option,
        subproblem=with_client_memory(overwritten),
        update=after_update(without_their_change),
    ),
)
