"""Fractions of polynomials: against SymPy's own arithmetic, which shares nothing with what computes them."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fedconvex.proofs_checks.engines.algebra import NotRational, factored, factors, fraction, is_zero

X, Y, Z = sympy.symbols("x y z", positive=True)
NUMBERS = st.fractions(-5, 5, max_denominator=6).map(lambda q: sympy.Rational(q.numerator, q.denominator))


def combined(inside: SearchStrategy) -> SearchStrategy:
    return st.one_of(
        st.tuples(inside, inside).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inside, inside).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inside, inside).filter(lambda pair: pair[1] != 0).map(lambda pair: pair[0] / pair[1]),
        st.tuples(inside.filter(lambda e: e != 0), st.integers(-2, 3)).map(lambda pair: pair[0] ** pair[1]),
    )


EXPRESSIONS = st.recursive(st.sampled_from([X, Y, Z]) | NUMBERS, combined, max_leaves=6)


def by_sympy(expression: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    above, below = sympy.fraction(sympy.cancel(sympy.together(expression)))
    return above, below


@given(EXPRESSIONS)
def test_fractions_are_sympys(expression: sympy.Expr) -> None:
    try:
        found = fraction(expression)
    except NotRational:  # 1/(x − x), which SymPy leaves as it is written
        assert by_sympy(expression)[0].has(sympy.zoo, sympy.nan)
        return
    above, below = by_sympy(expression)
    numerator, denominator = found.numerator.as_expr(), found.denominator.as_expr()
    assert sympy.expand(numerator * below - denominator * above) == 0
    assert sympy.gcd(numerator, denominator) == 1
    assert found.is_zero == (sympy.expand(above) == 0)


@given(EXPRESSIONS)
def test_the_product_is_the_expression_in_irreducible_factors(expression: sympy.Expr) -> None:
    try:
        product = factored(expression)
    except NotRational:
        return
    assert is_zero(product - expression)
    above, below = by_sympy(expression)
    for polynomial, part in ((above, fraction(expression).numerator), (below, fraction(expression).denominator)):
        theirs = {base for base, _ in sympy.factor_list(polynomial)[1]} if polynomial != 0 else set()
        ours = factors(part) if polynomial != 0 else []
        assert len(ours) == len(theirs)
        assert all(factor in theirs or sympy.expand(-factor) in theirs for factor in ours)


def test_a_sum_is_not_multiplied_out() -> None:
    assert str(factored(2 * X + 2 * Y)) == "2*(x + y)"
    assert str(factored(X**2 / 3 - Y**2 / 3)) in ("(x - y)*(x + y)/3", "(x + y)*(x - y)/3")
    assert factored(sympy.Integer(0)) == 0


@pytest.mark.parametrize(
    "expression",
    [sympy.sqrt(X), sympy.sqrt(2) * X, sympy.pi, sympy.I, sympy.nan, sympy.zoo, sympy.oo, X**Y, sympy.Max(X, Y),
     sympy.Float(0.5), 0.5 * X, sympy.Pow(sympy.Add(X, -X, evaluate=False), -1, evaluate=False)],
    ids=str,
)  # fmt: skip
def test_what_is_no_rational_function_is_refused(expression: sympy.Expr) -> None:
    """A float is none either: it is no exact number."""
    for function in (fraction, factored, is_zero):
        with pytest.raises(NotRational, match="is no rational function"):
            function(expression)


def test_one_name_has_one_meaning() -> None:
    with pytest.raises(NotRational, match="two different symbols are called x"):
        fraction(X - sympy.Symbol("x"))
