"""Tables of how fast methods converge."""

from collections.abc import Iterator
from fractions import Fraction as F

import floor_tables
import theorem_tables
from number_tables import NumberTable

import fedconvex as fc
from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.methods.base import Method
from fedconvex.participation import Uniform
from fedconvex.proofs_checks.search.lyapunov.lyapunov import lyapunov
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothStronglyConvex

DIGITS = 6


def rows() -> Iterator[tuple[Method, int, int, int]]:
    """What has a row, with its κ, and K of m clients (0 for everyone, and for any number)."""
    for method, kappa in methods():
        yield method, kappa, 0, 0
    yield fc.EF21(stepsize=F(1, 40)), 10, 0, 0
    for m in (2, 5, 100):
        yield fc.DIANA(stepsize=F(1, 22)), 10, 0, m
    for K, m in ((1, 2), (10, 100), (10, 1000)):
        yield fc.FedSplit(stepsize=F(1, 2)), 4, K, m
        yield fc.FedDyn(alpha=8), 4, K, m
        yield fc.Scaffold(stepsize=F(1, 40), local_steps=2), 4, K, m


def methods() -> Iterator[tuple[Method, int]]:
    """The methods with full participation."""
    for kappa in (4, 100):
        yield fc.FedGD(stepsize=F(1, kappa)), kappa
        yield fc.FedGD(stepsize=F(2, kappa + 1)), kappa
        for e in (1, 2, 4, 7, 10, 20) if kappa == 100 else (1, 2, 4):
            yield fc.Scaffold(stepsize=F(1, kappa), local_steps=e), kappa
        yield fc.Scaffold(stepsize=F(1, kappa), local_steps=2, option=1), kappa
        root = 2 if kappa == 4 else 10
        yield fc.FedSplit(stepsize=F(1, root)), kappa
        yield fc.FedDyn(alpha=root), kappa
        yield fc.FedPD(eta=F(1, root)), kappa
        yield fc.FedDynOneGD(alpha=2 * kappa), kappa
        yield fc.DANE(mu=kappa), kappa
        for p in (F(1, 2),) if kappa == 4 else (F(1, 7), F(1, 10)):
            yield fc.Scaffnew(stepsize=F(1, kappa), probability=p), kappa
        yield fc.FedDANE(mu=kappa), kappa


def rate(method: Method, kappa: int, K: int, m: int) -> tuple[str, ...]:
    """The cells of a rate's row, computed."""
    found = lyapunov(method, SmoothStronglyConvex(1, kappa), m or "any", participation=Uniform(K) if K else None)
    lower, upper = to_text(found.lower, DIGITS, Rounding.FLOOR), to_text(found.upper, DIGITS, Rounding.CEILING)
    exact = found.upper == found.lower
    known = "exact" if exact else "tight" if found.tight else "an interval"
    shown = to_text(found.upper, DIGITS, Rounding.NEAREST) if exact else f"{lower} … {upper}"
    clients = f"{K} of {m}" if K else f"all {m or ''}".strip()
    return f"`{found.method}`", str(kappa), clients, shown, known, str(found.slowest.federation)


TABLES = {
    "rates": NumberTable(("method", "κ", "clients", "rate per round", "known", "attained by"), rows, rate),
    **floor_tables.TABLES,
    "theorems_on_rates": theorem_tables.TABLE,
}
