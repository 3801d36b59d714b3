"""Faults planted in server optimisers written without the package are found and named; right ones pass."""

from typing import Any

import numpy as np
import plain_servers as plain
import pytest

import fedconvex as fc
from fedconvex.conformance import Report, check

pytestmark = pytest.mark.beyond_core  # takes seconds

WORK = {"stepsize": 0.1, "steps": 3}
TUNED = {"momentum": 0.5, "server_stepsize": 0.25, "tau": 0.125}
CASES: dict[str, tuple[Any, Any]] = {
    "FedAvgM": (
        fc.FedAvgM(stepsize=0.1, local_steps=3, momentum=0.5, server_stepsize=0.75),
        lambda **more: plain.HeavyServer(momentum=0.5, server_stepsize=0.75, **WORK, **more),
    ),
    "FedAdagrad": (
        fc.FedAdagrad(stepsize=0.1, local_steps=3, beta1=0.5, server_stepsize=0.25, tau=0.125),
        lambda **more: plain.AdaptiveServer(kind="Adagrad", **TUNED, **WORK, **more),
    ),
    "FedAdam": (
        fc.FedAdam(stepsize=0.1, local_steps=3, beta1=0.5, beta2=0.75, server_stepsize=0.25, tau=0.125),
        lambda **more: plain.AdaptiveServer(kind="Adam", beta2=0.75, **TUNED, **WORK, **more),
    ),
    "FedYogi": (
        fc.FedYogi(stepsize=0.1, local_steps=3, beta1=0.5, beta2=0.75, server_stepsize=0.25, tau=0.125),
        lambda **more: plain.AdaptiveServer(kind="Yogi", beta2=0.75, **TUNED, **WORK, **more),
    ),
}
AVERAGE = {
    "average not weighted": "the average is not weighted",
    "weights lost": "weights of dropped clients are lost",
    "starts at zero": "the run starts at zero instead of x0",
    "one step more": "clients take one local step too many",
    "wrong way": "the server moves against the clients' progress",
}
MOMENTS = {
    **AVERAGE,
    "no first moment": "the first moment is left out",
    "not dampened": "the first moment does not multiply new progress by 1 − beta1",
    "v starts at 0": "the second moment starts at 0 instead of tau²",
    "clients' squares": "the second moment averages the squares of the clients' steps, not the square of their average",
    "old v": "the second moment is that of the round before",
    "no root": "the second moment's root is not taken",
    "tau inside": "tau is added under the root",
}
CORRECTED = {
    "corrected": "the moments are corrected for their start, each by itself",
    "corrected stepsize": "the moments are corrected for their start, in the stepsize",
}
FAULTS = {
    "FedAvgM": {
        **AVERAGE,
        "no momentum": "the server's momentum is left out",
        "dampened": "the server's momentum multiplies new progress by 1 − momentum",
        "Nesterov": "the server's momentum is Nesterov's",
        "old velocity": "the server moves by the momentum of the round before",
        "eta ignored": "the server's stepsize is ignored",
    },
    "FedAdagrad": MOMENTS,
    "FedAdam": {**MOMENTS, **CORRECTED, "Yogi's": "the second moment is FedYogi's"},
    "FedYogi": {**MOMENTS, **CORRECTED, "Adam's": "the second moment is FedAdam's"},
}
PLANTED = [pytest.param(case, fault, id=f"{case}: {fault}") for case, faults in FAULTS.items() for fault in faults]


def checked(case: str, **options: Any) -> Report:
    method, implementation = CASES[case]
    made = implementation(**options)
    functions = {name: getattr(made, name) for name in ("init", "round", "server_model", "client_models")}
    return check(method, **functions)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_a_right_server_optimiser_passes(case: str, dtype: Any) -> None:
    report = checked(case, dtype=dtype)
    assert report.passed, report.report()
    assert report.precision == np.dtype(dtype).name


@pytest.mark.sample(6)
@pytest.mark.parametrize(("case", "fault"), PLANTED)
def test_a_fault_of_a_server_optimiser_is_named(case: str, fault: str) -> None:
    report = checked(case, fault=fault)
    found = [finding.name for finding in report.diagnosis + report.alternatives]
    assert not report.passed
    assert FAULTS[case][fault] in found, report.report()


def test_with_the_papers_parameters() -> None:
    """τ = 1e-3, β₁ = 0.9, β₂ = 0.99: also where Δ is tiny, rounding raises no alarm."""
    for kind, method in (("Adam", fc.FedAdam), ("Yogi", fc.FedYogi)):
        made = plain.AdaptiveServer(kind=kind, server_stepsize=0.1, **WORK)
        functions = {name: getattr(made, name) for name in ("init", "round", "server_model")}
        report = check(method(stepsize=0.1, local_steps=3), **functions)
        assert report.passed, report.report()


class UnweightedServer(plain.HeavyServer):
    """FedAvgM that averages plainly."""

    def weights(self, problem: Any, active: Any) -> Any:
        return [self.dtype(1 / len(active))] * len(active)


def test_a_fault_of_the_average_is_named_beside_one_of_the_momentum() -> None:
    method, _ = CASES["FedAvgM"]
    made = UnweightedServer(momentum=0.5, server_stepsize=0.75, fault="Nesterov", **WORK)
    report = check(method, **{name: getattr(made, name) for name in ("init", "round", "server_model")})
    expected = {FAULTS["FedAvgM"]["average not weighted"], FAULTS["FedAvgM"]["Nesterov"]}
    assert {finding.name for finding in report.diagnosis} == expected, report.report()
