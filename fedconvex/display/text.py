"""Documents as text for a terminal: each block's label in a column of its own."""

from collections.abc import Iterable
from textwrap import wrap
from typing import TYPE_CHECKING

from fedconvex.claims.display.plain_text import from_latex, mixed
from fedconvex.display.documents import CodeBlock, DocumentBlock, FormulaBlock, Heading, ItemList, Paragraph, TableBlock

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 100
LABEL = 12  # columns of the labels
PROGRAM = 20  # lines of a program


def text(blocks: Iterable[DocumentBlock], width: int = WIDTH) -> str:
    """The blocks in lines of this width; items of a list stand one after the other."""
    return "\n".join(line for block in blocks for line in _lines(block, width))


def _lines(block: DocumentBlock, width: int) -> list[str]:
    match block:
        case Heading():
            return [block.text]
        case Paragraph():
            return labelled(block.label, mixed(block.text) + f"   ({block.remark})" * bool(block.remark), width)
        case FormulaBlock():
            return labelled(block.label, block.plain or from_latex(block.latex), width)
        case ItemList():
            return labelled(block.label, "; ".join(mixed(str(one)) for one in block.items), width)
        case CodeBlock():
            return _beside(block.label, block.text.splitlines()[:PROGRAM])
    raise NotImplementedError(type(block).__name__)


def labelled(label: str, words: str, width: int = WIDTH) -> list[str]:
    """The words in lines, with the label before the first one."""
    return _beside(label, wrap(words, width - LABEL, break_on_hyphens=False))


def _beside(label: str, lines: list[str]) -> list[str]:
    return [f"{'' if number else label:<{LABEL}}{line}" for number, line in enumerate(lines)]


def print_table(block: TableBlock, output: "Console") -> None:
    """Print the table: the first column and numbers stay whole, other columns are as wide as the terminal allows."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), header_style="bold", show_header=any(block.headings))
    for i, heading in enumerate(block.headings):
        number = block.is_number(i)
        table.add_column(heading, justify="right" if number else "left", no_wrap=number or i == 0, overflow="fold")
    for row in block.rows:
        table.add_row(*map(Text, row))
    output.print(table)
