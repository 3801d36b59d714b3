"""Faults of FedDyn: in its server memory h, and in the update of its clients' memory g_k."""

from dataclasses import replace

from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    after_update,
    of_method,
    original_method,
    with_cohort,
    with_memory,
    with_server,
    with_shared,
)
from fedconvex.conformance.faults.properties import MEMORY_RULE, SERVER_MEMORY, SERVER_STEP
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.feddyn import DynamicRegularization

is_feddyn = of_method(DynamicRegularization)
MEMORY = "h ← h − (alpha/m)·Σ(θ_k − w) over those who take part, m counting all clients"
STEP = "w ← mean(θ_k) − h/alpha, with the h of this round"


def around_new_model(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with g_k ← g_k − α(θ_k − w⁺): around the server's new point."""
    after = method.update(state, replace(cohort, everyone=False), answers)
    own = state.memory["gradient"] - original_method(method).alpha * (answers.points - after.server)
    return with_memory(after, gradient=own)


def without_alpha(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with h ← h − (1/m) Σ_k (θ_k − w), still divided by α in the server's step."""
    after = method.update(state, replace(cohort, everyone=False), answers)
    h = state.shared["h"] - cohort.population_mean(answers.points - cohort.points)
    return with_shared(with_server(after, cohort.average(answers.points) - h / original_method(method).alpha), h=h)


def undivided(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with w ← mean θ_k − h."""
    after, mean = method.update(state, replace(cohort, everyone=False), answers), cohort.average(answers.points)
    return with_server(after, mean + original_method(method).alpha * (after.server - mean))


def with_wrong_sign(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with h ← h + (α/m) Σ_k (θ_k − w)."""
    after = method.update(state, replace(cohort, everyone=False), answers)
    h = state.shared["h"] + original_method(method).alpha * cohort.population_mean(answers.points - cohort.points)
    return with_shared(with_server(after, cohort.average(answers.points) - h / original_method(method).alpha), h=h)


def around_last_model(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with h ← h − (α/m) Σ_k (θ_k − θ_last)."""
    after, alpha = method.update(state, replace(cohort, everyone=False), answers), original_method(method).alpha
    h = state.shared["h"] - alpha * cohort.population_mean(answers.points - answers.points[-1])
    return with_shared(with_server(after, cohort.average(answers.points) - h / alpha), h=h)


def mean_of_participants(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with h ← the mean of the participants' new g_k."""
    after = method.update(state, replace(cohort, everyone=False), answers)
    h = after.memory["gradient"].sum(0) / len(cohort.points)
    return with_shared(with_server(after, cohort.average(answers.points) - h / original_method(method).alpha), h=h)


# what changes h comes before what applies it, and that before what reads the new model: of two that are planted, the
# first is within the second
FAULTS = (
    Fault(
        name="the server's memory is the mean of those who took part",
        cure=MEMORY,
        breaks=SERVER_MEMORY,
        applies=is_feddyn,
        update=mean_of_participants,
    ),
    Fault(
        name="server memory is divided by |P_t| instead of m",
        cure=MEMORY,
        breaks=SERVER_MEMORY,
        applies=is_feddyn,
        update=with_cohort(lambda state, cohort: {"population": len(cohort.points)}),
    ),
    Fault(
        name="server memory is summed, not divided by m",
        cure=MEMORY,
        breaks=SERVER_MEMORY,
        applies=is_feddyn,
        update=with_cohort(lambda state, cohort: {"population": 1}),
    ),
    Fault(
        name="server memory is updated without alpha",
        cure=MEMORY,
        breaks=SERVER_MEMORY,
        applies=is_feddyn,
        update=without_alpha,
    ),
    Fault(
        name="server memory is updated with the wrong sign",
        cure=MEMORY,
        breaks=SERVER_MEMORY,
        applies=is_feddyn,
        update=with_wrong_sign,
    ),
    Fault(
        name="server memory measures the changes from the last client's model, not from the server's",
        cure="keep a copy of the model that the server sent: the one that clients train has moved on",
        breaks=SERVER_MEMORY,
        applies=is_feddyn,
        update=around_last_model,
    ),
    Fault(
        name="server memory is applied before it is updated",
        cure=STEP,
        breaks=SERVER_STEP,
        applies=is_feddyn,
        update=lambda method, state, cohort, answers: with_server(
            method.update(state, cohort, answers),
            cohort.average(answers.points) - state.shared["h"] / original_method(method).alpha,
        ),
    ),
    Fault(
        name="server memory is not divided by alpha",
        cure=STEP,
        breaks=SERVER_STEP,
        applies=is_feddyn,
        update=undivided,
    ),
    Fault(
        name="server memory is applied with the wrong sign",
        cure=STEP,
        breaks=SERVER_STEP,
        applies=is_feddyn,
        update=after_update(
            lambda before, after, cohort, answers: with_server(after, 2 * cohort.average(answers.points) - after.server)
        ),
    ),
    Fault(
        name="server memory is not applied",
        cure=STEP,
        breaks=SERVER_STEP,
        applies=is_feddyn,
        update=lambda method, state, cohort, answers: with_server(
            method.update(state, cohort, answers), cohort.average(answers.points)
        ),
    ),
    Fault(
        name="the clients' memory is updated around the server's new model",
        cure="g_k ← g_k − alpha(θ_k − w) with the w that the client started from",
        breaks=MEMORY_RULE,
        applies=is_feddyn,
        update=around_new_model,
    ),
)
