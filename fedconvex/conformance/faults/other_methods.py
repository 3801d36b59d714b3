"""Faults that only FedNova, FedPD, Ditto or pFedMe can have. Ditto's show only in the client models."""

from collections.abc import Callable
from dataclasses import replace

from fedconvex.conformance.faults.base import NORMALISED, PARAMETERS, PERSONAL, SERVER_STEP, Rule
from fedconvex.conformance.faults.building_blocks import (
    UpdateRule,
    both,
    of_method,
    other_than,
    server_to,
    takes_steps,
    with_parameters,
)
from fedconvex.conformance.faults.faulty_solvers import on_steps
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.averaging import FedNova
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.personal_models import Ditto, PFedMe
from fedconvex.problems.subproblem import Subproblem

NORMALISING = Rule(
    NORMALISED,
    both(of_method(FedNova), takes_steps(2)),
    "w ← w + (Σ w_k τ_k)·Σ w_k (θ_k − w)/τ_k, τ_k being the number of client k's local steps",
)
to_average = server_to(lambda method, before, after, cohort, answers: cohort.average(answers.points))
OF_DITTO = Rule(
    PERSONAL,
    of_method(Ditto),
    "start at the client's own v_k, and add regularization·(v − w) to its gradient, w as the round began",
)
LOCAL_STEP = "w_k ← w_k − stepsize·regularization·(w_k − v_k), v_k the proximal point around this w_k"
OF_PFEDME = Rule(PERSONAL, of_method(PFedMe), LOCAL_STEP)
SERVER = Rule(SERVER_STEP, of_method(PFedMe), "w ← w + server_stepsize·mean(w_k − w), w_k after its last step")


def with_personal(change: Callable[[Subproblem, Cohort, Answers], Subproblem]) -> UpdateRule:
    """The update whose further local problems are change(correct one, cohort, answers)."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        faulty = replace(cohort, solve=lambda own: cohort.solve(change(own, cohort, answers)))
        return method.update(state, faulty, answers)

    return update


def without_weight(setup: Setup) -> Setup:
    """pFedMe's setup whose local steps lack the factor λ."""
    return with_parameters(stepsize=lambda stepsize: stepsize / setup.method.regularization)(setup)  # type: ignore[attr-defined]


to_personal = server_to(lambda method, before, after, cohort, answers: cohort.average(after.memory["personal"]))


FAULTS = (
    NORMALISING.broken(
        "FedNova's weights multiply the models, not their changes: they do not sum to 1",
        update=server_to(
            lambda method, before, after, cohort, answers: (
                cohort.average(answers.path_lengths) * cohort.average(answers.points / answers.path_lengths)
            )
        ),
    ),
    NORMALISING.broken("progress is not divided by the number of local steps: this is FedAvg", update=to_average),
    NORMALISING.broken(
        "normalised progress is not multiplied by the mean number of local steps",
        where=lambda setup: setup.given is None,
        update=server_to(
            lambda method, before, after, cohort, answers: (
                before.server
                + method.stepsize * cohort.average((answers.points - cohort.points) / answers.path_lengths)
            )
        ),
    ),
    NORMALISING.broken(
        "progress is divided by the number of local steps, although momentum repeats gradients",
        "divide by ‖a_k‖₁, how often all gradients count: (τ_k − ρ(1 − ρ^τ_k)/(1 − ρ))/(1 − ρ) for momentum ρ",
        where=lambda setup: isinstance(setup.solver, SGD) and bool(setup.solver.momentum != 0),
        solver=on_steps(counted=True),
    ),
    Rule(SERVER_STEP, of_method(FedPD)).broken(
        "the server averages the local models without their dual variables",
        "w ← mean of θ_k + eta·λ_k",
        update=to_average,
    ),
    *OF_DITTO.each(
        "update",
        with_personal,
        {
            "personal models start at the server's model in every round": lambda own, cohort, answers: replace(
                own, start=own.center
            ),
            "personal models start at the client's trained copy of the server's model": lambda own, cohort, answers: (
                replace(own, start=answers.points)
            ),
            "personal models are pulled to the client's trained copy instead of the server's model": (
                lambda own, cohort, answers: replace(own, center=answers.points)
            ),
        },
    ),
    OF_DITTO.broken(
        "personal models are not pulled to the server's model",
        where=other_than(regularization=0),
        parameters=with_parameters(regularization=0),
    ),
    Rule(SERVER_STEP, of_method(Ditto)).broken(
        "the server averages the personal models",
        "average the clients' trained copies of the server's model",
        update=to_personal,
    ),
    SERVER.broken("the server goes to the mean of the personal models", update=to_personal),
    SERVER.broken(
        "server_stepsize is ignored: the server goes to the mean of the local models",
        where=other_than(server_stepsize=1),
        parameters=with_parameters(server_stepsize=1),
    ),
    Rule(PARAMETERS, of_method(PFedMe)).broken(
        "local steps lack the factor regularization", LOCAL_STEP, parameters=without_weight
    ),
    OF_PFEDME.broken(
        "all proximal points of a round lie around the server's model",
        where=other_than(local_steps=1),
        update=with_personal(lambda own, cohort, answers: replace(own, center=cohort.points)),
    ),
    OF_PFEDME.broken(
        "clients take only one local step on their envelope",
        where=other_than(local_steps=1),
        parameters=with_parameters(local_steps=1),
    ),
)
