"""Files without a header line: how their first line tells, and the names that their columns get.

A first line of numbers is a sample. To read it as names would lose it, and nobody would notice.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from fedconvex.data.columns import MISSING, are_dates, is_any_number
from fedconvex.errors import InvalidInput

ADD_A_HEADER = "name the columns by these names, or add a header line to the file"


def holds_data(first: Sequence[str]) -> bool:
    """Whether a file's first line is a sample: numbers, beside missing values and dates.

    pandas and NumPy name the columns of a matrix 0, 1, 2, …: such a line is a header.
    """
    cells = [cell.strip() for cell in first]
    present = [cell for cell in cells if cell.lower() not in MISSING]
    others = [cell for cell in present if not is_any_number(cell)]
    return len(others) < len(present) and not are_indices(cells) and all(are_dates([cell]) for cell in others)


def are_indices(names: Sequence[str]) -> bool:
    """Whether the names are 0, 1, 2, …, or 1, 2, 3, …, perhaps beside one empty name, which pandas gives its index."""
    named = [name for name in names if name]
    if len(named) < max(2, len(names) - 1) or not all(name.isascii() and name.isdecimal() for name in named):
        return False
    return named[0] in ("0", "1") and all(int(b) == int(a) + 1 for a, b in pairwise(named))


def doubtful(line: int, names: Sequence[str]) -> tuple[str, ...]:
    """What is said of a header line that may be a sample after all: of indices, or with a number that is not whole."""
    if are_indices(names):
        return (f"line {line} ({names[0]} to {names[-1]}) is taken as the header",)
    fractional = next((name for name in names if not name.isdecimal() and is_any_number(name)), None)
    return () if fractional is None else (f"line {line} is taken as the header, although {fractional!r} is a number",)


def made_names(count: int) -> list[str]:
    """column1 … columnN, by position."""
    return [f"column{number}" for number in range(1, count + 1)]


def without_header(line: int, count: int) -> str:
    """The sentence that says why the columns have made names."""
    return (
        f"line {line} holds numbers, not names: the file has no header line, its columns are column1 to column{count}"
    )


def require_made_names(names: Sequence[str], given: Mapping[str, str | None], path: Path, sentence: str) -> None:
    """Raises InvalidInput for an option that names a column that a file without a header line cannot have."""
    for option, name in given.items():
        if isinstance(name, str) and name not in names:
            raise InvalidInput(option, name, f"{path}: {sentence}", ADD_A_HEADER)
