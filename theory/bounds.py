"""Every statement of every paper on one problem: its number where it applies, else the assumption that fails."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.statements.assumptions.base import short
from fedconvex.statements.instance import Instance, Unmeasured
from fedconvex.statements.rendering import parameters_of
from fedconvex.statements.results import named_parts, parts
from fedconvex.statements.statement import Statement
from fedconvex.theory import papers
from fedconvex.verdicts import Verdict


@final
@dataclass(frozen=True, eq=False)
class Applies:
    """A statement whose assumptions were all proved to hold, with the constants measured, and its number.

    `value` is a ball (or a named tuple of balls, or an exact integer) at the measured constants.
    """

    statement: Statement
    value: Any
    parameters: dict[str, Any]


@final
@dataclass(frozen=True, eq=False)
class DoesNot:
    """A statement that does not apply: REFUTED where an assumption fails, UNKNOWN where that could not be decided."""

    statement: Statement
    verdict: Verdict
    assumption: str
    reason: str


@final
@dataclass(frozen=True, eq=False)
class Bounds:
    """What the papers promise of one problem and method."""

    applies: tuple[Applies, ...]
    does_not: tuple[DoesNot, ...]

    def __getitem__(self, identifier: str) -> "Applies | DoesNot":
        return next(entry for entry in self if entry.statement.identifier == identifier)

    def __iter__(self) -> "Iterator[Applies | DoesNot]":
        yield from self.applies
        yield from self.does_not

    def to_frame(self) -> Any:
        """One row for each number of each statement that applies, and for each statement that does not."""
        import pandas as pd

        rows = []
        for entry in self.applies:
            for name, value in named_parts(entry.statement.calculator.name, entry.value).items():
                rows.append(_row(entry.statement, True, name, float(value), "", ""))
        rows += [_row(e.statement, False, "", float("nan"), e.assumption, e.reason) for e in self.does_not]
        return pd.DataFrame(rows)

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, na_rep=""))

    def __str__(self) -> str:
        lines = []
        for entry in self.applies:
            values = ", ".join(map(short, parts(entry.value)))
            lines.append(f"{entry.statement.identifier:24} {entry.statement.calculator.name} = {values}")
        lines += [f"{e.statement.identifier:24} not: {e.assumption}: {e.reason}" for e in self.does_not]
        return "\n".join(lines)


def bounds_for(
    problem: Any,
    method: Any,
    participation: Any = None,
    *,
    local_solver: Any = None,
    x0: Any = None,
    rounds: int | None = None,
    **given: Any,
) -> Bounds:
    """Measures the constants of the statements on a problem and evaluates each statement that applies.

    All constants (L, L_minus, mu, B, sigma2, gamma, distances and gaps …) are measured rigorously, as balls, so that
    the numbers are enclosed; no statement is evaluated whose assumptions have not been proved to hold.

    Args:
        problem: with its weights; a method whose paper has a plain sum or mean gets num_clients · weights[k] · f_k.
        method: with its parameters.
        participation: default `Full()`.
        local_solver: default the method's own.
        x0: (d,), default 0: the start, and the point w at which B, the variance and gradients are measured.
        rounds: T, for statements about T rounds.
        **given: constants that are not to be measured, and those that cannot be: epsilon=1e-3.

    Raises:
        InvalidInput: for what is no problem or method, and for a name that no statement has.
    """
    _require_known(given)
    instance = Instance(problem, method, participation, local_solver, x0, rounds)
    entries = [_apply(statement, instance, given) for paper in papers().values() for statement in paper]
    return Bounds(
        tuple(e for e in entries if isinstance(e, Applies)), tuple(e for e in entries if isinstance(e, DoesNot))
    )


def _apply(statement: Statement, instance: Instance, given: dict[str, Any]) -> Applies | DoesNot:
    parameters = parameters_of(statement)
    needed = {name for a in statement.assumptions for name in a.parameters} & statement.paper.notation.keys()
    values: dict[str, Any] = {}
    for assumption in statement.assumptions:  # first what needs no measuring: is this the method at all?
        if not assumption.parameters:
            finding = assumption.check(instance, values)
            if finding.verdict is not Verdict.PROVED:
                return DoesNot(statement, finding.verdict, str(assumption), finding.reason)
    for name in [*parameters, *sorted(needed - parameters.keys())]:
        try:
            values[name] = _value(name, statement, instance, given)
        except Unmeasured as error:
            return DoesNot(statement, Verdict.UNKNOWN, name, str(error))
    for assumption in statement.assumptions:
        finding = assumption.check(instance, values)
        if finding.verdict is not Verdict.PROVED:
            return DoesNot(statement, finding.verdict, str(assumption), finding.reason)
    arguments = {name: values[name] for name in statement.calculator.names}
    try:
        with instance.context():
            value = statement(**arguments)
    except InvalidInput as error:
        return DoesNot(statement, Verdict.REFUTED, "its conditions", str(error))
    if statement.positive and not value > 0:
        verdict = Verdict.REFUTED if value <= 0 else Verdict.UNKNOWN
        return DoesNot(statement, verdict, f"{statement.calculator.name} > 0", f"it is {short(value)}")
    return Applies(statement, value, arguments)


def _value(name: str, statement: Statement, instance: Instance, given: dict[str, Any]) -> Any:
    if name in given:
        return given[name]
    parameter = statement.paper.notation[name]
    if parameter.measured is None:
        raise Unmeasured(f"not given: {parameter.meaning}")
    return instance.measure(parameter.measured)


def _row(
    statement: Statement, applies: bool, quantity: str, value: float, assumption: str, reason: str
) -> dict[str, Any]:
    return {
        "statement": statement.identifier,
        "claim": statement.claim.value,
        "applies": applies,
        "quantity": quantity,
        "value": value,
        "assumption": assumption,
        "reason": reason,
    }


def _require_known(given: dict[str, Any]) -> None:
    known = {name for paper in papers().values() for name in paper.notation}
    for name, value in given.items():
        if name not in known:
            raise InvalidInput(name, value, "is no parameter of any statement", f"choose of {', '.join(sorted(known))}")
