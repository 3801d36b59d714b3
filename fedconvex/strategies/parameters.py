"""Strategies for constants that satisfy a statement's conditions, by construction.

The parameters are drawn one after the other. Each condition on a parameter, such as mu > L_minus, bounds the interval
from which it is drawn, given the parameters before it; nothing is drawn and then rejected.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.names import suggestion
from fedconvex.statements.conditions import Condition, by_definition
from fedconvex.statements.functions import Irrational
from fedconvex.statements.notation import Parameter, Shape
from fedconvex.statements.rendering import parameters_of
from fedconvex.statements.statement import Statement
from fedconvex.strategies.numbers import numbers_in_interval
from fedconvex.validation import is_choice, members_of

MOST_ENTRIES = 3  # of a parameter that is a sequence, such as gammas
DOUBLINGS = 64  # at most, of mu and K, until a formula is positive
COMMON = {
    "L": Parameter("L", "smoothness", above=0),
    "L_minus": Parameter("L_{-}", "how negative curvature gets", least=0),
    "mu": Parameter(r"\mu", "weight of the proximal term", above=0),
    "B": Parameter("B", "dissimilarity", least=1),
    "gamma": Parameter(r"\gamma", "inexactness", least=0, most=1),
    "K": Parameter("K", "devices in a round", least=1, integer=True),
}
COMMONLY = (Condition("L_minus", "<=", "L"), Condition("mu", ">", "L_minus"))


def constants(
    min_value: Any = None, max_value: Any = None, *, names: Iterable[str] = tuple(COMMON)
) -> st.SearchStrategy[dict[str, Any]]:
    """A strategy for dicts of L, L_minus, mu, B, gamma, K: 0 <= L_minus <= L, mu > L_minus, B >= 1, 0 <= gamma <= 1.

    Use it to test your own formulas in FedProx's constants; for the constants of a statement of the catalogue use
    `satisfying`. Shrinks to {L: 1, L_minus: 0, mu: 1, B: 1, gamma: 0, K: 1}.

    Args:
        min_value, max_value: the range of L.
        names: which of the six the dictionaries contain.

    Raises:
        InvalidInput: other names; a range of L without a positive number.
    """
    chosen = tuple(members_of(names, "names", f"give some of {', '.join(COMMON)}"))
    for name in chosen:
        if not is_choice(name, tuple(COMMON)):
            raise InvalidInput(
                "names", name, "is unknown", f"{suggestion(name, COMMON)}give some of {', '.join(COMMON)}"
            )
    low = to_fraction(0 if min_value is None else min_value, "min_value")
    bounds = [Condition("L", ">=", lambda: low)]
    if max_value is not None:
        high = to_fraction(max_value, "max_value")
        if high <= 0 or high < low:
            raise InvalidInput("max_value", max_value, "leaves no L > 0", "give max_value > 0 and >= min_value")
        bounds.append(Condition("L", "<=", lambda: high))

    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        values = _drawn(draw, COMMON, (*bounds, *COMMONLY))
        return {name: values[name] for name in chosen}

    return build()


def satisfying(
    statement: Statement, *, everything: bool = False, positive: bool = True
) -> st.SearchStrategy[dict[str, Any]]:
    """A strategy for exact constants that satisfy a statement's conditions: `statement(**drawn)` is defined.

    Use it to test properties of a bound, or code that evaluates it, on its whole domain. Conditions bound the intervals
    from which the constants are drawn, and closed endpoints occur. Shrinks to small integers if the domain has some.

    Args:
        statement: such as fedconvex.theory.fedprox.theorem4.
        everything: include the constants that only the assumptions or the left-hand side name.
        positive: for statements that hold only if their formula is positive (rho > 0 in fedprox.theorem4), make it
            positive by increasing mu and K and decreasing gamma.

    Raises:
        InvalidInput: not a statement, or one in matrices (see `unsatisfiable`).
    """
    reason = unsatisfiable(statement)
    if reason is not None:
        raise InvalidInput("statement", statement, reason, "draw a problem, and take its matrices")
    conditions, parameters = _conditions(statement), _parameters(statement)

    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        values = _drawn(draw, parameters, conditions)
        if positive and statement.positive:
            names = statement.calculator.names
            _enlarge(values, lambda: statement(**{name: values[name] for name in names}) > 0)
        return values if everything else {name: values[name] for name in statement.calculator.names}

    return build()


def unsatisfiable(statement: Statement) -> str | None:
    """The reason why `satisfying` cannot draw the statement's arguments, or None if it can."""
    if not isinstance(statement, Statement):
        raise InvalidInput(
            "statement", statement, "is not a statement", "give such as fedconvex.theory.fedprox.theorem4"
        )
    if any(p.shape in (Shape.MATRICES, Shape.COLUMN) for p in parameters_of(statement).values()):
        return "is a formula of the clients' matrices, not of constants"
    return None


def _parameters(statement: Statement) -> dict[str, Parameter]:
    """The parameters of the formula, of the left-hand side, and those that only conditions name."""
    known, notation = parameters_of(statement), statement.paper.notation
    named = {name for c in _of_assumptions(statement) for name in (c.argument, *c.names)}
    return {**known, **{name: notation[name] for name in sorted(named - known.keys())}}


