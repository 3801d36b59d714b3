"""Values of parameters that satisfy a setting's conditions, found by repairing one violated condition after another.

Conditions have any scale: a parameter moves to a multiple of its bound, and starts have sizes from 10⁻¹² to 10¹².
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from random import Random

from fedconvex.arithmetic.rationals import root_below, simplest_between
from fedconvex.claims import agreement
from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number, number, parts

ROUNDS = 60  # of repairs
FIRST_COUNTS = {"num_clients": 4, "num_active": 1}  # conditions such as P ≤ m leave room, and √(m/P) is rational
TRIES = 300
SIMPLE = 20  # of these without random moves, which take longer
MARGIN = Fraction(1, 500)  # beyond a bound, relative to it
MARGINS = (MARGIN, MARGIN, Fraction(1), Fraction(999), MARGIN**2, MARGIN**4, Fraction(0))
DECADES = (1, 3, 12)  # between which the sizes of a start are spread
COUNTS = (Fraction(1), Fraction(2), Fraction(10_000))
FARTHEST = 25  # powers of 10 that move a parameter inside of a formula
SHORT = 64  # bits of a denominator
PRECISION = 80  # bits of a root that is not rational, at least
LARGEST_EXPONENT = 100_000

Condition = tuple[Number, str, Number]


def evaluated(term: Number, values: Mapping[str, Fraction]) -> Fraction:
    """A formula in parameters at rational values; a root that is irrational is rounded down. Raises KeyError."""
    return Fraction(agreement.evaluated(term, values, RATIONAL))


def _power(a: Fraction, b: Fraction) -> Fraction:
    if abs(b) > LARGEST_EXPONENT:
        raise OverflowError(f"the exponent {b}")
    return Fraction(a ** int(b))


def _root(x: Fraction) -> Fraction:
    return root_below(x, Fraction(1, 2 ** (PRECISION + max(0, x.denominator.bit_length() - x.numerator.bit_length()))))


RATIONAL = {h: f for h, f in agreement.OPERATIONS.items() if h not in ("exp", "log", "ceil", "mean")}
RATIONAL |= {"root": _root, "^": _power}


def example_of(setting: ClaimSetting) -> Mapping[str, Fraction]:
    """Parameters in the setting's domain; empty where none was found. The kernel checks whether they are in it."""
    conditions = (*setting.conditions, *_implied(setting))
    values = {name: Fraction(1) for name in setting.signs}
    values |= {name: Fraction(FIRST_COUNTS.get(name, 2)) for name in setting.counts}
    if found := _repaired(values, setting, conditions, None):
        return found
    random = Random(0)
    for attempt in range(TRIES):
        far = random.choice(DECADES)
        values = {name: Fraction(10) ** random.randint(-far, far) for name in sorted(setting.signs)}
        values |= {name: random.choice(COUNTS) for name in sorted(setting.counts)}
        if found := _repaired(values, setting, conditions, random if attempt >= SIMPLE else None):
            return found
    return {}


def _implied(setting: ClaimSetting) -> Iterator[Condition]:
    """What the domain demands beside its conditions: curvatures between two bounds, sizes that something can have."""
    (least, most), (objective_least, objective_most) = setting.curvature, setting.objective
    pairs = [(large, small) for large in (most, objective_most) for small in (least, objective_least)]
    sizes = (setting.variance, setting.inexactness, setting.initial_gap, setting.objective_gap, setting.similarity)
    pairs += [(bound, number(0)) for bound in (most, objective_most, *sizes)]
    pairs.append((setting.dissimilarity, number(1)))
    yield from ((large, ">=", small) for large, small in pairs if large is not None and small is not None)


def _repaired(
    values: dict[str, Fraction], setting: ClaimSetting, conditions: Sequence[Condition], random: Random | None
) -> dict[str, Fraction]:
    """These values, with some moved until all conditions hold; empty where that fails."""
    try:
        for _ in range(ROUNDS):
            broken = next((c for c in conditions if not _holds(c, values)), None)
            if broken is None:
                return values
            change = _change(broken, values, setting.counts, random)
            if not change or (random is None and not _has_signs(change, setting.signs)):
                break
            if _has_signs(change, setting.signs):
                values = values | change
    except (ArithmeticError, KeyError, ValueError):  # a formula without a value there
        pass
    return {}


def _change(
    broken: Condition, values: dict[str, Fraction], counts: frozenset[str], random: Random | None
) -> dict[str, Fraction]:
    """A change of one parameter with which the condition holds, or nearly.

    A side that is a parameter moves beyond the other side. Without `random` it is the first such side, which may lead
    in a circle; else any, or a parameter inside of a formula.
    """
    left, relation, right = broken
    sides = [
        (side, other, up) for side, other, up in ((left, right, True), (right, left, False)) if side.head == "parameter"
    ]
    chosen = next(iter(sides), None) if random is None else random.choice([*sides * 4, None])
    margin = MARGIN if random is None else random.choice(MARGINS)
    if chosen is None:
        return {} if random is None else _inside(broken, values, counts, random)
    side, other, upwards = chosen
    bound, name = evaluated(other, values), side.args[0]
    less = 1 - margin if margin < 1 else 1 / (1 + margin)
    factor = 1 if relation == "=" else 1 + margin if (bound > 0) == upwards else less
    moved = bound * factor if bound or relation == "=" else margin * (1 if upwards else -1)
    if name in counts:
        moved = Fraction(ceil(moved) if upwards else max(1, floor(moved)))
    elif moved != bound and moved.denominator.bit_length() > SHORT:  # else digits double from one move to the next
        moved = simplest_between(min(bound, moved), max(bound, moved))
    return {name: moved}


def _inside(
    broken: Condition, values: dict[str, Fraction], counts: frozenset[str], random: Random
) -> dict[str, Fraction]:
    """A parameter of either side times a power of 10 with which the condition holds; none where no power does that."""
    names = sorted({p.args[0] for x in broken[::2] for p in parts(x) if p.head == "parameter"})
    if not names:
        return {}
    name = random.choice(names)
    powers = (Fraction(10) ** k for size in range(1, FARTHEST) for k in ((size,) if name in counts else (size, -size)))
    tried = ({name: values[name] * power} for power in powers)
    return next((change for change in tried if _holds(broken, values | change)), {})


def _has_signs(values: Mapping[str, Fraction], signs: Mapping[str, str]) -> bool:
    return all(
        x > 0 or signs[name] == "real" or (x == 0 and signs[name] == "nonnegative") for name, x in values.items()
    )


def _holds(condition: Condition, values: Mapping[str, Fraction]) -> bool:
    left, right = (evaluated(side, values) for side in (condition[0], condition[2]))
    return left == right if condition[1] == "=" else left > right if condition[1] == ">" else left >= right
