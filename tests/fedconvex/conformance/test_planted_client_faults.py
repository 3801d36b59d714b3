"""Faults planted in methods whose clients keep vectors, written without the package, are named; right ones pass."""

from typing import Any

import numpy as np
import plain_clients as plain
import pytest

import fedconvex as fc
from fedconvex.conformance import Report, check

pytestmark = pytest.mark.beyond_core  # takes seconds

STEPS = fc.GradientDescent(steps=3, stepsize=0.1)
WORK = {"stepsize": 0.1, "steps": 3}
CASES: dict[str, tuple[Any, Any, Any]] = {
    "FedADMM, exact": (fc.FedADMM(rho=2), None, lambda **more: plain.AlternatingDirections(rho=2, **more)),
    "FedADMM, steps": (
        fc.FedADMM(rho=2, server_stepsize=0.75),
        STEPS,
        lambda **more: plain.AlternatingDirections(rho=2, eta=0.75, **WORK, **more),
    ),
    "FedNova, momentum": (
        fc.FedNova(stepsize=0.1, local_steps=3),
        fc.SGD(steps=3, batch_size=None, stepsize=0.1, momentum=0.5),
        lambda **more: plain.NormalisedMomentum(momentum=0.5, **WORK, **more),
    ),
    "FedLin": (fc.FedLin(stepsize=0.1, local_steps=3), None, lambda **more: plain.Linearised(**WORK, **more)),
    "Ditto": (
        fc.Ditto(stepsize=0.1, local_steps=3, regularization=0.5),
        None,
        lambda **more: plain.PersonalCopies(lam=0.5, **WORK, **more),
    ),
    "pFedMe, exact": (
        fc.PFedMe(regularization=2, stepsize=0.25, local_steps=3, server_stepsize=0.75),
        None,
        lambda **more: plain.EnvelopeSteps(lam=2, eta=0.25, inner=3, beta=0.75, **more),
    ),
    "pFedMe, steps": (
        fc.PFedMe(regularization=2, stepsize=0.25, local_steps=2),
        STEPS,
        lambda **more: plain.EnvelopeSteps(lam=2, eta=0.25, inner=2, **WORK, **more),
    ),
}
ENVELOPES = {
    "around w": "all proximal points of a round lie around the server's model",
    "one step": "clients take only one local step on their envelope",
    "no lambda": "local steps lack the factor regularization",
    "personal averaged": "the server goes to the mean of the personal models",
    "starts at zero": "the run starts at zero instead of x0",
}
ADMM = {
    "dual sign": "the correction of the local gradient has the wrong sign",
    "no dual": "the correction of the local gradient is left out",
    "dual update sign": "the clients' memory is updated with the wrong sign",
    "from the server's model": "changes are measured from the server's model instead of the client's last answer",
    "no dual in the change": "clients send their changes without the dual variables",
    "models averaged": "the server averages the local models of those who take part",
    "FedPD": "the server averages θ_k + y_k/rho of those who take part: this is FedPD",
    "proximal sign": "the proximal gradient has the wrong sign",
    "starts at zero": "the run starts at zero instead of x0",
}
FAULTS = {
    "FedADMM, exact": {
        **ADMM,
        "divided by the active": "the changes are divided by |P_t| instead of m: server_stepsize is 1",
    },
    "FedNova, momentum": {
        "steps counted": "progress is divided by the number of local steps, although momentum repeats gradients",
        "not normalised": "progress is not divided by the number of local steps: this is FedAvg",
        "average not weighted": "the average is not weighted",
    },
    "FedLin": {
        "no correction": "the gradient correction is left out: this is FedAvg",
        "correction sign": "the gradient correction has the wrong sign",
        "active gradients": "only the gradients of those who take part are averaged",
        "one step more": "clients take one local step too many",
    },
    "Ditto": {
        "starts at the server's": "personal models start at the server's model in every round",
        "starts at the trained": "personal models start at the client's trained copy of the server's model",
        "pulled to the trained": "personal models are pulled to the client's trained copy instead of the server's "
        "model",
        "not pulled": "personal models are not pulled to the server's model",
        "personal averaged": "the server averages the personal models",
        "average not weighted": "the average is not weighted",
        "one step more": "clients take one local step too many",
    },
    "pFedMe, exact": {
        **ENVELOPES,
        "no beta": "server_stepsize is ignored: the server goes to the mean of the local models",
    },
    "pFedMe, steps": {**ENVELOPES, "one step more": "clients take one local step too many"},
    "FedADMM, steps": {**ADMM, "one step more": "clients take one local step too many"},
}
PLANTED = [pytest.param(case, fault, id=f"{case}: {fault}") for case, faults in FAULTS.items() for fault in faults]


def checked(case: str, **options: Any) -> Report:
    method, solver, implementation = CASES[case]
    made = implementation(**options)
    functions = {name: getattr(made, name) for name in ("init", "round", "server_model", "client_models")}
    return check(method, local_solver=solver, **functions)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_a_right_implementation_with_client_vectors_passes(case: str, dtype: Any) -> None:
    report = checked(case, dtype=dtype)
    assert report.passed, report.report()
    assert report.precision == np.dtype(dtype).name


@pytest.mark.sample(6)
@pytest.mark.parametrize(("case", "fault"), PLANTED)
def test_a_fault_with_client_vectors_is_named(case: str, fault: str) -> None:
    report = checked(case, fault=fault)
    found = [finding.name for finding in report.diagnosis + report.alternatives]
    assert not report.passed
    assert FAULTS[case][fault] in found, report.report()


def test_the_server_alone_does_not_show_dittos_personal_models() -> None:
    """So the report says which faults it cannot see; with the client models it sees them."""
    made = CASES["Ditto"][2](fault="not pulled")
    report = check(CASES["Ditto"][0], init=made.init, round=made.round, server_model=made.server_model)
    assert report.passed
    assert "personal models are not pulled to the server's model" in report.report()


def test_a_trainer_of_one_model_is_refused() -> None:
    for case in ("Ditto", "pFedMe, exact"):
        with pytest.raises(fc.InvalidInput, match="a personal one; give init, round"):
            check(CASES[case][0], local_update=lambda *given: None)
