"""Faults that were found in published frameworks; docs/frameworks.md says where."""

from dataclasses import replace

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    after_update,
    always,
    of_method,
    original_method,
    with_client_memory,
    with_server,
    with_shared,
    with_subproblem,
)
from fedconvex.conformance.faults.properties import AVERAGE, MEMORY, PULL, SERVER_MEMORY
from fedconvex.conformance.history import LAST_ROUND
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.scaffold import Scaffold

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


FAULTS = (
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
