"""Checks prove valid consequences only: one test for every known way to have something false proved."""

from dataclasses import replace

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.proofs_checks.engines.checks import Agreement, Assumed, Combination, Identity, Inequality, Special
from fedconvex.proofs_checks.engines.facts import Fact, cauchy_schwarz, convex, inexact, lipschitz, named, smooth
from fedconvex.proofs_checks.engines.hilbert import Unsound, family, inner, mean, norm, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.proof import Relation
from fedconvex.verdicts import Verdict

x, y = sympy.symbols("x y", nonnegative=True)
p, q = sympy.symbols("p q", positive=True)
r = sympy.Symbol("r", real=True)
root = sympy.Symbol("√(p/2)", positive=True)
K = sympy.Symbol("K", integer=True, positive=True)
a, b, u = vector("a"), vector("b"), family("u")
young = Relation(2 * inner(a, b), "<=", p * square(a) + square(b) / p)
by_young = Combination(squares=((1 / p, p * a - b),))


def verdict(claim: Relation, by: object) -> Verdict:
    return by.run(claim).verdict


def where(*relations: object) -> Domain:
    return Domain() & Domain(tuple(relations))


TRUE = [
    (young, by_young),
    (Relation(inner(a, b), "<=", norm(a) * norm(b)), Combination(facts=((1, cauchy_schwarz(a, b)),))),
    (Relation(norm(b), "<=", p * norm(a)), Combination(facts=((1, lipschitz(b, a, p)),), squared=True)),
    (Relation(norm(b) ** 2, "=", norm(b) ** 2 + 0), Combination()),
    (Relation(x, "=", y + 1), Combination(facts=((1, named(x, y + 1)),))),
    (Relation(square(mean(u)), "<=", square(u)), Combination(squares=((1, u - mean(u)),))),
    (Relation((p + q) ** 2, "=", p**2 + 2 * p * q + q**2), Identity()),
    (Relation(2 * a - b, "=", a - b + a), Identity()),
    (Relation(sympy.sqrt(2 * p), "=", 2 * root), Identity(roots=((root, p / 2),))),
    (Relation(2 / sympy.sqrt(p), "<=", 1 + 1 / p), Inequality(roots=((sympy.Symbol("√p", positive=True), p),))),
    (Relation(x, "<=", 1, where(sympy.Le(x, 1))), Inequality()),
    (Relation(0, "<", p), Inequality()),
    (Relation(1 / (p - y), "<=", 2 / (p - y), where(sympy.Gt(p, y))), Inequality()),
    (Relation(0, "=", 0), Agreement(lambda n: (n, n))),
    (Relation(2 * inner(a, b), "<=", 3 * square(a) + square(b) / 3), Special(young, ((p, sympy.Integer(3)),))),
]  # fmt: skip
NOT_PROVED = [
    # a wrong multiplier, sign, weight; a fact too few
    (young, replace(by_young, squares=((2 / p, p * a - b),))),
    (young, replace(by_young, squares=((1 / p, p * a + b),))),
    (young, replace(by_young, squares=())),
    (Relation(-2 * inner(a, b), "<=", 0), Combination(squares=((-1, a + b), (1, a), (1, b)))),
    (Relation(square(a), "<=", 0), Combination(squares=((-1, a),))),
    (Relation(square(a), "<=", r * square(a)), Combination(squares=((r - 1, a),))),
    (Relation(inexact(a, b, p).expression, "<=", 0), Combination(facts=((-1, inexact(a, b, p)),))),
    (Relation(norm(b), "<=", p * norm(a)), Combination(facts=((1, lipschitz(b, a, p)),))),
    # |left| <= |right| only: right may be negative
    (Relation(norm(b), "<=", -p * norm(a)), Combination(facts=((1, lipschitz(b, a, p)),), squared=True)),
    (Relation(norm(b), "<=", r * norm(a)), Combination(facts=((1, lipschitz(b, a, r)),), squared=True)),
    # equations from inequalities, strict ones from others
    (Relation(inner(a, b), "=", norm(a) * norm(b)), Combination(facts=((1, cauchy_schwarz(a, b)),))),
    (Relation(0, "=", square(a)), Combination(squares=((1, a),))),
    (Relation(-p, "=", p), Combination(squared=True)),
    (Relation(0, "<", square(a)), Combination(squares=((1, a),))),
    (Relation(x, "<", 1, where(sympy.Le(x, 1))), Inequality()),
    (Relation(0, "=", 0), Inequality()),
    (Relation(0, "<=", 0), Identity()),
    (Relation(0, "<", x), Inequality()),
    # zero denominators: of multipliers, sides, facts
    (Relation(0, "<=", 1 / (x - 1) ** 2), Inequality()),
    (Relation(0, "<=", 1 / x), Inequality()),
    (Relation(1 / (x - 1), "=", 1 / (x - 1)), Identity()),
    (Relation(x / (x - 1), "<=", x / (x - 1) + square(a)), Combination(squares=((1, a),))),
    (Relation(0, "<=", square(a)), Combination(facts=(((x - 1) ** 2, Fact(square(a) / (x - 1) ** 2, "not at 1")),))),
    (Relation(0, "<=", square(a)), Combination(squares=((1 / (x - 1) ** 2, (x - 1) * a),))),
    # no rational functions, no numbers
    (Relation(0, "<=", sympy.nan), Inequality()),
    (Relation(0, "<=", sympy.Max(x, y)), Inequality()),
    (Relation(sympy.sqrt(p * q), "=", p), Identity()),
    (Relation(x, "=", sympy.Symbol("x", real=True)), Identity()),
    (Relation(x, "<=", sympy.Symbol("x", real=True)), Inequality()),
    # what nobody has shown
    (Relation(0, "<=", 0), Assumed("everything")),
    (Relation(0, "=", 0), Agreement(lambda n: (n, n + (n == 19)))),
    (Relation(0, "=", 0), Agreement(lambda n: ([1, 2], [1, 3]))),
    # special cases that are none
    (Relation(2 * inner(a, b), "<=", -square(a) - square(b)), Special(young, ((p, sympy.Integer(-1)),))),
    (Relation(2 * inner(a, b), "<=", r * square(a) + square(b) / r), Special(young, ((p, r),))),
    (Relation(0, "<=", r), Special(Relation(0, "<=", y), ((y, r),))),
    (Relation(2 * inner(a, b), "<=", 3 * square(a) + square(b) / 2), Special(young, ((p, sympy.Integer(3)),))),
    (Relation(2 * inner(a, b), "=", 3 * square(a) + square(b) / 3), Special(young, ((p, sympy.Integer(3)),))),
    (Relation(10, "<=", square(b) / p), Special(young, ((norm(a), sympy.Integer(0)), (inner(a, b), sympy.Integer(5))))),
    (Relation(x, "<=", 1), Special(Relation(x, "<=", 1, where(sympy.Ge(y / (1 - q) ** 2, 0))), ())),
    (Relation(3, "<=", 1), Special(Relation(x, "<=", 1, where(sympy.Le(x, 1))), ((x, sympy.Integer(3)),))),
    (Relation(1, "<=", sympy.Rational(1, 2)), Special(Relation(1, "<=", K), ((K, sympy.Rational(1, 2)),))),
    (Relation(0, "<=", 1 / (x - 1) ** 2), Special(Relation(0, "<=", y), ((y, 1 / (x - 1) ** 2),))),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "by"), TRUE)
