"""What is wrong with a table: each finding with the options that cure it, and all of them in one error.

`TableSource`: how messages name a table, its rows, and the options of the call that reads it.
"""

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, final

import numpy as np

from fedconvex.errors import UntidyTable

Options = Mapping[str, Any]  # keyword arguments of `load`; lists for options that may be repeated
CommandStyle = Literal["command line", "Python"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a table, the options that cure it, and the cure in words where no option does."""

    problem: str
    options: Options = field(default_factory=dict)
    cure: str = ""

    def sentence(self, style: CommandStyle) -> str:
        """The problem, then the cure."""
        given = in_words(self.options, style)
        return f"{self.problem}; {', or '.join(filter(None, (self.cure, given and f'give {given}')))}"


def untidy(argument: str, value: Any, findings: Sequence[Finding], style: CommandStyle) -> UntidyTable:
    """The error that lists all findings; `argument` and `value` name the table."""
    options = merged(finding.options for finding in findings)
    cure = in_words(options, style) or "; ".join(finding.cure for finding in findings)
    return UntidyTable(argument, value, [finding.sentence(style) for finding in findings], options, cure)


def merged(several: Iterable[Options]) -> dict[str, Any]:
    """The options of several findings as those of one call: lists are joined, without repetitions."""
    together: dict[str, Any] = {}
    for options in several:
        for name, value in options.items():
            if isinstance(value, list):
                together[name] = list(dict.fromkeys([*together.get(name, []), *value]))
            else:
                together.setdefault(name, value)
    return dict(sorted(together.items(), key=lambda item: ORDER.index(item[0]) if item[0] in ORDER else len(ORDER)))


def in_words(options: Options, style: CommandStyle) -> str:
    """The options as they are typed: `--drop id --impute median`, or `drop=['id'], impute='median'`."""
    if style == "Python":
        return ", ".join(f"{name}={value!r}" for name, value in options.items())
    words: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        else:
            words += (_typed(option, str(v)) for v in (value if isinstance(value, list) else [value]))
    return " ".join(words)


# the order in which options are shown, in both styles
ORDER = (
    "client_column", "client", "clients", "partition", "target_column", "target", "task", "decimal", "drop", "one_hot",
    "impute", "standardize",
)  # fmt: skip


def _typed(option: str, value: str) -> str:
    # a value that begins with a dash would be read as an option
    return f"{option}={shlex.quote(value)}" if value.startswith("-") else f"{option} {shlex.quote(value)}"


@final
@dataclass(frozen=True, eq=False)
class TableSource:
    """A file or a frame, as the argument and the value that an error names; `numbers` (n,) count or name its rows."""

    argument: str
    value: Any
    row: str  # what the numbers count: line or row
    numbers: np.ndarray
    style: CommandStyle
    client: str = "client_column"  # the option that names the client column …
    target: str = "target_column"  # … and the one that names the target

    @classmethod
    def file(cls, path: str | os.PathLike[str], row: str, numbers: np.ndarray) -> Self:
        """A file whose rows have these numbers."""
        return cls("path", Path(path), row, numbers, "command line")

    def place(self, index: int, column: str) -> str:
        """Where a value stands: line 7, column 'age'."""
        return f"{self.row} {self.numbers[index]}, column {column!r}".lstrip()
