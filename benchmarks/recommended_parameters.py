"""Recommended parameters against a grid search: how many more rounds than the best of 200 settings, for every method.

    python benchmarks/recommended_parameters.py                    # every problem
    python benchmarks/recommended_parameters.py diabetes           # one of them
    python benchmarks/recommended_parameters.py digits SCAFFOLD    # one of its methods

Every setting of the grid is run on the problem itself until it reaches the tolerance, or cannot be the best one any
more: it has taken as many rounds as the best one before, it diverged, or a bound proves that it does not reach the
tolerance in fewer rounds (`lowest_gap`). Settings that reach the tolerance with an error floor above it do not count:
they pass it at most by chance. No time is measured, so that results/recommended_parameters.md holds on any machine.
"""

import json
import sys
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

import fedconvex as fc
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.trials import has_floor
from fedconvex.audit.intervals import gaps_to
from fedconvex.ground_truths import GroundTruth
from fedconvex.methods import Method
from fedconvex.problems.base import Problem
from fedconvex.runs.rounds import rounds_of

RESULTS = Path(__file__).parent / "results"
PROBLEMS: dict[str, Callable[[], Any]] = {
    "fedsplit_least_squares": lambda: fc.data.fedsplit_least_squares(
        clients=8, features=10, samples=40, spread=1.0, seed=1
    ),
    "conditioned_least_squares": lambda: fc.data.conditioned_least_squares(300, clients=6, features=8, seed=2),
    "fedsplit_logistic": lambda: fc.data.fedsplit_logistic(
        clients=6, features=8, samples=60, spread=1.0, ridge=0.01, seed=3
    ),
    "diabetes": lambda: fc.data.diabetes(clients=10),
    "breast_cancer": lambda: fc.data.breast_cancer(clients=10),
    "digits": lambda: fc.data.digits(clients=10),
}
METHODS: dict[str, type[Method]] = {
    "FedSplit": fc.FedSplit, "FedDyn": fc.FedDyn, "SCAFFOLD": fc.Scaffold, "FedGD": fc.FedGD, "FedProx": fc.FedProx
}  # fmt: skip
LOCAL_STEPS = (1, 2, 5, 10, 20, 35, 60, 100)
SETTINGS, LONGEST = 200, 20_000
DIVERGED = 1e12  # times the first gap
LOOK = 10  # rounds between two looks at what a run can still reach
# FedProx needs tens of thousands of rounds to 1e-6: 200 such runs would take a day
PROXIMAL = {"breast_cancer": 1e-2, "digits": 1e-2}


