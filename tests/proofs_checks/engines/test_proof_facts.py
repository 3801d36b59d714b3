"""Facts are true of vectors and functions, and false of those that violate their hypothesis.

Vectors are drawn at random, with exact coordinates; functions are sums over the coordinates of quadratics, or of
Huber's functions, which are convex and smooth and no quadratics.
"""

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fedconvex.proofs_checks.engines import facts
from fedconvex.proofs_checks.engines.hilbert import (
    HilbertVector,
    Unsound,
    deviation,
    drawn,
    expected,
    family,
    inner,
    length,
    mean,
    norm,
    square,
    vector,
)

SIZE, CLIENTS = 3, 3
few = settings(max_examples=25)  # each is a hundred numbers of SymPy's
numbers = st.fractions(-4, 4, max_denominator=3)
points = st.lists(numbers, min_size=SIZE, max_size=SIZE)
several = st.lists(points, min_size=CLIENTS, max_size=CLIENTS)
shares = st.lists(st.integers(1, 5), min_size=CLIENTS, max_size=CLIENTS).map(lambda n: [Fraction(k, sum(n)) for k in n])

Point = list[Fraction]


def dot(a: Point, b: Point) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def over_clients(us: list[Point], vs: list[Point], weights: list[Fraction]) -> Fraction:
    return sum((p * dot(a, b) for p, a, b in zip(weights, us, vs, strict=True)), Fraction(0))


def mean_of(us: list[Point], weights: list[Fraction]) -> Point:
    return [sum((p * u[i] for p, u in zip(weights, us, strict=True)), Fraction(0)) for i in range(SIZE)]


def away(us: list[Point], weights: list[Fraction]) -> list[Point]:
    middle = mean_of(us, weights)
    return [[a - b for a, b in zip(u, middle, strict=True)] for u in us]


def gram(same: dict[str, Point], families: dict[str, list[Point]], weights: list[Fraction]) -> dict[str, Any]:
    """The values of all lengths and inner products, by the names of their symbols."""
    constant = {name: [p] * len(weights) for name, p in same.items()}
    constant |= {name: [mean_of(us, weights)] * len(weights) for name, us in families.items()}
    spread = {f"{name}~": away(us, weights) for name, us in families.items()}
    found = {}
    for group in (constant, spread):
        for (a, us), (b, vs) in product(group.items(), repeat=2):
            value = over_clients(us, vs, weights)
            key = f"‖{a}‖" if a == b else "⟨{},{}⟩".format(*sorted((a, b)))
            found[key] = sympy.sqrt(sympy.Rational(value.numerator, value.denominator)) if a == b else value
    return found


def at(expression: Any, *values: dict[str, Any]) -> float:
    known = {name: sympy.sympify(value) for one in values for name, value in one.items()}
    number = sympy.sympify(expression).subs({s: known[str(s)] for s in expression.free_symbols})
    return float(sympy.N(number, 30))


def is_fact(fact: facts.Fact, *values: dict[str, Any]) -> bool:
    value = at(fact.expression, *values)
    return abs(value) < 1e-20 if fact.equation else value > -1e-20


# ---- the algebra of vectors


@few
@given(several, several, shares, numbers, numbers)
def test_inner_products_of_families(us, vs, weights, c, d) -> None:
    u, v = family("u"), family("v")
    c, d = (sympy.Rational(n.numerator, n.denominator) for n in (c, d))
    mixed = c * u + d * mean(v) - deviation(v)
    known = gram({}, {"u": us, "v": vs}, weights)
    means, spread = mean_of(vs, weights), away(vs, weights)
    real = [[c * a + d * b - e for a, b, e in zip(x, means, s, strict=True)] for x, s in zip(us, spread, strict=True)]
    real = [[Fraction(int(n.p), int(n.q)) for n in map(sympy.Rational, x)] for x in real]
    assert at(inner(mixed, u), known) == pytest.approx(float(over_clients(real, us, weights)), abs=1e-12)
    assert at(square(mixed), known) == pytest.approx(float(over_clients(real, real, weights)), abs=1e-12)


def draws(number: int, replaced: bool) -> list[tuple[int, ...]]:
    """All equally likely draws of that many clients, independent ones or without replacement."""
    return [*(product(range(CLIENTS), repeat=number) if replaced else combinations(range(CLIENTS), number))]


def scale_of(number: int, replaced: bool) -> Any:
    """1/K, or (m − P)/(P(m − 1))."""
    return sympy.Rational(1, number) if replaced else sympy.Rational(CLIENTS - number, number * (CLIENTS - 1))


