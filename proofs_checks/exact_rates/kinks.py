"""Methods on one client with a rounded kink, which attain the rates for convex clients from far away.

The Huber function |x|, but Lx²/2 + 1/(2L) for |x| ≤ 1/L, is L-smooth; its minimiser is 0. Far away every step has the
same length, and the errors add up as in the bound. With one client SCAFFOLD with one local step is gradient descent,
and FedDyn's, FedPD's and DANE's answers are proximal steps.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

from fedconvex.statements.statement import Statement


def gradient(x: Any, L: Any) -> Any:
    """Of the Huber function."""
    return max(-1, min(1, L * x))


def gap(x: Any, L: Any) -> Any:
    """Its value less the minimum."""
    return abs(x) - Fraction(1, 2) / L if abs(x) * L > 1 else L * x**2 / 2


def proximal(x: Any, s: Any, L: Any) -> Iterator[Any]:
    """The points after proximal steps."""
    while True:
        near = x / (1 + s * L)
        x = near if abs(near) * L <= 1 else x - (s if x > 0 else -s)
        yield x


def descent(x: Any, s: Any, L: Any) -> Iterator[Any]:
    """The points of gradient descent, from its start."""
    while True:
        yield x
        x = x - s * gradient(x, L)


def optimistic(x: Any, s: Any, L: Any) -> Iterator[Any]:
    """The points of steps s(2∇f(w^t) − ∇f(w^{t−1})), from the start, with 0 for the gradient before it."""
    before = Fraction(0)
    while True:
        yield x
        here = gradient(x, L)
        x, before = x - s * (2 * here - before), here


PATHS: dict[str, tuple[Callable[[Any, Any, Any], Iterator[Any]], str]] = {
    "fedprox_convex": (proximal, "stepsize"), "fedsgd_convex": (descent, "stepsize"),
    "scaffold_convex": (descent, "stepsize"), "feddynonegd_convex": (optimistic, "alpha"),
    "feddyn_convex": (proximal, "alpha"), "fedpd_convex": (proximal, "eta"),
    "scaffold_convex_steps": (descent, "stepsize"), "dane_convex": (proximal, "stepsize"),
}  # fmt: skip
LAST = "dane_convex"  # about f after the last round, not about a mean


def on_a_kink(statement: Statement, instance: Any) -> tuple[Any, Any] | None:
    """The mean gap over T rounds (of DANE the last one) and its bound: of (L, start, s, T), with s = 1/α for FedDyn and
    FedDynOneGD.
    """
    L, start, s, rounds = (Fraction(x) for x in instance)
    if min(L, s, rounds) <= 0 or rounds.denominator != 1:
        return None
    name = statement.calculator.name
    path, size = PATHS[name]
    at = {"L": L, "T": rounds, "D0": start**2, "zeta2": Fraction(0), "num_clients": Fraction(1)}
    at |= {"num_active": Fraction(1), "local_steps": Fraction(1), size: 1 / s if size == "alpha" else s}
    if any(c.check(c.argument, at) is not None for a in statement.assumptions for c in a.conditions):
        return None
    gaps = [gap(x, L) for x in islice(path(start, s, L), int(rounds))]
    return gaps[-1] if name == LAST else sum(gaps) / rounds, statement.calculator.formula(
        **{n: at[n] for n in statement.calculator.names}
    )
