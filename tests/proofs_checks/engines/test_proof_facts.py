"""Facts are true of vectors and functions, and false of those that violate their hypothesis.

Vectors are drawn at random, with exact coordinates; functions are sums over the coordinates of quadratics, or of
Huber's functions, which are convex and smooth and no quadratics.
"""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy
from hypothesis import assume, given
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
from fedconvex.proofs_checks.engines.sampling import Independent, Moments, WithoutReplacement, second_moment
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.proof import Relation
from fedconvex.verdicts import Verdict

SIZE, CLIENTS = 3, 3
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


@pytest.mark.parametrize(("scheme", "drawn_clients"), [(Independent, 2), (Independent, 1), (WithoutReplacement, 2), (WithoutReplacement, 3)])  # fmt: skip  # noqa: E501
@given(several, several)
def test_inner_products_of_averages_over_drawn_clients(scheme, drawn_clients, us, vs) -> None:
    weights = [Fraction(1, CLIENTS)] * CLIENTS
    made = scheme(drawn_clients) if scheme is Independent else scheme(CLIENTS, drawn_clients)
    u, v = (drawn(family(name), sympy.Rational(made.scale)) for name in "uv")
    known = gram({}, {"u": us, "v": vs}, weights)
    found, crossed = Fraction(0), Fraction(0)
    for chance, chosen in made.draws(CLIENTS, drawn_clients, weights):
        a, b = ([sum((x[k][i] for k in chosen), Fraction(0)) / len(chosen) for i in range(SIZE)] for x in (us, vs))
        found += chance * dot(a, b)
        crossed += chance * sum(p * dot(a, w) for p, w in zip(weights, vs, strict=True))
    assert at(inner(u, v), known) == pytest.approx(float(found), abs=1e-12)
    assert at(inner(u, family("v")), known) == pytest.approx(float(crossed), abs=1e-12)


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
    "seven times Cauchy-Schwarz": lambda: facts.cauchy_schwarz(vector("a"), vector("b"), 7),
}  # fmt: skip


@pytest.mark.parametrize("misuse", MISUSES)
def test_what_makes_no_sense_is_refused(misuse) -> None:
    with pytest.raises(Unsound):
        MISUSES[misuse]()


def test_scales_of_draws() -> None:
    for scale in (1 / K, 1, sympy.Rational(3, 8), (m - P) / (P * (m - 1)), sympy.Symbol("σ", nonnegative=True)):
        assert drawn(family("u"), scale) != family("u")


@pytest.mark.parametrize("scheme", [Independent(K), WithoutReplacement(m, P)])
def test_moments(scheme) -> None:
    claim = second_moment(family("u"), family("v"), scheme)
    assert Moments(scheme).run(claim).verdict is Verdict.PROVED
    for other in (Independent(K), WithoutReplacement(m, P)):
        right = second_moment(family("u"), family("v"), other).right
        mixed = Relation(claim.left, "=", right)
        assert (Moments(scheme).run(mixed).verdict is Verdict.PROVED) is (other == scheme)
    assert Moments(scheme).run(Relation(claim.left, "<=", claim.right)).verdict is not Verdict.PROVED


@pytest.mark.parametrize("wrong", [lambda s: 1 / (s.drawn + 1), lambda s: 2 / s.drawn, lambda s: 1 / s.drawn])
def test_a_scheme_with_a_wrong_scale_is_refuted(monkeypatch, wrong) -> None:
    claim = second_moment(family("u"), family("v"), WithoutReplacement(m, P))
    monkeypatch.setattr(WithoutReplacement, "scale", property(wrong))
    assert Moments(WithoutReplacement(m, P)).run(claim).verdict is Verdict.REFUTED


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


@given(curvatures, st.booleans(), points, points)
def test_facts_about_smooth_functions(cs, huber, x, y) -> None:
    f = Function(cs, huber)
    known = situation(f, x, y)
    for constant in (max(cs), max(cs) + 1):
        for fact in (facts.smooth(f_y, f_x, g, s, L), facts.smooth_below(f_y, f_x, g, s, L), facts.lipschitz(h, s, L)):
            assert is_fact(fact, known, {"L": constant}), fact.name


