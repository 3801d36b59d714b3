"""Arithmetic with what terms mean on a board: scalars, forms, and lengths; what leaves these is refused by name."""

from dataclasses import dataclass
from typing import Any, final

from fedconvex.claims.on_runs.evaluation import exact_root
from fedconvex.claims.terms import Number, Term, Vector
from fedconvex.proofs_checks.symbolic.random_vectors import Random
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, Form, Vectors
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed


@final
@dataclass(frozen=True)
class Length:
    """factor · √square, where the square is a form."""

    square: Form
    factor: Any = ONE

    def __mul__(self, factor: Any) -> "Length":
        return Length(self.square, self.factor * factor)

    def __truediv__(self, divisor: Any) -> "Length":
        return Length(self.square, self.factor / divisor)

    @property
    def squared(self) -> Form:
        """Its square."""
        found: Form = self.square * self.factor**2
        return found


def is_zero(x: Any) -> bool:
    """Whether it is the number 0."""
    return not isinstance(x, Form | Length | Random | Vectors) and x == 0


def negative(x: Any) -> Any:
    """−x."""
    return x * -1


def total(a: Any, b: Any, term: Term) -> Any:
    """a + b. Raises NotPosed for a length or a constant in a sum."""
    if is_zero(a) or is_zero(b):
        return b if is_zero(a) else a
    if type(term) is Vector:
        return a + b
    if isinstance(a, Length) or isinstance(b, Length):
        raise NotPosed("term", term, "adds to a length that is not squared, which is not linear in inner "
                       "products", "give squares of lengths: square(u) for norm(u)")  # fmt: skip
    if isinstance(a, Form) != isinstance(b, Form):
        raise NotPosed("term", term, "adds a constant to inner products or values, so that no ratio is "
                       "invariant under scaling", "leave the constant out")  # fmt: skip
    return a + b


def product(a: Any, b: Any, term: Term) -> Any:
    """a · b. Raises NotPosed where both are unknown, except for a length with itself."""
    if isinstance(b, Form | Length):
        a, b = b, a
    if isinstance(b, Length) and isinstance(a, Length) and a.square == b.square:
        return a.square * (a.factor * b.factor)
    if isinstance(b, Form | Length):
        raise NotPosed("term", term, "is a product of unknown numbers", "give a term that is linear in inner "
                       "products and values")  # fmt: skip
    return a * b if type(term) is Number else b * a


def quotient(a: Any, b: Any, term: Term) -> Any:
    """a/b. Raises NotPosed where b is unknown or 0."""
    if isinstance(b, Form | Length):
        raise NotPosed("term", term, "divides by an unknown number",
                       "give the ratio as a pair (numerator, denominator)")  # fmt: skip
    if not b:
        raise NotPosed("term", term, "divides by 0", "give other numbers")
    return a / b


def power(x: Any, exponent: Any, term: Term) -> Any:
    """A power. Raises NotPosed for unknown numbers, except for the square of a length."""
    whole = int(exponent)
    if whole != exponent:
        raise NotPosed("term", term, "is irrational", "give a whole exponent")
    if isinstance(x, Length) and whole == 2:
        return x.squared
    if isinstance(x, Form | Length) and whole != 1:
        raise NotPosed("term", term, "is no linear function of inner products and values",
                       "give squares of lengths alone")  # fmt: skip
    return x if whole == 1 else x**whole


def rational_root(x: Any, term: Term) -> Any:
    """√x. Raises NotPosed where it is irrational."""
    root = exact_root(x)
    if type(root).__name__ == "arb":
        raise NotPosed("term", term, "is irrational, and certificates have rational numbers only",
                       "give numbers for which it is rational")  # fmt: skip
    return root


def random_length(term: Term) -> NotPosed:
    """The refusal of a length after a draw."""
    return NotPosed("term", term, "is the length of a vector that depends on the draw, whose expectation is "
                    "not linear in inner products", "give its square: square(u) for norm(u)")  # fmt: skip
