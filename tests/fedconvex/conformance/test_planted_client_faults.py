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
