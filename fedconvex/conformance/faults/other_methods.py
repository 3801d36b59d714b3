"""Faults that only FedNova or FedPD can have."""

from fedconvex.conformance.faults.base import NORMALISED, SERVER_STEP, Rule
from fedconvex.conformance.faults.building_blocks import both, of_method, server_to, takes_steps
from fedconvex.conformance.faults.faulty_solvers import on_steps
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.fednova import FedNova
from fedconvex.methods.fedpd import FedPD

NORMALISING = Rule(
    NORMALISED,
    both(of_method(FedNova), takes_steps(2)),
    "w ← w + (Σ w_k τ_k)·Σ w_k (θ_k − w)/τ_k, τ_k being the number of client k's local steps",
)
to_average = server_to(lambda method, before, after, cohort, answers: cohort.average(answers.points))

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
)
