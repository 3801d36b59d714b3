"""Recommended parameters against a grid search: how many more rounds than the best of 200 settings, for every method.

    python benchmarks/recommended_parameters.py             # every problem but digits: some minutes
    python benchmarks/recommended_parameters.py diabetes    # one of them

Every setting of the grid is run on the problem itself until it reaches the tolerance, or has taken more rounds than the
best one before. Settings whose error floor is above the tolerance are left out, as they pass it at most by chance. No
time is measured: results/recommended_parameters.md holds on any machine.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fedconvex as fc
from fedconvex.audit.designs.parameters import MethodDesigner
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.search import DesignedMethod
from fedconvex.audit.designs.trials import FederationLimits
from fedconvex.audit.recommendation import rounds_to
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
LOCAL_STEPS = (1, 2, 5, 10, 20, 35, 60, 100)
SETTINGS, LONGEST = 200, 20_000
# FedProx needs tens of thousands of rounds to 1e-6: 200 such runs would take a day
PROXIMAL = 1e-4


def grid(name: str, model: QuadraticModel) -> Iterator[Method]:
    """200 settings of a method, over all that is sensible for the problem's curvatures."""
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


def tolerance_for(method: str) -> float:
    """The relative suboptimality that a method has to reach."""
    return PROXIMAL if method == "FedProx" else 1e-6


def compared(problem: Any, name: str) -> dict[str, Any]:
    """The rounds of the recommended parameters, predicted and measured, and of the best setting of the grid."""
    truth = fc.ground_truth(problem)
    model, tolerance = QuadraticModel.of(problem, truth), tolerance_for(name)
    designer = MethodDesigner(model, tolerance, FederationLimits())
    design: DesignedMethod = dict(designer.designs())[name]()
    target = tolerance * model.first_gap
    own = rounds_to(design.method, None, truth, target, LONGEST)
    best, setting = own or LONGEST, None
    for method in grid(name, model):
        if method.memoryless and getattr(method, "local_steps", 2) > 1:
            try:
                if fc.fixed_point(method, problem).gap > target:
                    continue
            except fc.FedconvexError:
                continue
        found = rounds_to(method, None, truth, target, best - 1)
        if found is not None:
            best, setting = found, method
    return {
        "method": name,
        "tolerance": tolerance,
        "recommended": repr(design.method),
        "predicted": design.rounds,
        "measured": own,
        "best_of_grid": best,
        "best_setting": repr(setting) if setting is not None else "none is better",
    }


def main(names: list[str]) -> None:
    """Compare on the named problems, and write results/recommended_parameters.json and .md."""
    file = RESULTS / "recommended_parameters.json"
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    for name in names:
        problem = PROBLEMS[name]()
        kept[name] = {"problem": repr(problem), "methods": []}
        for method in ("FedSplit", "FedDyn", "SCAFFOLD", "FedGD", "FedProx"):
            kept[name]["methods"].append(compared(problem, method))
            print(name, kept[name]["methods"][-1], flush=True)
            file.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
            (RESULTS / "recommended_parameters.md").write_text(table(kept), "utf-8")


def table(kept: dict[str, Any]) -> str:
    """The results as a Markdown table."""
    lines = [
        "| problem | method | tolerance | recommended | predicted | measured | best of 200 | ratio |",
        "|" + "---|" * 8,
    ]
    for name, entry in kept.items():
        for row in entry["methods"]:
            ratio = "–" if row["measured"] is None else f"{row['measured'] / row['best_of_grid']:.3f}"
            cells = (
                name,
                row["method"],
                row["tolerance"],
                f"`{row['recommended']}`",
                row["predicted"],
                row["measured"],
            )
            lines.append(f"| {' | '.join(map(str, (*cells, row['best_of_grid'], ratio)))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:] or [name for name in PROBLEMS if name != "digits"])
