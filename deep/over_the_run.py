"""The papers' statements in every round of a run: do their assumptions hold, what do they promise, what happened?

Nothing here is proved. Constants are measured at the server's model before the round, and an assumption "holds" if
these numbers satisfy it; nothing is known about the points in between.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, final

from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.participation import Participation
from fedconvex.problems.base import Problem
from fedconvex.runs.simulator import Simulator
from fedconvex.statements.assumptions import Runs
from fedconvex.statements.instance import Unmeasured
from fedconvex.statements.results import named_parts
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox, papers
from fedconvex.theory.bounds import Applies, apply
from fedconvex.theory.fedprox.results import DECREASE as PROMISE

if TYPE_CHECKING:
    import pandas

# Constants of `fedconvex.statements.instance.Instance` that a run measures: (column, value of `measure`).
MEASURED = {
    "smoothness": ("smoothness", "curvature"),
    "weak_convexity": ("weak_convexity", "curvature"),
    "dissimilarity": ("dissimilarity", "heterogeneity"),
    "gradient_variance": ("gradient_variance", "heterogeneity"),
    "gradient": ("gradient_norm", "heterogeneity"),
    "inexactness": ("inexactness", "decrease"),  # the largest of all clients, participating or not
    "value": ("value", "heterogeneity"),
}
OF_THE_METHOD = {"stepsize": "stepsize", "alpha": "alpha", "regularization": "regularization", "proximal_weight": "mu"}
# Statements that promise f(w^t) − E f(w^{t+1}) >= ρ‖∇f(w^t)‖²; Corollary 7 promises it up to constants.
DECREASE = {s.identifier for s in fedprox.PAPER.everything if s.conclusion == PROMISE} | {"fedprox.corollary7"}


@final
@dataclass(frozen=True, eq=False)
class MeasuredCurvatures:
    """Curvatures as Lanczos' method estimates them: one number serves as upper and as lower bound."""

    smoothness: float
    strong_convexity: float

    @property
    def attained_smoothness(self) -> float:
        """The same number: a measured curvature is attained."""
        return self.smoothness

    @property
    def attained_convexity(self) -> float:
        """The same number: a measured curvature is attained."""
        return self.strong_convexity

    def lie_between(self, low: Any, high: Any) -> bool | None:
        """None: measured at one point, not known elsewhere."""
        return None


@final
@dataclass(frozen=True)
class LateOnesDropped:
    """A participation scheme whose late clients are dropped; no statement of the papers covers it."""

    scheme: Participation

    def takes_everyone(self, problem: Problem) -> bool:
        """False: late clients are missing."""
        return False


def before_and_in(now: dict[str, Any], after: dict[str, Any], num_clients: int) -> dict[str, Any]:
    """The row before a round, with the round's inexactness of all clients.

    It is NaN if only some clients took part and `decrease` was not measured, for the statements need every γ_k.
    """
    whole = after.get("inexactness", nan) if after["participants"] == num_clients else nan
    return now | {"inexactness": now.get("inexactness_of_all", whole)}


def participation_of(simulator: Simulator) -> "Participation | LateOnesDropped":
    """The scheme by which clients' answers reach the server, late clients considered."""
    late = simulator.stragglers
    return simulator.participation if late is None or late.policy == "use" else LateOnesDropped(simulator.participation)


