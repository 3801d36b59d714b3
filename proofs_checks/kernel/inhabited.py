"""Whether a setting is about anything: example parameters in its domain, and a federation of its class.

Nothing is proved of a contradictory setting. The federation is one quadratic for all clients: their gradients agree, so
that dissimilarity, variance and draws need no more than their parameters' ranges.
"""

import operator
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number
from fedconvex.proofs_checks.kernel.scalars import Refused, require

OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
PRECISION = 256
MOST_BITS = 100_000  # of a rational number


def require_inhabited(setting: ClaimSetting) -> None:
    """Raises Refused where the setting's example is outside its domain, or its class has no federation there."""
    example = setting.example
    require(set(example) == set(setting.signs), "the setting has no example of admissible parameters")
    require(all(type(x) is Fraction for x in example.values()), "an example that is no fraction")
    for name, sign in setting.signs.items():
        x = example[name]
        require(sign == "real" or x > 0 or (sign == "nonnegative" and x == 0), f"the example of {name} is not {sign}")
    for name in setting.counts:
        require(
            name in example and example[name].denominator == 1 <= example[name], f"the example of {name} is no count"
        )
    for left, relation, right in setting.conditions:
        require(_holds(left, relation, right, example), "the example is outside the domain")
    for term in setting.formulas:
        _value(term, example)
    for count in (setting.draws.active, setting.draws.clients):
        require(count is None or _is_count(count, setting), "the numbers of clients in a draw are counts")
    zero = Number("constant", (Fraction(0),))
    (least, most), (objective_least, objective_most) = setting.curvature, setting.objective
    for small, large in (
        (least, most),
        (objective_least, objective_most),
        (least, objective_most),
        (objective_least, most),
    ):
        if small is not None and large is not None:
            require(_holds(large, ">=", small, example), "no function has curvatures in an empty interval")
    for name, bound, floor in (
        ("dissimilarity", setting.dissimilarity, Number("constant", (Fraction(1),))),
        ("variance", setting.variance, zero), ("inexactness", setting.inexactness, zero),
        ("initial gap", setting.initial_gap, zero), ("objective's gap", setting.objective_gap, zero),
        ("similarity", setting.similarity, zero),
    ):  # fmt: skip
        require(bound is None or _holds(bound, ">=", floor, example), f"the {name} of the example is too small")
    for large in (most, objective_most):  # concave functions may have no minimiser, flat ones no large gradient
        relation = ">=" if setting.large_gradient is None else ">"
        require(large is None or _holds(large, relation, zero, example), "the largest curvature is too small")
    require(not setting.rests or setting.large_gradient is None, "equal clients rest where their gradient is 0")
    # The federation starts at its minimiser, where the gap is 0 and the gradient is not large.
    require(setting.initial_gap is None or setting.large_gradient is None, "a small gap and a large gradient")


def _is_count(term: Number, setting: ClaimSetting) -> bool:
    match term.head, term.args:
        case "parameter", (name,):
            return name in setting.counts
        case "constant", (c,):
            return bool(c.denominator == 1 <= c)
    return False


def _holds(left: Number, relation: str, right: Number, values: Mapping[str, Fraction]) -> bool:
    """Whether the relation holds, exactly or in balls; False where balls do not decide."""
    compare = {">": operator.gt, ">=": operator.ge, "=": operator.eq}[relation]
    with ctx.workprec(PRECISION):
        return bool(compare(_value(left, values), _value(right, values)))


def _bits(x: fmpq) -> int:
    return int(x.p.bit_length()) + int(x.q.bit_length())


def _value(term: Number, values: Mapping[str, Fraction]) -> Any:
    """The value: a rational number where all roots are rational, else a ball."""
    match term.head, term.args:
        case "constant", (c,):
            return fmpq(c.numerator, c.denominator)
        case "parameter", (name,):
            require(name in values, f"{name} is no parameter of the setting")
            return fmpq(values[name].numerator, values[name].denominator)
        case "named", (_, x):
            return _value(x, values)
        case "neg", (x,):
            return -_value(x, values)
        case "root", (x,):
            inside = _value(x, values)
            if isinstance(inside, fmpq) and inside >= 0 and inside.p.is_square() and inside.q.is_square():
                return fmpq(inside.p.isqrt(), inside.q.isqrt())
            return arb(inside).sqrt()
        case "^", (x, y):
            base, n = _value(x, values), _value(y, values)
            require(isinstance(n, fmpq) and n.q == 1 and abs(n) <= 40, "an exponent that is no small integer")
            require(not isinstance(base, fmpq) or _bits(base) * abs(n) < MOST_BITS, "a number with too many digits")
            require(n >= 0 or base != 0, "a condition divides by 0 at the example")
            return base ** int(n.p)
        case "max", (x, y):
            a, b = _value(x, values), _value(y, values)
            return a if a >= b else b if b >= a else arb(a).max(arb(b))
        case head, (x, y) if head in OPERATIONS:
            a, b = _value(x, values), _value(y, values)
            require(head != "/" or b != 0, "a condition divides by 0 at the example")
            return OPERATIONS[head](a, b)
    raise Refused(f"{term.head} has no value at the example")
