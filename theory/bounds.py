"""`bounds_for`: every statement of every paper for one problem and method: its number, or the assumption that fails.

A statement is evaluated only if all its assumptions are proved to hold for the problem, the method, the participation
scheme and the run; the constants in it are measured as rigorous enclosures (balls).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, final

from fedconvex.argument_order import method_then_problem
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.names import suggestion
from fedconvex.participation import Participation
from fedconvex.problems.base import Problem
from fedconvex.shown import ShownResult
from fedconvex.statements.assumptions.base import Assumption, OnParameters, short
from fedconvex.statements.instance import Instance, Unmeasured
from fedconvex.statements.notation import Parameter
from fedconvex.statements.rendering import parameters_of
from fedconvex.statements.results import entries_of, named_parts
from fedconvex.statements.setting import MeasuredSetting
from fedconvex.statements.statement import Statement
from fedconvex.theory import papers
from fedconvex.types import Vector
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    import pandas

# Quantities that the method, the participation scheme and the run determine: another value for them is refused.
OF_THE_RUN = {"proximal_weight", "stepsize", "alpha", "regularization", "num_clients", "num_active", "num_rounds"}


class Contradicted(Unmeasured):
    """The caller gave a constant that differs from the method's, the participation scheme's or the run's."""


@final
@dataclass(frozen=True, eq=False)
class Applies:
    """A statement all of whose assumptions are proved to hold here, with its value at the measured constants.

    `value` is a ball, a named tuple of balls, or an exact integer; `parameters` are the constants, measured or given.
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
class Bounds(ShownResult):
    """The statements that apply to one problem and method, and those that do not, with the reason.

    Index it with a statement's identifier, iterate over it, or call `to_frame()`.
    """

    applies: tuple[Applies, ...]
    does_not: tuple[DoesNot, ...]

    def __getitem__(self, identifier: str) -> "Applies | DoesNot":
        for entry in self:
            if entry.statement.identifier == identifier:
                return entry
        known = [entry.statement.identifier for entry in self]
        near = get_close_matches(str(identifier), known, n=3, cutoff=0.5) or known[:3]
        raise InvalidInput("identifier", identifier, "is no statement here", f"did you mean {', '.join(near)}?")

    def __iter__(self) -> "Iterator[Applies | DoesNot]":
        yield from self.applies
        yield from self.does_not

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each number of each statement that applies, and for each statement that does not."""
        import pandas as pd

        rows = []
        for entry in self.applies:
            for name, value in named_parts(entry.statement.calculator.name, entry.value).items():
                for place, number in entries_of(name, value):
                    rows.append(_row(entry.statement, True, place, float(number), "", ""))
        rows += [_row(e.statement, False, "", float("nan"), e.assumption, e.reason) for e in self.does_not]
        return pd.DataFrame(rows)


@method_then_problem
def bounds_for(
    method: Method,
    problem: Problem,
    participation: Participation | None = None,
    *,
    local_solver: LocalSolver | None = None,
    x0: Vector | None = None,
    rounds: int | None = None,
    **given: Any,
) -> Bounds:
    """Measures the constants of the statements on a problem and evaluates each statement that applies.

    Use it to see what the papers guarantee for data of your own. It measures worst-case constants, so the numbers can
    be far from what a run shows; compare them with `simulate`.

    All constants (L, L_minus, mu, B, sigma2, gamma, distances and gaps …) are measured rigorously, as balls, so that
    the numbers are enclosed; no statement is evaluated whose assumptions have not been proved to hold.

    Args:
        method: with its parameters.
        problem: with its weights; for a paper with a plain sum or mean, f_k is num_clients · weights[k] · f_k.
        participation: default `Full()`.
        local_solver: default the method's own.
        x0: (d,), default 0: the start, and the point w at which B, the variance and gradients are measured.
        rounds: T, for statements about T rounds.
        **given: constants to use instead of measured ones, and those that cannot be measured: epsilon=1e-3.

    Raises:
        InvalidInput: for an argument that is no problem or no method, and for a name that no statement has.
    """
    _require_known(given)
    instance = Instance(problem, method, participation, local_solver, x0, rounds)
    entries = [apply(statement, instance, given) for paper in papers().values() for statement in paper.everything]
    return Bounds(
        tuple(e for e in entries if isinstance(e, Applies)), tuple(e for e in entries if isinstance(e, DoesNot))
    )


