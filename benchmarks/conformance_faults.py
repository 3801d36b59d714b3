"""How many planted faults the conformance kit names, and how long it takes.

    python benchmarks/conformance_faults.py [--planted 658] [--seed 0] [--least 1]

Cases are those of planted_list.py in tests/fedconvex/conformance, in an order that is random and always the same: fewer
than all are a sample. With another seed the pairs, triples and numbers are others, on which nobody has worked;
--least 2 leaves out the single faults. Prints a line a fault that is not named exactly. All cases take about half an
hour on one core; results/conformance_faults.json is written again and again, and says how many it has counted so far.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from run import record, row

TESTS = Path(__file__).resolve().parent.parent / "tests" / "fedconvex" / "conformance"
sys.path.insert(0, str(TESTS))

from planted_list import outcome, planted_cases  # noqa: E402  (found above)

EVERY = 20  # cases between two records
UNEXPLAINED = 20  # seconds
COUNTED = ("detected", "exactly", "named", "wrong", "unexplained", "passes when cured")


def main(planted: int, seed: int, least: int) -> None:
    """Check so many cases of the list, and write what was counted."""
    listed = [case for case in planted_cases(seed) if len(case.one.faults) >= least]
    name = "conformance_faults" if seed == 0 else f"conformance_faults_{seed}"
    order = np.random.default_rng(0).permutation(len(listed))[:planted]
    counts: dict[int, Counter[str]] = {size: Counter() for size in (1, 2, 3)}
    failed: list[dict[str, Any]] = []
    seconds: Counter[str] = Counter()

    def write() -> None:
        rows = rows_of_planted(counts, seconds)
        numbers = {f"{size} at once": dict(counted) for size, counted in counts.items()}
        listing = {"planted": numbers, "listed": len(listed), "not exactly": failed}
        record(name, rows, **listing)

    for done, i in enumerate(order, 1):
        case, size = listed[i], len(listed[i].one.faults)
        found, taken = timed(partial(outcome, case))
        counts[size].update(["planted", *(name for name in COUNTED if found[name])])
        kind = "unexplained" if found["unexplained"] else "explained"
        seconds[kind] = max(seconds[kind], taken)  # together with the check of the cured implementation
        if not found["exactly"]:
            failed.append({"case": str(case), "named": found["named"], "said": found["said"]})
            print(f"{case}: {found['said']}", flush=True)
        if done % EVERY == 0:
            write()
    write()


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its CPU time: the machine may be busy with other things."""
    begin = time.process_time()
    return call(), time.process_time() - begin


def rows_of_planted(counts: dict[int, Counter[str]], seconds: Counter[str]) -> list[dict[str, Any]]:
    """Counts of all planted faults, and of those named by their number at once."""
    total: Counter[str] = sum(counts.values(), Counter())
    tried = total["planted"]

    def of(counted: Counter[str], name: str, what: str, share: float, at_least: bool = True) -> dict[str, Any]:
        number = counted["planted"]
        ratio = counted[name] / max(1, number)
        return row(what, counted[name], share * number, "", peer="planted", peer_value=number, ratio=ratio,
                   at_least=at_least)  # fmt: skip

    return [
        of(total, "detected", "planted faults detected", 1),
        of(total, "exactly", "named exactly (faults with the same numbers in every run are one)", 0.97),
        *(of(counted, "exactly", f"named exactly, {size} at once", 0.97) for size, counted in counts.items()),
        of(total, "named", "named, or listed beside a set of faults with the same numbers", 0.97),
        of(total, "wrong", "something else named", 0, at_least=False),
        of(total, "unexplained", "not explained", 0.03, at_least=False),
        of(total, "passes when cured", "the check passes when the named faults are cured", 0.97),
        row("slowest unexplained check, CPU time", seconds["unexplained"], UNEXPLAINED, "s", peer="checks",
            peer_value=tried, peer_unit="", ratio=seconds["unexplained"] / UNEXPLAINED),
    ]  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planted", type=int, default=658)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=int, default=1)
    given = parser.parse_args()
    main(given.planted, given.seed, given.least)
