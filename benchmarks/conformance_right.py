"""How many right implementations the conformance kit suspects, and how long a check takes that passes.

    python benchmarks/conformance_right.py [--first 0] [--runs 2000]

Cases are those of right_cases.py in tests/fedconvex/conformance: random methods and parameters, in float64 and float32,
some with mini-batches that they shuffle by themselves. Two thousand take half an hour on one core;
results/conformance_right.json is written again and again, and says how many it has counted so far. `--first` continues
a count that was broken off there, from what the file has.
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
    before = json.loads(RECORD.read_text("utf-8")) if first else {"seconds": [], "alarms": []}
    seconds, alarms = before["seconds"][:first], before["alarms"]
    for done, case in enumerate(islice(right_cases(first + runs), first, None), first + 1):
        begin = time.process_time()  # not the clock: the machine may be busy with other things
        report = case.report()
        text = report.report()
        seconds.append(round(time.process_time() - begin, 3))
        if not report.passed:
            alarms.append(f"{case}: {text}")
            print(f"false alarm: {case}", flush=True)
        if done % EVERY == 0:
            write(seconds, alarms)
    write(seconds, alarms)


def write(seconds: list[float], alarms: list[Any]) -> None:
    """Record the counts so far."""
    tried, slowest, mean = len(seconds), max(seconds), sum(seconds) / len(seconds)
    share = len(alarms) / tried
    rows = [
        row("false alarms over right runs", len(alarms), 0, "", peer="runs", peer_value=tried, ratio=share),
        row("slowest check that passes, its report included, CPU time", slowest, PASSING, "s", peer="runs",
            peer_value=tried, peer_unit="", ratio=slowest / PASSING),
        row("mean of them", mean, PASSING, "s", peer="runs", peer_value=tried, peer_unit="", ratio=mean / PASSING),
    ]  # fmt: skip
    record("conformance_right", rows, alarms=alarms, seconds=seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=2000)
    given = parser.parse_args()
    main(given.first, given.runs)
