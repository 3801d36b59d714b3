"""Faults of methods with personal models, Ditto and pFedMe. Ditto's show only in the client models."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import UpdateRule, of_method, original_method, with_server
from fedconvex.conformance.faults.properties import PARAMETERS, PERSONAL, SERVER_STEP
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.ditto import Ditto
from fedconvex.methods.pfedme import PFedMe
from fedconvex.problems.subproblem import Subproblem

PERSONAL_STEP = "start at the client's own v_k, and add regularization·(v − w) to its gradient, w as the round began"
LOCAL_STEP = "w_k ← w_k − stepsize·regularization·(w_k − v_k), v_k the proximal point around this w_k"
SERVER = "w ← w + server_stepsize·mean(w_k − w), w_k after its last step"


def with_personal(change: Callable[[Subproblem, Answers], Subproblem]) -> UpdateRule:
    """The update whose further local problems are change(correct one, answers)."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        return method.update(state, replace(cohort, solve=lambda own: cohort.solve(change(own, answers))), answers)

    return update


def with_parameters(**changed: Any) -> Callable[[Setup], Setup]:
    """The setup with other parameters of the method."""
    return lambda setup: Setup(replace(setup.method, **changed), setup.given)  # type: ignore[type-var]


def to_average(change: Callable[[PFedMe, State, State, Cohort], Array]) -> UpdateRule:
    """pFedMe's update whose server goes to change(method, before, after, cohort)."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        after = method.update(state, cohort, answers)
        return with_server(after, change(original_method(method), state, after, cohort))

    return update


def without_weight(setup: Setup) -> Setup:
    """pFedMe's setup whose local steps lack the factor λ."""
    method: Any = setup.method
    return Setup(replace(method, stepsize=method.stepsize / method.regularization), setup.given)


def around_server(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """pFedMe's update whose proximal points all lie around w."""
    there = replace(cohort, solve=lambda own: cohort.solve(replace(own, center=cohort.points)))
    return method.update(state, there, answers)


def averaged_personal(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """Ditto's update whose server averages the v_k."""
    after = method.update(state, cohort, answers)
    return with_server(after, cohort.average(after.memory["personal"]))


def several_steps(setup: Setup) -> bool:
    """Whether the method is pFedMe with more than one local step."""
    return isinstance(setup.method, PFedMe) and setup.method.local_steps != 1


FAULTS = (
    Fault(
        name="personal models start at the server's model in every round",
        cure=PERSONAL_STEP,
        breaks=PERSONAL,
        applies=of_method(Ditto),
        update=with_personal(lambda own, answers: replace(own, start=own.center)),
    ),
    Fault(
        name="personal models start at the client's trained copy of the server's model",
        cure=PERSONAL_STEP,
        breaks=PERSONAL,
        applies=of_method(Ditto),
        update=with_personal(lambda own, answers: replace(own, start=answers.points)),
    ),
    Fault(
        name="personal models are pulled to the client's trained copy instead of the server's model",
        cure=PERSONAL_STEP,
        breaks=PERSONAL,
        applies=of_method(Ditto),
        update=with_personal(lambda own, answers: replace(own, center=answers.points)),
    ),
    Fault(
        name="personal models are not pulled to the server's model",
        cure=PERSONAL_STEP,
        breaks=PERSONAL,
        applies=lambda setup: isinstance(setup.method, Ditto) and bool(setup.method.regularization != 0),
        parameters=with_parameters(regularization=0),
    ),
    Fault(
        name="the server averages the personal models",
        cure="average the clients' trained copies of the server's model",
        breaks=SERVER_STEP,
        applies=of_method(Ditto),
        update=averaged_personal,
    ),
    Fault(
        name="the server goes to the mean of the personal models",
        cure=SERVER,
        breaks=SERVER_STEP,
        applies=of_method(PFedMe),
        update=to_average(lambda own, before, after, cohort: cohort.average(after.memory["personal"])),
    ),
    Fault(
        name="server_stepsize is ignored: the server goes to the mean of the local models",
        cure=SERVER,
        breaks=SERVER_STEP,
        applies=lambda setup: isinstance(setup.method, PFedMe) and setup.method.server_stepsize != 1,
        parameters=with_parameters(server_stepsize=1),
    ),
    Fault(
        name="local steps lack the factor regularization",
        cure=LOCAL_STEP,
        breaks=PARAMETERS,
        applies=of_method(PFedMe),
        parameters=without_weight,
    ),
    Fault(
        name="all proximal points of a round lie around the server's model",
        cure=LOCAL_STEP,
        breaks=PERSONAL,
        applies=several_steps,
        update=around_server,
    ),
    Fault(
        name="clients take only one local step on their envelope",
        cure=LOCAL_STEP,
        breaks=PERSONAL,
        applies=several_steps,
        parameters=with_parameters(local_steps=1),
    ),
)
