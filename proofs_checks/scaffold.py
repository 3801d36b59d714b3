"""The linear rate of SCAFFOLD with any number of local steps: a potential along the steps, and one round.

Seen from w*, with g_i = s(∇F_k(y_i) − ∇F_k(w*)), D_k = es(c_k − c − ∇F_k(w*)), q = 1 − sμ, S_n = 1 + q + … + q^{n−1},
a local step is y_{i+1} = y_i − g_i + D_k/e, and V⁺ = mean‖y_e − D_k‖², since the mean of y_e − D_k is w⁺. What e − i
steps make of y_i is at most `cost_to_go`: it does not grow, because of the curvatures between y_i, y_{i+1} and w*.
"""

from fractions import Fraction
from typing import Any

import numpy as np

import fedconvex as fc
from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    before_last_step,
    family,
    gradient,
    inner,
    local_step,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    server,
    shared,
    square,
    value,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import (
    STEP,
    AlongSteps,
    Bernoulli,
    Combine,
    Derivation,
    Line,
    Nonnegative,
    Product,
    facts,
)
from fedconvex.proofs_checks.library import Parts, by, cited, concluding, interpolation, squared
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.proofs_checks.tightness import Measure, Tightness
from fedconvex.statements.statement import Statement
from fedconvex.theory import scaffold

s, e, mu = (parameter(name) for name in ("stepsize", "local_steps", "mu"))
i, q = parameter(STEP), 1 - s * mu
u, D = family("u"), e * s * (memory("c", 0) - shared("c", 0) - gradient(minimiser))
INVARIANTS = (("shared c", mean(memory("c", 0))),)


def total(n: Any) -> Number:
    """S_n."""
    found: Number = (1 - q**n) / (s * mu)
    return found


LATE = e - total(e + 1)
GIVEN_AWAY = LATE**2 / (1 + 2 * q)  # at most this times ‖D‖²/e² is lost in a step, since 2S_n − 1 ≥ 1 + 2q for n ≥ 2


def slope(at: Vector) -> Vector:
    """g = s(∇F_k − ∇F_k(w*)) at a point."""
    return s * (gradient(at) - gradient(minimiser))


def between(b: Vector, a: Vector) -> Parts:
    """s times the interpolation inequality, of functions with curvatures in [μ, 1/s]."""
    return s * interpolation(b, a, mu, 1 / s)


def cost_to_go(at: Vector) -> Number:
    """q^{2(e−i−1)}(q^{i+2}‖y‖² + q²S_i‖g‖² − (2S_{i+1} − 1)‖g − (1 − q)y‖²) + 2τ⟨g − y, D⟩ + δ‖D‖² + 2q^{2(e−i)+1}S_i·f
    with f = s(F_k(y) − F_k(w*) − ⟨∇F_k(w*), y − w*⟩), τ = q^{e−i−1}(e − S_{e−i})/e and
    δ = ((e − 1)² + (e − 1 − i)`GIVEN_AWAY`)/e².
    """
    left, y, g = q**e / q**i, at - minimiser, slope(at)  # left = q^{e−i}
    f = s * (value(at) - value(minimiser) - inner(gradient(minimiser), y))
    of_point = q ** (i + 2) * square(y) + q**2 * total(i) * square(g) - (2 * total(i + 1) - 1) * square(g - s * mu * y)
    tau, delta = left / q * (e - (1 - left) / (s * mu)) / e, ((e - 1) ** 2 + (e - 1 - i) * GIVEN_AWAY) / e**2
    return (left / q) ** 2 * of_point + 2 * tau * inner(g - y, D) + delta * square(D) + 2 * q * left**2 * total(i) * f


def along_steps() -> AlongSteps:
    """No step makes the cost to go larger."""
    left, after = q**e / q**i, local_step(u)
    weight, before = 2 * left**2 / q * total(i + 1), 2 * left**2 * q * total(i)
    parts = weight * between(u, after) + (weight - before) * between(minimiser, u)
    large = 2 * total(i + 2) - 1
    away = (e - (1 - left / q) / (s * mu) + total(e + 1) - (1 - left) / (s * mu)) / (e * left / q**2 * large)
    parts += (left / q**2) ** 2 * large * squared(slope(after) - s * mu * (after - minimiser) - away * D)
    parts += (1 / (1 + 2 * q) - 1 / large) / e**2 * squared(LATE * D)
    return AlongSteps(cost_to_go(u), "u", server(0), parts.facts, parts.squares, name="all but the last step")


