"""Rates by AutoLyap with the free solver CLARABEL: of gradient descent, and of Douglas–Rachford's splitting.

    python -m peers.autolyap_rates CASE REPETITIONS

It has no federations: FedDyn with everyone is Douglas–Rachford's splitting of the lifted problem, for which one convex
function stands for the consensus, and one smooth and strongly convex function for all clients. Prints one JSON line:
the least seconds, and the contraction of squared errors that a bisection finds.
"""

import json
import sys
import time

from autolyap import IterationIndependent, SolverOptions
from autolyap.algorithms import DouglasRachford, GradientMethod
from autolyap.problemclass import Convex, InclusionProblem, SmoothStronglyConvex


def once(case: str, solver: str) -> tuple[float, float]:
    """Seconds and rate at κ = 4, with the best parameters."""
    begun = time.perf_counter()
    clients = SmoothStronglyConvex(mu=1.0, L=4.0)
    if case == "fedgd":
        problem, algorithm = InclusionProblem([clients]), GradientMethod(gamma=2 / 5)
    else:
        problem = InclusionProblem([Convex(), clients])
        algorithm = DouglasRachford(gamma=0.5, lambda_value=1.0, type="function")
    P, p, T, t = IterationIndependent.LinearConvergence.get_parameters_distance_to_solution(algorithm)
    found = IterationIndependent.LinearConvergence.bisection_search_rho(
        problem, algorithm, P, T, p=p, t=t, tol=1e-9, verbosity=0,
        solver_options=SolverOptions(backend="cvxpy", cvxpy_solver=solver),
    )  # fmt: skip
    rate = found["rho"]
    return time.perf_counter() - begun, float("nan") if rate is None else float(rate)


def main() -> None:
    """The best of the repetitions, for each solver."""
    case, repetitions = sys.argv[1], int(sys.argv[2])
    found = {solver: [once(case, solver) for _ in range(repetitions)] for solver in ("CLARABEL",)}
    print(json.dumps({
        "seconds": {solver: min(taken for taken, _ in runs) for solver, runs in found.items()},
        "values": {solver: runs[-1][1] for solver, runs in found.items()},
    }))  # fmt: skip


if __name__ == "__main__":
    main()