def _conditions(statement: Statement) -> tuple[Condition, ...]:
    left = statement.left.conditions if statement.left is not None else ()
    return tuple(dict.fromkeys((*_of_assumptions(statement), *statement.calculator.conditions, *left)))


def _of_assumptions(statement: Statement) -> tuple[Condition, ...]:
    return tuple(c for assumption in statement.assumptions for c in assumption.conditions)


def _drawn(draw: st.DrawFn, parameters: Mapping[str, Parameter], conditions: Iterable[Condition]) -> dict[str, Any]:
    """Draws a value for each parameter, in an order in which the bounds of each are already drawn."""
    conditions = tuple(conditions)
    # a parameter by which the bound of another is divided must not be drawn as 0
    never_zero = {n for c in conditions for n in c.names if callable(c.bound) and _divides_by(c, n)}
    values: dict[str, Any] = {}
    # one length for all sequences of a statement, whose formulas pair their entries
    length = draw(st.integers(1, MOST_ENTRIES)) if any(_is_list(p) for p in parameters.values()) else 1
    for name in _in_order(parameters, conditions):
        parameter = parameters[name]
        own = [*by_definition(name, parameter), *(c for c in conditions if c.argument == name)]
        if name in never_zero:
            own.append(Condition(name, ">", 0))
        # earlier draws may have left no value for this parameter: enlarge mu and K until there is one
        if not _has_room(name, parameter, conditions, values):
            _enlarge(values, lambda n=name, p=parameter: _has_room(n, p, conditions, values))
        _make_rational([c for c in own if c.relation == "="], parameters, values)
        numbers = _numbers(own, values, parameter.integer)
        one = parameter.shape in (Shape.SCALAR, Shape.VECTOR)
        values[name] = draw(numbers) if one else draw(st.lists(numbers, min_size=length, max_size=length))
    return values


def _make_rational(equations: list[Condition], parameters: Mapping[str, Parameter], values: dict[str, Any]) -> None:
    """Makes the counts in an equation equal where they make it irrational, as α = 30L√(m/P) is for most m and P."""
    for equation in equations:
        try:
            equation.bound_at({name: to_fraction(values[name]) for name in equation.names})
        except Irrational:
            counts = [name for name in equation.names if parameters[name].integer]
            least = min((values[name] for name in counts), default=None)
            values |= dict.fromkeys(counts, least)


def _is_list(parameter: Parameter) -> bool:
    return parameter.shape in (Shape.SEQUENCE, Shape.VECTORS)


def _in_order(parameters: Mapping[str, Parameter], conditions: Iterable[Condition]) -> list[str]:
    """The names in topological order: each after the parameters of which its bounds are formulas."""
    from graphlib import TopologicalSorter

    before = {name: {n for c in conditions if c.argument == name for n in c.names} for name in parameters}
    return list(TopologicalSorter(before).static_order())


def _numbers(conditions: Iterable[Condition], values: Mapping[str, Any], integer: bool) -> Any:
    """A strategy for the numbers that satisfy all conditions, given the values of the other parameters."""
    low: tuple[Fraction, bool] | None = None  # the bound, and whether the interval excludes it
    high: tuple[Fraction, bool] | None = None
    for condition in conditions:
        relation = condition.relation
        if relation in (">", ">=", "="):
            bound = (_bound(condition, values, upwards=True), relation == ">")
            low = bound if low is None else max(low, bound)  # of equal bounds the excluded one is stronger
        if relation in ("<", "<=", "="):
            bound = (_bound(condition, values, upwards=False), relation == "<")
            high = bound if high is None else min(high, bound, key=lambda b: (b[0], not b[1]))
    return numbers_in_interval(
        None if low is None else low[0],
        None if high is None else high[0],
        open_low=low is not None and low[1],
        open_high=high is not None and high[1],
        integer=integer,
    )


def _bound(condition: Condition, values: Mapping[str, Any], *, upwards: bool) -> Fraction:
    """The condition's bound at these values; of an irrational bound a rational one slightly above or below."""
    exact = {name: to_fraction(values[name]) for name in condition.names}
    try:
        return to_fraction(condition.bound_at(exact))
    except Irrational:
        from fedconvex.arithmetic.balls import lower_float, upper_float
        from fedconvex.statements.arguments import to_ball

        ball = condition.bound_at({name: to_ball(value) for name, value in exact.items()})
        return Fraction(upper_float(ball) if upwards else lower_float(ball))


def _divides_by(condition: Condition, name: str) -> bool:
    """Whether the bound is undefined if that parameter is 0."""
    try:
        condition.bound_at({n: Fraction(int(n != name)) for n in condition.names})
    except ZeroDivisionError:
        return True
    except Irrational:
        return False
    return False


def _has_room(name: str, parameter: Parameter, conditions: Iterable[Condition], values: Mapping[str, Any]) -> bool:
    """Whether the upper bounds lie above the least value that the parameter's definition allows."""
    lowest = parameter.least if parameter.above is None else parameter.above
    uppers = [c for c in conditions if c.argument == name and c.relation in ("<", "<=") and callable(c.bound)]
    return lowest is None or all(_bound(c, values, upwards=False) > lowest for c in uppers)


def _enlarge(values: dict[str, Any], done: Any) -> None:
    """Doubles mu and K and halves gamma until `done()`: FedProx's formulas become positive this way.

    Raises AssertionError if they do not, which would be a gap in the statement's conditions.
    """
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