@given(curvatures, points, points, st.fractions(-2, 2, max_denominator=2))
def test_facts_about_functions_that_curve_downwards(cs, x, y, shift) -> None:
    f = Function([c - 1 + shift for c in cs], huber=False)
    known = situation(f, x, y)
    largest = max(abs(c) for c in f.curvatures)
    for fact in (facts.smooth(f_y, f_x, g, s, L), facts.smooth_below(f_y, f_x, g, s, L), facts.lipschitz(h, s, L)):
        assert is_fact(fact, known, {"L": largest}), fact.name
    assert is_fact(facts.convex(f_y, f_x, g, s, mu), known, {"mu": min(f.curvatures)})


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
    (lambda: facts.lipschitz(h, s, L), {"L": Fraction(19, 10)}),
    (lambda: facts.convex(f_y, f_x, g, s, mu), {"mu": Fraction(21, 10)}),
])  # fmt: skip
def test_another_constant_makes_them_false(make, constants) -> None:
    """f(x) = x², of curvature 2."""
    f = Function([Fraction(2)] * SIZE, huber=False)
    assert not is_fact(make(), situation(f, ZERO, ONE), constants)


def test_a_function_that_curves_downwards_is_not_convex_and_not_above_its_quadratic() -> None:
    f = Function([Fraction(-2)] * SIZE, huber=False)
    assert not is_fact(facts.convex(f_y, f_x, g, s), situation(f, ZERO, ONE))
    assert not is_fact(facts.smooth_below(f_y, f_x, g, s, L), situation(f, ZERO, ONE), {"L": 1})


# ---- vectors and families


@given(points, points)
def test_cauchy_schwarz_and_the_triangle_inequality(a, b) -> None:
    known = gram({"g": a, "h": b, "s": [x + y for x, y in zip(a, b, strict=True)]}, {}, [Fraction(1)])
    for sign in (1, -1):
        assert is_fact(facts.cauchy_schwarz(g, h, sign), known)
    whole = length("g+h")
    fact = facts.triangle((whole, g + h), (norm(g), g), (norm(h), h))
    assert is_fact(fact, known, {"‖g+h‖": known["‖s‖"]})
    ((defined, meaning),) = fact.defines
    assert defined == whole**2
    assert at(meaning, known) == pytest.approx(float(known["‖s‖"] ** 2))


def test_lengths_of_vectors_that_do_not_add_up() -> None:
    with pytest.raises(Unsound):
        facts.triangle((norm(s), s), (norm(g), g), (norm(h), h))
    with pytest.raises(Unsound):
        facts.norm_of_mean((norm(s), s), (length("E‖u‖"), family("u")))


@given(several, shares)
def test_means_of_lengths(us, weights) -> None:
    u = family("u")
    known = gram({}, {"u": us}, weights)
    lengths = sum(p * sympy.sqrt(sympy.Rational(str(dot(x, x)))) for p, x in zip(weights, us, strict=True))
    known |= {"E‖u‖": lengths, "√E‖u‖²": sympy.sqrt(at(square(u), known))}
    average, root = sympy.Symbol("E‖u‖"), sympy.Symbol("√E‖u‖²", nonnegative=True)
    assert is_fact(facts.norm_of_mean((norm(mean(u)), mean(u)), (average, u)), known)
    assert at(facts.jensen((root, u), average).expression, known) > -1e-7


@given(several, shares)
def test_dissimilarity_and_variance_are_their_definitions(us, weights) -> None:
    u, B, sigma2 = family("u"), sympy.Symbol("B"), sympy.Symbol("v")
    known = gram({}, {"u": us}, weights)
    middle = mean_of(us, weights)
    assume(any(middle))
    least = over_clients(us, us, weights) / dot(middle, middle)
    spread = over_clients(away(us, weights), away(us, weights), weights)
    for slack, expected_truth in ((0, True), (1, True), (Fraction(-1, 100), False)):
        root = sympy.sqrt(sympy.Rational(str(max(least + slack, Fraction(0)))))
        assert is_fact(facts.dissimilar(u, B), known, {"B": root}) is expected_truth
        assert is_fact(facts.bounded_variance(u, sigma2), known, {"v": spread + slack}) is expected_truth


@given(st.fractions(0, 1, max_denominator=5), numbers, numbers)
def test_selected_is_the_expectation(share, new, old) -> None:
    after, a, b, c = sympy.symbols("after a b c", real=True)
    fact = facts.selected(after, a, b, c)
    known = {"a": new, "b": old, "c": share}
    assert fact.equation
    assert is_fact(fact, known, {"after": share * new + (1 - share) * old})
    assert not is_fact(fact, known, {"after": share * new + (1 - share) * old + 1})


