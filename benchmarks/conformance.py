"""What a conformance report costs, beside simulating the same rounds once; faults found, and false alarms.

python benchmarks/conformance.py
"""

import statistics
import sys
from pathlib import Path
from typing import Any

from run import interleaved, record, row

import fedconvex as fc
from fedconvex.conformance.setup import setup_of

TESTS = Path(__file__).resolve().parent.parent / "tests" / "fedconvex" / "conformance"
sys.path.insert(0, str(TESTS))

from random_cases import random_report  # noqa: E402 - the independent implementations of the tests
from test_planted_faults import CASES, FAULTS, checked  # noqa: E402

REPETITIONS, RUNS = 3, 1000


def simulated(case: str, report: Any) -> None:
    """The same problems and rounds, simulated once in exact arithmetic."""
    method, solver, *_ = CASES[case]
    setup = setup_of(method, solver)
    for run in report.runs:
        scenario = run.scenario
        schedule = fc.participation.Schedule([list(active) for active in scenario.rounds])
        fc.simulate(
            setup.method,
            scenario.base,
            len(scenario.rounds),
            participation=schedule,
            local_solver=setup.solver,
            x0=scenario.first_point,
            arithmetic="exact",
            progress=False,
        )


def named(case: str, fault: str) -> bool:
    """Whether the report of a planted fault names it."""
    report = checked(case, fault)
    found = [finding.name for finding in report.diagnosis + report.alternatives]
    return not report.passed and FAULTS[case][fault] in found


def main() -> None:
    """Measure and record."""
    rows = []
    for case in CASES:
        report = checked(case)
        wrong = next(iter(FAULTS[case]))
        times = interleaved(
            {
                "right": lambda case=case: checked(case).report(),  # type: ignore[misc]
                "wrong": lambda case=case, wrong=wrong: checked(case, wrong).report(),  # type: ignore[misc]
                "once": lambda case=case, report=report: simulated(case, report),  # type: ignore[misc]
            },
            REPETITIONS,
        )
        seconds = {name: statistics.median(taken) for name, taken in times.items()}
        slower = max(seconds["right"], seconds["wrong"])
        rows.append(
            row(f"report of {case}, right or with a fault", slower, 5, "s", peer="the same rounds simulated once",
                peer_value=seconds["once"], ratio=slower / seconds["once"], **seconds)
        )  # fmt: skip
    planted = [(case, fault) for case, faults in FAULTS.items() for fault in faults]
    found = sum(named(case, fault) for case, fault in planted)
    rows.append(
        row("planted faults found and named", found, len(planted), "", peer="planted", peer_value=len(planted),
            ratio=found / len(planted), at_least=True)
    )  # fmt: skip
    alarms = sum(not random_report(seed).passed for seed in range(RUNS))
    rows.append(
        row("false alarms over random right runs", alarms, 0, "", peer="runs", peer_value=RUNS, ratio=alarms / RUNS)
    )
    record("conformance", rows)


if __name__ == "__main__":
    main()