def products_over_draws(
    us: list[Point], vs: list[Point], number: int, replaced: bool
) -> tuple[Fraction, Fraction, dict[str, Any]]:
    """E⟨ū, v̄⟩ of the averages over the drawn clients, E⟨ū, v_k⟩, and the values of the symbols."""
    weights = [Fraction(1, CLIENTS)] * CLIENTS
    every = draws(number, replaced)
    found, crossed = Fraction(0), Fraction(0)
    for chosen in every:
        a, b = ([sum((x[k][i] for k in chosen), Fraction(0)) / number for i in range(SIZE)] for x in (us, vs))
        found += dot(a, b) / len(every)
        crossed += sum(p * dot(a, w) for p, w in zip(weights, vs, strict=True)) / len(every)
    return found, crossed, gram({}, {"u": us, "v": vs}, weights)


@pytest.mark.parametrize(("number", "replaced"), [(2, True), (1, True), (2, False), (3, False)])
@few
@given(several, several)
def test_inner_products_of_averages_over_drawn_clients(number, replaced, us, vs) -> None:
    found, crossed, known = products_over_draws(us, vs, number, replaced)
    u, v = (drawn(family(name), scale_of(number, replaced)) for name in "uv")
    assert at(inner(u, v), known) == pytest.approx(float(found), abs=1e-12)
    assert at(inner(u, family("v")), known) == pytest.approx(float(crossed), abs=1e-12)


def test_another_scale_gives_another_product() -> None:
    us = [[Fraction(k), Fraction(0), Fraction(1)] for k in range(CLIENTS)]
    found, _, known = products_over_draws(us, us, 2, replaced=False)
    for scale, expected_truth in ((scale_of(2, False), True), (scale_of(2, True), False), (scale_of(1, True), False)):
        u = drawn(family("u"), scale)
        assert (abs(at(square(u), known) - float(found)) < 1e-12) is expected_truth


def test_a_length_has_no_sign() -> None:
    assert norm(-2 * vector("a")) == 2 * length("a")
    assert norm(deviation(family("u"))) == length("u~")


def test_two_draws_are_uncorrelated() -> None:
    K = sympy.Symbol("K", positive=True)
    u = family("u")
    first, second = drawn(u, 1 / K, "t"), drawn(u, 1 / K, "t+1")
    assert inner(first, second) == square(mean(u))
    assert square(first) == square(mean(u)) + square(deviation(u)) / K
    assert expected(first).parts == mean(u).parts


K, m, P = sympy.symbols("K m P", positive=True)
MISUSES = {
    "a draw of a draw": lambda: drawn(drawn(family("u"), 1 / K), 1 / K),
    "one draw with two scales": lambda: inner(drawn(family("u"), 1 / K), drawn(family("v"), 1 / m)),
    "a negative scale": lambda: drawn(family("u"), sympy.Integer(-1)),
    "a scale above 1": lambda: drawn(family("u"), sympy.Integer(2)),
    "a scale of no scheme": lambda: drawn(family("u"), 1 / K**2),
    "a scale of unknown sign": lambda: drawn(family("u"), sympy.Symbol("σ", real=True)),
    "a scale half of another": lambda: drawn(family("u"), (m - P) / (2 * P * (m - 1))),
    "the length of a sum": lambda: norm(vector("a") + vector("b")),
    "the length of a family": lambda: norm(family("u")),
    "the length of a draw": lambda: norm(deviation(drawn(family("u"), 1 / K))),
    "a name that looks like a deviation": lambda: vector("u~"),
    "a name that looks like two": lambda: vector("u,v"),
    "a number and a vector": lambda: 1 + vector("u"),
}  # fmt: skip


@pytest.mark.parametrize("misuse", MISUSES)
def test_what_makes_no_sense_is_refused(misuse) -> None:
    with pytest.raises(Unsound):
        MISUSES[misuse]()


def test_scales_of_draws() -> None:
    for scale in (1 / K, 1, sympy.Rational(3, 8), (m - P) / (P * (m - 1)), sympy.Symbol("σ", nonnegative=True)):
        assert drawn(family("u"), scale) != family("u")


# ---- functions


class Function:
    """Σ_i of a quadratic or of Huber's function in coordinate i, with curvatures c_i."""

    def __init__(self, curvatures: Point, huber: bool) -> None:
        self.curvatures, self.huber = curvatures, huber

    def value(self, x: Point) -> Fraction:
        return sum((self._value(c, t) for c, t in zip(self.curvatures, x, strict=True)), Fraction(0))

    def gradient(self, x: Point) -> Point:
        return [c * (max(-1, min(1, t)) if self.huber else t) for c, t in zip(self.curvatures, x, strict=True)]

    def _value(self, c: Fraction, t: Fraction) -> Fraction:
        if self.huber and abs(t) > 1:
            return c * (abs(t) - Fraction(1, 2))
        return c * t * t / 2


curvatures = st.lists(st.fractions(0, 3, max_denominator=2), min_size=SIZE, max_size=SIZE)
g, h, s = vector("g"), vector("h"), vector("s")
f_x, f_y = sympy.symbols("f_x f_y", real=True)
L, mu = sympy.Symbol("L", nonnegative=True), sympy.Symbol("mu", real=True)


