"""Faults of FedDyn: in its server memory h, and in the update of its clients' memory g_k."""

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
    with_memory,
    with_total,
)
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.feddyn import DynamicRegularization

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
