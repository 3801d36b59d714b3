"""The papers' statements in every round of a run: do their assumptions hold, what do they promise, what happened?

Nothing here is proved. B and the variance are measured at the server's model before the round, curvature at some
points of the round, and an assumption "holds" if these numbers satisfy it. The points between may refute it: gradients
and values at each two of the points bound the curvatures on the way from one to the other, whoever takes part. The
proofs use no more of the curvatures than these bounds, but for the draw of the clients: where f falls by less than a
statement promises in expectation, an assumption fails, too. What is refuted, is so for all statements about the round.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, final

from fedconvex.deep.problem import training_of
from fedconvex.deep.round_settings import RoundSetting
from fedconvex.deep.training_mode import OFF_OBJECTIVE, WHY_OFF
from fedconvex.methods.base import Method
from fedconvex.statements.assumptions import (
    BoundedNegativeCurvature,
    Convex,
    Runs,
    Smooth,
    StronglyConvex,
)
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
SLACK = 1e-3  # relative: curvatures between points that exceed the measured ones by less decide nothing
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
    rows: list[Row] = []
    for statement in statements_about(setting.method):
        if training_of(setting.problem) is not None:
            yield t, statement.identifier, False, DOES_NOT, "", nan, nan, nan, OFF_OBJECTIVE, WHY_OFF
            continue
        found = apply(statement, setting, given)
        if not isinstance(found, Applies):
            yield t, statement.identifier, False, DOES_NOT, "", nan, nan, nan, found.assumption, found.reason
            continue
        curvatures = _curvatures(statement, found, setting, given)
        for quantity, value in named_parts(statement.calculator.name, found.value).items():
            promised, happened = float(value), _happened(statement, setting)
            rows.append(Row(statement, quantity, promised, happened, curvatures, _outside(curvatures, setting)))
    # Where f falls by less than promised, the curvatures that the statement assumes do not all hold: for no statement.
    broken = [row for row in rows if row.falls_short(_error(setting))]
    for row in rows:
        reason = row.reason or next((one.shortfall for one in broken if one.curvatures <= row.curvatures), "")
        yield (
            t, row.statement.identifier, not reason, REFUTED if reason else APPLIES, row.quantity, row.promised,
            row.happened, row.happened - row.promised, REFUTED if reason else "", reason,
        )  # fmt: skip


@final
@dataclass(frozen=True)
class Row:
    """A promise whose assumptions hold at the points measured, and why one of them fails between them, or ""."""

    statement: Statement
    quantity: str
    promised: float
    happened: float
    curvatures: frozenset[tuple[str, float]]  # those that it assumes, with their values
    reason: str

    def falls_short(self, error: float) -> bool:
        """Whether f fell by less than promised, by more than sampling and rounding explain."""
        return self.statement.identifier in REFUTABLE and self.happened - self.promised < -error

    @property
    def shortfall(self) -> str:
        """That f fell by less, in words."""
        constants = ", ".join(f"{name} = {value:.4g}" for name, value in sorted(self.curvatures))
        numbers = f"{self.quantity} = {self.promised:.4g} was promised, {self.happened:.4g} happened"
        return f"{numbers}: an assumption fails between the points measured ({constants})"


def _curvatures(
    statement: Statement, found: Applies, setting: RoundSetting, given: dict[str, Any]
) -> frozenset[tuple[str, float]]:
    """The curvatures of the clients' functions that a statement assumes, by the names of L, L₋ and the least one."""

    def value(parameter: str, quantity: str) -> float:
        known = found.parameters.get(parameter, given.get(parameter))
        return float(setting.measure(quantity) if known is None else known)

    assumed = set()
    for assumption in statement.every_assumption:
        if isinstance(assumption, Smooth):
            assumed.add(("L", value(assumption.L, "smoothness")))
        elif isinstance(assumption, BoundedNegativeCurvature):
            assumed.add(("L_minus", value(assumption.L_minus, "weak_convexity")))
        elif isinstance(assumption, StronglyConvex):
            assumed.add(("mu", value(assumption.mu, "mu")))
        elif isinstance(assumption, Convex):
            assumed.add(("mu", 0.0))
    return frozenset(assumed)


def _outside(curvatures: frozenset[tuple[str, float]], setting: RoundSetting) -> str:
    """Which of these curvatures the gradients and values of the round refute, or ""."""
    largest, least = (setting.row.get(f"{name}_between", nan) for name in ("smoothness", "least_curvature"))
    allowed = SLACK * max(abs(largest), abs(least)) if isfinite(largest) and isfinite(least) else nan
    for name, value in sorted(curvatures):
        of_points = (largest, value) if name == "L" else (-least, value if name == "L_minus" else -value)
        if of_points[0] - of_points[1] > allowed + setting.rounding:
            what = f"a curvature of {largest if name == 'L' else least:.4g}"
            return (
                f"{name} = {value:.4g} was measured, but gradients and values of the round show {what} between points"
            )
    return ""


def _happened(statement: Statement, setting: RoundSetting) -> float:
    """The round's decrease in the statement's own unit, divided by ‖∇f(w)‖²; NaN if it was not measured."""
    if statement.identifier not in DECREASE:
        return nan
    return float(setting.row.get("decrease", nan)) / setting.square


def _error(setting: RoundSetting) -> float:
    """How far the number of `_happened` may be from the expectation, by the sampling of draws and by rounding."""
    row = setting.row
    values = abs(row["value"]) + abs(row.get("decrease", nan))
    return float(DEVIATIONS * row.get("decrease_error", nan) + setting.rounding * values) / setting.square


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
