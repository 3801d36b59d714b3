"""Three tables of rates: error floors, convex clients, and clients that need not be convex."""

from collections.abc import Iterator
from fractions import Fraction as F

from number_tables import NumberTable

import fedconvex as fc
from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.methods.base import Method
from fedconvex.participation import Uniform
from fedconvex.proofs_checks.search.lyapunov.error_floors import error_floor
from fedconvex.proofs_checks.search.lyapunov.nonconvex_rates import NonconvexRate
from fedconvex.proofs_checks.search.lyapunov.sublinear_rates import SERVER, SublinearRate, sublinear_rate
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
)

PLACES = 4  # a solver in floating point minimises these numbers
# Methods of whose rounds no U decreases in each, that was found.
NONE_FOUND = fc.Scaffold(stepsize=F(1, 2), local_steps=8), fc.FedAvgM(stepsize=F(1, 2), momentum=F(1, 2))


def floor_rows() -> Iterator[tuple[Method, int | str, int, str]]:
    """What has a floor in the table: the method, the number of clients, how many take part (0: all), and the cause."""
    yield fc.FedGD(stepsize=F(1, 4)), 10, 0, "noise"
    for e in (1, 2, 4):
        yield fc.Scaffold(stepsize=F(1, 8), local_steps=e), 10, 0, "noise"
    yield fc.Scaffold(stepsize=F(1, 8)), 10, 2, "noise"
    yield fc.Scaffnew(stepsize=F(1, 4), probability=F(1, 2)), 10, 0, "noise"
    yield fc.FedAvgM(stepsize=F(1, 8), momentum=F(1, 2)), 10, 0, "noise"
    yield fc.FedProx(mu=4), "any", 0, "heterogeneity"
    for e in (2, 4):
        yield fc.FedGD(stepsize=F(1, 8), local_steps=e), "any", 0, "heterogeneity"
    for e in (1, 2):
        yield fc.FedGD(stepsize=F(1, 8), local_steps=e), 10, 2, "heterogeneity"


def convex_rows() -> Iterator[tuple[Method, int, int]]:
    """Methods on convex clients, with K of m clients (0 for everyone of any number)."""
    half = F(1, 2)
    yield fc.FedGD(stepsize=1), 0, 0
    for e in (1, 2, 4, 8):
        yield fc.Scaffold(stepsize=half, local_steps=e), 0, 0
    for method in (fc.FedDyn(alpha=2), fc.FedDynOneGD(alpha=4), fc.FedPD(eta=half), fc.DANE(mu=2),
                   fc.Scaffnew(stepsize=half, probability=half)):  # fmt: skip
        yield method, 0, 0
    yield from ((fc.FedGD(stepsize=F(1, 8), local_steps=e), 0, 0) for e in (2, 4))
    yield fc.FedAvgM(stepsize=half, momentum=half), 0, 0
    drawn: list[Method] = [fc.FedGD(stepsize=F(1, 8)), fc.Scaffold(stepsize=F(1, 8)), fc.FedDyn(alpha=20),
                           fc.FedDynOneGD(alpha=20)]  # fmt: skip
    yield from ((method, 2, 10) for method in drawn)


def nonconvex_rows() -> Iterator[tuple[Method, int, int]]:
    """Methods on clients that need not be convex, with K of m clients (0 for everyone of any number)."""
    everyone: list[Method] = [fc.FedGD(stepsize=s) for s in (F(1, 2), F(1))]
    everyone += [fc.FedGD(stepsize=F(1, 4), local_steps=3), fc.FedProx(mu=4)]
    everyone += [fc.Scaffold(stepsize=s, local_steps=e) for s, e in ((F(1, 4), 2), (F(1, 10), 4), (F(1, 20), 8))]
    everyone += [fc.FedDyn(alpha=4), fc.FedDynOneGD(alpha=4), fc.FedPD(eta=F(1, 4)), fc.DANE(mu=4)]
    everyone.append(fc.Scaffnew(stepsize=F(1, 50), probability=F(1, 2)))
    yield from ((method, 0, 0) for method in everyone)
    drawn: list[Method] = [
        fc.FedGD(stepsize=F(1, 4)), fc.Scaffold(stepsize=F(1, 8)), fc.Scaffold(stepsize=F(1, 40), local_steps=4),
        fc.FedDyn(alpha=20), fc.FedDynOneGD(alpha=20), fc.DANE(mu=8),
    ]  # fmt: skip
    yield from ((method, 2, 10) for method in drawn)


def floor(method: Method, m: int | str, K: int, cause: str) -> tuple[str, ...]:
    """The cells of a floor's row, computed."""
    found = error_floor(method, SmoothStronglyConvex(1, 4), m, cause=cause, participation=Uniform(K) if K else None)
    size = "σ²" if cause == "noise" else "ζ*²"
    upper, rate = (to_text(x, PLACES, Rounding.CEILING) for x in (found.upper, found.rate))
    lower = to_text(found.lower, PLACES, Rounding.FLOOR)
    who = f"{K} of {m}" if K else str(m)
    return f"`{found.method}`", "4", who, cause, f"{upper}·{size}", f"{lower}·{size}", rate


def on_convex_clients(method: Method, K: int, m: int) -> tuple[str, ...]:
    """The cells of a row on convex clients, computed."""
    found, numbers = _proved(method, K, m, "before")
    at = "the server" if found.at == SERVER else "the clients' mean"
    if K or method.skip != 0 or found.floor:
        last = "not analysed"
    else:
        last = "none found" if method in NONE_FOUND else " and ".join(_proved(method, K, m, "last")[1])
    who = f"{K} of {m}" if K else "everyone"
    attained = to_text(found.lower, PLACES, Rounding.FLOOR)
    stays = to_text(found.floor, PLACES, Rounding.CEILING)
    return f"`{found.method}`", who, at, numbers[0], attained, numbers[1], stays, last


def _proved(method: Method, K: int, m: int, points: str) -> tuple[SublinearRate, list[str]]:
    found = sublinear_rate(method, SmoothConvex(1), m or "any", participation=Uniform(K) if K else None, points=points)
    assert isinstance(found, SublinearRate)
    return found, [to_text(x, PLACES, Rounding.CEILING) for x in (found.distance, found.heterogeneity)]


def on_nonconvex_clients(method: Method, K: int, m: int) -> tuple[str, ...]:
    """The cells of a row on clients that need not be convex, computed."""
    found = sublinear_rate(method, WeaklyConvex(1, 1), m or "any", participation=Uniform(K) if K else None)
    assert isinstance(found, NonconvexRate)
    gap, once, ever = (to_text(x, PLACES, Rounding.CEILING) for x in (found.gap, found.heterogeneity, found.floor))
    who, attained = f"{K} of {m}" if K else "everyone", to_text(found.lower, PLACES, Rounding.FLOOR)
    return f"`{found.method}`", who, gap, attained if found.slowest else "none known", once, ever


TABLES = {
    "error_floors": NumberTable(
        ("method", "κ", "clients", "cause", "squared error at most", "quadratics keep", "rate"), floor_rows, floor
    ),
    "convex_clients": NumberTable(
        ("method", "clients", "f at", "‖w⁰ − x*‖² times", "attained", "ζ*² times, over T", "in every round",
         "last value: the two"), convex_rows, on_convex_clients,
    ),
    "nonconvex_clients": NumberTable(
        ("method", "clients", "f(w⁰) − inf f times", "attained", "ζ² times, over T", "ζ² times, in every round"),
        nonconvex_rows, on_nonconvex_clients,
    ),
}  # fmt: skip
