"""Signs that the field shows hold at every point of the domain, and numbers are computed right."""

from fractions import Fraction
from itertools import product
from math import isqrt
from random import Random
from typing import Any

import pytest
from flint import arb, ctx

from fedconvex.proofs_checks.kernel.scalars import Field, Refused, Scalar, Substitutions, bits, has_sign, is_positive

SIGNS = ("positive", "nonnegative", "real")
GRID = {"positive": [Fraction(1, 3), Fraction(1), Fraction(2), Fraction(7)]}
GRID["nonnegative"] = [Fraction(0), *GRID["positive"]]
GRID["real"] = [Fraction(-3), Fraction(-1, 2), *GRID["nonnegative"]]
Point = dict[str, Fraction]


class Formula:
    """A rational formula as text, read twice: by the field, and at points."""

    def __init__(self, text: str):
        self.text = text

    def on(self, names: dict[str, Any]) -> Any:
        return eval(self.text, {"F": Fraction}, names)  # noqa: S307 - made in this file


def polynomial(random: Random, names: list[str]) -> str:
    terms = []
    for _ in range(random.randint(1, 4)):
        factors = [random.choice(names) for _ in range(random.randint(0, 2))]
        terms.append("*".join([f"F({random.choice([-3, -2, -1, 1, 2, 3])},{random.choice([1, 1, 2])})", *factors]))
    return "(" + "+".join(terms) + ")"


def domain(random: Random, names: list[str], signs: dict[str, str]) -> tuple[list[tuple[Formula, bool]], list[Point]]:
    """Conditions f ≥ 0 or f > 0, and the points of a grid that satisfy them."""
    conditions = []
    for _ in range(random.randint(0, 3)):
        x, y, z = (random.choice(names) for _ in range(3))
        shapes = [f"{x}-F(2)*{y}", f"{x}*{y}-{z}", f"F(2)-{x}", f"{x}-F(1)", f"{y}+{z}-{x}", f"F(3)-{x}*{y}",
        f"{x}-{y}*{y}",
                  f"F(1)-{x}-{y}", polynomial(random, names)]  # fmt: skip
        conditions.append((Formula(random.choice(shapes)), random.random() < 0.4))
    points = [dict(zip(names, at, strict=True)) for at in product(*(GRID[signs[n]] for n in names))]
    return conditions, [p for p in points if all(c.on(p) > 0 or (not s and c.on(p) == 0) for c, s in conditions)]


def fields(seed: int) -> tuple[Random, list[str], Field, list[tuple[Formula, bool]], list[Point]]:
    random = Random(seed)
    names = ["x", "y", "z"][: random.randint(1, 3)]
    signs = {n: random.choice(SIGNS) for n in names}
    conditions, points = domain(random, names, signs)
    # under some roots are parameters that are not real
    rooted = [n for n in names if signs[n] != "real" and random.random() < 0.2]
    field = Field(signs, rooted)
    symbols = {n: field.parameter(n) for n in names}
    for formula, strictly in conditions:
        field.assume(field.scalar(1) * formula.on(symbols), strictly)
    return random, names, field, conditions, points


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.sample(2)
@pytest.mark.parametrize("block", range(12))
def test_a_sign_that_is_shown_holds_at_every_point(block) -> None:
    shown = refuted = 0
    for seed in range(40 * block, 40 * (block + 1)):
        random, names, field, conditions, points = fields(seed)
        symbols = {n: field.parameter(n) for n in names}
        for _ in range(12):
            top, bottom = Formula(polynomial(random, names)), Formula(polynomial(random, names))
            # conditions are combined, too, so that there is something to show
            if conditions and random.random() < 0.6:
                used = random.choice(conditions)[0].text
                top = Formula(f"({used})*F({random.randint(1, 3)})+F({random.randint(0, 2)})*{random.choice(names)}")
            value = field.scalar(1) * top.on(symbols)
            if random.random() < 0.3:
                below = field.scalar(1) * bottom.on(symbols)
                if not field.is_nonzero(below):
                    continue
                assert all(bottom.on(p) != 0 for p in points), (seed, bottom.text)
                value, top = (
                    value / below,
                    Formula(f"{top.text}/{bottom.text}" if "+" not in top.text else f"({top.text})/{bottom.text}"),
                )
            nonnegative, positive = field.is_nonnegative(value), field.is_positive(value)
            found = [top.on(p) for p in points]
            assert not nonnegative or all(v >= 0 for v in found), (seed, top.text)
            assert not positive or (nonnegative and all(v > 0 for v in found)), (seed, top.text)
            shown += nonnegative
            refuted += any(v < 0 for v in found)
    assert shown > 50
    assert refuted > 50


