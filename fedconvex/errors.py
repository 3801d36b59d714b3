"""The errors that users see. Each names the value, what is wrong with it, and the remedy."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, final

from fedconvex.safe_text import LONGEST_NAME, LONGEST_PATH, one_line, shown_path

LONGEST_SENTENCE = 2000  # characters of the problem and of the cure, which may name things from files


class FedconvexError(Exception):
    """Base class of all errors that fedconvex raises on purpose."""


class InvalidInput(FedconvexError, ValueError):
    """An argument is not usable: its name, its value, the problem, and the cure.

    >>> raise InvalidInput("stepsize", -1, "must be positive", "give a stepsize > 0")
    Traceback (most recent call last):
    fedconvex.errors.InvalidInput: stepsize = -1: must be positive; give a stepsize > 0
    """

    def __init__(self, argument: str, value: Any, problem: str, cure: str) -> None:
        self.argument, self.value, self.problem, self.cure = argument, value, problem, cure
        super().__init__(argument, value, problem, cure)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"  # Python's own fails for integers of thousands of digits

    def __str__(self) -> str:
        problem, cure = (short_text(words, LONGEST_SENTENCE) for words in (self.problem, self.cure))
        return f"{one_line(self.argument, LONGEST_PATH)} = {short_text(self.value)}: {problem}; {cure}"


@final
class UntidyTable(InvalidInput):
    """A table's columns cannot be used without decisions: `problems` lists them all, `options` decides.

    `options` are keyword arguments: `fedconvex.data.load(path, **error.options)`, or `from_frame`, is the next call.
    The text has a line for each problem, and ends with the options as they are typed (`cure`) if there are any.
    """

    def __init__(
        self, argument: str, value: Any, problems: Sequence[str], options: Mapping[str, Any], cure: str
    ) -> None:
        self.problems, self.options = tuple(problems), dict(options)
        super().__init__(argument, value, "; ".join(self.problems), cure)
        self.args = (argument, value, self.problems, self.options, cure)  # with these, pickle makes it anew

    def __str__(self) -> str:
        table = f"{one_line(self.argument, LONGEST_PATH)} = {short_text(self.value)}"
        problems = [one_line(problem, LONGEST_SENTENCE) for problem in self.problems]
        if len(problems) == 1:
            return f"{table}: {problems[0]}"
        lines = [f"{table}: {len(problems)} problems:", *(f"  {problem}" for problem in problems)]
        # not truncated: a part of the options would be another command
        return "\n".join([*lines, f"all at once: {one_line(self.cure)}"] if self.options else lines)


@final
class UnknownKeyword(InvalidInput, TypeError):
    """A keyword that the function or class does not take: a TypeError, too, as Python raises for it."""


class TooLarge(InvalidInput):
    """The data, or a computation with them, takes more memory than there is; see `fedconvex.memory`."""


class NoMinimizer(FedconvexError):
    """The objective has no minimiser; `witness` is a direction along which it decreases for ever.

    `witness` is a 1-d array of `fractions.Fraction`, checked in exact arithmetic.
    """

    def __init__(self, reason: str, witness: Any = None) -> None:
        super().__init__(reason)
        self.witness = witness


class NoFixedPoint(FedconvexError):
    """The method has no fixed point on this problem; `witness` is a direction along which the iterates drift."""

    def __init__(self, reason: str, witness: Any = None) -> None:
        super().__init__(reason)
        self.witness = witness


class NotConverged(FedconvexError):
    """A numerical method ended without a result accurate enough to be reported."""


class MissingLibrary(FedconvexError, ImportError):
    """An optional library that this call needs is not installed."""

    def __init__(self, library: str, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed; pip install 'fedconvex[{extra}]'")


class LoggerFailed(UserWarning):
    """A logger of a deep run has failed: the run continues without it."""


class PlainAverage(UserWarning):
    """Clients drawn uniformly are averaged plainly, though the objective weights them: it is not what is minimised."""


class PictureFailed(UserWarning):
    """Matplotlib could not draw the picture of results that are saved."""


class PreparedData(UserWarning):
    """What was done to a table, or chosen for it, without a request; see `fedconvex.data.from_frame`."""


class ResumedElsewhere(UserWarning):
    """A run resumes from a checkpoint that another kind of processor wrote: its last digits may differ."""


class SearchCutShort(UserWarning):
    """A limit of seconds ended a search before its tries were used up: on another machine it may find more."""


def short_text(value: Any, limit: int = LONGEST_NAME) -> str:
    """The value on one line that a terminal can show, truncated to `limit` characters; of a long path the last part."""
    if isinstance(value, PurePath):
        return shown_path(value)
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()  # shows 0 instead of np.int64(0)
    try:
        text = str(value) if type(value).__name__ in ("str", "Fraction", "fmpq", "fmpz") else repr(value)
    except ValueError:  # Python refuses to write integers of more than 4,300 digits
        text = "a number of thousands of digits"
    return one_line(" ".join(text[: 10 * limit].split()), limit)
