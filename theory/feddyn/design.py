"""FedDyn: the best α for a theorem's bound, and the number of rounds to an accuracy.

The smallest admissible α of each theorem is in `assumptions`.
"""

from typing import Any

from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import ceil, maximum, maximum_with_root
from fedconvex.statements.notation import CURVATURE, SQUARED_GRADIENT, VALUE, Parameter
from fedconvex.theory.feddyn.assumptions import (
    ACTIVE,
    ALPHA_CONVEX,
    ALPHA_NONCONVEX,
    smallest_alpha_convex,
    smallest_alpha_nonconvex,
)
from fedconvex.theory.feddyn.notation import PAPER
from fedconvex.theory.feddyn.theorems import convex_bound, nonconvex_bound
from fedconvex.types import Real

GAP = {"epsilon": Parameter(r"\varepsilon", "accuracy, of the objective", VALUE, above=0)}
GRADIENT = {"epsilon": Parameter(r"\varepsilon", "accuracy, of the squared gradient", SQUARED_GRADIENT, above=0)}


@PAPER.calculator(of="Theorem 2", units=CURVATURE, upwards=True, assumes=(ACTIVE, Condition("D0", ">", 0)))
def best_alpha_convex(*, L: Real, num_clients: Real, num_active: Real, D0: Real, G: Real) -> Any:
    """The α ≥ 25L that makes Theorem 2's bound least: max(25L, √(10(m/P)G/D0)), whatever T."""
    return maximum_with_root(smallest_alpha_convex.formula(L=L), 10 * num_clients / num_active * G / D0)


@PAPER.calculator(of="Theorem 4", units=CURVATURE, upwards=True, assumes=(ACTIVE, Condition("delta", ">", 0)))
def best_alpha_nonconvex(*, L: Real, num_clients: Real, num_active: Real, delta: Real, spread: Real) -> Any:
    """The α ≥ 20L m/P that makes Theorem 4's bound least: max(20L m/P, √(10L³(m/P)·spread/delta)), whatever T."""
    smallest = smallest_alpha_nonconvex.formula(L=L, num_clients=num_clients, num_active=num_active)
    return maximum_with_root(smallest, 10 * L**3 * num_clients / num_active * spread / delta)


@PAPER.calculator(of="Theorem 2", integer=True, redefines=GAP, assumes=(ACTIVE, ALPHA_CONVEX))
def convex_rounds(
    *, alpha: Real, L: Real, num_clients: Real, num_active: Real, D0: Real, G: Real, epsilon: Real
) -> Any:
    """The least T ≥ 1 for which Theorem 2's bound is at most ε, exactly."""
    given = {"alpha": alpha, "L": L, "num_clients": num_clients, "num_active": num_active, "D0": D0, "G": G}
    return maximum(1, ceil(convex_bound.calculator.formula(**given, T=1) / epsilon))


@PAPER.calculator(of="Theorem 4", integer=True, redefines=GRADIENT, assumes=(ACTIVE, ALPHA_NONCONVEX))
def nonconvex_rounds(
    *, alpha: Real, L: Real, num_clients: Real, num_active: Real, delta: Real, spread: Real, epsilon: Real
) -> Any:
    """The least T ≥ 1 for which Theorem 4's bound is at most ε, exactly."""
    devices = {"num_clients": num_clients, "num_active": num_active}
    at_once = nonconvex_bound.calculator.formula(alpha=alpha, L=L, **devices, delta=delta, spread=spread, T=1)
    return maximum(1, ceil(at_once / epsilon))