@pytest.mark.parametrize("order", ["xyz", "zyx", "yxz"])
def test_signs_in_chains_of_conditions(order) -> None:
    """x ≥ y ≥ z > 0, whatever the order in which the conditions are given."""
    field = Field(dict.fromkeys(order, "positive"))
    x, y, z = (field.parameter(n) for n in "xyz")
    field.assume(x - y, False)
    field.assume(y - z, False)
    assert field.is_nonnegative(x - z)
    assert not field.is_positive(x - z)
    assert not field.is_nonnegative(y - x)
    assert field.is_nonnegative(x * y - z**2)
    assert field.is_positive(2 * x - z)
    assert not field.is_positive(x - y)


REFUSED = {
    "a bound at 0 is not strict": ("nonnegative", lambda x: [(2 - x, False)], lambda x: 2 - x, "positive"),
    "a nonnegative number is not positive": ("nonnegative", lambda x: [], lambda x: x, "positive"),
    "a real square is not positive": ("real", lambda x: [], lambda x: x**2, "positive"),
    "a real number is not nonnegative": ("real", lambda x: [(x, False)], lambda x: x - 1, "nonnegative"),
    "x ≥ 1 is not x > 1": ("positive", lambda x: [(x - 1, False)], lambda x: x - 1, "positive"),
    "x < 1 is not x ≤ 1/2": ("positive", lambda x: [(1 - x, True)], lambda x: Fraction(1, 2) - x, "nonnegative"),
    "x = 1 is not x > 1": ("positive", lambda x: [(x - 1, False), (1 - x, False)], lambda x: x - 1, "positive"),
    "0 ≤ x ≤ 1 is not x > 0": ("nonnegative", lambda x: [(1 - x, False)], lambda x: x, "positive"),
    "0 ≤ x ≤ 1 is not x < 1": ("nonnegative", lambda x: [(1 - x, False)], lambda x: 2 - 2 * x, "positive"),
    "neither end is inside": ("nonnegative", lambda x: [(1 - x, False)], lambda x: x - x**2, "positive"),
    "x = 0 is not x > 0": ("nonnegative", lambda x: [(-x, False)], lambda x: x, "positive"),
    "x = 0 is not x ≥ 1": ("nonnegative", lambda x: [(-x, False)], lambda x: x - 1, "nonnegative"),
    "0 is not positive": ("positive", lambda x: [], lambda x: x - x, "positive"),
}  # fmt: skip


@pytest.mark.parametrize(("sign", "conditions", "value", "wanted"), REFUSED.values(), ids=list(REFUSED))
def test_a_sign_that_does_not_hold_is_not_shown(sign, conditions, value, wanted) -> None:
    field = Field({"x": sign})
    x = field.parameter("x")
    for difference, strictly in conditions(x):
        field.assume(difference, strictly)
    shown = field.is_positive if wanted == "positive" else field.is_nonnegative
    assert not shown(field.scalar(1) * value(x))


def test_equations_and_strict_conditions_are_used() -> None:
    field = Field({"x": "positive", "y": "nonnegative"})
    x, y = field.parameter("x"), field.parameter("y")
    field.assume(x - 1, False)
    field.assume(1 - x, False)
    field.assume(2 - y, True)
    assert field.is_positive(2 * x - y)
    assert field.is_nonzero(y - 2)
    assert 3 - y > 0
    assert x >= 1
    with pytest.raises(Refused, match="does not follow"):
        assert y > x
    with pytest.raises(Refused, match="does not follow"):
        assert y >= x


def test_a_quotient_of_two_negative_numbers_is_positive() -> None:
    field = Field({"x": "positive"})
    x = field.parameter("x")
    field.assume(2 - x, False)
    assert field.is_positive((x - 3) / (x - 4))
    assert not field.is_positive((x - 2) / (x - 4))  # 0 at x = 2
    assert not field.is_nonnegative((3 - x) / (x - 4))
    assert not field.is_nonnegative((x - 3) / (4 - x))


