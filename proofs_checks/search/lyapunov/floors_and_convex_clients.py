"""Three sections of the page on rates: error floors, convex clients, and clients that need not be convex."""

from collections.abc import Iterator
from fractions import Fraction as F

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
FLOORS = """
## Noise and heterogeneity

`error_floor` proves E V⁺ ≤ rate·V + price·size, with V ≥ ‖w − x*‖²: then the squared error is at most price/(1 − rate)
times the size in the limit. Noise: every gradient has unbiased noise, of variance at most σ² for one client, and
independent between the clients where their number is given. Heterogeneity: ζ*² = mean‖∇F_k(x*)‖², which biases methods
without memory, and where only some clients take part keeps them moving even with one local step.

```python
from fractions import Fraction

import fedconvex as fc
from fedconvex.proofs_checks import SmoothStronglyConvex, error_floor

found = error_floor(fc.Scaffold(stepsize=Fraction(1, 8)), SmoothStronglyConvex(mu=1, L=4), num_clients=10)
assert found.lower == Fraction(1, 640) / (1 - Fraction(7, 8) ** 2)  # s²σ²/(m(1 − (1 − sμ)²)), on quadratics
assert found.tight
biased = error_floor(fc.FedProx(mu=4), SmoothStronglyConvex(mu=1, L=4), cause="heterogeneity")
assert 0.014062 < biased.upper < 0.014063  # exact_rates.fedproxerrorfloor, squared
```

| method | κ | clients | cause | squared error at most | quadratics keep | rate |
|---|---|---|---|---|---|---|
"""
CONVEX = """
## Convex clients

`sublinear_rate` proves V⁺ ≤ V − (f(w) − f*) for a quadratic V ≥ 0: the mean of f − f* at the T points before each round
is at most V(start)/T. Here all clients are convex and 1-smooth, and the sum of both numbers is minimised. No number
before ‖w⁰ − x*‖² can be below 1/2, that of the first point alone. SCAFFOLD's local steps pay: the theorem on any number
of them, `exact_rates.scaffoldconvexclientslocalsteps`, has 1/(2s) = 1 there for every e, and e²s/2 before ζ*². The mean
of f is in expectation where clients are drawn or rounds are local at random. Biased methods pay for ζ*² in every round,
too; with momentum V measures f(w) − f* as well. `points="after"` bounds f where the rounds
end: SCAFFOLD with e = 3 then has 0.4456 and 0.2966. `points="last"` bounds the last value alone, by a potential that
grows, V + tU with U ≥ f(w) − f*: both U and V + tU never increase. *Attained*: no smaller number stands before
‖w⁰ − x*‖² for all T, as clients show that share a function of slope 1 up to a short parabola.

```python
from fractions import Fraction

import fedconvex as fc
from fedconvex.proofs_checks import SmoothConvex, sublinear_rate

found = sublinear_rate(fc.Scaffold(stepsize=Fraction(1, 2), local_steps=4), SmoothConvex(L=1))
assert found.lower == 0.5 <= found.distance < 0.503
print(found.bound(rounds=100, distance=1, heterogeneity=1))
last = sublinear_rate(fc.FedDyn(alpha=2), SmoothConvex(L=1), points="last")
print(last.bound(rounds=100, distance=1, heterogeneity=1))  # of f − f* after 100 rounds
```

| method | clients | f at | ‖w⁰ − x*‖² times | attained | ζ*² times, over T | in every round | last value: the two |
|---|---|---|---|---|---|---|---|
"""
NONCONVEX = """
## Clients that need not be convex

With `WeaklyConvex(L_minus, L)`, clients whose curvatures lie between −L_minus and L, `sublinear_rate` proves
V⁺ ≤ V − ‖∇f(w)‖² for a potential V = c·(f(w) − inf f) + a quadratic form of memories and of gradients at w: the least
‖∇f(w)‖² before T rounds is about the numbers below, times f(w⁰) − inf f and ζ², over T; the exact bound is
`found.bound(T, …)`. ζ² = mean‖∇F_k(w) − ∇f(w)‖², at the start for methods that remove the clients' drift; for the
others its largest value counts in every round. *Attained*: no smaller number stands before f(w⁰) − inf f for all T, by
`found.federation(T)`, a function of one variable whose slope is 1 at all points of the run and that decreases as little
as it may between them. Here all clients are 1-smooth, L_minus = 1, and the sum of the numbers is least. Gradient
descent's is that of Abbaszadehpeivasti, de Klerk and Zamani (2022), 2/(s(2 − s/2)) for s ≤ 1. Where K of m clients are
sampled, ‖∇f(w)‖² is in expectation and V is a multiple of f(w) − inf f plus one of mean‖c_k − ∇F_k(w)‖², c_k being what
client k remembers; no slow function is known there of methods with memory.

```python
from fractions import Fraction

import fedconvex as fc
from fedconvex.proofs_checks import WeaklyConvex, sublinear_rate

found = sublinear_rate(fc.Scaffold(stepsize=Fraction(1, 4), local_steps=2), WeaklyConvex(L_minus=1, L=1))
assert 2.5 < found.lower < found.gap < 2.51
assert found.floor == 0
slow = found.federation(20)
run = fc.simulate(found.method, slow, rounds=19, x0=[0.0])
assert all(abs(slow.gradient(x)[0]) > 0.999 for x in run.points)
```

| method | clients | f(w⁰) − inf f times | attained | ζ² times, over T | ζ² times, in every round |
|---|---|---|---|---|---|
"""


