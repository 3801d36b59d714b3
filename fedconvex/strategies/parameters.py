"""Constants that satisfy a statement's assumptions: every condition gives an end of the interval to draw from."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.statements.conditions import Condition, by_definition
from fedconvex.statements.functions import Irrational
from fedconvex.statements.notation import Parameter, Shape
from fedconvex.statements.rendering import parameters_of
from fedconvex.statements.statement import Statement
from fedconvex.strategies.numbers import Draw, between

MOST_ENTRIES = 3  # of a sequence
DOUBLINGS = 64  # of mu and K, until a formula is positive
COMMON = {
    "L": Parameter("L", "smoothness", above=0),
    "L_minus": Parameter("L_-", "how negative curvature gets", least=0),
    "mu": Parameter(r"\mu", "weight of the proximal term", above=0),
    "B": Parameter("B", "dissimilarity", least=1),
    "gamma": Parameter(r"\gamma", "inexactness", least=0, most=1),
    "K": Parameter("K", "devices in a round", least=1, integer=True),
}
COMMONLY = (Condition("L_minus", "<=", "L"), Condition("mu", ">", "L_minus"))


def constants(
    min_value: Any = None, max_value: Any = None, *, names: Iterable[str] = tuple(COMMON)
) -> st.SearchStrategy[dict[str, Any]]:
    """Dictionaries of L, L_minus, mu, B, gamma and K with 0 <= L_minus <= L, mu > L_minus, B >= 1, 0 <= gamma <= 1.

    Shrinks to {L: 1, L_minus: 0, mu: 1, B: 1, gamma: 0, K: 1}. For those of a statement, see `satisfying`.

    Args:
        min_value, max_value: of L.
        names: which of them.

    Raises:
        InvalidInput: for other names, and a range for L that contains no positive number.
    """
    chosen = tuple(names)
    for name in chosen:
        if name not in COMMON:
            raise InvalidInput("names", name, "is unknown", f"choose of {', '.join(COMMON)}")
    low = to_fraction(0 if min_value is None else min_value, "min_value")
    ends = [Condition("L", ">=", lambda: low)]
    if max_value is not None:
        high = to_fraction(max_value, "max_value")
        if high <= 0 or high < low:
            raise InvalidInput("max_value", max_value, "leaves no L > 0", "give max_value > 0 and >= min_value")
        ends.append(Condition("L", "<=", lambda: high))

    @st.composite
    def build(draw: Draw) -> dict[str, Any]:
        values = _drawn(draw, COMMON, (*ends, *COMMONLY))
        return {name: values[name] for name in chosen}

    return build()


def satisfying(
    statement: Statement, *, everything: bool = False, positive: bool = True
) -> st.SearchStrategy[dict[str, Any]]:
    """Exact constants with which a statement's conditions on them all hold: `statement(**drawn)` is defined.

    Conditions are used to construct the numbers, one after the other, and never to reject them. The ends of the
    intervals occur. Shrinks to small integers where there are any.

    Args:
        statement: such as fedconvex.theory.fedprox.theorem4.
        everything: also the constants that only the assumptions, or the left-hand side, name.
        positive: where the statement says something only if its formula is positive (rho > 0 in fedprox.theorem4), make
            it so, by larger mu and K and smaller gamma.

    Raises:
        InvalidInput: for what is no statement, and for those that are about matrices (see `unsatisfiable`).
    """
    reason = unsatisfiable(statement)
    if reason is not None:
        raise InvalidInput("statement", statement, reason, "draw a problem, and take its matrices")
    conditions, parameters = _conditions(statement), _parameters(statement)

    @st.composite
    def build(draw: Draw) -> dict[str, Any]:
        values = _drawn(draw, parameters, conditions)
        if positive and statement.positive:
            names = statement.calculator.names
            _enlarge(values, lambda: statement(**{name: values[name] for name in names}) > 0)
        return values if everything else {name: values[name] for name in statement.calculator.names}

    return build()


def unsatisfiable(statement: Statement) -> str | None:
    """Why `satisfying` cannot draw the statement's arguments; None where it can."""
    if not isinstance(statement, Statement):
        raise InvalidInput(
            "statement", statement, "is not a statement", "give such as fedconvex.theory.fedprox.theorem4"
        )
    if any(p.shape in (Shape.MATRICES, Shape.COLUMN) for p in parameters_of(statement).values()):
        return "is a formula of the clients' matrices, not of constants"
    return None


def _parameters(statement: Statement) -> dict[str, Parameter]:
    """Those of the formula, of the left-hand side, and those that only conditions name."""
    known, notation = parameters_of(statement), statement.paper.notation
    named = {name for c in _of_assumptions(statement) for name in (c.argument, *c.names)}
    return {**known, **{name: notation[name] for name in sorted(named - known.keys())}}