@pytest.mark.parametrize("strictly", [True, False])
def test_a_condition_that_bounds_no_symbol_times_what_others_show_to_be_positive(strictly) -> None:
    field = Field({"x": "positive"})
    x = field.parameter("x")
    field.assume(2 - x, False)
    known = x**3 - 3 * x**2 + x + 1  # ≥ 0 for x ≤ 1, and for x ≥ 1 + √2
    field.assume(known, strictly)
    assert field.is_nonnegative(known * (3 - x))
    assert field.is_nonnegative(known / (3 - x))
    assert field.is_nonnegative(-known / (x - 3))
    assert field.is_positive(known * (3 - x)) == strictly
    assert not field.is_nonnegative(known * (2 - x) ** 2 * (x - 1))  # negative for x < 1
    assert not field.is_nonnegative(known * (x - 3))
    assert not field.is_positive(known * (2 - x))  # 0 at x = 2
    assert not field.is_nonnegative(field.made(known.above, (2 - x).above) * (1 - x))


def test_a_number_between_0_and_1_is_below_others_strictly() -> None:
    """At one end the bound is strict because of the one slack, at the other because of the other."""
    field = Field({"x": "positive", "y": "nonnegative"})
    x, y = field.parameter("x"), field.parameter("y")
    field.assume(1 - y, False)
    assert field.is_positive(x + 1 - y)
    assert field.is_positive(2 - y**2)
    assert field.is_positive(1 - y + y**2)
    assert not field.is_positive(x * (y - y**2))
    field.assume(x - y - 1, False)  # one of the slacks is used up: nothing is known of the pair
    assert field.is_positive(2 * x - y)
    assert not field.is_positive(x - y - 1)


def test_numbers_that_must_be_0_are_0() -> None:
    field = Field({"x": "nonnegative", "y": "positive", "z": "nonnegative"})
    x, y, z = (field.parameter(n) for n in "xyz")
    field.assume(y - 1, False)
    field.assume(1 - y, False)
    field.assume(-x - z, False)
    assert field.is_nonnegative(-x)
    assert field.is_nonnegative(y**2 - 2 * y + 1 - x)
    assert field.is_positive(2 - y - x)
    assert not field.is_positive(x)
    assert not field.is_positive(y - 1)
    assert not field.is_nonnegative(-y)


def value_of(of: Scalar, roots: dict[str, arb]) -> arb:
    def polynomial_at(part: Any) -> arb:
        total = arb(0)
        for powers, c in part.to_dict().items():
            term = arb(int(c))
            for name, n in zip(of.field.signs, powers, strict=False):
                term *= roots[name] ** int(n) if n else 1
            total += term
        return total

    return polynomial_at(of.above) / polynomial_at(of.below)


@pytest.mark.sample(20)
@pytest.mark.parametrize("seed", range(60))
def test_arithmetic_with_roots_is_right(seed) -> None:
    """Sums, products, quotients and roots agree with enclosures of their values."""
    random = Random(seed)
    field = Field({"x": "positive", "y": "positive"}, ["x", 2, 3])
    with ctx.workprec(200):
        roots = {
            "√x": arb(random.randint(1, 9)) / 4,
            "y": arb(random.randint(1, 9)) / 2,
            "√2": arb(2).sqrt(),
            "√3": arb(3).sqrt(),
        }
        known = [(field.symbol(n), v) for n, v in roots.items()] + [(field.scalar(Fraction(2, 3)), arb(2) / 3)]
        for _ in range(25):
            (a, p), (b, q) = random.choice(known), random.choice(known)
            operation = random.choice("+-*/^r")
            if operation == "+":
                made = (a + b, p + q)
            elif operation == "-":
                made = (a - b, p - q)
            elif operation == "*":
                made = (a * b, p * q)
            elif operation == "/":
                if not field.is_nonzero(b):
                    continue
                made = (a / b, p / q)
            elif operation == "^":
                n = random.randint(0, 2)
                made = (a**n, p**n)
            else:
                try:
                    made = (field.root(a * a), abs(p))
                except Refused:
                    continue
            if made[0].above.total_degree() < 6:
                known.append(made)
            assert (value_of(made[0], roots) - made[1]).contains(0), seed
            if made[0].is_zero:
                assert made[1].contains(0)


