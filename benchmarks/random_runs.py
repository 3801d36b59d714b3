"""Random runs of the other papers' methods against their theorems: exact federations of each statement's own setting.

python benchmarks/random_runs.py             # 100 federations a statement
python benchmarks/random_runs.py --runs 1000 --papers scaffnew fedlin

Methods without a statement, unequal local steps and schedules run against the certified worst case of two rounds;
FedAdagrad, FedAdam and FedYogi are no linear methods, and have none.

Every run is played by the method's own code in rational numbers, and both sides of the claim are exact. A violation of
a statement that is PROVED would be a fault of the kernel; the exit status is then 1.
"""

import argparse
import sys
from collections import Counter
from fractions import Fraction
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

import fedconvex as fc
from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.on_runs.random_parameters import NoFederation
from fedconvex.claims.settings import NotASetting
from fedconvex.errors import FedconvexError
from fedconvex.proofs_checks import SmoothStronglyConvex, worst_case
from fedconvex.statements.assumptions import StepOf
from fedconvex.theory import papers

THREE = ("fedprox", "fedsplit", "feddyn")
MU, L = 1, 4
SHORT = Fraction(1, 8)
CERTIFIED = (  # methods, each with its number of clients; 0: any
    (fc.FedAvgM(stepsize=SHORT, local_steps=2, momentum=Fraction(1, 2)), 0),
    (fc.FedADMM(rho=2), 0),
    (fc.FedGD(stepsize="1/(8 + t)", local_steps=2), 0),
    (fc.FedGD(stepsize=SHORT, local_steps=(1, 3)), 2),
    (fc.FedNova(stepsize=SHORT, local_steps=(1, 3)), 2),
    (fc.FedLin(stepsize=SHORT, local_steps=(1, 3)), 2),
)


def main() -> int:
    """Prints a line for each statement: runs, and how many hold, are not decided, or violate it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--papers", nargs="*", default=[name for name in papers() if name not in THREE])
    options = parser.parse_args()
    total: Counter[str] = Counter()
    methods: dict[str, Counter[str]] = {}
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
            methods.setdefault(_method_of(statement), Counter()).update(found)
    for method, clients in CERTIFIED:
        start = perf_counter()
        found = _against_worst_case(method, clients, options.runs, options.seed)
        methods.setdefault(type(method).__name__, Counter()).update(found)
        print(f"{method}: {dict(found)} in {perf_counter() - start:.1f} s", flush=True)
        total += found
    for name, found in sorted(methods.items()):
        print(f"  {name or 'no method'}: {dict(found)}")
    print(dict(total))
    return 1 if total["VIOLATED"] else 0


def _method_of(statement: Any) -> str:
    """The method that the statement's setting names, or the step that it assumes."""
    try:
        return statement.setting.method or next(
            (a.method for a in statement.every_assumption if isinstance(a, StepOf)), ""
        )
    except NotASetting:
        return ""


def _against_worst_case(method: Any, clients: int, runs: int, seed: int) -> Counter[str]:
    """Exact runs of two rounds on quadratics of the class, against the factor that a certificate proves."""
    bound = worst_case(method, SmoothStronglyConvex(MU, L), clients or "any", 2, heterogeneity=1).upper
    draw, found = np.random.default_rng(seed), Counter[str]()
    for _ in range(runs):
        m, d = clients or int(draw.integers(1, 5)), int(draw.integers(1, 3))
        problem, start = _quadratics(draw, m, d), [Fraction(int(x)) for x in draw.integers(-5, 6, d)]
        end = fc.simulate(method, problem, 2, x0=start, arithmetic="exact", progress=False).points[-1]
        # x* = 0, where the gradients are −c_k
        size = sum(x * x for x in start) + sum(Fraction(x) ** 2 for c in problem.c for x in c) / m
        found["holds" if sum(x * x for x in end) <= bound * size else "VIOLATED"] += 1
    return found


def _quadratics(draw: Any, m: int, d: int) -> fc.Quadratic:
    """F_k(x) = ½xᵀH_k x − c_kᵀx with curvatures in [MU, L] and Σ c_k = 0."""
    H = []
    for _ in range(m):
        u = [Fraction(int(x)) for x in draw.integers(-3, 4, d)]
        most = max(1, sum(x * x for x in u))
        least = MU + Fraction(int(draw.integers(0, 11)), 10) * (L - MU) / 2
        H.append([[least * (i == j) + (L - least) * u[i] * u[j] / most for j in range(d)] for i in range(d)])
    c = [[Fraction(int(x)) for x in draw.integers(-5, 6, d)] for _ in range(m - 1)]
    return fc.Quadratic(H, [*c, [-sum((row[i] for row in c), Fraction(0)) for i in range(d)]])


if __name__ == "__main__":
    sys.exit(main())
