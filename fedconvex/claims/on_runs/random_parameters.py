"""Random values of a setting's parameters, in its domain and often at the bounds of it."""

from collections.abc import Mapping
from fractions import Fraction

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.on_runs.admissibility import holds, rational
from fedconvex.claims.on_runs.choices import Choices
from fedconvex.claims.on_runs.evaluation import number_at
from fedconvex.claims.terms import Number, parts

REPAIRS = 30
COUNTS = (1, 2, 3, 4)  # of clients and rounds: expectations are sums over all draws
DRAWN = (*COUNTS, 10, 100, 10_000)  # independent draws; of few clients even many draws have few outcomes
SCALES = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(1), Fraction(2), Fraction(10), Fraction(40))
# Beyond a bound; squares, so that roots of conditioned parameters stay rational.
MARGINS = (Fraction(1), Fraction(1), Fraction(121, 100), Fraction(9, 4), Fraction(4), Fraction(25))


class NoFederation(Exception):
    """These choices lead to no federation of the setting; other choices may."""


def parameters_of(setting: ClaimSetting, choices: Choices, rounds: str = "") -> dict[str, Fraction]:
    """Values of the parameters in the setting's domain; `rounds` counts those of a run. Raises NoFederation."""
    if choices.pick((True, *(False,) * 7)) and setting.example:
        return dict(setting.example)
    rooted = {
        p.args[0] for formula in setting.method_parameters.values() if type(formula) is Number
        for root in parts(formula) if root.head == "root"
        for p in parts(root) if p.head == "parameter"
    }  # fmt: skip
    values = {name: _value(name, setting, choices) for name in sorted(setting.signs)}
    values |= {name: values[name] ** 2 for name in rooted}
    try:
        return _repaired(values, setting, choices)
    except NoFederation:
        if not setting.example:
            raise
    # The domain is small: one parameter is changed of those that are known to be in it, and the run is shortened.
    changed = {choices.pick(tuple(values)), rounds} & values.keys()
    return _repaired({**setting.example, **{name: values[name] for name in sorted(changed)}}, setting, choices)


def _repaired(values: dict[str, Fraction], setting: ClaimSetting, choices: Choices) -> dict[str, Fraction]:
    """The values, with those moved that break a condition. Raises NoFederation."""
    for _ in range(REPAIRS):
        broken = next((c for c in setting.conditions if not _keeps(c, values)), None)
        if broken is None:
            if any(sign == "positive" and values[name] <= 0 for name, sign in setting.signs.items()):
                raise NoFederation("a parameter that must be positive is not")
            return values
        left, relation, right = broken
        for side, other, upwards in ((left, right, True), (right, left, False)):
            if side.head == "parameter":
                values[side.args[0]] = _moved(other, relation, upwards, side.args[0] in setting.counts, values, choices)
                break
        else:
            raise NoFederation("a condition between two formulas does not hold")
    raise NoFederation("the conditions on the parameters do not hold")


def _value(name: str, setting: ClaimSetting, choices: Choices) -> Fraction:
    if name in setting.counts:
        draws = setting.draws
        many = draws.scheme == "independent" and draws.active is not None and draws.active.args == (name,)
        return Fraction(choices.pick(DRAWN if many else COUNTS))
    size = choices.pick(SCALES) * choices.between(Fraction(1, 2), 1)
    sign = setting.signs[name]
    if sign == "nonnegative":
        return choices.pick((Fraction(0), size, size, size))
    return choices.pick((size, -size)) if sign == "real" else size


def _keeps(condition: tuple[Number, str, Number], values: Mapping[str, Fraction]) -> bool:
    return holds(number_at(condition[0], values), condition[1], number_at(condition[2], values))


def _moved(
    other: Number, relation: str, upwards: bool, is_count: bool, values: Mapping[str, Fraction], choices: Choices
) -> Fraction:
    """A value on the right side of the bound, often the bound itself."""
    at = number_at(other, values)
    bound = Fraction(str(at.mid().fmpq())) if type(at).__name__ == "arb" else rational(at)
    if relation == "=":
        return bound
    if is_count:
        beyond = Fraction(choices.pick((0, 0, 1))) + (relation == ">")
        return Fraction(-(-bound // 1)) + beyond if upwards else max(Fraction(1), bound // 1 - beyond)
    factor = choices.pick(MARGINS[2:] if relation == ">" else MARGINS)
    if bound == 0:
        return (factor - 1) if upwards else 1 - factor
    return bound * factor if (bound > 0) == upwards else bound / factor
