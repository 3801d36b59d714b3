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

from planted_edits import CASES, EDITS, PLANTED, report_on  # noqa: E402 - the independent implementations of the tests
from random_cases import random_report  # noqa: E402

REPETITIONS, RUNS = 3, 1000


def simulated(case: str, report: Any) -> None:
    """The same problems and rounds, simulated once, in exact arithmetic where that has the method's operations."""
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
            arithmetic="float" if method.takes_square_roots else "exact",
            progress=False,
        )


def named(case: str, fault: str) -> bool:
    """Whether the report of a planted fault names it."""
    report = report_on(case, fault)
    found = [name for finding in report.diagnosis + report.alternatives for name in (finding.name, *finding.same)]
    return not report.passed and fault in found


def main() -> None:
    """Measure and record."""
    rows = []
    for case in CASES:
        report = report_on(case)
        wrong = next(iter(EDITS[case]))
        times = interleaved(
            {
                "right": lambda case=case: report_on(case).report(),  # type: ignore[misc]
                "wrong": lambda case=case, wrong=wrong: report_on(case, wrong).report(),  # type: ignore[misc]
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
    found = sum(named(case, fault) for case, fault in PLANTED)
    rows.append(
        row("planted faults found and named", found, len(PLANTED), "", peer="planted", peer_value=len(PLANTED),
            ratio=found / len(PLANTED), at_least=True)
    )  # fmt: skip
    alarms = sum(not random_report(seed).passed for seed in range(RUNS))
    rows.append(
        row("false alarms over random right runs", alarms, 0, "", peer="runs", peer_value=RUNS, ratio=alarms / RUNS)
    )
    record("conformance", rows)


if __name__ == "__main__":
    main()
