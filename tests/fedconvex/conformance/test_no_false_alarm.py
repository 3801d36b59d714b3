"""Correct implementations pass, whatever the parameters."""

import pytest
from random_cases import random_report

FEW, MANY = range(50), range(50, 500)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", FEW)
def test_a_random_right_implementation_passes(seed: int) -> None:
    report = random_report(seed)
    assert report.verdict == ("undecided" if report.covered.missing else "conforms"), report.report()


@pytest.mark.exhaustive
def test_five_hundred_random_right_implementations_pass() -> None:
    reports = {seed: random_report(seed) for seed in MANY}
    assert {seed: report.report() for seed, report in reports.items() if report.verdict == "differs"} == {}
    assert all(report.passed or report.covered.missing for report in reports.values())
