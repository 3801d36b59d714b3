"""FedProx: convex clients for which `rho_convex_everyone` is attained, for any dissimilarity.

Two clients in the plane with L = 1, w = 0 and gradients (1, ±t), so B² = 1 + t². The module states their values and
gradients at three points only: w, the answer y_k, and w⁺. A convex L-smooth function with these exists if and only if
F(x) ≥ F(y) + ⟨∇F(y), x − y⟩ + ‖∇F(x) − ∇F(y)‖²/(2L) for every two of the points (Taylor, Hendrickx, Glineur 2017).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

from fedconvex.proofs_checks.tightness import Measure, Tightness
from fedconvex.statements.functions import sqrt
from fedconvex.statements.statement import Statement

F = Fraction
Point = Sequence[Fraction]


class InterpolatedPoint(NamedTuple):
    """A point with the function's gradient and value there."""

    x: Point
    gradient: Point
    value: Fraction


def inner(u: Point, v: Point) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), F(0))


def minus(u: Point, v: Point) -> Point:
    return [a - b for a, b in zip(u, v, strict=True)]


def above(p: InterpolatedPoint, q: InterpolatedPoint) -> Fraction:
    """The slack of the interpolation inequality from q to p; it holds if this is ≥ 0."""
    change = minus(p.gradient, q.gradient)
    return p.value - q.value - inner(q.gradient, minus(p.x, q.x)) - inner(change, change) / 2


def lowest(x: Point, gradient: Point, start: InterpolatedPoint) -> InterpolatedPoint:
    """The point with the smallest value that the interpolation inequality with the start allows."""
    free = InterpolatedPoint(x, gradient, F(0))
    return InterpolatedPoint(x, gradient, above(start, free))


def client(mu: Fraction, B: Fraction, t: Fraction) -> tuple[InterpolatedPoint, InterpolatedPoint, InterpolatedPoint]:
    """One client's values and gradients at w, y_k and w⁺; w⁺ is the mean of the answers of the clients t and −t."""
    kept, middle = (2 * mu + 1 - B) / (2 * (mu + 1)), (2 * mu + 1) / (2 * (mu + 1))
    start = InterpolatedPoint((F(0), F(0)), (F(1), t), F(0))
    answer = (kept, middle * t)
    server = (-kept / mu, F(0))
    return (
        start,
        lowest([-g / mu for g in answer], answer, start),
        lowest(server, (1 + server[0], t), start),
    )


def of_everyone(statement: Statement) -> Measure:
    """The promised decrease and the decrease; None where there are no such functions."""

    def measure(instance: tuple[Any, Any]) -> tuple[Any, Any] | None:
        mu, t = map(F, instance)
        B = sqrt(1 + t * t)
        clients = [client(mu, B, s) for s in (t, -t)]
        exists = all(above(p, q) >= 0 for points in clients for p, q in permutations(points, 2))
        meets = all(a + b == 2 * c for a, b, c in zip(clients[0][1].x, clients[1][1].x, clients[0][2].x, strict=True))
        solved = all(y.gradient == tuple(-mu * x for x in y.x) for _, y, _ in clients)
        decrease = -sum((server.value for _, _, server in clients), F(0)) / 2
        rho = statement.calculator.formula(mu=mu, L=F(1), B=B)
        return (rho, decrease) if exists and meets and solved else None

    return measure


def attained_by_everyone(statement: Statement) -> Tightness:
    """With B = 5/4 and μ = 2L."""
    how = "two clients in the plane with gradients (1, ±t): for every μ and B tried, by points that can be interpolated"
    return Tightness(of_everyone(statement), (2, F(3, 4)), how, attained=True)
