"""FedDyn and FedDynOneGD: the worst-case problems whose exact values the theorems' bounds are compared with.

Runs start from memories 0. With full participation (P = m) the worst case is the same for any number of clients; for
P < m the problem contains every possible draw, for few clients and rounds. The lemmas are in `worst_case_lemmas`.
"""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.participation import Uniform
from fedconvex.proofs_checks.worst_cases.looseness.registry import Played, worst_case_of
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    FunctionClass,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
)
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

ONE, NONE = Fraction(1), Fraction(0)


def _theorem(
    statement: Statement, method: Any, clients: FunctionClass, metric: str, start: tuple[str, str], counted: str,
    numbers: dict[str, Any], weights: list[Any] | None = None, scale: Any = 1,
) -> Played:  # fmt: skip
    """The worst case of a bound c·(first) + e·(second) on `scale` times the metric.

    `first` and `second` are the quantities of the start in `start`. The worst-case problem divides the metric by
    first + (e/c)·second; `counted` is the argument that has e/c.
    """
    first, second = start
    one, other = (statement(**numbers, **{first: a, second: b}) for a, b in ((ONE, NONE), (NONE, ONE)))
    question = {
        "method": method, "clients": clients, "num_clients": int(numbers["num_clients"]), "rounds": int(numbers["T"]),
        "metric": metric, counted: other / one, "weights": weights,
        "participation": Uniform(int(numbers["num_active"])),
    }  # fmt: skip
    return Played(question, one / scale)


@worst_case_of(feddyn.theorem2, feddyn.theorem2sharper)
def theorem2(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any, T: Any) -> Played:
    numbers = {"alpha": alpha, "L": L, "num_clients": num_clients, "num_active": num_active, "T": T}
    method, clients = fc.FedDyn(alpha=alpha), SmoothConvex(L)
    return _theorem(statement, method, clients, "average_gap", ("D0", "G"), "heterogeneity", numbers)


@worst_case_of(feddyn.theorem3, feddyn.theorem3sharper)
def theorem3(statement: Statement, *, alpha: Any, L: Any, mu: Any, num_clients: Any, num_active: Any, T: Any) -> Played:
    numbers = {"alpha": alpha, "L": L, "mu": mu, "num_clients": num_clients, "num_active": num_active, "T": T}
    weights = [(1 + mu / alpha) ** t for t in range(int(T))]
    method, clients = fc.FedDyn(alpha=alpha), SmoothStronglyConvex(mu, L)
    return _theorem(statement, method, clients, "average_gap", ("D0", "G"), "heterogeneity", numbers, weights)


@worst_case_of(feddyn.theorem4, feddyn.theorem4sharper)
def theorem4(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any, T: Any) -> Played:
    numbers = {"alpha": alpha, "L": L, "num_clients": num_clients, "num_active": num_active, "T": T}
    method, clients = fc.FedDyn(alpha=alpha), WeaklyConvex(L, L)
    return _theorem(statement, method, clients, "mean_gradient_norm", ("delta", "spread"), "spread", numbers)


@worst_case_of(feddyn.equation18, feddyn.equation18sharper)
def equation18(
    statement: Statement, *, alpha: Any, L: Any, mu: Any, num_clients: Any, num_active: Any, T: Any
) -> Played:
    """The sum of weighted gaps is divided by T, not by the sum of the weights."""
    numbers = {"alpha": alpha, "L": L, "mu": mu, "num_clients": num_clients, "num_active": num_active, "T": T}
    weights = [(1 + mu / (3 * alpha)) ** t for t in range(int(T))]
    method, clients = fc.FedDynOneGD(alpha=alpha), SmoothStronglyConvex(mu, L)
    return _theorem(statement, method, clients, "mean_gap", ("D0", "G"), "heterogeneity", numbers, weights,
                    sum(weights) / T)  # fmt: skip


@worst_case_of(feddyn.equation20, feddyn.equation20sharper)
def equation20(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any, T: Any) -> Played:
    """B₀ is the mean ‖∇L_k(θ⁰)‖²."""
    numbers = {"alpha": alpha, "L": L, "num_clients": num_clients, "num_active": num_active, "T": T}
    method, clients = fc.FedDynOneGD(alpha=alpha), WeaklyConvex(L, L)
    return _theorem(statement, method, clients, "mean_gradient_norm", ("delta", "B0"), "heterogeneity", numbers)
