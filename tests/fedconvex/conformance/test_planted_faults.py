"""Every fault planted in code that shares nothing with the package is found and named; right code passes."""

from typing import Any

import numpy as np
import plain_methods as plain
import pytest
from checking import report_of
from planted_edits import CASES, EDITS, FAULTS, GROUPS, IN_SOME, PLANTED, STEPS, pairs, planted, report_on

import fedconvex as fc
from fedconvex.conformance import Report, check
from fedconvex.conformance.report import covered

pytestmark = pytest.mark.beyond_core  # takes a minute

BACKWARDS = "the clients' memory is updated with the wrong sign"
# it moves models by less than ten times what single precision may, too little to fit its number
TOO_SMALL = ("pFedMe, steps", "the local stepsize is multiplied by 0.9 every round")
LAST_DATA = "all clients train on the data of the last one"


def findings_of(report: Report) -> list[Any]:
    """Those of the code itself: what a fault does beside depends on the order of the clients."""
    return [finding for finding in report.diagnosis if "order of the clients" not in finding.name]


@pytest.mark.sample(10)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CASES)
def test_a_right_implementation_passes(case: str, dtype: Any) -> None:
    report = report_on(case, dtype=dtype)
    assert report.passed, report.report()
    assert report.diagnosis == ()
    assert report.precision == np.dtype(dtype).name


@pytest.mark.sample(14)
@pytest.mark.parametrize(("case", "name"), IN_SOME)
def test_a_planted_fault_is_found_and_named(case: str, name: str) -> None:
    """By name; where other known faults give the very same numbers, it is among them."""
    report = report_on(case, name)
    found = findings_of(report)
    assert not report.passed
    assert len(found) == 1, report.report()
    assert name in (found[0].name, *found[0].same, *(other.name for other in report.alternatives)), report.report()
    assert name in report.report()
    assert report.deviations[0].size > 1e3 * report.deviations[0].tolerance


@pytest.mark.sample(14)
@pytest.mark.parametrize(("name", "case"), {name: case for case, name in PLANTED if (case, name) != TOO_SMALL}.items())
def test_a_planted_fault_is_found_in_single_precision(name: str, case: str) -> None:
    """Each in one method that may have it."""
    report = report_on(case, name, dtype=np.float32, clients_known=False)
    found = [one for finding in report.diagnosis + report.alternatives for one in (finding.name, *finding.same)]
    assert not report.passed
    assert name in found, report.report()
    assert max(d.size / d.tolerance for d in report.deviations) > 4


@pytest.mark.sample(6)
@pytest.mark.parametrize(("case", "own", "local"), pairs())
def test_two_planted_faults_are_both_named(case: str, own: str, local: str) -> None:
    report = report_on(case, own, local)
    named = [set(names) for names in report.explanations]
    assert not report.passed
    assert covered(findings_of(report), (own, local)) or {own, local} in named, report.report()


def test_every_group_of_faults_is_planted_somewhere() -> None:
    assert {group for groups in FAULTS.values() for group in groups} == set(GROUPS)
    assert len(PLANTED) > 400
    assert {name for _, name in IN_SOME} == {name for _, name in PLANTED}
    assert {case for case, _ in IN_SOME} == CASES.keys()
    assert len(pairs()) > 50


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", CASES)
def test_the_properties_of_a_right_implementation_hold(case: str) -> None:
    report = report_on(case)
    assert {p.status for p in report.properties} <= {"holds", "not visible"}
    assert "holds" in {p.status for p in report.properties}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("case", "fault", "broken"),
    [
        (
            "FedProx, exact",
            "the proximal gradient has the wrong sign",
            "the proximal term pulls to the server's model, with the prescribed weight",
        ),
        ("FedGD", "the average is not weighted", "the average is over those who take part, with the right weights"),
        ("FedGD", "stragglers are dropped", "the partial work of stragglers is used"),
        (
            "FedDyn, exact",
            "server memory is summed, not divided by m",
            "the server's memory is kept, as a mean over all m clients",
        ),
        (
            "SCAFFOLD II",
            "the clients' memory is lost in rounds that they skip",
            "clients keep their memory, also through rounds that they skip",
        ),
        (
            "FedSplit, exact",
            "the proximal step is taken around x instead of 2x − z_k",
            "clients work around 2x − z_k, their reflected state",
        ),
        (
            "FedNova",
            "progress is not divided by the number of local steps: this is FedAvg",
            "progress is counted per unit of local work",
        ),
    ],
)
def test_the_property_that_a_fault_breaks_is_said(case: str, fault: str, broken: str) -> None:
    """And all others are said to hold: the fault explains every number."""
    properties = report_on(case, fault).properties
    assert [p.name for p in properties if p.status == "broken"] == [broken]
    assert {p.status for p in properties[1:]} <= {"holds", "not visible"}


def test_parameters_that_hide_faults_are_said() -> None:
    """One step from the centre feels no pull."""
    sign = "the proximal gradient has the wrong sign"
    hidden = report_on("FedDynOneGD")
    assert sign in {fault for p in hidden.properties for fault in p.unseen}
    assert "this check would not notice that" in hidden.report()
    assert sign not in {fault for p in report_on("FedDyn, steps").properties for fault in p.unseen}


def test_faults_with_the_same_numbers_are_one_finding() -> None:
    """FedDyn's memory of the wrong sign, and a correction of the wrong sign: no run tells them apart."""
    report = report_on("FedDyn, steps", BACKWARDS)
    (finding,) = report.diagnosis
    assert {finding.name, *finding.same} == {BACKWARDS, "the correction of the local gradient has the wrong sign"}
    text = report.report()
    assert ", or, with the same numbers, " in text
    assert "would come just as well" not in text
    statuses = {p.name: p.status for p in report.properties}
    assert statuses["clients update their memory by the method's rule, after its use"] == "undecided"


def test_what_one_run_tells_apart_stays_two_sets() -> None:
    """All clients train on the last one's data, or only the last one counts: the clients' models differ."""
    known, unknown = (report_on("FedSGD", LAST_DATA, clients_known=known).diagnosis[0] for known in (True, False))
    assert (known.name, known.same) == (LAST_DATA, ())
    assert {unknown.name, *unknown.same} > {LAST_DATA}


def test_the_server_alone_does_not_show_dittos_personal_models() -> None:
    """So the report says which faults it cannot see; with the client models it sees them."""
    fault = "personal models are not pulled to the server's model"
    made = planted("Ditto", fault)
    report = report_of(CASES["Ditto"][0], made)
    assert report.verdict == "undecided"
    assert "not covered: the clients' personal models" in report.report()
    assert fault in report.report()
    assert fault in EDITS["Ditto"]


def test_a_trainer_of_one_model_is_refused() -> None:
    for case in ("Ditto", "pFedMe, exact"):
        with pytest.raises(fc.InvalidInput, match="a personal one; give init, round"):
            check(CASES[case][0], local_update=lambda *given: None)


def test_server_optimisers_with_the_papers_parameters() -> None:
    """τ = 1e-3, β₁ = 0.9, β₂ = 0.99: also where Δ is tiny, rounding raises no alarm."""
    for kind, method in (("Adam", fc.FedAdam), ("Yogi", fc.FedYogi)):
        made = plain.Adaptive(kind=kind, server_stepsize=0.1, stepsize=0.1, steps=STEPS.steps)
        report = report_of(method(stepsize=0.1, local_steps=STEPS.steps), made)
        assert report.passed, report.report()