def _conditions(statement: Statement) -> tuple[Condition, ...]:
    left = statement.left.conditions if statement.left is not None else ()
    return tuple(dict.fromkeys((*_of_assumptions(statement), *statement.calculator.conditions, *left)))


def _of_assumptions(statement: Statement) -> tuple[Condition, ...]:
    return tuple(c for assumption in statement.assumptions for c in assumption.conditions)


def _drawn(draw: Draw, parameters: Mapping[str, Parameter], conditions: Iterable[Condition]) -> dict[str, Any]:
    """A value for each parameter, those first that bounds of others are made of."""
    conditions = tuple(conditions)
    never_zero = {n for c in conditions for n in c.names if callable(c.bound) and _divides_by(c, n)}
    values: dict[str, Any] = {}
    length = draw(st.integers(1, MOST_ENTRIES)) if any(_is_list(p) for p in parameters.values()) else 1
    for name in _in_order(parameters, conditions):
        parameter = parameters[name]
        own = [*by_definition(name, parameter), *(c for c in conditions if c.argument == name)]
        if name in never_zero:
            own.append(Condition(name, ">", 0))
        if not _lies_above_its_least(name, parameter, conditions, values):
            _enlarge(values, lambda n=name, p=parameter: _lies_above_its_least(n, p, conditions, values))
        numbers = _numbers(own, values, parameter.integer)
        one = parameter.shape in (Shape.SCALAR, Shape.VECTOR)
        values[name] = draw(numbers) if one else draw(st.lists(numbers, min_size=length, max_size=length))
    return values


def _is_list(parameter: Parameter) -> bool:
    return parameter.shape in (Shape.SEQUENCE, Shape.VECTORS)


def _in_order(parameters: Mapping[str, Parameter], conditions: Iterable[Condition]) -> list[str]:
    """The names, each after those that its bounds are made of."""
    from graphlib import TopologicalSorter

    before = {name: {n for c in conditions if c.argument == name for n in c.names} for name in parameters}
    return list(TopologicalSorter(before).static_order())


def _numbers(conditions: Iterable[Condition], values: Mapping[str, Any], integer: bool) -> Any:
    """The numbers that satisfy all of them."""
    low: tuple[Fraction, bool] | None = None  # the end, and whether it is excluded
    high: tuple[Fraction, bool] | None = None
    for condition in conditions:
        relation = condition.relation
        if relation in (">", ">=", "="):
            end = (_bound(condition, values, upwards=True), relation == ">")
            low = end if low is None else max(low, end)
        if relation in ("<", "<=", "="):
            end = (_bound(condition, values, upwards=False), relation == "<")
            high = end if high is None else min(high, end, key=lambda e: (e[0], not e[1]))
    return between(
        None if low is None else low[0],
        None if high is None else high[0],
        open_low=low is not None and low[1],
        open_high=high is not None and high[1],
        integer=integer,
    )


def _bound(condition: Condition, values: Mapping[str, Any], *, upwards: bool) -> Fraction:
    """The bound at these values; where it is irrational, a rational number a little above or below."""
    exact = {name: to_fraction(values[name]) for name in condition.names}
    try:
        return to_fraction(condition.bound_at(exact))
    except Irrational:
        from fedconvex.arithmetic.balls import lower_float, upper_float
        from fedconvex.statements.arguments import to_ball

        ball = condition.bound_at({name: to_ball(value) for name, value in exact.items()})
        return Fraction(upper_float(ball) if upwards else lower_float(ball))


def _divides_by(condition: Condition, name: str) -> bool:
    """Whether the bound is not defined where that parameter is 0."""
    try:
        condition.bound_at({n: Fraction(int(n != name)) for n in condition.names})
    except ZeroDivisionError:
        return True
    except Irrational:
        return False
    return False


def _lies_above_its_least(
    name: str, parameter: Parameter, conditions: Iterable[Condition], values: Mapping[str, Any]
) -> bool:
    """Whether the upper bounds leave room above what the parameter's meaning asks for."""
    lowest = parameter.least if parameter.above is None else parameter.above
    uppers = [c for c in conditions if c.argument == name and c.relation in ("<", "<=") and callable(c.bound)]
    return lowest is None or all(_bound(c, values, upwards=False) > lowest for c in uppers)


def _enlarge(values: dict[str, Any], done: Any) -> None:
    """Larger mu and K, smaller gamma: so that FedProx's promises become positive, all else being as it is."""
    for _ in range(DOUBLINGS):
        if done():
            return
        for name in ("mu", "K"):
            if name in values:
                values[name] = 2 * values[name]
        if "gamma" in values:
            values["gamma"] = values["gamma"] / Fraction(2)
        if "gammas" in values:
            values["gammas"] = [gamma / Fraction(2) for gamma in values["gammas"]]
    raise AssertionError(f"the formula stays at or below 0 for all mu and K: {values}")