@final
@dataclass(frozen=True, eq=False)
class RoundSetting:
    """One round of a run as `fedconvex.statements.setting.Setting`."""

    problem: Problem
    method: Method
    participation: Any  # a Participation or LateOnesDropped
    local_solver: LocalSolver
    rounds: int
    row: dict[str, Any]  # from `before_and_in`

    @property
    def everyone(self) -> bool:
        """Whether all clients take part in every round."""
        return bool(self.participation.takes_everyone(self.problem))

    @property
    def curvatures(self) -> MeasuredCurvatures:
        """Extreme curvatures of the clients' functions at the model."""
        return MeasuredCurvatures(self._column("smoothness", "curvature"), self._column("least_curvature", "curvature"))

    @property
    def objective_curvatures(self) -> MeasuredCurvatures:
        """Extreme curvatures of the objective, bounded by those of the clients, which were measured."""
        return self.curvatures

    @property
    def square(self) -> float:
        """‖∇f(w)‖²."""
        return float(self.measure("gradient") ** 2)

    @property
    def dissimilarity(self) -> Any:
        """B(w)."""
        return self.measure("dissimilarity")

    @property
    def gradient_variance(self) -> Any:
        """E_k‖∇F_k(w) − ∇f(w)‖²."""
        return self.measure("gradient_variance")

    @property
    def inexactness(self) -> Any:
        """The largest γ_k of all clients in the round, also of those that were not drawn."""
        return self.measure("inexactness")

    @property
    def prox_error(self) -> Any:
        raise Unmeasured("not measured in runs: the proximal points' errors")

    @property
    def step_contraction(self) -> Any:
        raise Unmeasured("not measured in runs: what a local step contracts by")

    @property
    def condition_number(self) -> Any:
        raise Unmeasured("not measured in runs: the condition number")

    @property
    def least_condition_number(self) -> Any:
        raise Unmeasured("not measured in runs: the condition number")

    @property
    def spread(self) -> Any:
        raise Unmeasured("not measured in runs: the devices' own minimisers")

    def measure(self, quantity: str) -> Any:
        """The constant of that name; raises Unmeasured, which says how to measure it."""
        if quantity in MEASURED:
            return self._column(*MEASURED[quantity])
        if quantity in OF_THE_METHOD:
            name = OF_THE_METHOD[quantity]
            if not hasattr(self.method, name):
                raise Unmeasured(f"{type(self.method).__name__} has no {name}")
            return getattr(self.method, name)
        match quantity:
            case "num_clients":
                return self.problem.num_clients
            case "num_drawn" | "num_active" if self.everyone:
                return self.problem.num_clients
            # Only schemes that draw a fixed number of clients have K; the statements need a fixed number.
            case "num_drawn" | "num_active" if hasattr(self.participation, "K"):
                return self.participation.K
            case "num_rounds":
                return self.rounds
            case "mu":
                least = self._column("least_curvature", "curvature")
                if least > 0:
                    return least
                raise Unmeasured(f"no strong convexity: a client's curvature goes down to {least:.3g}")
            case "square":
                return self.square
            case "mean_square":
                return self.gradient_variance + self.square
        raise Unmeasured(f"not measured in runs: {quantity}")

    def possible(self, quantity: str) -> Any:
        """The same as `measure`: a measured number has no interval of possible values."""
        return self.measure(quantity)

    def number(self, value: Any) -> Any:
        """The value as a float."""
        return float(value)

    def context(self) -> AbstractContextManager[Any]:
        """No context: floating point needs no precision to be set."""
        return nullcontext()

    def _column(self, name: str, measurement: str) -> Any:
        value = self.row.get(name, nan)
        if isnan(value):  # also in rounds without measurements
            raise Unmeasured(f"not measured: run with measure={measurement!r}")
        if not isfinite(value):
            raise Unmeasured(f"{name} is infinite here")
        return value


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
    names = ("round", "statement", "applies", "quantity", "promised", "happened", "slack", "assumption", "reason")
    return pandas.DataFrame(rows, columns=names)


def _of_round(setting: RoundSetting, given: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    t = setting.row["round"]
    for statement in statements_about(setting.method):
        found = apply(statement, setting, given)
        if not isinstance(found, Applies):
            yield t, statement.identifier, False, "", nan, nan, nan, found.assumption, found.reason
            continue
        for quantity, value in named_parts(statement.calculator.name, found.value).items():
            promised, happened = float(value), _happened(statement, setting)
            yield t, statement.identifier, True, quantity, promised, happened, happened - promised, "", ""


def _happened(statement: Statement, setting: RoundSetting) -> float:
    """The round's decrease in the statement's own unit, divided by ‖∇f(w)‖²; NaN if it was not measured."""
    if statement.identifier not in DECREASE:
        return nan
    return float(setting.row.get("decrease", nan)) / setting.square


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

    Use it on the table of `DeepRun.bounds`; one sentence per stretch of rounds with the same outcome.
    """
    return [
        f"{_rounds(first, last)}: " + (f"does not apply: {assumption} ({reason})" if assumption else "applies")
        for first, last, assumption, reason in stretches(table, statement)
    ]


def _rounds(first: int, last: int) -> str:
    return f"round {first}" if first == last else f"rounds {first}–{last}"
