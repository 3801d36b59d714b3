"""Recommended parameters against a grid search: how many more rounds than the best of 200 settings, for every method.

    python benchmarks/recommended_parameters.py                    # every problem but digits: some minutes
    python benchmarks/recommended_parameters.py diabetes           # one of them
    python benchmarks/recommended_parameters.py digits SCAFFOLD    # one of its methods: up to an hour each

Every setting of the grid is run on the problem itself until it reaches the tolerance, or has taken more rounds than the
best one before. Settings whose error floor is above the tolerance are left out, as they pass it at most by chance. On
digits, where a round of exact local solutions takes a second, the grid has fewer settings; the column says how many. No
time is measured: results/recommended_parameters.md holds on any machine.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fedconvex as fc
from fedconvex.audit.designs.measured_runs import MeasuredRuns
from fedconvex.audit.designs.parameters import MethodDesigner
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.search import DesignedMethod
from fedconvex.audit.designs.trials import FederationLimits, has_floor
from fedconvex.methods import Method

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
METHODS = ("FedSplit", "FedDyn", "SCAFFOLD", "FedGD", "FedProx")
LOCAL_STEPS = (1, 2, 5, 10, 20, 35, 60, 100)
SETTINGS, LONGEST = 200, 20_000
FEWER = {("digits", "FedGD"): 24, ("digits", "FedProx"): 24, ("digits", "FedSplit"): 24, ("digits", "FedDyn"): 24,
         ("digits", "SCAFFOLD"): 48}  # fmt: skip
# FedProx needs tens of thousands of rounds to 1e-6: 200 such runs would take a day
PROXIMAL = {"breast_cancer": 1e-2, "digits": 1e-2}


def grid(name: str, model: QuadraticModel, settings: int) -> Iterator[Method]:
    """The settings of a method, over all that is sensible for the problem's curvatures."""
    least, largest = model.curvatures
    stepsizes = np.geomspace(0.002 / largest, 2.5 / largest, settings // len(LOCAL_STEPS))
    weights = np.geomspace(least / 3, 3 * largest, settings)
    if name == "FedGD":
        yield from (fc.FedGD(stepsize=float(s), local_steps=e) for e in LOCAL_STEPS for s in stepsizes)
    elif name == "SCAFFOLD":
        yield from (fc.Scaffold(stepsize=float(s), local_steps=e) for e in LOCAL_STEPS for s in stepsizes)
    elif name == "FedSplit":
        yield from (fc.FedSplit(stepsize=float(1 / w)) for w in weights)
    elif name == "FedDyn":
        yield from (fc.FedDyn(alpha=float(w)) for w in weights)
    else:
        yield from (fc.FedProx(mu=float(w)) for w in np.geomspace(least, 1000 * largest, settings))


def compared(place: str, problem: Any, name: str) -> dict[str, Any]:
    """The rounds of the recommended parameters, predicted and measured, and of the best setting of the grid."""
    truth = fc.ground_truth(problem)
    model = QuadraticModel.of(problem, truth)
    tolerance = PROXIMAL.get(place, 1e-4) if name == "FedProx" else 1e-6
    designer = MethodDesigner(model, tolerance, FederationLimits())
    design: DesignedMethod = dict(designer.designs())[name]()
    runs = MeasuredRuns(truth, tolerance * model.first_gap)
    method, own = runs.tuned(design, LONGEST)
    predicted = design.rounds if method is design.method else designer.at(method).rounds
    best, setting, settings = own or LONGEST, None, FEWER.get((place, name), SETTINGS)
    for other in grid(name, model, settings):
        if has_floor(other):
            try:
                if fc.fixed_point(other, problem).gap > runs.target:
                    continue
            except fc.FedconvexError:
                continue
        found = runs.rounds_to((other, None), best - 1)
        if found is not None:
            best, setting = found, other
    return {
        "method": name,
        "tolerance": tolerance,
        "recommended": repr(method),
        "predicted": predicted,
        "measured": own,
        "settings": settings,
        "best_of_grid": best,
        "best_setting": repr(setting) if setting is not None else "none is better",
    }


def main(names: list[str]) -> None:
    """Compare on the named problems, and write results/recommended_parameters.json and .md."""
    methods = [name for name in names if name in METHODS] or METHODS
    file = RESULTS / "recommended_parameters.json"
    for name in [name for name in names if name in PROBLEMS] or [name for name in PROBLEMS if name != "digits"]:
        problem = PROBLEMS[name]()
        for method in methods:
            row = compared(name, problem, method)
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
