"""Faults that only FedADMM can have: in the changes that clients send, and in how the server adds them up."""

from collections.abc import Callable

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import UpdateRule, of_method, original_method, with_server
from fedconvex.conformance.faults.properties import SERVER_STEP
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedadmm import FedADMM

is_fedadmm = of_method(FedADMM)
CHANGE = "send u_k⁺ − u_k with u_k = θ_k + y_k/rho and θ_k the client's own last answer, and add (1/m)·their sum to w"


def with_sent(sent: Callable[[Array, Array, Array], Array]) -> UpdateRule:
    """The update in which client k sends sent(θ_k, w, θ_k of its last round)."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        change = sent(answers.points, cohort.points, state.memory["answer"])
        moved = original_method(method).moved(cohort, change)
        return with_server(method.update(state, cohort, answers), state.server + moved)

    return update


def with_server_at(server: Callable[[Array, Array], Array]) -> UpdateRule:
    """The update in which the server averages server(θ_k, y_k⁺/ρ) over those who take part."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        after = method.update(state, cohort, answers)
        scaled = after.memory["dual"] / original_method(method).rho
        return with_server(after, cohort.average(server(answers.points, scaled)))

    return update


def averaged(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update with the mean change of those who take part, of which the correct one is |P_t|/m."""
    after = method.update(state, cohort, answers)
    return with_server(after, state.server + (after.server - state.server) * cohort.population / len(cohort.points))


def divided_by_all(setup: Setup) -> bool:
    """Whether the server adds the changes divided by m."""
    return isinstance(setup.method, FedADMM) and setup.method.server_stepsize is None


FAULTS = (
    Fault(
        name="changes are measured from the server's model instead of the client's last answer",
        cure=CHANGE,
        breaks=SERVER_STEP,
        applies=is_fedadmm,
        update=with_sent(lambda theta, w, last: 2 * (theta - w)),
    ),
    Fault(
        name="clients send their changes without the dual variables",
        cure=CHANGE,
        breaks=SERVER_STEP,
        applies=is_fedadmm,
        update=with_sent(lambda theta, w, last: theta - last),
    ),
    Fault(
        name="clients send the change of the dual variables alone",
        cure=CHANGE,
        breaks=SERVER_STEP,
        applies=is_fedadmm,
        update=with_sent(lambda theta, w, last: theta - w),
    ),
    Fault(
        name="the server averages the local models of those who take part",
        cure=CHANGE,
        breaks=SERVER_STEP,
        applies=is_fedadmm,
        update=with_server_at(lambda theta, scaled: theta),
    ),
    Fault(
        name="the server averages θ_k + y_k/rho of those who take part: this is FedPD",
        cure=CHANGE,
        breaks=SERVER_STEP,
        applies=is_fedadmm,
        update=with_server_at(lambda theta, scaled: theta + scaled),
    ),
    Fault(
        name="the changes are divided by |P_t| instead of m: server_stepsize is 1",
        cure=CHANGE + "; with server_stepsize=1 the limit depends on the start",
        breaks=SERVER_STEP,
        applies=divided_by_all,
        update=averaged,
    ),
)
