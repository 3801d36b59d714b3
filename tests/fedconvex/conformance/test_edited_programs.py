"""Faults planted by editing the text of plain programs: each is detected, and named as it was written."""

import os

import pytest
from edited_programs import Edit, edits, report_on
from plain_programs import PROGRAMS

from fedconvex.conformance.report import covered

pytestmark = pytest.mark.beyond_core  # takes seconds

EDITS = edits()
STRIDE = int(os.environ.get("FEDCONVEX_EDITS_STRIDE", "9"))


def test_the_list_has_more_than_a_hundred_edits_of_ten_methods() -> None:
    assert len(EDITS) >= 110
    assert {edit.kind for edit in EDITS} == set(PROGRAMS)
    assert sum(len(edit.names) > 1 for edit in EDITS) >= 20


@pytest.mark.parametrize("kind", list(PROGRAMS))
def test_programs_without_an_edit_pass(kind: str) -> None:
    assert report_on(kind).passed


@pytest.mark.parametrize("edit", EDITS[::STRIDE], ids=str)
def test_an_edit_is_named(edit: Edit) -> None:
    report = report_on(edit, clients_known=False)
    found = [finding for finding in report.diagnosis if "order of the clients" not in finding.name]
    assert not report.passed
    assert covered(found, edit.names), report.report()


@pytest.mark.exhaustive
def test_every_edit_is_named_with_the_clients_models_known() -> None:
    missed = []
    for edit in EDITS:
        report = report_on(edit)
        assert not report.passed, str(edit)
        found = [finding for finding in report.diagnosis if "order of the clients" not in finding.name]
        if not covered(found, edit.names):
            missed.append(str(edit))
    assert len(missed) <= 0.02 * len(EDITS), missed


def test_faults_with_the_same_numbers_are_one_finding() -> None:
    """FedDyn's memory of the wrong sign, and a correction of the wrong sign: no run tells them apart."""
    sign = next(edit for edit in EDITS if edit.names == ("the clients' memory is updated with the wrong sign",))
    report = report_on(sign)
    (finding,) = report.diagnosis
    assert {finding.name, *finding.same} == {
        "the clients' memory is updated with the wrong sign",
        "the correction of the local gradient has the wrong sign",
    }
    text = report.report()
    assert ", or, with the same numbers, " in text
    assert "would come just as well" not in text
    statuses = {p.name: p.status for p in report.properties}
    assert statuses["clients update their memory by the method's rule, after its use"] == "undecided"


def test_what_one_run_tells_apart_stays_two_sets() -> None:
    """All clients train on the last one's data, or only the last one counts: the clients' models differ."""
    last = next(edit for edit in EDITS if edit.names == ("all clients train on the data of the last one",))
    known = report_on(last, clients_known=True).diagnosis[0]
    unknown = report_on(last, clients_known=False).diagnosis[0]
    assert known.name == "all clients train on the data of the last one"
    assert known.same == ()
    assert {unknown.name, *unknown.same} > {known.name}
