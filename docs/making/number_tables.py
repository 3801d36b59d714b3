"""Tables of computed numbers: what has a row, and how its cells are computed, which may take seconds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

from fedconvex.safe_text import markdown_table


@final
@dataclass(frozen=True)
class NumberTable:
    """A table whose rows are computed one by one, so that tests can compare each with a recorded one."""

    head: tuple[str, ...]
    cases: Callable[[], Iterable[tuple[Any, ...]]]
    cells: Callable[..., tuple[str, ...]]  # the cells of a case

    def rows(self) -> list[tuple[str, ...]]:
        """All rows, computed anew."""
        return [self.cells(*case) for case in self.cases()]

    def as_markdown(self) -> str:
        """The table, computed anew."""
        return markdown_table(self.head, self.rows())
