"""The result of `diagnose`: the causes with their numbers, and the run beside what its method reaches."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from fedconvex.audit.objectives import objective
from fedconvex.audit.run_series import RunSeries
from fedconvex.audit.twins import DeterministicTwin
from fedconvex.json_files import plain_data
from fedconvex.problems.base import Problem
from fedconvex.shown import ShownResult

if TYPE_CHECKING:
    import pandas

Cause = Literal[
    "not stuck", "bias floor", "slow contraction", "divergence by stepsize", "sampling noise",
    "local solver too inexact", "stale memory", "not this method's run",
]  # fmt: skip


@final
@dataclass(frozen=True, eq=False)
class StuckCause:
    """One cause: its number with its meaning (all NUMERIC), the evidence, and the cure."""

    cause: Cause
    number: float
    quantity: str
    evidence: str
    cure: str


@final
@dataclass(frozen=True, eq=False)
class RunDiagnosis(ShownResult):
    """The result of `diagnose`: the causes, the one that holds the run up now first."""

    causes: tuple[StuckCause, ...]
    tolerance: float
    series: RunSeries  # what the run recorded
    twin: DeterministicTwin  # the method without chance

    @property
    def cause(self) -> Cause:
        """The first cause; "not stuck" where the run reached the tolerance."""
        return self.causes[0].cause

    @property
    def problem(self) -> Problem:
        """Whose objective the run is compared on."""
        return self.twin.model.problem

    @property
    def number(self) -> float:
        """The first cause's number; its meaning is `causes[0].quantity`."""
        return self.causes[0].number

    @property
    def evidence(self) -> str:
        """What shows the first cause."""
        return self.causes[0].evidence

    @property
    def cure(self) -> str:
        """What to do about the first cause."""
        return self.causes[0].cure

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each cause: cause, number, quantity, evidence, cure."""
        import pandas

        return pandas.DataFrame([vars(found) for found in self.causes])

    def to_dictionary(self) -> dict[str, Any]:
        """For JSON: numbers that are not finite become None."""
        causes = [plain_data(vars(found)) for found in self.causes]
        return {
            "objective": objective(self.problem),
            "cause": self.cause,
            "tolerance": self.tolerance,
            "causes": causes,
        }