def apply(statement: Statement, setting: MeasuredSetting, given: dict[str, Any]) -> Applies | DoesNot:
    """The statement's number in this setting, or the first of its assumptions that fails there.

    Args:
        given: constants to use instead of measured ones.
    """
    values: dict[str, Any] = {}
    # Assumptions without parameters come first: measuring constants is expensive, and pointless for another method.
    about_the_run = [a for a in statement.assumptions if not a.parameters]
    failure = _failing(about_the_run, statement, setting, values, given)
    if failure is not None:
        return failure
    parameters = parameters_of(statement)
    needed = {name for a in statement.every_assumption for name in a.parameters} & statement.paper.notation.keys()
    for name in [*parameters, *sorted(needed - parameters.keys())]:
        try:
            values[name] = _value(name, statement, setting, given)
        except Contradicted as error:
            return DoesNot(statement, Verdict.REFUTED, name, str(error))
        except Unmeasured as error:
            return DoesNot(statement, Verdict.UNKNOWN, name, str(error))
    failure = _failing(statement.every_assumption, statement, setting, values, given)
    if failure is not None:
        return failure
    arguments = {name: values[name] for name in statement.calculator.names}
    try:
        with setting.context():
            value = statement(**arguments)
    except InvalidInput as error:
        verdict = Verdict.REFUTED if error.argument in given else Verdict.UNKNOWN
        return DoesNot(statement, verdict, "its conditions", str(error))
    # FedProx's ρ ≤ 0 promises no decrease: such a statement does not apply.
    if statement.positive and not value > 0:
        verdict = Verdict.REFUTED if value <= 0 else Verdict.UNKNOWN
        return DoesNot(statement, verdict, f"{statement.calculator.name} > 0", f"it is {short(value)}")
    return Applies(statement, value, arguments)


def _failing(
    assumptions: Iterable[Assumption],
    statement: Statement,
    setting: MeasuredSetting,
    values: dict[str, Any],
    given: dict[str, Any],
) -> DoesNot | None:
    """The first assumption that is not proved to hold; None where all are."""
    for assumption in assumptions:
        try:
            finding = assumption.check(setting, values)
        except Unmeasured as error:
            return DoesNot(statement, Verdict.UNKNOWN, str(assumption), str(error))
        if finding.verdict is not Verdict.PROVED:
            verdict: Verdict = finding.verdict
            # A measured constant is a bound of the true one, and a bound that violates a condition refutes nothing.
            if verdict is Verdict.REFUTED and isinstance(assumption, OnParameters):
                verdict = assumption.check(setting, _possible(assumption, statement, setting, values, given)).verdict
            return DoesNot(statement, verdict, str(assumption), finding.reason)
    return None


def _possible(
    assumption: Assumption,
    statement: Statement,
    setting: MeasuredSetting,
    values: dict[str, Any],
    given: dict[str, Any],
) -> dict[str, Any]:
    """The values with balls that contain the true constants, in place of upper or lower bounds on them."""
    measured = {name: _letter(name, statement).measured for name in assumption.parameters if name not in given}
    return values | {name: setting.possible(quantity) for name, quantity in measured.items() if quantity is not None}


def _value(name: str, statement: Statement, setting: MeasuredSetting, given: dict[str, Any]) -> Any:
    parameter = _letter(name, statement)
    if name in given:
        if parameter.measured in OF_THE_RUN:
            own = setting.measure(parameter.measured)
            if not own == given[name]:
                raise Contradicted(f"{short(given[name])} was given, but the run has {short(own)}")
        return given[name]
    if parameter.measured is None:
        raise Unmeasured(f"not given: {parameter.meaning}")
    return setting.measure(parameter.measured)


def _letter(name: str, statement: Statement) -> Parameter:
    """The parameter of this name in the statement, which may differ from the paper's of the same name."""
    return parameters_of(statement).get(name) or statement.paper.notation[name]


def _row(
    statement: Statement, applies: bool, quantity: str, value: float, assumption: str, reason: str
) -> dict[str, Any]:
    return {
        "statement": statement.identifier,
        "claim": statement.claim_type.value,
        "as_printed": statement.phrases.as_printed,
        "holds": statement.phrases.holds,
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
            cure = f"{suggestion(name, known)}give some of {', '.join(sorted(known))}"
            raise InvalidInput(name, value, "is no parameter of any statement", cure)
