"""Faults that only FedNova or FedPD can have."""

from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    after_update,
    both,
    of_method,
    original_method,
    takes_steps,
    with_server,
)
from fedconvex.conformance.faults.faulty_solvers import on_steps
from fedconvex.conformance.faults.properties import NORMALISED, SERVER_STEP
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fednova import FedNova
from fedconvex.methods.fedpd import FedPD

is_fednova = both(of_method(FedNova), takes_steps(2))
RULE = "w ← w + (Σ w_k τ_k)·Σ w_k (θ_k − w)/τ_k, τ_k being the number of client k's local steps"


def without_mean_steps(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update w ← w + Σ w_k (θ_k − w)/τ_k, without the factor Σ w_k τ_k."""
    directions = (answers.points - cohort.points) / answers.path_lengths
    after = method.update(state, cohort, answers)
    return with_server(after, state.server + original_method(method).stepsize * cohort.average(directions))


def of_models(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update w ← (Σ w_k τ_k)·Σ w_k θ_k/τ_k: FedNova's weights, which sum to 1 for equal τ_k only, on the models."""
    after = method.update(state, cohort, answers)
    weighted = cohort.average(answers.points / answers.path_lengths)
    return with_server(after, cohort.average(answers.path_lengths) * weighted)


def momentum_in(setup: Setup) -> bool:
    """Whether FedNova's clients take local steps with momentum."""
    return is_fednova(setup) and isinstance(setup.solver, SGD) and bool(setup.solver.momentum != 0)


FAULTS = (
    Fault(
        name="FedNova's weights multiply the models, not their changes: they do not sum to 1",
        cure=RULE,
        breaks=NORMALISED,
        applies=is_fednova,
        update=of_models,
    ),
    Fault(
        name="progress is not divided by the number of local steps: this is FedAvg",
        cure=RULE,
        breaks=NORMALISED,
        applies=is_fednova,
        update=after_update(lambda before, after, cohort, answers: with_server(after, cohort.average(answers.points))),
    ),
    Fault(
        name="normalised progress is not multiplied by the mean number of local steps",
        cure=RULE,
        breaks=NORMALISED,
        applies=lambda setup: is_fednova(setup) and setup.given is None,
        update=without_mean_steps,
    ),
    Fault(
        name="progress is divided by the number of local steps, although momentum repeats gradients",
        cure="divide by ‖a_k‖₁, how often all gradients count: (τ_k − ρ(1 − ρ^τ_k)/(1 − ρ))/(1 − ρ) for momentum ρ",
        breaks=NORMALISED,
        applies=momentum_in,
        solver=on_steps(counted=True),
    ),
    Fault(
        name="the server averages the local models without their dual variables",
        cure="w ← mean of θ_k + eta·λ_k",
        breaks=SERVER_STEP,
        applies=of_method(FedPD),
        update=after_update(lambda before, after, cohort, answers: with_server(after, cohort.average(answers.points))),
    ),
)