def as_markdown() -> str:
    """All three."""
    floors = "".join(_floor(*row) for row in floor_rows())
    convex = CONVEX + "".join(_convex(*row) for row in convex_rows())
    return FLOORS + floors + convex + NONCONVEX + "".join(_nonconvex(*row) for row in nonconvex_rows())


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


def _floor(method: Method, m: int | str, K: int, cause: str) -> str:
    found = error_floor(method, SmoothStronglyConvex(1, 4), m, cause=cause, participation=Uniform(K) if K else None)
    size = "σ²" if cause == "noise" else "ζ*²"
    upper, rate = (to_text(x, PLACES, Rounding.CEILING) for x in (found.upper, found.rate))
    lower = to_text(found.lower, PLACES, Rounding.FLOOR)
    who = f"{K} of {m}" if K else m
    return f"| `{found.method}` | 4 | {who} | {cause} | {upper}·{size} | {lower}·{size} | {rate} |\n"


def _convex(method: Method, K: int, m: int) -> str:
    found, numbers = _proved(method, K, m, "before")
    at = "the server" if found.at == SERVER else "the clients' mean"
    if K or method.skip != 0 or found.floor:
        last = "not analysed"
    else:
        last = "none found" if method in NONE_FOUND else " and ".join(_proved(method, K, m, "last")[1])
    who = f"{K} of {m}" if K else "everyone"
    attained = to_text(found.lower, PLACES, Rounding.FLOOR)
    stays = to_text(found.floor, PLACES, Rounding.CEILING)
    return f"| `{found.method}` | {who} | {at} | {numbers[0]} | {attained} | {numbers[1]} | {stays} | {last} |\n"


def _proved(method: Method, K: int, m: int, points: str) -> tuple[SublinearRate, list[str]]:
    found = sublinear_rate(method, SmoothConvex(1), m or "any", participation=Uniform(K) if K else None, points=points)
    assert isinstance(found, SublinearRate)
    return found, [to_text(x, PLACES, Rounding.CEILING) for x in (found.distance, found.heterogeneity)]


def _nonconvex(method: Method, K: int, m: int) -> str:
    found = sublinear_rate(method, WeaklyConvex(1, 1), m or "any", participation=Uniform(K) if K else None)
    assert isinstance(found, NonconvexRate)
    gap, once, ever = (to_text(x, PLACES, Rounding.CEILING) for x in (found.gap, found.heterogeneity, found.floor))
    who, attained = f"{K} of {m}" if K else "everyone", to_text(found.lower, PLACES, Rounding.FLOOR)
    return f"| `{found.method}` | {who} | {gap} | {attained if found.slowest else 'none known'} | {once} | {ever} |\n"
