"""Signs: never proved where a point of the domain contradicts them, whatever the form of the conditions."""

from fractions import Fraction
from random import Random

import pytest
import sympy
import z3
from hypothesis import assume, given
from hypothesis import strategies as st

from fedconvex.proofs_checks.engines import signs
from fedconvex.proofs_checks.engines.algebra import NotRational, fraction
from fedconvex.proofs_checks.engines.hilbert import Unsound
from fedconvex.proofs_checks.engines.signs import Domain, NoSignProof, SignProof, prove_sign

x, y, z = sympy.symbols("x y z", nonnegative=True)
p, q = sympy.symbols("p q", positive=True)
r = sympy.Symbol("r", real=True)
K = sympy.Symbol("K", integer=True, positive=True)
s1 = sympy.Symbol("s1", nonnegative=True)


def domain(*relations: object) -> Domain:
    return Domain() & Domain(tuple(relations))


PROVED = [
    (x + y, domain(), False),
    (p + x, domain(), True),
    (x - 2 * y, domain(sympy.Ge(x, 2 * y)), False),
    (x - 2 * y, domain(sympy.Gt(x, 2 * y)), True),
    (1 - x, domain(sympy.Le(x, 1)), False),
    (1 / (p - y), domain(sympy.Gt(p, y)), True),
    (x - y, domain(sympy.Ge(x, sympy.Max(y, z))), False),
    (x - z, domain(sympy.Ge(x, sympy.Max(y, z))), False),
    (p**2 - q**2, domain(sympy.Ge(p * q, q**2)), False),
    (1 - q**2, domain(sympy.Le(p * q, p)), False),
    ((K + 1) / K - 1, domain(), True),
    (K - 1, domain(), False),
    (x**2 - 2 * x * y + y**2, domain(), False),  # z3
    (r**2 - 2 * r + 1, domain(), False),  # z3
    (r**2 - x**2, domain(sympy.Gt(r**2, x**2)), True),  # z3
    (sympy.Integer(0), domain(), False),
    (sympy.Rational(1, 2), domain(), True),
]
FALSE = [
    (x - y, domain(), False),
    (x, domain(), True),
    (sympy.Integer(0), domain(), True),
    (sympy.Integer(-1), domain(), False),
    (x - 2 * y, domain(sympy.Ge(x, 2 * y)), True),
    (1 - x, domain(sympy.Le(x, 1)), True),
    (r, domain(), False),
    (r * x, domain(), False),
    (x * y - z, domain(sympy.Ge(x, 1), sympy.Ge(y, 1)), False),
    (p - q, domain(sympy.Ge(x, p)), False),
    (K - 1, domain(), True),
    (1 / (x - 1), domain(), False),
    # At x = 0 the condition says nothing of y.
    (y - 1, domain(sympy.Ge(x * y, x)), False),
    (1 - y, domain(sympy.Le(x * y, x)), False),
    (x - z, domain(sympy.Le(x, 1), sympy.Le(z * x, 0)), False),
    # At x = 0, which p/(1 + s) leaves out, the second condition says nothing of z.
    (x - z, domain(sympy.Le(x, p), sympy.Le(z * x, 0)), False),
    (x - z, domain(sympy.Le(z * x, 0), sympy.Le(x, p)), False),
    # x is nonnegative, r may be negative.
    (x - 1, domain(sympy.Ge((x - 1) / r, 0)), False),
    # The slack must not be the symbol that is there already.
    (2 * x - 2 - 2 * s1, domain(sympy.Ge(x, 1)), False),
    (x - 1 - s1, domain(sympy.Ge(x, 1)), False),
    # x <= max(y, z) is not x <= y.
    (y - x, domain(sympy.Le(x, sympy.Max(y, z))), False),
    (y - x, domain(sympy.Ge(sympy.Max(y, z), x)), False),
    (x - y, domain(sympy.Ge(x, sympy.Min(y, z))), False),
    (x - y, domain(sympy.Eq(x, z)), False),
    (x**2 - 2 * x * y + y**2, domain(), True),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "where", "strictly"), PROVED)
def test_true_signs_are_proved(expression, where, strictly) -> None:
    assert isinstance(prove_sign(expression, where, strictly), SignProof)


@pytest.mark.parametrize(("expression", "where", "strictly"), FALSE)
def test_false_signs_are_not(expression, where, strictly) -> None:
    assert isinstance(prove_sign(expression, where, strictly), NoSignProof)


def test_a_condition_that_is_no_rational_function_is_not_used() -> None:
    assert isinstance(prove_sign(1 - x, domain(sympy.Le(sympy.sqrt(x), 1))), NoSignProof)
    assert isinstance(prove_sign(y - x, domain(sympy.Le(x, sympy.Max(y, z)))), NoSignProof)


def test_a_condition_that_is_wrong_does_not_crash() -> None:
    assert isinstance(prove_sign(x - 1, Domain((sympy.false,))), NoSignProof)


@pytest.mark.parametrize("other", [sympy.Symbol("x"), sympy.Symbol("x", real=True), sympy.Symbol("x", positive=True)])
def test_two_symbols_of_one_name_are_refused(other) -> None:
    with pytest.raises(NotRational, match="two different symbols are called x"):
        fraction(x - other)
    for found in (prove_sign(x**2 - 2 * x * other + other**2, domain()), prove_sign(x, domain(sympy.Ge(other, 1)))):
        assert isinstance(found, NoSignProof)
        assert "two different symbols are called x" in found.reason


@pytest.mark.parametrize("wrong", [sympy.nan, sympy.oo, sympy.zoo, sympy.sqrt(2), sympy.sqrt(x), sympy.Abs(r), sympy.pi,
                                   sympy.I, x**y, sympy.Max(x, y), 1 / ((x + 1) ** 2 - x**2 - 2 * x - 1)])  # fmt: skip
