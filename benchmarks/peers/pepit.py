"""Worst cases by PEPit, with all clients written out, and the best of the free solvers that come with cvxpy.

    python -m peers.pepit CASE CLIENTS REPETITIONS

Prints one JSON line: the least seconds of building and solving, and the value that it gives as an upper bound.
"""

import json
import os
import sys
import time

import cvxpy
from PEPit import PEP
from PEPit.functions import SmoothConvexFunction, SmoothStronglyConvexFunction
from PEPit.primitive_steps import proximal_step

clock = time.process_time if os.environ.get("FEDCONVEX_CLOCK") == "cpu" else time.perf_counter  # as in `run.py`


def fedsplit(problem: PEP, clients: int, rounds: int, mu: float, L: float, s: float) -> None:
    """Σ‖z_k − z_k*‖² after the rounds, divided by what it was."""
    functions = [problem.declare_function(SmoothStronglyConvexFunction, mu=mu, L=L) for _ in range(clients)]
    total = functions[0]
    for function in functions[1:]:
        total = total + function
    x_star = total.stationary_point()
    fixed = [x_star - s * function.gradient(x_star) for function in functions]
    z = [problem.set_initial_point() for _ in range(clients)]
    problem.set_initial_condition(sum((a - b) ** 2 for a, b in zip(z, fixed, strict=True)) <= 1)
    for _ in range(rounds):
        x = sum(z[1:], start=z[0]) / clients
        answers = [proximal_step(2 * x - z_k, function, s)[0] for z_k, function in zip(z, functions, strict=True)]
        z = [z_k + 2 * (answer - x) for z_k, answer in zip(z, answers, strict=True)]
    problem.set_performance_metric(sum((a - b) ** 2 for a, b in zip(z, fixed, strict=True)))


def gradient_descent(problem: PEP, steps: int) -> None:
    """f(w_T) − f* of T steps of size 1/L from ‖w_0 − x*‖ <= 1, L = 1."""
    function = problem.declare_function(SmoothConvexFunction, L=1)
    x_star = function.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - x_star) ** 2 <= 1)
    for _ in range(steps):
        x = x - function.gradient(x)
    problem.set_performance_metric(function(x) - function(x_star))


def once(case: str, clients: int, solver: str) -> tuple[float, float]:
    """Seconds and value."""
    begun = clock()
    problem = PEP()
    if case == "fedsplit":
        fedsplit(problem, clients, 1, 1.0, 4.0, 0.5)
    elif case == "peaceman-rachford":
        fedsplit(problem, clients, 8, 0.1, 1.0, 10**0.5)
    else:
        gradient_descent(problem, int(case.removeprefix("gradient-descent:")))
    value = problem.solve(wrapper="cvxpy", solver=solver, verbose=0)
    return clock() - begun, float("nan") if value is None else float(value)


def main() -> None:
    """The best of the solvers and repetitions."""
    case, clients, repetitions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    found = {solver: [once(case, clients, solver) for _ in range(repetitions)]
             for solver in (cvxpy.CLARABEL, cvxpy.SCS)}  # fmt: skip
    seconds = {solver: min(taken for taken, _ in runs) for solver, runs in found.items()}
    values = {solver: runs[-1][1] for solver, runs in found.items()}
    print(json.dumps({"seconds": seconds, "values": values}))


if __name__ == "__main__":
    main()
