"""Checks prove valid consequences only: one test for every known way to have something false proved."""

from dataclasses import replace

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.facts import Fact, convex, dissimilar, inexact, minimal, smooth
from fedconvex.proofs_checks.engines.hilbert import family, inner, mean, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.proof import Check, Relation
from fedconvex.verdicts import Verdict

x, y = sympy.symbols("x y", nonnegative=True)
p, q = sympy.symbols("p q", positive=True)
r = sympy.Symbol("r", real=True)
f_x, f_y, f_z = sympy.symbols("f_x f_y f_z", real=True)
K = sympy.Symbol("K", integer=True, positive=True)
a, b, u = vector("a"), vector("b"), family("u")
young = Relation(2 * inner(a, b), "<=", p * square(a) + square(b) / p)
by_young = Combination(squares=((1 / p, p * a - b),))
is_inexact = inexact(b, a, p)


def verdict(claim: Relation, by: Check) -> Verdict:
    return by.run(claim).verdict


def where(*relations: object) -> Domain:
    return Domain() & Domain(tuple(relations))


TRUE = [
    (young, by_young),
    (Relation(square(b), "<=", p**2 * square(a)), Combination(facts=((1, is_inexact),))),
    (Relation(square(u), "<=", p**2 * square(mean(u))), Combination(facts=((1, dissimilar(u, p)),))),
    (Relation(f_y, "<=", f_x + inner(a, b) + p * square(b) / 2), Combination(facts=((1, smooth(f_y, f_x, a, b, p)),))),
    (Relation(f_x + inner(a, b), "<=", f_y), Combination(facts=((1, convex(f_y, f_x, a, b)),))),
    (Relation(f_x, "<=", f_y), Combination(facts=((1, minimal(f_y, f_x)),))),
    (Relation(square(b), "=", square(b) + 0), Combination()),
    (Relation(x, "=", y + 1), Combination(facts=((1, Fact(y + 1 - x, "given", equation=True)),))),
    (Relation(x, "=", y + 1), Combination(facts=((-1, Fact(x - y - 1, "given", equation=True)),))),
    (Relation(square(mean(u)), "<=", square(u)), Combination(squares=((1, u - mean(u)),))),
    (Relation((p + q) ** 2, "=", p**2 + 2 * p * q + q**2), Combination()),
    (Relation(x, "<=", 1, where(sympy.Le(x, 1))), Inequality()),
    (Relation(0, "<", p), Inequality()),
    (Relation(1 / (p - y), "<=", 2 / (p - y), where(sympy.Gt(p, y))), Inequality()),
]  # fmt: skip
NOT_PROVED = [
    # a wrong multiplier, sign, weight; a fact too few
    (young, replace(by_young, squares=((2 / p, p * a - b),))),
    (young, replace(by_young, squares=((1 / p, p * a + b),))),
    (young, replace(by_young, squares=())),
    (Relation(-2 * inner(a, b), "<=", 0), Combination(squares=((-1, a + b), (1, a), (1, b)))),
    (Relation(square(a), "<=", 0), Combination(squares=((-1, a),))),
    (Relation(square(a), "<=", r * square(a)), Combination(squares=((r - 1, a),))),
    (Relation(is_inexact.expression, "<=", 0), Combination(facts=((-1, is_inexact),))),
    (Relation(square(b), "<=", p**2 * square(a) / 2), Combination(facts=((1, is_inexact),))),
    (Relation(f_y, "<=", f_x), Combination(facts=((1, minimal(f_y, f_x)),))),
    # equations from inequalities, strict ones from others
    (Relation(f_x, "=", f_y), Combination(facts=((1, minimal(f_y, f_x)),))),
    (Relation(0, "=", square(a)), Combination(squares=((1, a),))),
    (Relation(0, "<", square(a)), Combination(squares=((1, a),))),
    (Relation(0, "<", p), Combination()),
    (Relation(x, "<", 1, where(sympy.Le(x, 1))), Inequality()),
    (Relation(0, "=", 0), Inequality()),
    (Relation(0, "<", x), Inequality()),
    # zero denominators: of multipliers, sides, facts
    (Relation(0, "<=", 1 / (x - 1) ** 2), Inequality()),
    (Relation(0, "<=", 1 / x), Inequality()),
    (Relation(1 / (x - 1), "=", 1 / (x - 1)), Combination()),
    (Relation(x / (x - 1), "<=", x / (x - 1) + square(a)), Combination(squares=((1, a),))),
    (Relation(0, "<=", square(a)), Combination(facts=(((x - 1) ** 2, Fact(square(a) / (x - 1) ** 2, "not at 1")),))),
    (Relation(0, "<=", square(a)), Combination(squares=((1 / (x - 1) ** 2, (x - 1) * a),))),
    # no rational functions, no numbers
    (Relation(0, "<=", sympy.nan), Inequality()),
    (Relation(0, "<=", sympy.Max(x, y)), Inequality()),
    (Relation(sympy.sqrt(p * q), "=", p), Combination()),
    (Relation(x, "=", sympy.Symbol("x", real=True)), Combination()),
    (Relation(x, "<=", sympy.Symbol("x", real=True)), Inequality()),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "by"), TRUE)
