"""Admissible values of a setting's parameters, spread over its domain."""

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt
from random import Random

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.examples import evaluated
from fedconvex.proofs_checks.kernel.scalars import Field

Sample = Mapping[str, Fraction]
TRIES = 4000
FACTORS = [Fraction(a, b) for a in (1, 2, 3, 5, 7) for b in (1, 2, 3, 5, 7)]
MARGINS = [Fraction(a, 3) for a in (1, 2, 3, 5, 8)]
COUNTS = (1, 2, 3, 4, 5, 7, 10)
REPAIRS = 30


def samples(
    setting: ClaimSetting, number: int, seed: int = 0, zeros: bool = True, at_bounds: bool = False
) -> list[Sample]:
    """Up to `number` admissible values, the same ones every time; the example, which may lie near a boundary, if alone.

    With `zeros`, parameters that may be 0 are so in some samples; with `at_bounds` some lie at other bounds.
    """
    random, found = Random(seed), list[Sample]()
    for _ in range(TRIES):
        if len(found) == number:
            break
        drawn = {n: _drawn(random, setting, n, zeros) for n in sorted(setting.signs)}
        made = _repaired(setting, drawn, random, at_bounds)
        if made is not None and made not in found:
            found.append(made)
    return found or [setting.example]


def symbol_values(field: Field, sample: Sample) -> dict[str, float]:
    """The values of the field's symbols; parameters under roots are squares of symbols."""
    found = {"σ": 0.37}  # its ends are looked at one by one; this is for values in between
    for name in field.signs:
        if name in sample:
            found[name] = float(sample[name])
        elif name.startswith("√") and not name.endswith("′"):
            found[name] = sqrt(int(name[1:]) if name[1:].isdigit() else float(sample[name[1:]]))
    return found


def _drawn(random: Random, setting: ClaimSetting, name: str, zeros: bool) -> Fraction:
    if name in setting.counts:
        return Fraction(random.choice(COUNTS))
    if zeros and setting.signs[name] == "nonnegative" and random.random() < 0.3:
        return Fraction(0)
    size = setting.example[name] if setting.example[name] >= 2 and random.random() < 0.5 else Fraction(1)
    value = size * random.choice(FACTORS)
    return -value if setting.signs[name] == "real" and random.random() < 0.3 else value


def _repaired(
    setting: ClaimSetting, values: dict[str, Fraction], random: Random, at_bounds: bool
) -> dict[str, Fraction] | None:
    """The values after parameters in violated conditions were moved into the domain; None where that did not help."""
    for _ in range(REPAIRS):
        broken = None
        for left, relation, right in setting.conditions:
            a, b = evaluated(left, values), evaluated(right, values)
            if not (a == b if relation == "=" else a > b if relation == ">" else a >= b):
                broken = (left, relation, right, a, b)
                break
        if broken is None:
            return values
        left, relation, right, a, b = broken
        for side, other, sign in ((left, b, 1), (right, a, -1)):
            if side.head != "parameter":
                continue
            name = side.args[0]
            margin = (abs(other) or 1) * random.choice(MARGINS)
            at_bound = relation == "=" or (at_bounds and relation == ">=" and random.random() < 0.25)
            moved = other if at_bound else other + margin if sign == 1 else other / (1 + random.choice(MARGINS))
            if name in setting.counts:
                moved = Fraction(-(-moved // 1)) if sign == 1 else max(Fraction(1), Fraction(moved // 1))
            if setting.signs[name] == "positive" and moved <= 0:
                return None
            values[name] = moved
            break
        else:
            return None
    return None
