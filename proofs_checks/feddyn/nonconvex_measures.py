"""How tight the bounds for smooth devices and for FedDynOneGD are: both sides of a statement, on exact runs.

`nonconvex_tightness` has the worst instances. An instance is (curvatures, linear terms, α, number of active devices,
θ⁰, t): devices L_k(θ) = a_k θ²/2 − c_k θ, and round t.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.proofs_checks.feddyn.exact_runs import Draws, Federation, mean, rational
from fedconvex.proofs_checks.tightness import Measure
from fedconvex.statements.assumptions import Runs
from fedconvex.statements.statement import Statement

Instance = tuple[tuple[Any, ...], tuple[Any, ...], Any, int, Any, int]
Quantities = dict[str, Any]
RUNS_ONE_GRADIENT = Runs("FedDynOneGD")


def federation(instance: Instance, one_gradient: bool) -> Federation:
    curvatures, linear, alpha, active, start, _ = instance
    exact = [tuple(Fraction(x) for x in row) for row in (curvatures, linear)]
    return Federation(exact[0], exact[1], Fraction(alpha), active, Fraction(start), one_gradient)


def at(made: Federation, draws: Draws) -> Quantities:
    """The quantities of the lemmas at one time, after the rounds with these draws."""
    (server, h, memory), average, star = made.state(draws), made.average(draws), made.minimiser
    here = made.gradients(average)
    return {
        "distance": (average - star) ** 2,
        "loss": mean(made.value(k, average) for k in range(made.devices)),
        "gap": made.gap(average),
        "gradient_square": mean(here) ** 2,
        "A": mean((a - b) ** 2 for a, b in zip(memory, made.gradients(star), strict=True)),
        "B": mean((a - b) ** 2 for a, b in zip(memory, here, strict=True)),
        "C": mean((x - average) ** 2 for x in made.models(draws)),
        "h": h**2,
        "lag": (server - average) ** 2,
        "server_distance": (server - star) ** 2,
        "gradients_apart": mean((a - b) ** 2 for a, b in zip(here, made.gradients(server), strict=True)),
    }


def quantities(instance: Instance, one_gradient: bool) -> Quantities:
    """The expectations before and after round t, over all draws, and the parameters, by their names in the notation."""
    made, t = federation(instance, one_gradient), instance[-1]
    before, after = made.draws(t - 1), made.draws(t)
    rows, next_rows = [at(made, s) for s in before], [at(made, s) for s in after]
    found = {name: mean(row[name] for row in rows) for name in rows[0]}
    found |= {f"{name}_next": mean(row[name] for row in next_rows) for name in rows[0]}
    found["epsilon"] = mean((x - made.average(s)) ** 2 for s in before for x in made.virtual(s))
    found["move"] = mean((made.average(s) - made.average(s[:-1])) ** 2 for s in after)
    return found | parameters(made)


def parameters(made: Federation) -> Quantities:
    smoothness = max(abs(a) for a in made.curvatures)
    return {
        "alpha": made.alpha, "L": smoothness, "mu": made.convexity,
        "num_clients": Fraction(made.devices), "num_active": Fraction(made.active),
    }  # fmt: skip


def of(calculator: Any, found: Quantities) -> Any:
    return calculator.formula(**{name: found[name] for name in calculator.names})


def used(
    statement: Statement, happens: Callable[[Quantities], Any], added: Callable[[Quantities], Any] | None = None
) -> Measure:
    """The measure (what happens, the statement's right side); `added` is added to both so that they are positive."""
    one_gradient = RUNS_ONE_GRADIENT in statement.assumptions

    def measure(instance: Instance) -> tuple[Any, Any]:
        found = quantities(instance, one_gradient)
        more = added(found) if added else 0
        return happens(found) + more, of(statement.calculator, found) + more

    return measure


def memory_beyond(statement: Statement) -> Measure:
    """Lemma 19 for one round from a chosen state: one device with −(L/2)θ² and ∇ℓ(γ) = 1.

    Its memory is 1 + L/(α + L), the worst value. An instance is (L, α).
    """

    def measure(instance: tuple[Any, Any]) -> tuple[Any, Any]:
        L, alpha = map(Fraction, instance)
        gradient = Fraction(1)
        memory = gradient * (1 + L / (alpha + L))
        new_gradient = gradient + L * memory / alpha  # at θ^{t−1}, which is memory/α before γ^{t−1}
        found = {"B": (memory - gradient) ** 2, "gradient_square": gradient**2, "alpha": alpha, "L": L}
        return (new_gradient / alpha) ** 2, of(statement.calculator, found)

    return measure


def decrease(statement: Statement) -> Measure:
    """The measure for Lemma 10: the promised decrease κ₀E‖∇ℓ‖², and the actual decrease."""

    def measure(instance: Instance) -> tuple[Any, Any]:
        found = quantities(instance, False)
        same = found | {"gradient_square": 0}
        before, left = of(statement.calculator, same), of(statement.left, found)
        return before - of(statement.calculator, found), before - left

    return measure


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


def weighted_gaps(statement: Statement) -> Measure:
    """The measure for (18) on one device: the weighted sum of the gaps over t rounds, and its bound."""

    def measure(instance: Instance) -> tuple[Any, Any]:
        made, averages = alone(instance, True)
        growth = 1 + made.convexity / (3 * made.alpha)
        found = parameters(made) | {"T": len(averages), "D0": (made.start - made.minimiser) ** 2}
        found["G"] = mean(g**2 for g in made.gradients(made.minimiser))
        happens = mean(growth**t * made.gap(x) for t, x in enumerate(averages))
        return happens, of(statement.calculator, found)

    return measure