@pytest.mark.sample(50)
@pytest.mark.parametrize("n", range(1, 200))
def test_roots_of_integers(n) -> None:
    field = Field({}, [p for p in range(2, n + 1) if n % p == 0 and all(p % q for q in range(2, p))])
    root = field.root(field.scalar(n))
    assert root * root == n
    if isqrt(n) ** 2 == n:
        assert root == isqrt(n)


def test_numbers_of_two_fields_do_not_mix() -> None:
    one, other = Field({"x": "positive"}), Field({"x": "positive"})
    with pytest.raises(Refused, match="two boards"):
        one.parameter("x") + other.parameter("x")
    for wrong in (1.0, True, "1", None):
        with pytest.raises(Refused, match="no exact number"):
            one.scalar(wrong)
    x = one.parameter("x")
    assert x != "x"
    assert str(x / (x + 1)) == "(x)/(x + 1)"
    assert hash(x) == hash(x + 0)
    assert bool(x)
    with pytest.raises(Refused, match="too large"):
        x**41
    with pytest.raises(Refused, match="too many terms"):
        (one.scalar(3) ** 40) ** 40 * (one.scalar(3) ** 40) ** 40 * ((one.scalar(3) ** 40) ** 40) ** 40
    with pytest.raises(Refused, match="too many terms"):
        ((1 + x) ** 40) ** 40 * ((2 + x) ** 40) ** 40 * ((3 + x) ** 40) ** 40


def test_a_condition_whose_denominator_is_negative_is_used() -> None:
    field = Field(dict.fromkeys("xya", "positive"))
    x, y, bound = map(field.parameter, "xya")
    assert not field.is_nonnegative(y - x - bound)
    field.assume(y - x - 1, False)
    field.assume((x - y + bound) / (x - y), False)  # the denominator is at most −1
    assert field.is_nonnegative(y - x - bound)
    assert not field.is_nonnegative(y - x - 2 * bound)


def test_a_condition_whose_denominator_has_no_sign_says_nothing() -> None:
    field = Field(dict.fromkeys("xya", "positive"))
    x, y, bound = map(field.parameter, "xya")
    field.assume(bound - 1, False)
    # divided unchecked, as a hostile condition would be
    field.assume(field.made((bound - 2).above, (x - y).above), False)
    assert field.is_nonnegative(bound - 1)
    assert not field.is_nonnegative(bound - 2)
    assert not field.is_nonnegative(2 - bound)
    assert not field.is_nonnegative(x - y)


@pytest.mark.parametrize("seed", range(20))
def test_visible_signs_are_those_of_the_terms(seed: int) -> None:
    random, names = Random(seed), ["x", "y", "z"]
    field = Field({n: random.choice(SIGNS) for n in names})
    signs = dict(zip(names, field.signs.values(), strict=False))
    of = field.scalar(Formula(polynomial(random, names)).on({n: field.parameter(n) for n in names})).above
    terms = {tuple(map(int, powers)): int(c) for powers, c in of.to_dict().items()}
    for sign in (1, -1):
        even = all(powers[k] % 2 == 0 for powers in terms for k, n in enumerate(names) if signs[n] == "real")
        assert has_sign(of * sign, 1, signs) is (even and all(c * sign > 0 for c in terms.values()))
        inside = any(all(signs[n] == "positive" or not powers[k] for k, n in enumerate(names)) for powers in terms)
        assert is_positive(of * sign, signs) is (has_sign(of, sign, signs) and inside)
    assert bits(of) == max((abs(c).bit_length() for c in terms.values()), default=0)
    for k in range(len(names)):
        x, parts = field.symbols[names[k]], Substitutions(field)._by_power(of, k)
        assert sum((part * x**n for n, part in enumerate(parts)), field.one * 0) == of
        assert all(part.degrees()[k] <= 0 for part in parts)


@pytest.mark.parametrize(("sign", "strict"), [("real", False), ("nonnegative", False), ("positive", True)])
def test_an_odd_power_or_a_symbol_that_may_be_0_shows_less(sign: str, strict: bool) -> None:
    field = Field({"x": sign})
    x, signs = field.symbols["x"], {"x": sign}
    assert has_sign(x, 1, signs) is (sign != "real")
    assert has_sign(x**2, 1, signs)
    assert is_positive(x, signs) is strict
    assert is_positive(x**2 + 1, signs)
    assert not is_positive(0 * x, signs)
    assert not has_sign(x**2 - 1, 1, signs)
