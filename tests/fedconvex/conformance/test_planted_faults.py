"""Every fault planted in code that shares nothing with the package is found and named; right code passes."""

from typing import Any

import numpy as np
import plain_methods as plain
import pytest

import fedconvex as fc
from fedconvex.conformance import Report, check
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods import Method

pytestmark = pytest.mark.beyond_core  # takes a minute

STEPS = fc.GradientDescent(steps=4, stepsize=0.1)
FOUR = {"stepsize": 0.1, "steps": 4}
Case = tuple[Method, LocalSolver | None, type[plain.Plain], dict[str, Any]]

CASES: dict[str, Case] = {
    "FedGD": (fc.FedGD(stepsize=0.1, local_steps=4), None, plain.FedProx, FOUR),
    "FedAvg": (fc.FedAvg(epochs=4, stepsize=0.1), None, plain.FedProx, FOUR),
    "FedSGD": (fc.FedSGD(stepsize=0.1), None, plain.FedProx, {"stepsize": 0.1}),
    "FedProx, exact": (fc.FedProx(mu=0.5), None, plain.FedProx, {"mu": 0.5}),
    "FedProx, steps": (fc.FedProx(mu=0.5), STEPS, plain.FedProx, {"mu": 0.5, **FOUR}),
    "FedNova": (fc.FedNova(stepsize=0.1, local_steps=4), None, plain.FedNova, FOUR),
    "DANE": (fc.DANE(mu=0.5), None, plain.Dane, {"mu": 0.5, "all_gradients": True}),
    "FedDANE": (fc.FedDANE(mu=0.5), None, plain.Dane, {"mu": 0.5}),
    "FedDANE, steps": (fc.FedDANE(mu=0.5), STEPS, plain.Dane, {"mu": 0.5, **FOUR}),
    "FedDyn, exact": (fc.FedDyn(alpha=0.5), None, plain.FedDyn, {"alpha": 0.5}),
    "FedDyn, steps": (fc.FedDyn(alpha=0.5), STEPS, plain.FedDyn, {"alpha": 0.5, **FOUR}),
    "FedDynOneGD": (fc.FedDynOneGD(alpha=2), None, plain.FedDyn, {"alpha": 2, "stepsize": 0.5}),
    "SCAFFOLD II": (fc.Scaffold(stepsize=0.1, local_steps=4), None, plain.Scaffold, FOUR),
    "SCAFFOLD I": (
        fc.Scaffold(stepsize=0.1, local_steps=4, option=1, server_stepsize=0.75),
        None,
        plain.Scaffold,
        {"option": 1, "server_stepsize": 0.75, **FOUR},
    ),
    "FedSplit, exact": (fc.FedSplit(stepsize=0.5), None, plain.FedSplit, {"s": 0.5}),
    "FedSplit, steps": (fc.FedSplit(stepsize=0.5), STEPS, plain.FedSplit, {"s": 0.5, **FOUR}),
    "FedPD": (fc.FedPD(eta=0.5), None, plain.FedPD, {"eta": 0.5}),
}

