"""How many right implementations the conformance kit suspects, and how long a check takes that passes.

    python benchmarks/conformance_right.py [--first 0] [--runs 2000]

Cases are those of right_cases.py in tests/fedconvex/conformance: random methods and parameters, in float64 and float32,
some with mini-batches that they shuffle by themselves. Two thousand take ten minutes on one core;
results/conformance_right.json is written again and again, and says how many it has counted so far. `--first` continues
a count that was broken off there, from what the file has. One report in twenty is also written as text, which takes
longer than the check: it tries which faults these parameters would show.
"""

import argparse
import json
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import torch  # noqa: F401 - some implementations use it: importing it is not a check's time
from run import RESULTS, record, row

TESTS = Path(__file__).resolve().parent.parent / "tests" / "fedconvex" / "conformance"
sys.path.insert(0, str(TESTS))

from right_cases import right_cases  # noqa: E402  (found above)

EVERY = 20  # cases between two records
PASSING = 2  # seconds
RECORD = RESULTS / "conformance_right.json"


def main(first: int, runs: int) -> None:
    """Check the cases from number `first` on, and write what was counted."""
    start: dict[str, list[Any]] = {"seconds": [], "with_text": [], "alarms": []}
    counted = json.loads(RECORD.read_text("utf-8")) if first else start
    counted["seconds"] = counted["seconds"][:first]
    for done, case in enumerate(islice(right_cases(first + runs), first, None), first + 1):
        begin = time.process_time()  # not the clock: the machine may be busy with other things
        report = case.report()
        counted["seconds"].append(round(time.process_time() - begin, 3))
        if done % EVERY == 0:
            report.report()
            counted["with_text"].append(round(time.process_time() - begin, 3))
        if report.verdict == "differs":
            counted["alarms"].append(f"{case}: {report.report()}")
            print(f"false alarm: {case}", flush=True)
        if done % EVERY == 0:
            write(counted)
    write(counted)


def write(counted: dict[str, list[Any]]) -> None:
    """Record the counts so far."""
    rows, alarms, tried = [], len(counted["alarms"]), len(counted["seconds"])
    more: dict[str, Any] = {"peer": "checks", "peer_unit": ""}
    for what, seconds in (("check that passes", counted["seconds"]), ("check and its text", counted["with_text"])):
        for how, value in (("slowest", max(seconds)), ("mean", sum(seconds) / len(seconds))):
            about = f"{how} {what}, CPU time"
            rows.append(row(about, value, PASSING, "s", peer_value=len(seconds), ratio=value / PASSING, **more))
    found = row("false alarms over right runs", alarms, 0, "", peer="runs", peer_value=tried, ratio=alarms / tried)
    record("conformance_right", [found, *rows], **{name: counted[name] for name in ("alarms", "seconds", "with_text")})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=2000)
    given = parser.parse_args()
    main(given.first, given.runs)
