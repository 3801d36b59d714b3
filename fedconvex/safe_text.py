"""Text from files, names and other people's programs, made safe to show on terminals, pages and pictures.

A terminal obeys control characters, and shows text in another order where bidirectional ones stand; a lone surrogate
cannot be written at all. This module is the only place that decides how such characters look.
"""

import json
import re
from collections.abc import Iterable, Sequence
from unicodedata import category

LONGEST_NAME = 80  # characters of a name in a sentence
LONGEST_PATH = 300  # characters of a path: its last part matters most
SHOWN_AS_THEY_ARE = "\n\t"


def printable(text: str) -> str:
    r"""The text with every character that is not visible written as in JSON, such as \u001b; lines and tabs stay.

    These are control characters, lone surrogates, and format characters, which change direction or have no width. In
    a JSON text the result means the same.
    """
    if text.isprintable():
        return text
    return "".join(c if _is_visible(c) or c in SHOWN_AS_THEY_ARE else _escaped(c) for c in text)


def one_line(text: str, limit: int | None = None) -> str:
    r"""The text on one line, with \n and \t written out as well, truncated to `limit` characters."""
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable():
        return text
    return "".join(c if _is_visible(c) else _escaped(c) for c in text)


def shown_path(path: object) -> str:
    """A path on one line; of one longer than `LONGEST_PATH`, the last part."""
    text = str(path)
    return one_line(text if len(text) <= LONGEST_PATH else "…" + text[1 - LONGEST_PATH :])


def in_picture(text: object, limit: int = LONGEST_NAME) -> str:
    """The text as Matplotlib's titles and legends show it literally, as one line.

    Between two dollar signs it would read a formula, and it leaves labels out that begin with an underscore.
    """
    line = one_line(str(text), limit)
    return (" " if line.startswith("_") else "") + line.replace("$", r"\$")


def in_markdown_table(text: object) -> str:
    """The text as a cell of a Markdown table: on one line, and without signs that end the cell or begin HTML."""
    line = " ".join(printable(str(text)).split())
    line = line.replace(r"\|", "&#92;&#124;").replace("|", r"\|")
    return re.sub("<(?=[a-zA-Z/!?])", "&lt;", line)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table with these cells."""
    lines = (head, ["---"] * len(head), *rows)
    return "".join(f"| {' | '.join(map(in_markdown_table, line))} |\n" for line in lines)


def _is_visible(c: str) -> bool:
    return c.isprintable() or category(c) == "Zs"  # spaces of all widths


def _escaped(c: str) -> str:
    return json.dumps(c)[1:-1] if c != "\x7f" else r"\u007f"
