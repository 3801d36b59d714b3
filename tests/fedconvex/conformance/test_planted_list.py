"""The list of planted faults, one to three at once, and right implementations with random settings: a sample of each.

FEDCONVEX_PLANTED=658 FEDCONVEX_RIGHT=2000 pytest -m exhaustive tests/fedconvex/conformance/test_planted_list.py checks
more; `benchmarks/conformance_faults.py` counts, and writes what it counted.
"""

import os

import numpy as np
import pytest
from federation import Federation, report_on
from planted_list import outcome, planted_cases, said
from right_cases import Right, right_cases

from fedconvex.conformance import findings

pytestmark = pytest.mark.beyond_core  # takes seconds

CASES = planted_cases()
PLANTED = int(os.environ.get("FEDCONVEX_PLANTED", "8"))
RIGHT = int(os.environ.get("FEDCONVEX_RIGHT", "40"))
DRAWN = [CASES[i] for i in np.random.default_rng(2).permutation(len(CASES))[:PLANTED]]


def test_the_list_has_hundreds_of_faults_two_and_three_at_once_included() -> None:
    counts = [sum(len(case.one.faults) == size for case in CASES) for size in (1, 2, 3)]
    assert counts[1] >= 100
    assert counts[2] >= 50
    assert sum(counts) >= 400


def test_planted_faults_are_detected_and_their_cures_make_the_check_pass() -> None:
    """Detected always, named nearly always; where they are named, the check passes without them."""
    outcomes = {str(case): outcome(case) for case in CASES[:: len(CASES) // 2]}
    assert [name for name, found in outcomes.items() if not found["detected"]] == []
    assert [name for name, found in outcomes.items() if found["named"] and not found["passes when cured"]] == []
    assert [name for name, found in outcomes.items() if found["wrong"]] == []
    assert sum(found["named"] for found in outcomes.values()) >= 0.75 * len(outcomes)


@pytest.mark.exhaustive
def test_more_planted_faults_are_named() -> None:
    outcomes = [outcome(case) for case in DRAWN]
    assert all(found["detected"] for found in outcomes)
    assert all(found["passes when cured"] for found in outcomes if found["named"])
    assert np.mean([found["named"] for found in outcomes]) >= 0.97 - 1 / len(outcomes)


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", list(right_cases(8)), ids=str)
def test_right_implementations_pass(case: Right) -> None:
    report = case.report()
    assert report.verdict != "differs", report.report()  # one local step does not show all: undecided


@pytest.mark.exhaustive
def test_more_right_implementations_pass() -> None:
    alarms = [str(case) for case in right_cases(RIGHT) if case.report().verdict == "differs"]
    assert alarms == []


def named(kind: str, *faults: str, clients_known: bool = False, **settings: object) -> list[str]:
    one = Federation(kind, faults, **settings)  # type: ignore[arg-type]
    return [finding.name for finding in report_on(one, clients_known).diagnosis]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("weight decay=0.0002", "local steps have a weight decay of 0.0002"),
        ("weight decay=0.0003", "local steps have a weight decay of 0.0003"),
        ("weight decay=1e-05", "local steps have a weight decay of 1e-05"),
        ("momentum=0.95", "local steps have a momentum of 0.95"),
        ("nesterov=0.95", "local steps have a Nesterov momentum of 0.95"),
        ("clip=1", "local gradients are clipped to a norm of 1"),
        ("clip=5", "local gradients are clipped to a norm of 5"),
        ("clip=10", "local gradients are clipped to a norm of 10"),
        ("adam", "local steps are those of Adam"),
        ("after ten rounds=0.1", "the local stepsize is multiplied by 0.1 after every 10 rounds"),
        ("chain at first", "every client starts where the one before it ended, in the first round"),
        ("scaled model=0.75", "the server's new model is multiplied by 0.75"),
        ("integers", "the targets are truncated to integers"),
    ],
)
def test_unknown_numbers_are_fitted_and_nothing_else_is_named(fault: str, said: str) -> None:
    """No constant from a list, and no single precision beside it."""
    assert [name for name in named("FedAvg", fault) if "order of the clients" not in name] == [said]


def test_what_was_fitted_is_printed_with_how_well_it_fits() -> None:
    finding = report_on(Federation("FedAvg", ("weight decay=0.00037",)), False).diagnosis[0]
    assert finding.name.endswith("of 0.00037")
    assert finding.detail.startswith("fitted, ±")
    assert "models agree within" in finding.detail
    assert finding.detail in report_on(Federation("FedAvg", ("weight decay=0.00037",)), False).report()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("kind", "faults"),
    [
        ("FedProx", ("pull without square",)),
        ("FedProx", ("pull to zero",)),
        ("FedProx", ("chain with pull",)),
        ("FedDyn", ("memory shared",)),
        ("FedDyn", ("last change",)),
        ("FedDyn", ("h from last",)),
        ("SCAFFOLD", ("live",)),
        ("FedNova", ("weights on models",)),
        ("FedDyn", ("pull missing",)),
        ("FedDyn", ("h of active",)),
        ("SCAFFOLD", ("c of active",)),
        ("SCAFFOLD", ("eta on models",)),
    ],
)
def test_faults_of_one_method_are_named(kind: str, faults: tuple[str, ...]) -> None:
    eta = 0.75 if kind == "SCAFFOLD" else 1.0
    report = report_on(Federation(kind, faults, server_stepsize=eta), True)
    likely = {finding.name for finding in report.diagnosis + report.alternatives}
    assert said(kind, faults[0]) in likely, report.report()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("kind", "faults"),
    [
        ("FedProx", ("pull norm", "unweighted")),
        ("FedAvg", ("integers", "step more", "after three rounds=0.5")),
        ("FedProx", ("decay=0.95", "stale")),  # stale beside faults that have its effect, and change earlier rounds
        ("FedDyn", ("pull sign", "memory at new model", "h unused")),  # around the model that an unused h leaves
    ],
)
def test_several_faults_at_once_are_all_named(kind: str, faults: tuple[str, ...]) -> None:
    assert set(named(kind, *faults, clients_known=True)) == {said(kind, fault) for fault in faults}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "faults"),
    [
        ("SCAFFOLD", ("c frozen", "path one more", "after ten rounds=0.1")),
        ("FedSplit", ("frozen", "pull half", "weight decay=0.07")),
    ],
)
def test_three_faults_that_hide_each_other_have_no_other_name(kind: str, faults: tuple[str, ...]) -> None:
    """They need longer searches than people wait for: named as they are, or not at all."""
    found = set(named(kind, *faults, clients_known=True))
    assert found in ({said(kind, fault) for fault in faults}, {findings.UNKNOWN})
