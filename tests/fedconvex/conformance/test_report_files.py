"""Reports as JSON, JUnit XML and SVG: each says what the report says, and any text in it leaves it well formed."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hostile_names import NAMES

import fedconvex as fc
from fedconvex.conformance import ConformanceFinding, Deviation, Report, check
from fedconvex.conformance.report_files import badge_of, json_of, junit_of

pytestmark = pytest.mark.beyond_core  # takes seconds

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module", params=[True, False], ids=["conforms", "does not"])
def report(request: Any) -> Report:
    def play(problem: Any, w: Any, active: Any) -> Any:
        steps = [w - 0.1 * problem.A[k].T @ (problem.A[k] @ w - problem.b[k]) for k in active]
        sizes = [len(problem.b[k]) for k in active] if request.param else None
        return np.average(steps, axis=0, weights=sizes)

    found = check(fc.FedGD(stepsize=0.1), init=lambda problem, x0: x0, round=play, server_model=lambda w: w)
    assert found.passed == request.param
    return found


def test_json_has_what_the_report_has(report: Report) -> None:
    read = json.loads(json_of(report, "a.py:B"))
    assert read["implementation"] == "a.py:B"
    assert (read["passed"], read["verdict"]) == (report.passed, report.verdict)
    assert read["covered"]["rounds"] == report.covered.rounds > 0
    assert [found["name"] for found in read["diagnosis"]] == [found.name for found in report.diagnosis]
    assert read["report"] == report.report()
    assert {p["name"]: p["status"] for p in read["properties"]} == {p.name: p.status for p in report.properties}


def test_junit_counts_its_tests_and_fails_where_the_implementation_does(report: Report) -> None:
    suites = ElementTree.fromstring(junit_of(report, "a.py:B"))
    (suite,) = suites
    cases = list(suite)
    statuses = [p.status for p in report.properties]
    assert len(cases) == len(statuses) + 1
    kinds = [child.tag for case in cases for child in case]
    for element in (suites, suite):
        assert element.attrib["tests"] == str(len(cases))
        assert element.attrib["failures"] == str(kinds.count("failure"))
        assert element.attrib["skipped"] == str(kinds.count("skipped"))
    assert (kinds.count("failure") > 0) == (not report.passed)
    assert [child.text for child in cases[0]] == ([] if report.passed else [report.report()])
    assert [case.attrib["name"] for case in cases[1:]] == [p.name for p in report.properties]


def test_the_badge_shows_the_verdict_in_boxes_beside_each_other(report: Report) -> None:
    picture = ElementTree.fromstring(badge_of(report))
    texts = [element.text for element in picture.iter(f"{SVG}text")]
    assert texts == [report.method, report.verdict]
    boxes = [(int(box.attrib["x"]), int(box.attrib["width"])) for box in picture.iter(f"{SVG}rect")]
    assert boxes[0][0] == 0
    assert boxes[1][0] == boxes[0][1]
    assert sum(width for _, width in boxes) == int(picture.attrib["width"])
    for (x, width), text in zip(boxes, picture.iter(f"{SVG}text"), strict=True):
        start, length = int(text.attrib["x"]), int(text.attrib["textLength"])
        assert x < start < start + length < x + width
    assert picture.attrib["aria-label"].endswith(texts[1] or "-")


@pytest.mark.parametrize("name", NAMES)
def test_any_text_leaves_the_files_well_formed(name: str, report: Report) -> None:
    hostile = replace(
        report,
        method=NAMES[name],
        diagnosis=(ConformanceFinding(NAMES[name], NAMES[name], NAMES[name]),),
        deviations=(Deviation(NAMES[name], 1, 0, (1.0,), (float("nan"),), float("inf"), 0.5),),
    )
    assert json.loads(json_of(hostile, NAMES[name]))["deviations"][0]["found"] == [None]
    assert ElementTree.fromstring(junit_of(hostile, NAMES[name])).tag == "testsuites"
    assert ElementTree.fromstring(badge_of(hostile)).tag == f"{SVG}svg"