def test_what_follows_is_proved(claim: Relation, by: Check) -> None:
    assert verdict(claim, by) is Verdict.PROVED


@pytest.mark.parametrize(("claim", "by"), NOT_PROVED)
def test_what_does_not_follow_is_not(claim: Relation, by: Check) -> None:
    assert verdict(claim, by) is not Verdict.PROVED


def test_a_multiplier_is_nonnegative_on_the_whole_domain() -> None:
    """x ≤ 1 from (1 − x) · 1 ≥ 0, which needs the domain."""
    claim, by = Relation(x * square(a), "<=", square(a)), Combination(squares=((1 - x, a),))
    assert verdict(claim, by) is Verdict.UNKNOWN
    assert verdict(replace(claim, domain=where(sympy.Le(x, 1))), by) is Verdict.PROVED
    assert verdict(replace(claim, domain=where(sympy.Le(x, 2))), by) is Verdict.UNKNOWN


def test_an_inequality_is_refuted_at_a_point_only() -> None:
    assert verdict(Relation(x, "<=", 1), Inequality()) is Verdict.REFUTED
    assert verdict(Relation(0, "<=", K**2 - 3 * K + 2), Inequality()) is not Verdict.REFUTED


coefficients = st.fractions(-3, 3, max_denominator=4)


@given(st.lists(coefficients, min_size=4, max_size=4), st.lists(coefficients, min_size=4, max_size=4))
def test_without_facts_an_equation_is_equality_of_polynomials(left, right) -> None:
    monomials = (1, x, x * p, r**2)
    sides = [
        sum(sympy.Rational(c.numerator, c.denominator) * m for c, m in zip(side, monomials, strict=True))
        for side in (left, right)
    ]
    expected = Verdict.PROVED if left == right else Verdict.UNKNOWN
    assert verdict(Relation(sides[0], "=", sides[1]), Combination()) is expected


@given(coefficients, coefficients)
def test_a_perturbed_multiplier_is_noticed(first, second) -> None:
    """f(y) ≤ f(x) + …, f(x) ≥ f(z) + …, with multipliers 1 and 1."""
    upper, lower = smooth(f_y, f_x, a, b, p), convex(f_x, f_z, a, b, q)
    claim = Relation(0, "<=", upper.expression + lower.expression)
    multipliers = [1 + sympy.Rational(c.numerator, c.denominator) for c in (first, second)]
    by = Combination(facts=tuple(zip(multipliers, (upper, lower), strict=True)))
    assert (verdict(claim, by) is Verdict.PROVED) is (first == second == 0)
