r"""The blocks that documents are made of, the same for every format.

Running text has formulas between dollars, $\mu \ge 0$, and names of code between back quotes; it may contain formulas
in Unicode, which the LaTeX writer sets. A block's `label` is one word or two that say what it is, "note"; a format with
running text uses `lead` in its place, where there is one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

INLINE = re.compile(r"\$([^$]*)\$|`([^`]*)`")  # a formula, or a name of code, in running text


@final
class Verbatim(str):
    """Text in which nothing is a formula or a name of code, since it may come from somebody's files."""

    __slots__ = ()


@final
@dataclass(frozen=True)
class Heading:
    """A heading of level 1 (the document's) to 3."""

    text: str
    level: int = 3


@final
@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `verdict` stands before its text, `remark` after it, in small print."""

    text: str
    label: str = ""
    lead: str | None = None
    verdict: str = ""
    remark: str = ""


@final
@dataclass(frozen=True)
class FormulaBlock:
    """A displayed formula in LaTeX; `plain` is its text for a terminal, where that is not made from the LaTeX."""

    latex: str
    label: str = ""
    lead: str | None = None
    plain: str = ""


@final
@dataclass(frozen=True)
class CodeBlock:
    """A program, or a part of one."""

    text: str
    label: str = ""
    lead: str | None = None


@final
@dataclass(frozen=True)
class ItemList:
    """A list; each item is a text, or blocks. `numbered`: with numbers."""

    items: "Sequence[str | Sequence[DocumentBlock]]"
    label: str = ""
    lead: str | None = None
    numbered: bool = False


@final
@dataclass(frozen=True)
class TableBlock:
    r"""A table; the last `numbers` columns hold numbers, and stand right.

    A heading of several lines, such as "bias\n‖x − x*‖", is one line where a format has no others.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0

    def is_number(self, column: int) -> bool:
        """Whether the column holds numbers."""
        return column >= len(self.headings) - self.numbers


DocumentBlock = Heading | Paragraph | FormulaBlock | CodeBlock | ItemList | TableBlock


def lead_of(block: Paragraph | FormulaBlock | CodeBlock | ItemList) -> str:
    """What introduces the block in running text: "Note:"."""
    if block.lead is not None:
        return block.lead
    return f"{block.label[0].upper()}{block.label[1:]}:" if block.label else ""
