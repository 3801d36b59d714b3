"""Errors of a sweep as a whole, and the record of a single run that failed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from fedconvex.errors import FedconvexError
from fedconvex.safe_text import printable

if TYPE_CHECKING:
    import pandas

SHOWN = 10  # the message lists at most this many failed runs


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
        return printable(f"{self.method} on {self.problem}, seed {self.seed}: {self.message}")


class SweepFailed(FedconvexError):
    """Some runs of a sweep ended with an error; all others are finished.

    failures: one `Failure` per failed run, in the order of the grid. finished: the table of the other runs. runs: the
    number of all runs of the grid. advice: what to do next.
    """

    def __init__(self, failures: tuple[Failure, ...], finished: "pandas.DataFrame", runs: int, advice: str) -> None:
        self.failures, self.finished, self.runs, self.advice = failures, finished, runs, advice
        super().__init__(failures, finished, runs, advice)  # all arguments, so that the error can be pickled

    def __str__(self) -> str:
        lines = [f"{len(self.failures)} of {self.runs} runs failed; {self.advice}"]
        lines += [f"  {failure}" for failure in self.failures[:SHOWN]]
        if len(self.failures) > SHOWN:
            lines.append(f"  … and {len(self.failures) - SHOWN} more, see the error's `failures`")
        return "\n".join(lines)


class IncompleteSweep(FedconvexError):
    """The collected results are not exactly the runs of the grid: one is missing, duplicate or from another sweep."""
