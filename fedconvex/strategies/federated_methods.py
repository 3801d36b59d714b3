"""Strategies for federated methods with their parameters."""

from collections.abc import Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput, short_text
from fedconvex.methods import METHODS, Method
from fedconvex.strategies.numbers import numbers_in_interval
from fedconvex.validation import members_of, positive, truth_value

MOST_LOCAL_STEPS = 3
SIMPLEST = "FedProx"  # what examples shrink to


def methods(
    min_value: Any = Fraction(1, 8),
    max_value: Any = 4,
    *,
    kinds: type[Method] | Sequence[type[Method]] | None = None,
    exact: bool = True,
) -> st.SearchStrategy[Method]:
    """A strategy for methods of all classes, with drawn parameters and options (`option`, `start`).

    Use it for properties that hold for every method. The drawn parameters need not make the method converge on a given
    problem: for that see `stepsizes_for`. Shrinks to the first class (FedProx), with parameters 1.

    Args:
        min_value, max_value: the range of stepsizes, mu, alpha, eta and so on, 0 < min_value <= max_value.
        kinds: one or several method classes, such as fc.FedProx, or base classes of them; default all.
        exact: ints and Fractions; False: floats.

    Raises:
        InvalidInput: kinds that are not method classes; an empty range.
    """
    positive(min_value, "min_value")
    low, high = to_fraction(min_value, "min_value"), to_fraction(max_value, "max_value")
    if high < low:
        raise InvalidInput(
            "max_value", max_value, f"is smaller than min_value = {short_text(min_value)}", "exchange them"
        )
    numbers = numbers_in_interval(low, high, open_low=False, open_high=False, integer=False)
    numbers = numbers if truth_value(exact, "exact") else st.floats(float(low), float(high))
    return st.sampled_from(classes(kinds)).flatmap(lambda kind: of_kind(kind, numbers))


def classes(kinds: Any) -> list[type[Method]]:
    """The final method classes among `kinds` and their subclasses, FedProx first, to which examples shrink."""
    chosen = (
        [Method]
        if kinds is None
        else [kinds]
        if isinstance(kinds, type)
        else members_of(kinds, "kinds", "give method classes")
    )
    for kind in chosen:
        if not (isinstance(kind, type) and issubclass(kind, Method)):
            raise InvalidInput("kinds", kind, "is no method class", "give for example fedconvex.FedProx")
    if not chosen:
        raise InvalidInput("kinds", kinds, "names no method", "name one, or leave it out")
    found = [method for kind in chosen for method in METHODS.values() if issubclass(method, kind)]
    # FedProx first: sampled_from shrinks to its first element
    return sorted(dict.fromkeys(found), key=lambda kind: kind.__name__ != SIMPLEST)


def of_kind(kind: type[Method], numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Method]:
    """A strategy for one class: draws numbers without a default, a small local_steps, and Literal options."""
    hints = get_type_hints(kind)
    given: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        # `number()` fields are the numerical parameters; those with a default keep it
        if field.metadata.get("number") and field.default is MISSING:
            given[field.name] = numbers
        elif get_origin(hints[field.name]) is Literal:
            given[field.name] = st.sampled_from(get_args(hints[field.name]))
        elif field.name == "local_steps":
            given[field.name] = st.integers(1, MOST_LOCAL_STEPS)
    return st.builds(kind, **given)
