"""Two sections of the page on rates: error floors, and rates on convex clients."""

from collections.abc import Iterator
from fractions import Fraction as F

import fedconvex as fc
from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.methods.base import Method
from fedconvex.participation import Uniform
from fedconvex.proofs_checks.search.lyapunov.error_floors import error_floor
from fedconvex.proofs_checks.search.lyapunov.sublinear_rates import SERVER, sublinear_rate
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothConvex, SmoothStronglyConvex

PLACES = 4  # a solver in floating point minimises these numbers
FLOORS = """
## Noise and heterogeneity

`error_floor` proves E V⁺ ≤ rate·V + price·size, with V ≥ ‖w − x*‖²: then the squared error is at most price/(1 − rate)
times the size in the limit. Noise: every gradient has unbiased noise, of variance at most σ² for one client, and
independent between the clients where their number is given. Heterogeneity: ζ*² = mean‖∇F_k(x*)‖², which biases methods
without memory.

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
of f is in expectation where clients are drawn or rounds are local at random. `points="after"` bounds f where the rounds
end: SCAFFOLD with e = 3 then has 0.4456 and 0.2966.

```python
from fractions import Fraction

import fedconvex as fc
from fedconvex.proofs_checks import SmoothConvex, sublinear_rate

found = sublinear_rate(fc.Scaffold(stepsize=Fraction(1, 2), local_steps=4), SmoothConvex(L=1))
assert found.distance < 0.503
print(found.bound(rounds=100, distance=1, heterogeneity=1))
```

| method | clients | f at | ‖w⁰ − x*‖² times | ζ*² times |
|---|---|---|---|---|
"""


def as_markdown() -> str:
    """Both sections."""
    floors = "".join(_floor(*row) for row in floor_rows())
    return FLOORS + floors + CONVEX + "".join(_convex(*row) for row in convex_rows())


def floor_rows() -> Iterator[tuple[Method, int | str, str]]:
    """What has a floor in the table: the method, the number of clients, and the cause."""
    yield fc.FedGD(stepsize=F(1, 4)), 10, "noise"
    for e in (1, 2, 4):
        yield fc.Scaffold(stepsize=F(1, 8), local_steps=e), 10, "noise"
    yield fc.Scaffnew(stepsize=F(1, 4), probability=F(1, 2)), 10, "noise"
    yield fc.FedProx(mu=4), "any", "heterogeneity"
    for e in (2, 4):
        yield fc.FedGD(stepsize=F(1, 8), local_steps=e), "any", "heterogeneity"


def convex_rows() -> Iterator[tuple[Method, int, int]]:
    """Methods on convex clients, with K of m clients (0 for everyone of any number)."""
    half = F(1, 2)
    yield fc.FedGD(stepsize=1), 0, 0
    for e in (1, 2, 4, 8):
        yield fc.Scaffold(stepsize=half, local_steps=e), 0, 0
    for method in (fc.FedDyn(alpha=2), fc.FedPD(eta=half), fc.DANE(mu=2), fc.Scaffnew(stepsize=half, probability=half)):
        yield method, 0, 0
    yield fc.Scaffold(stepsize=F(1, 8)), 2, 10


def _floor(method: Method, m: int | str, cause: str) -> str:
    found = error_floor(method, SmoothStronglyConvex(1, 4), m, cause=cause)
    size = "σ²" if cause == "noise" else "ζ*²"
    upper, rate = (to_text(x, PLACES, Rounding.CEILING) for x in (found.upper, found.rate))
    lower = to_text(found.lower, PLACES, Rounding.FLOOR)
    return f"| `{found.method}` | 4 | {m} | {cause} | {upper}·{size} | {lower}·{size} | {rate} |\n"


def _convex(method: Method, K: int, m: int) -> str:
    found = sublinear_rate(method, SmoothConvex(1), m or "any", participation=Uniform(K) if K else None)
    at = "the server" if found.at == SERVER else "the clients' mean"
    a, b = (to_text(x, PLACES, Rounding.CEILING) for x in (found.distance, found.heterogeneity))
    return f"| `{found.method}` | {f'{K} of {m}' if K else 'everyone'} | {at} | {a} | {b} |\n"