def situation(f: Function, x: Point, y: Point) -> dict[str, Any]:
    step = [b - a for a, b in zip(x, y, strict=True)]
    change = [b - a for a, b in zip(f.gradient(x), f.gradient(y), strict=True)]
    return gram({"g": f.gradient(x), "s": step, "h": change}, {}, [Fraction(1)]) | {
        "f_x": f.value(x),
        "f_y": f.value(y),
    }


@few
@given(curvatures, st.booleans(), points, points)
def test_facts_about_smooth_functions(cs, huber, x, y) -> None:
    f = Function(cs, huber)
    known = situation(f, x, y)
    for constant in (max(cs), max(cs) + 1):
        assert is_fact(facts.smooth(f_y, f_x, g, s, L), known, {"L": constant})


@few
@given(curvatures, points, points, st.fractions(-2, 2, max_denominator=2))
def test_facts_about_functions_that_curve_downwards(cs, x, y, shift) -> None:
    f = Function([c - 1 + shift for c in cs], huber=False)
    known = situation(f, x, y)
    largest = max(abs(c) for c in f.curvatures)
    assert is_fact(facts.smooth(f_y, f_x, g, s, L), known, {"L": largest})
    assert is_fact(facts.convex(f_y, f_x, g, s, mu), known, {"mu": min(f.curvatures)})


@few
@given(curvatures, st.booleans(), points, points)
def test_facts_about_convex_functions(cs, huber, x, y) -> None:
    f = Function(cs, huber)
    known = situation(f, x, y)
    assert is_fact(facts.convex(f_y, f_x, g, s), known)
    if not huber:
        assert is_fact(facts.convex(f_y, f_x, g, s, mu), known, {"mu": min(cs)})


ONE = [Fraction(1), Fraction(0), Fraction(0)]
ZERO = [Fraction(0)] * SIZE


@pytest.mark.parametrize(("make", "constants"), [
    (lambda: facts.smooth(f_y, f_x, g, s, L), {"L": Fraction(19, 10)}),
    (lambda: facts.convex(f_y, f_x, g, s, mu), {"mu": Fraction(21, 10)}),
])  # fmt: skip
def test_another_constant_makes_them_false(make, constants) -> None:
    """f(x) = x², of curvature 2."""
    f = Function([Fraction(2)] * SIZE, huber=False)
    assert not is_fact(make(), situation(f, ZERO, ONE), constants)


def test_a_function_that_curves_downwards_is_not_convex() -> None:
    f = Function([Fraction(-2)] * SIZE, huber=False)
    assert not is_fact(facts.convex(f_y, f_x, g, s), situation(f, ZERO, ONE))
    assert is_fact(facts.convex(f_y, f_x, g, s, mu), situation(f, ZERO, ONE), {"mu": -2})


# ---- what a question assumes


@few
@given(several, shares)
def test_dissimilarity_is_its_definition(us, weights) -> None:
    u, B = family("u"), sympy.Symbol("B")
    known = gram({}, {"u": us}, weights)
    middle = mean_of(us, weights)
    assume(any(middle))
    least = over_clients(us, us, weights) / dot(middle, middle)
    for slack, expected_truth in ((0, True), (1, True), (Fraction(-1, 100), False)):
        root = sympy.sqrt(sympy.Rational(str(max(least + slack, Fraction(0)))))
        assert is_fact(facts.dissimilar(u, B), known, {"B": root}) is expected_truth


@few
@given(several, shares, st.fractions(0, 2, max_denominator=4))
def test_inexactness_is_its_definition(us, weights, gamma) -> None:
    """Residuals of γ times the gradients' lengths; longer ones are no γ-inexact answers."""
    residuals = [[gamma * x for x in reversed(u)] for u in us]
    known = gram({}, {"u": us, "r": residuals}, weights)
    fact = facts.inexact(family("r"), family("u"), sympy.Symbol("gamma"))
    assert is_fact(fact, known, {"gamma": gamma})
    assume(gamma > 0 and any(map(any, us)))
    assert not is_fact(fact, known, {"gamma": gamma / 2})


def test_the_smallest_value_is_below_every_other() -> None:
    fact = facts.minimal(f_x, f_y)
    assert is_fact(fact, {"f_x": 1, "f_y": 1})
    assert not is_fact(fact, {"f_x": 0, "f_y": 1})


def test_vector_of_nothing() -> None:
    assert square(HilbertVector()) == 0


def test_the_list_is_closed() -> None:
    """Whoever adds a fact adds a test of it here."""
    made = {name for name, value in vars(facts).items() if getattr(value, "__module__", "") == facts.__name__}
    assert made == {"Fact", "smooth", "convex", "inexact", "dissimilar", "minimal"}
