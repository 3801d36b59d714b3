"""Contractions by PEPit, for given Lyapunov functions and numbers of clients, with the free solvers that cvxpy has.

    python -m peers.pepit_rates CASE CLIENTS REPETITIONS

Prints one JSON line: the least seconds of building and solving, and the value that it gives as an upper bound. PEPit
searches no Lyapunov functions: the weights are those that were found here, so that it has the smaller task.
"""

import json
import sys
import time
from typing import Any

import cvxpy
from PEPit import PEP
from PEPit.functions import SmoothStronglyConvexFunction
from PEPit.primitive_steps import proximal_step


def clients_of(problem: PEP, clients: int, mu: float, L: float) -> tuple[list[Any], Any]:
    """The clients' functions, and the minimiser of their mean."""
    functions = [problem.declare_function(SmoothStronglyConvexFunction, mu=mu, L=L) for _ in range(clients)]
    total = functions[0]
    for function in functions[1:]:
        total = total + function
    return functions, total.stationary_point()


def scaffold(problem: PEP, clients: int, steps: int, kappa: float, weight: float) -> None:
    """‖w − x*‖² + weight·mean‖c_k − c − ∇F_k(x*)‖² after a round of SCAFFOLD, divided by what it was; s = 1/L."""
    functions, x_star = clients_of(problem, clients, 1.0, kappa)
    s = 1 / kappa
    rest = [function.gradient(x_star) for function in functions]
    w = problem.set_initial_point()
    c = [problem.set_initial_point() for _ in range(clients)]
    mean = sum(c[1:], start=c[0]) / clients
    c = [u - mean for u in c]  # only differences matter
    before = (w - x_star) ** 2 + sum((u - g) ** 2 for u, g in zip(c, rest, strict=True)) * (weight / clients)
    problem.set_initial_condition(before <= 1)
    ends = []
    for function, u in zip(functions, c, strict=True):
        y = w
        for _ in range(steps):
            y = y - s * (function.gradient(y) - u)
        ends.append(y)
    after = sum(ends[1:], start=ends[0]) / clients
    new = [u + (w - y) / (steps * s) for u, y in zip(c, ends, strict=True)]
    mean = sum(new[1:], start=new[0]) / clients
    errors = sum((u - mean - g) ** 2 for u, g in zip(new, rest, strict=True))
    problem.set_performance_metric((after - x_star) ** 2 + errors * (weight / clients))


def fedsplit(problem: PEP, clients: int, kappa: float) -> None:
    """mean‖z_k − z_k*‖² after a round of FedSplit at the best stepsize."""
    functions, x_star = clients_of(problem, clients, 1.0, kappa)
    s = kappa**-0.5
    rest = [x_star - s * function.gradient(x_star) for function in functions]
    z = [problem.set_initial_point() for _ in range(clients)]
    problem.set_initial_condition(sum((a - b) ** 2 for a, b in zip(z, rest, strict=True)) <= 1)
    x = sum(z[1:], start=z[0]) / clients
    answers = [proximal_step(2 * x - u, function, s)[0] for u, function in zip(z, functions, strict=True)]
    new = [u + 2 * (answer - x) for u, answer in zip(z, answers, strict=True)]
    problem.set_performance_metric(sum((a - b) ** 2 for a, b in zip(new, rest, strict=True)))


def once(case: str, clients: int, solver: str) -> tuple[float, float]:
    """Seconds and value."""
    begun = time.perf_counter()
    problem = PEP()
    if case == "fedsplit":
        fedsplit(problem, clients, 100.0)
    else:
        _, steps, kappa, weight = case.split(":")
        scaffold(problem, clients, int(steps), float(kappa), float(weight))
    value = problem.solve(wrapper="cvxpy", solver=solver, verbose=0)
    return time.perf_counter() - begun, float("nan") if value is None else float(value)


def main() -> None:
    """The best of the solvers and repetitions."""
    case, clients, repetitions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    found = {solver: [once(case, clients, solver) for _ in range(repetitions)]
             for solver in (cvxpy.CLARABEL, cvxpy.SCS)}  # fmt: skip
    print(json.dumps({
        "seconds": {solver: min(taken for taken, _ in runs) for solver, runs in found.items()},
        "values": {solver: runs[-1][1] for solver, runs in found.items()},
    }))  # fmt: skip


if __name__ == "__main__":
    main()
