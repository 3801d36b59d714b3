"""The papers' statements in every round of a run: do their assumptions hold, what do they promise, what happened?

Nothing here is proved. B and the variance are measured at the server's model before the round, curvature at some
points of the round, and an assumption "holds" if these numbers satisfy it. Nothing is known about the points between,
unless the round refutes it: where f falls by less than the statement promises, an assumption fails there.
"""

from collections.abc import Iterator
from math import nan
from typing import TYPE_CHECKING, Any

from fedconvex.deep.problem import training_of
from fedconvex.deep.round_settings import RoundSetting
from fedconvex.deep.training_mode import OFF_OBJECTIVE, WHY_OFF
from fedconvex.methods.base import Method
from fedconvex.statements.assumptions import Runs
from fedconvex.statements.results import named_parts
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox, papers
from fedconvex.theory.bounds import Applies, apply
from fedconvex.theory.fedprox.results import DECREASE as PROMISE

if TYPE_CHECKING:
    import pandas

# Statements that promise f(w^t) − E f(w^{t+1}) >= ρ‖∇f(w^t)‖²; Corollary 7 promises it up to constants.
REFUTABLE = {s.identifier for s in fedprox.PAPER.everything if s.conclusion == PROMISE}
DECREASE = REFUTABLE | {"fedprox.corollary7"}
APPLIES, DOES_NOT, REFUTED = "applies", "does not apply", "refuted by this round"
COLUMNS = (
    "round", "statement", "applies", "verdict", "quantity", "promised", "happened", "slack", "assumption", "reason",
)  # fmt: skip
CURVATURES = ("L", "L_minus")
DEVIATIONS = 6  # standard errors of a sampled decrease that a refutation allows for


def statements_about(method: Method) -> list[Statement]:
    """The statements about that method, of all papers."""
    name = type(method).__name__
    return [
        statement
        for paper in papers().values()
        for statement in paper.everything
        if any(isinstance(a, Runs) and a.method == name for a in statement.assumptions)
    ]


def over_the_run(settings: list[RoundSetting], given: dict[str, Any]) -> "pandas.DataFrame":
    """The table of `DeepRun.bounds`: one row per round, statement and promised quantity."""
    import pandas

    rows = [row for setting in settings for row in _of_round(setting, given)]
    return pandas.DataFrame(rows, columns=COLUMNS)


def _of_round(setting: RoundSetting, given: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    t = setting.row["round"]
    for statement in statements_about(setting.method):
        if training_of(setting.problem) is not None:
            yield t, statement.identifier, False, DOES_NOT, "", nan, nan, nan, OFF_OBJECTIVE, WHY_OFF
            continue
        found = apply(statement, setting, given)
        if not isinstance(found, Applies):
            yield t, statement.identifier, False, DOES_NOT, "", nan, nan, nan, found.assumption, found.reason
            continue
        for quantity, value in named_parts(statement.calculator.name, found.value).items():
            promised, happened = float(value), _happened(statement, setting)
            slack, failed = happened - promised, ("", "")
            if statement.identifier in REFUTABLE and slack < -_error(setting):
                constants = ", ".join(f"{n} = {float(x):.4g}" for n, x in found.parameters.items() if n in CURVATURES)
                numbers = f"{quantity} = {promised:.4g} was promised, {happened:.4g} happened"
                failed = (REFUTED, f"{numbers}: an assumption fails between the points measured ({constants})")
            verdict = failed[0] or APPLIES
            yield t, statement.identifier, not failed[0], verdict, quantity, promised, happened, slack, *failed


def _happened(statement: Statement, setting: RoundSetting) -> float:
    """The round's decrease in the statement's own unit, divided by ‖∇f(w)‖²; NaN if it was not measured."""
    if statement.identifier not in DECREASE:
        return nan
    return float(setting.row.get("decrease", nan)) / setting.square


def _error(setting: RoundSetting) -> float:
    """How far the number of `_happened` may be from the expectation, by the sampling of draws and by rounding."""
    row = setting.row
    values = abs(row["value"]) + abs(row["decrease"])
    return float(DEVIATIONS * row["decrease_error"] + setting.rounding * values) / setting.square


def stretches(table: "pandas.DataFrame", statement: str) -> list[tuple[int, int, str, str]]:
    """Consecutive rounds with the same outcome: (first, last, the assumption that fails or "", reason in the first)."""
    rows = table[table["statement"] == statement].drop_duplicates("round")
    found: list[tuple[int, int, str, str]] = []
    for t, assumption, reason in rows[["round", "assumption", "reason"]].itertuples(index=False):
        if found and found[-1][2] == assumption:
            found[-1] = (found[-1][0], t, *found[-1][2:])
        else:
            found.append((t, t, assumption, reason))
    return found


def when(table: "pandas.DataFrame", statement: str) -> list[str]:
    """Summarise in sentences in which rounds the statement applies, and which assumption fails in the others.

    A round in which f falls by less than promised refutes the assumptions, though they hold where they were measured.

    Use it on the table of `DeepRun.bounds`; one sentence per stretch of rounds with the same outcome.
    """
    return [
        f"{_rounds(first, last)}: {_outcome(assumption, reason)}"
        for first, last, assumption, reason in stretches(table, statement)
    ]


def _outcome(assumption: str, reason: str) -> str:
    if not assumption:
        return APPLIES
    return f"{REFUTED} ({reason})" if assumption == REFUTED else f"{DOES_NOT}: {assumption} ({reason})"


def _rounds(first: int, last: int) -> str:
    return f"round {first}" if first == last else f"rounds {first}–{last}"