def test_what_follows_is_proved(claim, by) -> None:
    assert verdict(claim, by) is Verdict.PROVED


@pytest.mark.parametrize(("claim", "by"), NOT_PROVED)
def test_what_does_not_follow_is_not(claim, by) -> None:
    assert verdict(claim, by) is not Verdict.PROVED


def test_a_fact_is_used_only_where_it_is_known() -> None:
    small = Relation(x, "<=", 1, where(sympy.Le(x, 1)), "x is small")
    assert verdict(replace(small, domain=Domain()), Combination(facts=((1, small.fact),))) is Verdict.UNKNOWN
    assert verdict(small, Combination(facts=((1, small.fact),))) is Verdict.PROVED
    smaller = replace(small, domain=where(sympy.Le(2 * x, 1)))
    assert verdict(smaller, Combination(facts=((1, small.fact),))) is Verdict.PROVED


def test_a_fact_that_needs_more_than_the_domain_is_not_used() -> None:
    fact = Fact(1 - x, "for x at most 1", requires=(sympy.Le(x, 1),))
    assert verdict(Relation(x, "<=", 1), Combination(facts=((1, fact),))) is Verdict.UNKNOWN
    assert verdict(Relation(x, "<=", 1, where(sympy.Le(x, 1))), Combination(facts=((1, fact),))) is Verdict.PROVED