PULL = {
    "proximal sign": "the proximal gradient has the wrong sign",
    "no proximal term": "the proximal term is always zero",
    "no halving": "the proximal term is not halved",
}
AVERAGE = {
    "average not weighted": "the average is not weighted",
    "weights lost": "weights of dropped clients are lost",
}
SERVER = {
    "server step twice": "the server's step is taken twice",
    "starts at zero": "the run starts at zero instead of x0",
}
LOCAL = {
    "one step more": "clients take one local step too many",
    "one step less": "clients take one local step too few",
    "frozen gradient": "local gradients are all taken at the server's model",
    "decay": "the local stepsize is multiplied by 0.9 every round",
}
LATE = {
    "stragglers dropped": "stragglers are dropped",
    "stragglers go on": "stragglers do all of the work",
}
FEDAVG = {
    **AVERAGE,
    **SERVER,
    "summed": "the clients' models are summed, not averaged",
    "inactive averaged in": "models of inactive clients are averaged in",
    "everyone works": "all clients take part in every round",
    "stale model": "clients get the server's model of the round before",
    "last client's data": "all clients train on the data of the last one",
    "loss is a mean": "the clients' functions are divided by the number of samples",
    "loss not halved": "the clients' functions are twice as large",
}
WITH_STEPS = {
    **LOCAL,
    **LATE,
    "own start": "clients start at their own last model",
    "one model for all": "every client starts where the one before it ended",
}
CORRECTED = {
    "no correction": "the gradient correction is left out: this is FedProx",
    "correction sign": "the gradient correction has the wrong sign",
    "own gradient left out": "the client's own gradient is left out of the correction",
    "mean gradient left out": "the averaged gradient is left out of the correction",
    "gradient not weighted": "the averaged gradient is not weighted",
}
FEDDYN = {
    **SERVER,
    **PULL,
    "linear sign": "the correction of the local gradient has the wrong sign",
    "no linear term": "the correction of the local gradient is left out",
    "memory not stored": "the clients' memory is never stored",
    "memory lost": "the clients' memory is lost in rounds that they skip",
    "memory sign": "the clients' memory is updated with the wrong sign",
    "memory around the new model": "the clients' memory is updated around the server's new model",
    "divided by the active": "server memory is divided by |P_t| instead of m",
    "summed": "server memory is summed, not divided by m",
    "h sign": "server memory is updated with the wrong sign",
    "h without alpha": "server memory is updated without alpha",
    "h not applied": "server memory is not applied",
    "h applied with plus": "server memory is applied with the wrong sign",
    "h one round late": "server memory is applied before it is updated",
    "h not divided": "server memory is not divided by alpha",
    "mean over m": "the average is divided by m instead of |P_t|",
    "weighted by samples": "the average is weighted by samples",
}
SCAFFOLD = {
    **SERVER,
    **LOCAL,
    "wrong sign": "the correction of the local gradient has the wrong sign",
    "never used": "the correction of the local gradient is left out",
    "not stored": "the clients' memory is never stored",
    "memory lost": "the clients' memory is lost in rounds that they skip",
    "used after the update, option I": "control variates are updated before they are used",
    "no c": "the server's control variate is left out of the correction",
    "no c_k": "the client's control variate is left out of the correction",
    "c never updated": "the server's control variate is never updated",
    "divided by the active": "server memory is divided by |P_t| instead of m",
    "summed": "server memory is summed, not divided by m",
    "c is the mean of the active": "the server's control variate is the mean of those who took part",
    "weighted by samples": "the average is weighted by samples",
}
OPTION_2 = {
    "other option": "option I is used instead of option II",
    "used after the update": "control variates are updated before they are used, and by another rule after it",
    "c not subtracted": "option II does not subtract c",
    "c added": "option II adds c instead of subtracting it",
    "old c_k forgotten": "option II forgets the old c_k",
    "path sign": "option II takes the path with the wrong sign",
    "no stepsize": "option II does not divide by the stepsize",
    "no steps": "option II does not divide by the local steps",
    "one too many": "option II divides by one local step too many",
    "full steps": "option II divides by the full number of local steps for stragglers, too",
}
FEDSPLIT = {
    **SERVER,
    **PULL,
    "around x": "the proximal step is taken around x instead of 2x − z_k",
    "around z": "the proximal step is taken around z_k instead of 2x − z_k",
    "no factor 2": "the reflection has no factor 2",
    "wrong way": "the reflection goes the wrong way",
    "proximal points averaged": "the server averages the proximal points instead of the z_k",
    "active z averaged": "only the z_k of those who take part are averaged",
    "divided by the active": "server memory is divided by |P_t| instead of m",
    "reset": "the clients' z_k is reset to the server's model",
    "never stored": "the clients' z_k is never stored",
}
FAULTS: dict[str, dict[str, str]] = {
    "FedGD": {**FEDAVG, **WITH_STEPS},
    "FedAvg": {**FEDAVG, **LATE, "one step more": LOCAL["one step more"], "decay": LOCAL["decay"]},
    "FedSGD": FEDAVG,
    "FedProx, exact": {
        **{fault: name for fault, name in FEDAVG.items() if not fault.startswith("loss")},
        **PULL,
        "own centre": "the proximal term pulls to the client's own last model",
    },
    "FedProx, steps": {
        **FEDAVG,
        **WITH_STEPS,
        **PULL,
        "norm not squared": "the norm in the proximal term is not squared",
        "own centre": "the proximal term pulls to the client's own last model",
        "centre of before": "the proximal term pulls to the server's model of the round before",
    },
    "FedNova": {
        **AVERAGE,
        **SERVER,
        **LOCAL,
        "not normalised": "progress is not divided by the number of local steps: this is FedAvg",
        "no tau_eff": "normalised progress is not multiplied by the mean number of local steps",
    },
    "DANE": {
        **AVERAGE,
        **SERVER,
        **PULL,
        **{fault: name for fault, name in CORRECTED.items() if fault != "gradient not weighted"},
        "other sample": "only the gradients of those who take part are averaged",
    },
    "FedDANE": {
        **AVERAGE,
        **SERVER,
        **PULL,
        **CORRECTED,
        "other sample": "the gradient of all clients is used instead of that of the sample",
    },
    "FedDANE, steps": {**AVERAGE, **SERVER, **PULL, **CORRECTED, "one step more": LOCAL["one step more"]},
    "FedDyn, exact": FEDDYN,
    "FedDyn, steps": {**FEDDYN, **LOCAL, "norm not squared": "the norm in the proximal term is not squared"},
    "FedDynOneGD": {name: sentence for name, sentence in FEDDYN.items() if name not in PULL},
    "SCAFFOLD II": {**SCAFFOLD, **OPTION_2},
    "SCAFFOLD I": {
        **SCAFFOLD,
        "other option": "option II is used instead of option I",
        "server stepsize ignored": "the server's stepsize is ignored",
    },
    "FedSplit, exact": FEDSPLIT,
    "FedSplit, steps": {**FEDSPLIT, **LOCAL},
    "FedPD": {
        **SERVER,
        **PULL,
        "dual sign": "the correction of the local gradient has the wrong sign",
        "no dual": "the correction of the local gradient is left out",
        "dual update sign": "the clients' memory is updated with the wrong sign",
        "no dual in the average": "the server averages the local models without their dual variables",
    },
}
PLANTED = [pytest.param(case, fault, id=f"{case}: {fault}") for case, faults in FAULTS.items() for fault in faults]


