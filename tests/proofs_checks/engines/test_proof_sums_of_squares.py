"""Polynomials as sums of squares with rational weights: exact, and with a certificate that anyone can check."""

from typing import Any

import sympy

from fedconvex.proofs_checks import standalone_checker
from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.facts import Fact
from fedconvex.proofs_checks.proof import Relation
from fedconvex.verdicts import Verdict

x, y, z = sympy.symbols("x y z", real=True)
HALF = sympy.Rational(1, 2)
SCHUR_LIKE = Relation(x * y + y * z + z * x, "<=", x**2 + y**2 + z**2)


def square_of(number: Any) -> Fact:
    return Fact(number**2, "a square")


SQUARES = tuple((HALF, square_of(a - b)) for a, b in ((x, y), (y, z), (z, x)))


def test_a_sum_of_squares_is_a_proof() -> None:
    outcome = Combination(facts=SQUARES).run(SCHUR_LIKE)
    assert outcome.verdict is Verdict.PROVED
    assert outcome.certificate is not None
    standalone_checker.check(outcome.certificate)


def test_other_weights_or_squares_are_none() -> None:
    for wrong in (SQUARES[:2], (*SQUARES[:2], (HALF, square_of(z + x))), tuple((1, fact) for _, fact in SQUARES)):
        assert Combination(facts=wrong).run(SCHUR_LIKE).verdict is Verdict.UNKNOWN
    negative = ((-1, square_of(x)),)
    assert Combination(facts=negative).run(Relation(x**2, "<=", 0)).verdict is Verdict.UNKNOWN


def test_it_decides_where_coefficients_do_not() -> None:
    """Motzkin's polynomial times x² + y² + 1 is a sum of squares, though it is none itself."""
    motzkin = x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1
    claim = Relation(0, "<=", sympy.expand((x**2 + y**2 + 1) * motzkin))
    squares = (
        (1, square_of(x**2 * y - y)), (1, square_of(x * y**2 - x)), (1, square_of(x**2 * y**2 - 1)),
        (sympy.Rational(1, 4), square_of(x * y**3 - x**3 * y)),
        (sympy.Rational(3, 4), square_of(x * y**3 + x**3 * y - 2 * x * y)),
    )  # fmt: skip
    assert Combination(facts=squares).run(claim).verdict is Verdict.PROVED
    assert Inequality().run(Relation(0, "<=", motzkin - 1)).verdict is not Verdict.PROVED
