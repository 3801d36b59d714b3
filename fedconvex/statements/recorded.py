"""What `fedconvex.proofs_checks` has recorded of a statement, as two phrases: of the printed words, and what holds.

A data file, so that a calculator's documentation and `bounds_for` can show the phrases: nothing here imports a proof.
What is recorded belongs to the statement's content: a statement of the same name that says something else has no
record. The tests verify every statement anew and compare.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from fedconvex.json_files import fault_in, read_json

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement


def file() -> Path | None:
    """The file of the recorded verdicts; None in an installation without proofs."""
    found = find_spec("fedconvex.proofs_checks")  # where it lies, without importing it
    folders = found.submodule_search_locations if found is not None else None
    return Path(folders[0]) / "verdicts.json" if folders else None


@final
@dataclass(frozen=True)
class Phrases:
    """The recorded verdict on a statement, in words."""

    as_printed: str
    holds: str

    def __str__(self) -> str:
        return f"As printed: {self.as_printed}. Holds: {self.holds}."

    @property
    def differs(self) -> bool:
        """Whether what holds is not simply what is printed, so that a reader of the number must know."""
        return self != NOT_RECORDED and not self.holds.startswith(("as printed", "as stated", "of the code"))


SHAPE = {str: {"as_printed?": str, "holds?": str, "content?": str}}
NOT_RECORDED = Phrases("not checked", "not checked")


def phrases(statement: "Statement") -> Phrases:
    """The phrases recorded of what the statement says; `NOT_RECORDED` where there are none, as of a changed one."""
    entry = _entries().get(statement.identifier, {})
    if not is_of(entry, statement) or not {"as_printed", "holds"} <= entry.keys():
        return NOT_RECORDED
    return Phrases(entry["as_printed"], entry["holds"])


def is_of(entry: Mapping[str, Any], statement: "Statement") -> bool:
    """Whether the entry is of what this statement says, and not just of one of the same name."""
    return bool(entry.get("content")) and entry["content"] == statement.content


@cache
def _entries() -> dict[str, dict[str, str]]:
    path = file()
    try:
        found: dict[str, dict[str, str]] = read_json(path) if path is not None else {}
    except (OSError, ValueError):  # nothing can be read, so nothing is claimed
        return {}
    return found if fault_in(found, SHAPE) is None else {}
