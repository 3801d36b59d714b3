"""Docstrings are plain text; what Markdown would take for marks of its own is escaped before it sees them."""

import re
from textwrap import indent
from typing import Any

import griffe

AT_THE_START = re.compile(r"(: |^ *)>(?!>>)", re.MULTILINE)  # "step: > 0.": no quotation
EXAMPLE = re.compile(r"(?:^|(?<=\n\n))>>> .*?(?=\n\n|\Z)", re.DOTALL)  # a paragraph that is a Python session


class PlainText(griffe.Extension):
    """Found by mkdocstrings through mkdocs.yml."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Escapes the docstring of every object that is read."""
        if obj.docstring is not None:
            text = EXAMPLE.sub(lambda found: indent(found[0], "    "), obj.docstring.value)
            obj.docstring.value = AT_THE_START.sub(r"\1\>", text)