def checked(case: str, fault: str = "", dtype: Any = np.float64, clients: bool = True) -> Report:
    method, solver, implementation, parameters = CASES[case]
    made = implementation(fault=fault, dtype=dtype, **parameters)
    models = made.client_models if clients else None
    return check(
        method,
        init=made.init,
        round=made.round,
        server_model=made.server_model,
        client_models=models,
        local_solver=solver,
    )


@pytest.mark.sample(10)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_a_right_implementation_passes(case: str, dtype: Any) -> None:
    report = checked(case, dtype=dtype)
    assert report.passed, report.report()
    assert report.diagnosis == ()
    assert report.precision == np.dtype(dtype).name


@pytest.mark.sample(6)
@pytest.mark.parametrize(("case", "fault"), PLANTED)
def test_a_planted_fault_is_found_and_named(case: str, fault: str) -> None:
    """By name; where other known faults give the very same numbers, it is among them."""
    report = checked(case, fault)
    names = [finding.name for finding in report.diagnosis]
    others = [finding.name for finding in report.alternatives]
    assert not report.passed
    assert FAULTS[case][fault] in names + others, report.report()
    assert len(names) == 1 or "order" in names[1]
    assert report.deviations[0].size > 1e3 * report.deviations[0].tolerance


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", CASES)
def test_the_report_names_the_fault(case: str) -> None:
    report = checked(case, next(iter(FAULTS[case])))
    assert report.diagnosis[0].name in report.report()


@pytest.mark.sample(6)
@pytest.mark.parametrize(("case", "fault"), PLANTED)
def test_a_planted_fault_is_found_in_single_precision(case: str, fault: str) -> None:
    report = checked(case, fault, np.float32, clients=False)
    found = [finding.name for finding in report.diagnosis + report.alternatives]
    assert not report.passed
    assert FAULTS[case][fault] in found, report.report()
    assert max(d.size / d.tolerance for d in report.deviations) > 10


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", CASES)
def test_the_properties_of_a_right_implementation_hold(case: str) -> None:
    report = checked(case)
    assert {p.status for p in report.properties} <= {"holds", "not visible"}
    assert "holds" in {p.status for p in report.properties}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("case", "fault", "broken"),
    [
        (
            "FedProx, exact",
            "proximal sign",
            "the proximal term pulls to the server's model, with the prescribed weight",
        ),
        ("FedGD", "average not weighted", "the average is over those who take part, with the right weights"),
        ("FedGD", "stragglers dropped", "the partial work of stragglers is used"),
        ("FedDyn, exact", "summed", "the server's memory is kept, as a mean over all m clients"),
        ("SCAFFOLD II", "memory lost", "clients keep their memory, also through rounds that they skip"),
        ("FedSplit, exact", "around x", "clients work around 2x − z_k, their reflected state"),
        ("FedNova", "not normalised", "progress is counted per unit of local work"),
    ],
)
def test_the_property_that_a_fault_breaks_is_said(case: str, fault: str, broken: str) -> None:
    """And all others are said to hold: the fault explains every number."""
    properties = checked(case, fault).properties
    assert [p.name for p in properties if p.status == "broken"] == [broken]
    assert {p.status for p in properties[1:]} <= {"holds", "not visible"}


def test_parameters_that_hide_faults_are_said() -> None:
    """One step from the centre feels no pull."""
    unseen = {fault for p in checked("FedDynOneGD").properties for fault in p.unseen}
    assert "the proximal gradient has the wrong sign" in unseen
    assert "this check would not notice that" in checked("FedDynOneGD").report()
    assert "the proximal gradient has the wrong sign" not in {
        fault for p in checked("FedDyn, steps").properties for fault in p.unseen
    }
