"""Values of parameters that satisfy a setting's conditions, found by repairing one violated condition after another."""

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from random import Random

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number

ROUNDS = 200
LARGEST_EXPONENT = 100
FIRST_COUNTS = {"num_clients": 4, "num_active": 1}  # conditions such as P ≤ m leave room, and √(m/P) is rational
TRIES = 500
SIZES = tuple(map(Fraction, ("1/100", "1/10", "1", "1", "100", "1000")))
COUNTS = (Fraction(1), Fraction(2), Fraction(10_000))


def evaluated(term: Number, values: Mapping[str, Fraction]) -> Fraction:
    """A formula in parameters at rational values; a root is rounded down to a multiple of 2⁻⁴⁰.

    Raises KeyError for other operations, and OverflowError for a large exponent.
    """
    match term.head, term.args:
        case "constant", (c,):
            return Fraction(c)
        case "parameter", (name,):
            return values[name]
        case "named", (_, inside):
            return evaluated(inside, values)
        case "root", (x,):
            inside = evaluated(x, values)
            return Fraction(isqrt((inside.numerator << 80) // inside.denominator), 1 << 40)
        case "neg", (x,):
            return -evaluated(x, values)
        case head, (x, y) if head in "+-*/^" or head == "max":
            a, b = evaluated(x, values), evaluated(y, values)
            match head:
                case "+":
                    return a + b
                case "-":
                    return a - b
                case "*":
                    return a * b
                case "/":
                    return a / b
                case "^":
                    if abs(b) > LARGEST_EXPONENT:
                        raise OverflowError
                    return Fraction(a ** int(b))
            return max(a, b)
    raise KeyError(term.head)


def example_of(setting: ClaimSetting) -> Mapping[str, Fraction]:
    """Parameters in the setting's domain; empty where none was found. The kernel checks whether they are in it."""
    values = {name: Fraction(1) for name in setting.signs}
    values |= {name: Fraction(FIRST_COUNTS.get(name, 2)) for name in setting.counts}
    if found := _repaired_if_possible(values, setting):
        return found
    random = Random(0)  # of other sizes, for conditions that ask for many clients or for small numbers
    for _ in range(TRIES):
        values = {name: random.choice(SIZES) for name in sorted(setting.signs)}
        values |= {name: random.choice(COUNTS) for name in sorted(setting.counts)}
        if found := _repaired_if_possible(values, setting):
            return found
    return {}


def _repaired_if_possible(values: dict[str, Fraction], setting: ClaimSetting) -> dict[str, Fraction]:
    try:
        return _repaired(values, setting)
    except OverflowError:  # the conditions drove a count up
        return {}


def _repaired(values: dict[str, Fraction], setting: ClaimSetting) -> dict[str, Fraction]:
    """These values, with some moved until all conditions hold; empty where that fails."""
    for _ in range(ROUNDS):
        broken = next((c for c in setting.conditions if not _holds(c, values)), None)
        if broken is None:
            return values if all(setting.signs[name] != "positive" or x > 0 for name, x in values.items()) else {}
        left, relation, right = broken
        # One side is a parameter, which takes the value of the other side or, for a strict condition, a nearby one.
        for side, other, step in ((left, right, 1), (right, left, -1)):
            if side.head == "parameter":
                name, bound = side.args[0], evaluated(other, values)
                margin = abs(bound) / 1000 + Fraction(1, 1000)
                moved = bound if relation == "=" else bound + step * margin
                values[name] = Fraction(-(-moved // 1)) if name in setting.counts and step > 0 else moved
                break
        else:
            return {}
    return {}


def _holds(condition: tuple[Number, str, Number], values: Mapping[str, Fraction]) -> bool:
    left, right = (evaluated(side, values) for side in (condition[0], condition[2]))
    return left == right if condition[1] == "=" else left > right if condition[1] == ">" else left >= right