def one_round(claim: Claim, room: Parts) -> tuple[Line, ...]:
    """The last step, and the first gradient, which a square removes. `room` is what the condition leaves of ‖D‖²."""
    last, weight, before = before_last_step, 2 * q * total(e), 2 * q**3 * total(e - 1)
    parts = (
        cited("all but the last step")
        + weight * between(last, minimiser)
        + (weight - before) * between(minimiser, last)
    )
    away = (e - total(e)) / (e * q ** (e - 1))
    parts += (q ** (e - 1)) ** 2 * squared(slope(server(0)) - s * mu * (server(0) - minimiser) - away * D)
    return along_steps(), concluding(claim, parts + room)


ROOM = (q**e) ** 2 - ((e - 1) ** 2 + (e - total(e)) ** 2 + (e - 1) * GIVEN_AWAY) / e**2


@remarks_on(scaffold.accelerated)
def remarks(statement: Statement) -> Remarks:
    """The worst known instance: clients that are the same quadratic of least curvature."""
    return Remarks(tightness=Tightness(_contracted(statement), (1, 8, 2), "two clients μx²/2", attained=True))


def _contracted(statement: Statement) -> Measure:
    """(what is left, what is promised) of V after a round from w = 1, c_k = 0 with s = 1/L: (μ, L, e)."""

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any] | None:
        least, most, steps = map(Fraction, instance)
        if not 0 < 4 * steps**2 * least <= 3 * most:
            return None
        method = fc.Scaffold(stepsize=1 / most, local_steps=int(steps))
        clients = fc.Quadratic([np.array([[least]])] * 2, [np.array([Fraction(0)])] * 2)
        after = fc.simulate(method, clients, 1, x0=[Fraction(1)], arithmetic="exact").points[1][0]
        return after**2, statement.calculator.formula(stepsize=1 / most, local_steps=int(steps), mu=least, L=most)

    return measure


@proof_of(scaffold.accelerated)
def accelerated(claim: Claim) -> Derivation:
    """With x = sμ and u = e − S_e, Bernoulli's inequalities say 0 ≤ u ≤ b = e(e − 1)x/2. Hence |e − S_{e+1}| ≤ 1."""
    x, short = s * mu, e - total(e)
    late, most, b = 1 - short - x * total(e), e**2 * x, e * (e - 1) * x / 2  # late = S_{e+1} − e
    enough = (1 - most) * (2 * e - 1 - most) - b**2 - (e - 1) / (3 - 2 * x)

    def line(name: str, right: Any, *uses: Any) -> Combine:
        """0 ≤ right."""
        return Combine(number(0), number(right), facts(*uses), name=name)

    def earlier(name: str) -> Any:
        return cited(name).facts[0][1]

    lines = (
        line("at most e", short, (1 / x, Bernoulli(q, 1))),
        line("nearly e", b - short, (1 / x, Bernoulli(q, 2))),
        line("short", b**2 - short**2, (b, earlier("nearly e")), (1, Product("at most e", "nearly e"))),
        line("late at most 1", 1 - late, (1 - x, earlier("at most e")), (1, Nonnegative(e * x))),
        line("late at least -1", 1 + late, (1 - x, earlier("nearly e")), (1, Nonnegative(2 - e * x - (1 - x) * b))),
        line("power", (q**e) ** 2 - (1 - e * x) ** 2, (2 * x * (1 - e * x), earlier("at most e")),
             (x**2, Product("at most e", "at most e"))),
        line("room", ROOM, (1, earlier("power")), (1 / e**2, earlier("short")),
             ((e - 1) / (3 - 2 * x) / e**2, Product("late at most 1", "late at least -1")),
             (1 / e**2, Nonnegative(enough))),
        concluding(Claim(number(0), "<=", square(D)), squared(D), "spread"),
    )  # fmt: skip
    return Derivation((*lines, *one_round(claim, by(Product("room", "spread")))), INVARIANTS)
