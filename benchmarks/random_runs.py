"""Random runs of the other papers' methods against their theorems: exact federations of each statement's own setting.

python benchmarks/random_runs.py             # 100 federations a statement
python benchmarks/random_runs.py --runs 1000 --papers scaffnew fedlin

Every run is played by the method's own code in rational numbers, and both sides of the claim are exact. A violation of
a statement that is PROVED would be a fault of the kernel; the exit status is then 1.
"""

import argparse
import sys
from collections import Counter
from itertools import islice
from time import perf_counter

from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.on_runs.random_parameters import NoFederation
from fedconvex.claims.settings import NotASetting
from fedconvex.errors import FedconvexError
from fedconvex.theory import papers

THREE = ("fedprox", "fedsplit", "feddyn")


def main() -> int:
    """Prints a line for each statement: runs, and how many hold, are not decided, or violate it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--papers", nargs="*", default=[name for name in papers() if name not in THREE])
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for name in options.papers:
        for statement in papers()[name].everything:
            start, found = perf_counter(), Counter[str]()
            try:
                if statement.claim is None:
                    raise NotASetting("it claims nothing of runs")
                every = random_federations(statement.setting, statement.claim, f"{statement.identifier}/{options.seed}")
                for one in islice(every, options.runs):
                    holds = statement.claim.on(one).holds
                    found["not decided" if holds is None else "holds" if holds else "VIOLATED"] += 1
            except (NotASetting, NoFederation, FedconvexError) as error:
                print(f"{statement.identifier}: {dict(found)} {type(error).__name__}: {error}"[:160], flush=True)
                total["statements not run"] += 1
            else:
                print(f"{statement.identifier}: {dict(found)} in {perf_counter() - start:.1f} s", flush=True)
            total += found
    print(dict(total))
    return 1 if total["VIOLATED"] else 0


if __name__ == "__main__":
    sys.exit(main())
