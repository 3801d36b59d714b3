"""The bounds that `bounds_for` gives for a run, compared with exact numbers."""

from fractions import Fraction
from typing import Any

from bound_makers import upper

from fedconvex import theory
from fedconvex.statements.instance import Instance
from fedconvex.theory.bounds import Applies, DoesNot, apply


class Asked:
    """`bounds_for(…)` of the statements that a test asks for, without the two hundred others."""

    def __init__(
        self, method: Any, problem: Any, scheme: Any = None, *, solver: Any = None, x0: Any = None,
        rounds: int | None = None, **given: Any,
    ) -> None:  # fmt: skip
        self.setting = Instance(problem, method, scheme, solver, x0, rounds)
        self.given = given

    def __getitem__(self, identifier: str) -> Applies | DoesNot:
        return apply(theory.statement(identifier), self.setting, self.given)


def promised(bounds: Any, identifier: str) -> Any:
    """The number of a statement that applies."""
    entry = bounds[identifier]
    assert isinstance(entry, Applies), f"{identifier} does not apply: {entry.assumption}: {entry.reason}"
    return entry.value


def at_most(left: Fraction, bound: Any) -> bool:
    """Whether an exact number keeps a bound known as a ball."""
    return left <= upper(bound)
