"""Faults that only FedADMM can have: in the changes that clients send, and in how the server adds them up."""

from collections.abc import Callable
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import SERVER_STEP, Rule
from fedconvex.conformance.faults.building_blocks import UpdateRule, of_method, server_to, with_cohort
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, State
from fedconvex.methods.fedadmm import FedADMM

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
)
