"""Faults of FedADMM, in what clients send and the server adds up; of FedDyn, in its memories h and g_k."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import MEMORY_RULE, SERVER_MEMORY, SERVER_STEP, Rule
from fedconvex.conformance.faults.building_blocks import (
    UpdateRule,
    of_method,
    original_method,
    server_to,
    with_cohort,
    with_memory,
    with_total,
)
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.feddyn import DynamicRegularization

SENT = Rule(
    SERVER_STEP,
    of_method(FedADMM),
    "send u_k⁺ − u_k with u_k = θ_k + y_k/rho and θ_k the client's own last answer, and add (1/m)·their sum to w",
)


def with_sent(sent: Callable[[Array, Array, Array], Array]) -> UpdateRule:
    """The update in which client k sends sent(θ_k, w, θ_k of its last round)."""

    def point(method: Any, before: State, after: State, cohort: Cohort, answers: Answers) -> Array:
        moved: Array = method.moved(cohort, sent(answers.points, cohort.points, before.memory["answer"]))
        return before.server + moved

    return server_to(point)


is_feddyn = of_method(DynamicRegularization)
H = Rule(SERVER_MEMORY, is_feddyn, "h ← h − (alpha/m)·Σ(θ_k − w) over those who take part, m counting all clients")
STEP = Rule(SERVER_STEP, is_feddyn, "w ← mean(θ_k) − h/alpha, with the h of this round")
OWN = Rule(MEMORY_RULE, is_feddyn, "g_k ← g_k − alpha(θ_k − w) with the w that the client started from")


def around_new_model(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with g_k ← g_k − α(θ_k − w⁺): around the server's new point."""
    after = method.update(state, replace(cohort, everyone=False), answers)
    own = state.memory["gradient"] - original_method(method).alpha * (answers.points - after.server)
    return with_memory(after, gradient=own)


def with_step(step: Callable[[Array, State, Any], Array]) -> UpdateRule:
    """The update with w ← mean θ_k + step(−h⁺/α, state before the round, method)."""

    def point(method: Any, before: State, after: State, cohort: Cohort, answers: Answers) -> Array:
        mean = cohort.average(answers.points)
        return mean + step(after.server - mean, before, method)

    return server_to(point)


def mean_of_participants(changes: Array, cohort: Cohort, state: State, method: Any) -> Array:
    """The total after which h is the mean of the participants' new g_k."""
    own = state.memory["gradient"] + changes
    return cohort.population * (own.sum(0) / len(own) - state.shared["h"])


# what changes h comes before what applies it, and that before what reads the new model: of two that are planted, the
# first is within the second
FAULTS = (
    *SENT.each(
        "update",
        with_sent,
        {
            "changes are measured from the server's model instead of the client's last answer": lambda theta, w, last: (
                2 * (theta - w)
            ),
            "clients send their changes without the dual variables": lambda theta, w, last: theta - last,
            "clients send the change of the dual variables alone": lambda theta, w, last: theta - w,
        },
    ),
    SENT.broken(
        "the server averages the local models of those who take part",
        update=server_to(lambda method, before, after, cohort, answers: cohort.average(answers.points)),
    ),
    SENT.broken(
        "the server averages θ_k + y_k/rho of those who take part: this is FedPD",
        update=server_to(
            lambda method, before, after, cohort, answers: cohort.average(
                answers.points + after.memory["dual"] / method.rho
            )
        ),
    ),
    SENT.broken(
        "the changes are divided by |P_t| instead of m: server_stepsize is 1",
        SENT.cure + "; with server_stepsize=1 the limit depends on the start",
        where=of_method(FedADMM, server_stepsize=None),
        update=with_cohort(lambda state, cohort: {"population": len(cohort.points)}),
    ),
    *H.each(
        "update",
        with_total,
        {
            "the server's memory is the mean of those who took part": mean_of_participants,
            "server memory is updated without alpha": lambda changes, cohort, state, method: (
                cohort.total(changes) / method.alpha
            ),
            "server memory is updated with the wrong sign": lambda changes, cohort, *_: -cohort.total(changes),
        },
    ),
    H.broken(
        "server memory measures the changes from the last client's model, not from the server's",
        "keep a copy of the model that the server sent: the one that clients train has moved on",
        update=with_total(lambda changes, cohort, *_: cohort.total(changes - changes[-1])),
    ),
    H.broken(
        "server memory subtracts the server's model once, not from every client's",
        "h ← h − (alpha/m)·Σ(θ_k − w): the bracket that the paper leaves open goes around the difference",
        update=with_total(
            lambda changes, cohort, state, method: (
                cohort.total(changes) - method.alpha * (len(changes) - 1) * state.server
            )
        ),
    ),
    *STEP.each(
        "update",
        with_step,
        {
            "server memory is applied before it is updated": lambda right, state, method: (
                -state.shared["h"] / method.alpha
            ),
            "server memory is not divided by alpha": lambda right, state, method: method.alpha * right,
            "server memory is applied with the wrong sign": lambda right, *_: -right,
            "server memory is not applied": lambda right, *_: 0 * right,
        },
    ),
    OWN.broken("the clients' memory is updated around the server's new model", update=around_new_model),
)
