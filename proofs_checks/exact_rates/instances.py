"""The worst known federations of the exact rates: quadratic clients on a line with w* = 0; sides as in the claims."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from fractions import Fraction as F
from functools import partial
from itertools import islice
from typing import Any

import fedconvex as fc
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import Number, minimiser, number, parameter, server, square
from fedconvex.methods.base import Method
from fedconvex.participation import Draw, Full, Participation, Uniform
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.proofs_checks.tightness import Tightness, of_claim
from fedconvex.statements.statement import Statement
from fedconvex.theory import exact_rates

# Methods on one client with a rounded kink, which attain the rates for convex clients from far away.
# The Huber function |x|, but Lx²/2 + 1/(2L) for |x| ≤ 1/L, is L-smooth; its minimiser is 0. Far away every step has the
# same length, and the errors add up as in the bound. With one client SCAFFOLD with one local step is gradient descent,
# and FedDyn's, FedPD's and DANE's answers are proximal steps.


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


Numbers = Mapping[str, Any]
METHODS: Mapping[str, Callable[[Numbers], Method]] = {
    "fedprox": lambda at: fc.FedProx(mu=1 / at["stepsize"]),
    "fedsgd": lambda at: fc.FedGD(stepsize=at["stepsize"], local_steps=1),
    "scaffold": lambda at: fc.Scaffold(
        stepsize=at["stepsize"],
        server_stepsize=at.get("server_stepsize", F(1)),
        local_steps=int(at.get("local_steps", 1)),
    ),
    "dane": lambda at: fc.DANE(mu=1 / at["stepsize"]),
    "feddynonegd": lambda at: fc.FedDynOneGD(alpha=at["alpha"]),
    "fedpd": lambda at: fc.FedPD(eta=at["eta"]),
    "fedsplit": lambda at: fc.FedSplit(stepsize=at["stepsize"]),
}


def federation(
    statement: Statement, curvatures: Any, slopes: Any, start: Any, numbers: Any, earlier: int = 0
) -> ExactFederation | None:
    """Clients a_k x²/2 + g_k x, with these numbers of the statement, from a start (None: at rest), after some rounds.

    None where they are outside of the statement's setting.
    """
    at = {name: F(x) for name, x in numbers}
    count = len(curvatures)
    at |= {"num_clients": F(count), "num_active": at.get("num_active", F(count))}
    active = int(at["num_active"])
    if (
        min(at.values()) <= 0
        or sum(slopes) != 0
        or not at.get("mu", 0) <= min(curvatures) <= max(curvatures) <= at["L"]
    ):
        return None
    used = [c for a in statement.assumptions for c in a.conditions]
    if any(c.check(c.argument, at) is not None for c in used):
        return None
    method = METHODS[statement.calculator.name.partition("_")[0]](at)
    problem = fc.Quadratic([[[F(a)]] for a in curvatures], [[-F(g)] for g in slopes])
    scheme: Participation = Uniform(active) if active < count else Full()
    return ExactFederation(
        problem, method, [F(start or 0)], scheme, at, earlier=(Draw(),) * earlier, rounds=int(at.get("T", 1)),
        rests=start is None,
    )  # fmt: skip


def of_clients(statement: Statement, instance: Any) -> tuple[Any, Any] | None:
    """What the claim bounds, on the clients of an instance: (curvatures, gradients at w*, start, numbers)."""
    measured: tuple[Any, Any] | None = of_claim(statement, lambda one: federation(statement, *one), number(0))(instance)
    return measured


def of_loss(statement: Statement, instance: Any) -> tuple[Any, Any] | None:
    """(promised, actual) decrease, of a claim V⁺ ≤ V − loss."""
    measured: tuple[Any, Any] | None = of_claim(statement, lambda one: federation(statement, *one))(instance)
    return measured


def of_decrease(statement: Statement, instance: Any) -> tuple[Any, Any] | None:
    """(promised, actual) decrease of V, of a claim V⁺ ≤ ρV; the last of an instance is the number of rounds before."""
    found = of_clients(statement, instance)
    if found is None:
        return None
    left, right = found
    at = {name: F(x) for name, x in instance[3]} | {"num_clients": F(len(instance[0]))}
    rho = statement.calculator.formula(**{name: at[name] for name in statement.calculator.names})
    return right / rho - right, right / rho - left


def _drawn_product(xs: list[F], ys: list[F], active: int) -> F:
    """The expected product of the means over the clients that are drawn."""
    m = len(xs)
    sigma = F(m - active, active * (m - 1))
    return (1 - sigma) * sum(xs) * sum(ys) / m**2 + sigma * sum(x * y for x, y in zip(xs, ys, strict=True)) / m


def lopsided(statement: Statement, instance: Any) -> tuple[Any, Any] | None:
    """What heterogeneity adds in a round, against what is promised: of (m, P, s, μ, L), m − 1 clients of curvature μ
    and one of L, whose gradients at w* are 1 and 1 − m, from the start where they add most.
    """
    m, P, s, mu, L = instance
    if "num_active" not in statement.calculator.names:
        P = m
    if not (1 <= P <= m and m > 1 and 0 < mu < L and s > 0):
        return None
    curvatures, slopes = (mu,) * (m - 1) + (L,), (1,) * (m - 1) + (1 - m,)
    proximal = statement.calculator.name.startswith("fedprox")
    factors = [1 / (1 + F(s) * a) if proximal else 1 - F(s) * a for a in curvatures]
    shifts = [-s * g * (f if proximal else 1) for f, g in zip(factors, slopes, strict=True)]
    second, both = _drawn_product(factors, factors, P), _drawn_product(factors, shifts, P)
    start = both / (factors[0] ** 2 - second)
    numbers = (("stepsize", s), ("mu", mu), ("L", L), ("num_active", P))
    rate = (
        1 / (1 + parameter("stepsize") * parameter("mu")) if proximal else 1 - parameter("stepsize") * parameter("mu")
    )
    kept: Number = -1 * rate**2 * square(server(0) - minimiser)
    of = federation(statement, curvatures, slopes, start, numbers)
    measured: tuple[Any, Any] | None = of_claim(statement, lambda _: of, kept)(instance)
    return measured


QUADRATIC = "clients that are the same quadratic of curvature μ"
AGREE = ", so that ζ_* = 0"
LIMIT = "the price of ζ_*², approached as the number of clients grows, of which one has curvature L"
KINK = (
    "for ζ_* = 0, approached from ever further away by one client with a rounded kink, in as many rounds as it takes "
    "to come near it"
)
ALONE: Any = ((1, 1), (0, 0), 1)
Of = Callable[[Statement, Any], Any]
INSTANCES: Mapping[str, tuple[Of, Any, str, bool]] = {
    "fedprox_floor": (of_clients, ((1, 1, 1, 3, 3), (2, 2, 2, -3, -3), None, (("stepsize", 1), ("mu", 1), ("L", 3))),
        "three clients of curvature μ, two of L, for s = μ = 1, L = 3", True),
    "fedprox_round": (lopsided, (200, 200, 1, 1, 4), LIMIT, True),
    "fedprox_drawn_round": (lopsided, (20, 2, 1, 1, 4), LIMIT, True),
    "fedprox_run": (of_clients, (*ALONE, (("stepsize", 1), ("mu", 1), ("L", 4), ("T", 3))), QUADRATIC + AGREE, True),
    "fedprox_convex": (on_a_kink, (1, 60, F(1, 2), 120), KINK, True),
    "fedsgd_round": (lopsided, (20, 2, F(1, 4), 1, 4), LIMIT, True),
    "fedsgd_run": (of_clients, (*ALONE, (("stepsize", F(1, 4)), ("mu", 1), ("L", 4), ("T", 3), ("num_active", 1))),
        QUADRATIC + AGREE, True),
    "fedsgd_convex": (on_a_kink, (1, 60, F(1, 2), 120), KINK, True),
    "scaffold_step": (of_clients, (*ALONE, (("stepsize", F(1, 8)), ("server_stepsize", 2), ("mu", 1), ("L", 4))),
        QUADRATIC + ", for ηs ≤ 2/(μ + L)", True),
    "scaffold_drawn_round": (of_decrease,
        (*ALONE, (("stepsize", F(1, 30000)), ("mu", 1), ("L", 1000), ("num_active", 1))),
        "the decrease, on clients that are the same quadratic of curvature μ, as sμ and μ/L go to 0", True),
    "scaffold_convex": (on_a_kink, (1, 60, F(1, 4), 240), KINK, True),
    "scaffold_steps_round": (of_loss, ((4, 4), (0, 0), 1, (("stepsize", F(1, 4)), ("L", 4), ("local_steps", 3))),
        "clients that are the same quadratic of curvature 1/s", True),
    "scaffold_convex_steps": (on_a_kink, (1, 60, F(1, 2), 120), "e = 1, " + KINK, False),
    "dane_round": (of_clients, (*ALONE, (("stepsize", F(1, 3)), ("mu", 1), ("L", 4))), QUADRATIC, True),
    "dane_convex": (on_a_kink, (1, 20, F(1, 10), 100),
        "one client with a rounded kink, half-way to which the run ends: 1/2 for s small and T large", False),
    "feddyn_convex": (on_a_kink, (1, 60, F(1, 2), 120), KINK, True),
    "feddynonegd_convex": (on_a_kink, (1, 60, F(1, 3), 180), KINK, True),
    "feddynonegd_round": (of_decrease, (*ALONE, (("alpha", 400), ("mu", 1), ("L", 100)), 1),
        "the decrease, on clients that are the same quadratic of curvature μ, in the second round", False),
    "fedpd_round": (of_clients, (*ALONE, (("eta", F(1, 2)), ("mu", 1), ("L", 4))),
        QUADRATIC + ", for η ≤ 1/√(μL)", True),
    "fedpd_convex": (on_a_kink, (1, 60, F(1, 2), 120), KINK, True),
    "fedsplit_drawn_round": (of_clients, (*ALONE, (("stepsize", F(1, 2)), ("mu", 1), ("L", 4), ("num_active", 1))),
        QUADRATIC + ", for s ≤ 1/√(μL)", True),
}  # fmt: skip


@remarks_on(*(getattr(exact_rates, name) for name in INSTANCES))
def remarks(statement: Statement) -> Remarks:
    """The worst known instance."""
    of, instance, how, attained = INSTANCES[statement.calculator.name]
    return Remarks(tightness=Tightness(partial(of, statement), instance, how, attained))