ROOTS = [
    ((q, p),),  # a symbol that may mean something else
    ((sympy.Symbol("√", real=True), p),),
    ((root, p - 1),),  # leaves out p < 1
    ((root, x),),  # leaves out 0
    ((root, 1 / p),),  # not increasing
    ((root, p * q),),  # of two symbols
    ((root, p), (root, q)),  # one symbol for two roots: p = q
    ((root, p), (sympy.Symbol("√p", positive=True), p)),
]


@pytest.mark.parametrize("roots", ROOTS)
@pytest.mark.parametrize("check", [Inequality, Identity])
def test_roots_that_leave_out_a_part_of_the_domain_are_refused(roots, check) -> None:
    with pytest.raises((Unsound, NotImplementedError)):
        check(roots=roots).run(Relation(0, "<=" if check is Inequality else "=", 0))


def test_a_difference_on_a_curve_is_no_refutation() -> None:
    assert verdict(Relation(p, "=", q), Identity()) is Verdict.REFUTED
    assert verdict(Relation(p, "=", q, Domain((sympy.Eq(p, q),))), Identity()) is Verdict.UNKNOWN


def test_an_inequality_is_refuted_at_a_point_only() -> None:
    assert verdict(Relation(x, "<=", 1), Inequality()) is Verdict.REFUTED
    assert verdict(Relation(0, "<=", K**2 - 3 * K + 2), Inequality()) is not Verdict.REFUTED


coefficients = st.fractions(-3, 3, max_denominator=4)


@given(st.lists(coefficients, min_size=4, max_size=4), st.lists(coefficients, min_size=4, max_size=4))
def test_identity_is_equality_of_polynomials(left, right) -> None:
    monomials = (1, x, x * p, r**2)
    sides = [sum(sympy.Rational(c.numerator, c.denominator) * m for c, m in zip(side, monomials, strict=True)) for side in (left, right)]  # fmt: skip  # noqa: E501
    expected = Verdict.PROVED if left == right else Verdict.REFUTED
    assert verdict(Relation(sides[0], "=", sides[1]), Identity()) is expected
    assert verdict(Relation(sides[0] * a, "=", sides[1] * a), Identity()) is expected


@given(coefficients, coefficients)
def test_a_perturbed_multiplier_is_noticed(first, second) -> None:
    """f(y) <= f(x) + …, f(x) >= f(z) + …, with multipliers 1 and 1."""
    values = sympy.symbols("f_x f_y f_z", real=True)
    upper, lower = smooth(values[1], values[0], a, b, p), convex(values[0], values[2], a, b, q)
    claim = Relation(0, "<=", upper.expression + lower.expression)
    multipliers = [1 + sympy.Rational(c.numerator, c.denominator) for c in (first, second)]
    by = Combination(facts=tuple(zip(multipliers, (upper, lower), strict=True)))
    assert (verdict(claim, by) is Verdict.PROVED) is (first == second == 0)