def grid(name: str, model: QuadraticModel) -> Iterator[Method]:
    """The settings of a method, over all that is sensible for the problem's curvatures."""
    least, largest = model.curvatures
    stepsizes = np.geomspace(0.002 / largest, 2.5 / largest, SETTINGS // len(LOCAL_STEPS))
    weights = np.geomspace(least / 3, 3 * largest, SETTINGS)
    if name == "FedGD":
        yield from (fc.FedGD(stepsize=float(s), local_steps=e) for e in LOCAL_STEPS for s in stepsizes)
    elif name == "SCAFFOLD":
        yield from (fc.Scaffold(stepsize=float(s), local_steps=e) for e in LOCAL_STEPS for s in stepsizes)
    elif name == "FedSplit":
        yield from (fc.FedSplit(stepsize=float(1 / w)) for w in weights)
    elif name == "FedDyn":
        yield from (fc.FedDyn(alpha=float(w)) for w in weights)
    else:
        yield from (fc.FedProx(mu=float(w)) for w in np.geomspace(least, 1000 * largest, SETTINGS))


def compared(problem: Problem, found: fc.Recommendation, name: str) -> dict[str, Any]:
    """The rounds of the recommended parameters, predicted and measured, and of the best setting of the grid."""
    truth = fc.ground_truth(problem)
    model = QuadraticModel.of(problem, truth)
    entry = next(entry for entry in found.ranked if isinstance(entry.method, METHODS[name]))
    best, setting, settings = entry.measured_rounds or LONGEST, None, 0
    for other in grid(name, model):
        settings += 1
        target = found.tolerance * model.first_gap
        # the best possible is one round: then no floor is needed
        counts = best > 1 and stays_below(target, other, problem)
        rounds = rounds_below(best, other, truth, target) if counts else None
        if rounds is not None:
            best, setting = rounds, other
    return {
        "method": name,
        "tolerance": found.tolerance,
        "recommended": repr(entry.method),
        "predicted": entry.predicted_rounds,
        "measured": entry.measured_rounds,
        "settings": settings,
        "best_of_grid": best,
        "best_setting": repr(setting) if setting is not None else "none is better",
    }


def rounds_below(best: int, method: Method, truth: GroundTruth, target: float) -> int | None:
    """The first round, of fewer than `best`, with a suboptimality of at most the target; None: there is none."""
    problem, gap_at = truth.problem, gaps_to(truth.problem, truth.point)
    try:
        rounds = rounds_of(method, problem)
    except fc.FedconvexError:  # its local problems have no minimiser
        return None
    with rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
        state = rounds.start(np.zeros(problem.dim))
        first = gap_at(state.server)
        for t in range(1, best):
            before, state = state.server, rounds.advance(state)
            gap = gap_at(state.server)
            if gap <= target:
                return t
            if not gap < DIVERGED * first:
                return None
            if t % LOOK == 0 and lowest_gap(method, problem, before, state.server, gap, best - 1 - t) > target:
                return None
    return None


def lowest_gap(method: Method, problem: Problem, before: np.ndarray, x: np.ndarray, gap: float, rounds: int) -> float:
    """A lower bound of the suboptimality in each of the next rounds, after one from `before` to x; −inf: none known.

    FedGD's round with stepsize <= 2/L_k has the Lipschitz constant r = max_k max(|1 − s L_k|, |1 − s mu_k|)^e <= 1: the
    next steps are at most r, r², … times as long as this one. The objective is convex, so that
    f(y) >= f(x) + ⟨∇f(x), y − x⟩.
    """
    if not (isinstance(method, fc.FedGD) and problem.is_convex):
        return -inf
    s = float(method.stepsize)
    r = float(np.maximum(abs(1 - s * problem.L), abs(1 - s * problem.mu)).max()) ** int(np.min(method.local_steps))
    if r > 1:
        return -inf
    ahead = rounds if r == 1 else r * (1 - r**rounds) / (1 - r)
    return gap - float(np.linalg.norm(problem.gradient(x)) * np.linalg.norm(x - before)) * ahead


def stays_below(target: float, method: Method, problem: Problem) -> bool:
    """Whether the method's error floor is at most the target."""
    try:
        return not has_floor(method) or fc.fixed_point(method, problem).gap <= target
    except fc.FedconvexError:
        return False


def main(names: list[str]) -> None:
    """Compare on the named problems, and write results/recommended_parameters.json and .md."""
    methods = [name for name in names if name in METHODS] or list(METHODS)
    file = RESULTS / "recommended_parameters.json"
    for name in [name for name in names if name in PROBLEMS] or PROBLEMS:
        problem = PROBLEMS[name]()
        recommended: dict[float, fc.Recommendation] = {}
        for method in methods:
            tolerance = PROXIMAL.get(name, 1e-4) if method == "FedProx" else 1e-6
            if tolerance not in recommended:
                recommended[tolerance] = fc.recommend(problem, tolerance)
            row = compared(problem, recommended[tolerance], method)
            print(name, row, flush=True)
            kept = json.loads(file.read_text("utf-8")) if file.exists() else {}  # others may have written meanwhile
            entry = kept.setdefault(name, {"problem": repr(problem), "methods": []})
            rows = {old["method"]: old for old in entry["methods"]} | {method: row}
            entry["methods"] = [rows[own] for own in METHODS if own in rows]
            file.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
            (RESULTS / "recommended_parameters.md").write_text(table(kept), "utf-8")


def table(kept: dict[str, Any]) -> str:
    """The results as a Markdown table."""
    lines = [
        "| problem | method | tolerance | recommended | predicted | measured | deviation "
        "| grid | best of grid | ratio |",
        "|" + "---|" * 10,
    ]
    for name, entry in kept.items():
        for row in entry["methods"]:
            measured, predicted = row["measured"], row["predicted"]
            ratio = "–" if measured is None else f"{measured / row['best_of_grid']:.3f}"
            off = "–" if measured is None or predicted is None else f"{predicted / measured - 1:+.1%}"
            cells = (
                name, row["method"], row["tolerance"], f"`{row['recommended']}`", predicted, measured, off,
                row["settings"], row["best_of_grid"], ratio,
            )  # fmt: skip
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