# ---- facts made of facts

x, y, D, G = (length(name) for name in ("x", "y", "E x", "E y"))
CLIENT = Relation(x, "<=", 2 * y, name="for every client").fact


def test_averaged() -> None:
    assert facts.averaged(CLIENT, {x: D, y: G}).expression == 2 * G - D
    squared = Relation(x**2, "<=", 4 * y**2).fact
    assert facts.averaged(squared, {x**2: D, y**2: G}).expression == 4 * G - D


@pytest.mark.parametrize("means", [{x: D}, {}, {x**2: D, y: G}, {x**2: D, y**2: G}])
def test_a_client_that_is_left_over(means) -> None:
    with pytest.raises((Unsound, sympy.PolynomialError, ValueError, TypeError)):
        facts.averaged(CLIENT, means)


@pytest.mark.parametrize(
    "expression", [x * y - x, x**2 - y, 1 + x - y, y * length("z") - x, x / y - 1, sympy.sqrt(x) - y]
)
def test_what_is_not_linear_has_no_average(expression) -> None:
    with pytest.raises((Unsound, sympy.PolynomialError, ValueError, TypeError)):
        facts.averaged(Relation(0, "<=", expression).fact, {x: D, y: G})


def test_specialised_keeps_conditions() -> None:
    b, c = sympy.symbols("b c", nonnegative=True)
    K = sympy.Symbol("K", positive=True, integer=True)
    claim = Relation(b, "<=", c * K, Domain((sympy.Ge(c, b),)), "a claim")
    fact = facts.specialised(claim.fact, {c: b + 1, K: 3})
    assert fact.expression.expand() == 2 * b + 3
    assert not fact.requires or all(relation.subs(b, 2) for relation in fact.requires)
    assert facts.specialised(claim.fact, {c: b / 2}).requires
    for values in ({K: sympy.Rational(1, 2)}, {K: b}):
        with pytest.raises(Unsound):
            facts.specialised(claim.fact, values)
    with pytest.raises(Unsound):
        facts.specialised(Relation(inner(g, h), "<=", norm(g) * norm(h)).fact, {norm(g): 0})
    with pytest.raises(Unsound):
        facts.specialised(facts.smooth(f_y, f_x, g, s, L), {L: 0})


@given(st.fractions(0, 2, max_denominator=4), st.fractions(-2, 2, max_denominator=3), numbers, st.integers(0, 6),
       st.lists(st.fractions(0, 2, max_denominator=2), min_size=6, max_size=6))  # fmt: skip
def test_iterated(rho, added, start, steps, slacks) -> None:
    assume(rho != 1)
    after, now, a0, at_, power = sympy.symbols("after now a0 at power", real=True)
    factor, c = sympy.Symbol("rho", nonnegative=True), sympy.Symbol("c", real=True)
    step = Relation(after, "<=", factor * now + c).fact
    fact = facts.iterated(step, Relation(0, "<=", factor).fact, after, now, a0, at_, power)
    value = start
    for slack in slacks[:steps]:
        value = rho * value + added - slack
    assert is_fact(fact, {"rho": rho, "c": added, "a0": start, "at": value, "power": rho**steps})


def test_iterated_needs_a_recurrence_with_that_factor() -> None:
    after, now, a0, at_, power, rho = sympy.symbols("after now a0 at power rho", real=True)
    known = Relation(0, "<=", rho).fact
    for right in (rho * now**2, rho * now + now * after, 2 * rho * now, rho * now - after):
        with pytest.raises((Unsound, sympy.PolynomialError)):
            facts.iterated(Relation(after, "<=", right).fact, known, after, now, a0, at_, power)


def test_decayed_needs_a_factor_between_0_and_1() -> None:
    rho, log, n, small, power = sympy.symbols("rho log n small power", real=True)
    enough = Relation(log / (1 - rho), "<=", n).fact
    fact = facts.decayed(enough, n, log, small, rho, power)
    assert set(fact.requires) >= {sympy.Ge(rho, 0, evaluate=False), sympy.Lt(rho, 1, evaluate=False)}
    with pytest.raises(Unsound):
        facts.decayed(enough, n, log, small, rho, power, times=2)


def test_vector_of_nothing() -> None:
    assert square(HilbertVector()) == 0
