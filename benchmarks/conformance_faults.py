"""How many planted faults the conformance kit names, how many right implementations it suspects, and how long it takes.

    python benchmarks/conformance_faults.py [SHARE]      # SHARE: of the list and of the right runs; default 1, all

Prints one line a fault that was not named exactly, then the counts, and writes them to results/conformance_faults.json.
The cases are those of tests/fedconvex/conformance/planted_list.py. All of them take about an hour of CPU time.
"""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "fedconvex" / "conformance"))

from planted_list import outcome, planted_cases, report_on, right_cases  # noqa: E402  (a folder of tests, found above)

RIGHT = 2000


def main(share: float) -> None:
    """Check this share of all cases, print and write the counts."""
    cases = planted_cases()
    step = max(1, round(1 / share))
    counts: dict[str, Counter[str]] = {}
    for case in cases[::step]:
        found = outcome(case)
        row = counts.setdefault(f"{len(case.one.faults)} at once", Counter())
        row.update(
            ["planted", *(name for name in ("detected", "named", "exactly", "passes when cured") if found[name])]
        )
        if not found["exactly"]:
            print(f"{case}: {found['said']}", flush=True)
    slowest, alarms = 0.0, 0
    for right in right_cases(round(RIGHT * share)):
        begin = time.process_time()
        passed = report_on(right.one, right.clients_known).passed
        slowest, alarms = max(slowest, time.process_time() - begin), alarms + (not passed)
        if not passed:
            print(f"false alarm: {right.one}", flush=True)
    result: dict[str, Any] = {
        "planted": counts,
        "right": {"runs": round(RIGHT * share), "alarms": alarms, "slowest CPU seconds": slowest},
    }
    print(json.dumps(result, indent=2))
    (HERE / "results" / "conformance_faults.json").write_text(json.dumps(result, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