def test_what_is_no_rational_function_is_refused(wrong) -> None:
    with pytest.raises(NotRational):
        fraction(wrong)
    assert isinstance(prove_sign(wrong, domain()), NoSignProof)


def test_a_counterexample_is_a_point_of_the_domain_where_it_fails() -> None:
    found = prove_sign(x - y, domain(sympy.Ge(x, 1)))
    point = {name: Fraction(value) for name, value in found.counterexample.items()}
    assert point["x"] >= 1
    assert point["y"] > point["x"]


def test_no_counterexample_between_the_integers() -> None:
    found = prove_sign(K**2 - 3 * K + 2, domain())
    assert isinstance(found, NoSignProof)
    assert not found.counterexample


def test_no_counterexample_outside_a_condition_that_z3_does_not_know() -> None:
    found = prove_sign(1 - x, domain(sympy.Le(sympy.sqrt(x), 1)))
    assert isinstance(found, NoSignProof)
    assert not found.counterexample


def test_an_algebraic_counterexample_is_made_rational() -> None:
    found = prove_sign((r**3 - 2) * (3 - r**3), domain(sympy.Ge(r, 0)))
    assert isinstance(found, NoSignProof)
    for value in found.counterexample.values():
        Fraction(value)


def test_where_z3_gives_up_nothing_is_proved(monkeypatch) -> None:
    monkeypatch.setattr(signs, "TIME_LIMIT", 0.05)
    a, b, c, d = sympy.symbols("a b c d", real=True)
    pairs = (a**2 - b**2) * (a**2 - c**2), (b**2 - a**2) * (b**2 - c**2), (c**2 - a**2) * (c**2 - b**2)
    hard = sum(square * part for square, part in zip((a**2, b**2, c**2), pairs, strict=True)) + (a * b - c * d) ** 4
    found = prove_sign(hard, domain())
    assert isinstance(found, NoSignProof)
    assert "z3 gave up after" in found.reason
    assert not found.counterexample


BOUNDS = [
    lambda a, b: sympy.Ge(a, b), lambda a, b: sympy.Gt(a, b), lambda a, b: sympy.Le(a, b), lambda a, b: sympy.Lt(a, b),
    lambda a, b: sympy.Le(a, 1), lambda a, b: sympy.Ge(a * b, a), lambda a, b: sympy.Le(a * b, b),
    lambda a, b: sympy.Ge(a, b**2), lambda a, b: sympy.Ge(a, 2 * b + 1), lambda a, b: sympy.Ge(1 / (1 + a), b),
    lambda a, b: sympy.Le(a, sympy.Min(b, 1)),
]  # fmt: skip
SYMBOLS = (x, y, z, p, q)


@st.composite
def domains(draw) -> tuple[object, ...]:
    chosen = draw(st.lists(st.tuples(st.sampled_from(BOUNDS), st.permutations(SYMBOLS)), max_size=3))
    return tuple(bound(a, b) for bound, (a, b, *_) in chosen)


@st.composite
def polynomials(draw) -> object:
    terms = draw(st.lists(st.tuples(st.integers(-2, 3), st.lists(st.sampled_from(SYMBOLS), max_size=2)), min_size=1,
                          max_size=3))  # fmt: skip
    below = draw(st.sampled_from([1, 1 + x, p, p * (1 + y)]))
    return sum(c * sympy.prod(factors) for c, factors in terms) / below


@given(polynomials(), domains(), st.booleans(), st.integers(0, 10**6))
def test_a_proved_sign_holds_at_random_points(expression, relations, strictly, seed) -> None:
    where = domain(*relations)
    assume(sympy.false not in where.relations)
    relaxed = signs.TIME_LIMIT
    signs.TIME_LIMIT = 0.5
    try:
        found = prove_sign(expression, where, strictly)
    finally:
        signs.TIME_LIMIT = relaxed
    random = Random(seed)
    for _ in range(40):
        values = [0, 0, sympy.Rational(1, 3), sympy.Rational(1, 2), 1, 2, 3, 7]
        point = {s: sympy.sympify(random.choice([v for v in values if v or not s.is_positive])) for s in SYMBOLS}
        if all(relation.subs(point) == sympy.true for relation in where.relations):
            value = sympy.sympify(expression).subs(point)
            fails = value <= 0 if strictly else value < 0
            assert not (fails and isinstance(found, SignProof)), (expression, where, point)


@pytest.mark.parametrize(("expression", "where", "strictly"), PROVED)
def test_every_substitution_says_what_the_condition_says(expression, where, strictly) -> None:
    found = prove_sign(expression, where, strictly)
    done: list[tuple[object, object]] = []
    for made in found.substitutions:
        relation = made.condition
        greater = isinstance(relation, sympy.Ge | sympy.Gt)
        difference = relation.lhs - relation.rhs if greater else relation.rhs - relation.lhs
        for variable, value in done:
            difference = difference.subs(variable, value)
        room = made.variable - made.bound if made.kind == "lower" else made.bound - made.variable
        assert fraction(difference - made.factor * room).is_zero
        done.append((made.variable, made.value))


@pytest.mark.parametrize("other", [sympy.Ne(p, 1), sympy.Or(sympy.Ge(p, 1), sympy.Le(q, 1)), p - 1])
def test_a_relation_that_is_not_understood_is_no_condition(other) -> None:
    """Ne(p, 1) was once taken for p = 1."""
    with pytest.raises(Unsound, match="understood"):
        Domain((other,))
    with pytest.raises(Unsound, match="understood"):
        signs._relation(sympy.Ne(p, 1), {p: z3.Real("p")})
