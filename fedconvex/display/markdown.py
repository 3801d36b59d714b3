"""Documents as Markdown, with formulas between dollars: the guide's pages and what notebooks show."""

from collections.abc import Iterable

from fedconvex.display.documents import (
    CodeBlock,
    DocumentBlock,
    FormulaBlock,
    Heading,
    ItemList,
    Paragraph,
    TableBlock,
    lead_of,
)
from fedconvex.safe_text import markdown_table


def markdown(blocks: Iterable[DocumentBlock]) -> str:
    """The blocks as Markdown."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: DocumentBlock) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {block.text}"
        case FormulaBlock():
            return f"{lead_of(block) if block.lead else ''}\n\n$$ {block.latex} $$".lstrip()
        case CodeBlock():
            return f"```python\n{block.text}\n```"
        case Paragraph():
            return " ".join(filter(None, (block.verdict, lead_of(block), block.text, block.remark)))
        case ItemList():
            return "\n".join(f"* {item}" for item in block.items)
        case TableBlock():
            return markdown_table(block.headings, block.rows).rstrip("\n")
