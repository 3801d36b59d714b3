"""What can go wrong in a sweep as a whole."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from fedconvex.errors import FedconvexError

if TYPE_CHECKING:
    import pandas

SHOWN = 10  # failed runs that a message names


@final
@dataclass(frozen=True)
class Failure:
    """A run of a sweep that ended with an error."""

    method: str
    problem: str
    seed: int
    message: str  # the error's type and text
    traceback: str = ""

    def __str__(self) -> str:
        return f"{self.method} on {self.problem}, seed {self.seed}: {self.message}"


class SweepFailed(FedconvexError):
    """Some runs of a sweep ended with an error; all others are finished.

    failures: one `Failure` per such run, in the grid's order. finished: the table of the others. runs: of the grid.
    """

    def __init__(self, failures: tuple[Failure, ...], finished: "pandas.DataFrame", runs: int, advice: str) -> None:
        self.failures, self.finished, self.runs, self.advice = failures, finished, runs, advice
        super().__init__(failures, finished, runs, advice)

    def __str__(self) -> str:
        lines = [f"{len(self.failures)} of {self.runs} runs failed; {self.advice}"]
        lines += [f"  {failure}" for failure in self.failures[:SHOWN]]
        if len(self.failures) > SHOWN:
            lines.append(f"  … and {len(self.failures) - SHOWN} more, see the error's `failures`")
        return "\n".join(lines)


class IncompleteSweep(FedconvexError):
    """A run is missing, is there twice, or belongs to another sweep: the runs at hand are not those of the grid."""
