"""What FedDyn's Theorem 4 and (20) are about, on exact runs of one device: a route beside the claims'.

An instance is (curvatures, linear terms, α, number of active devices, θ⁰, t): devices a_k θ²/2 − c_k θ, and round t.
"""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.proofs_checks.feddyn.exact_runs import Federation, mean, rational
from fedconvex.proofs_checks.tightness import Measure
from fedconvex.statements.statement import Statement

Instance = tuple[tuple[Any, ...], tuple[Any, ...], Any, int, Any, int]
Quantities = dict[str, Any]


def federation(instance: Instance, one_gradient: bool) -> Federation:
    curvatures, linear, alpha, active, start, _ = instance
    exact = [tuple(Fraction(x) for x in row) for row in (curvatures, linear)]
    return Federation(exact[0], exact[1], Fraction(alpha), active, Fraction(start), one_gradient)


def parameters(made: Federation) -> Quantities:
    smoothness = max(abs(a) for a in made.curvatures)
    return {
        "alpha": made.alpha, "L": smoothness, "mu": made.convexity,
        "num_clients": Fraction(made.devices), "num_active": Fraction(made.active),
    }  # fmt: skip


def of(calculator: Any, found: Quantities) -> Any:
    return calculator.formula(**{name: found[name] for name in calculator.names})


def alone(instance: Instance, one_gradient: bool) -> tuple[Federation, list[Any]]:
    """One device, and γ⁰, …, γ^{t−1} of its run.

    γ^t = θ^t + h^t/α, where h^t is the device's only memory: its gradient at γ^t, or for FedDynOneGD at θ^{t−1}.
    """
    made = federation(instance, one_gradient)
    (a,), (c,), alpha, t = made.curvatures, made.linear, made.alpha, instance[-1]
    method = fc.FedDynOneGD(alpha=alpha) if one_gradient else fc.FedDyn(alpha=alpha)
    run = fc.simulate(method, made.problem, t - 1, x0=[made.start], arithmetic="exact") if t > 1 else None
    points = [made.start] if run is None else [rational(point[0]) for point in run.points]
    if one_gradient:
        pairs = zip(points[1:], points[:-1], strict=True)
        return made, [made.start, *(now + (a * old - c) / alpha for now, old in pairs)]
    return made, [made.start, *((alpha * now - c) / (alpha - a) for now in points[1:])]


def slopes(statement: Statement, one_gradient: bool = False) -> Measure:
    """The measure for Theorem 4 and (20) on one device: the mean squared gradient over t rounds, and its bound."""

    def measure(instance: Instance) -> tuple[Any, Any]:
        made, averages = alone(instance, one_gradient)
        found = parameters(made) | {"T": len(averages), "delta": made.gap(made.start)}
        found["B0"] = mean(g**2 for g in made.gradients(made.start))
        found["spread"] = mean((x - made.start) ** 2 for x in made.models(()))
        return mean(mean(made.gradients(x)) ** 2 for x in averages), of(statement.calculator, found)

    return measure
