"""Docstrings are plain text: before Markdown reads them, what it would take for its own markup is escaped."""

import re
from textwrap import indent
from typing import Any

import griffe

AT_THE_START = re.compile(r"(: |^ *)>(?!>>)", re.MULTILINE)  # "step: > 0.": no quotation
EXAMPLE = re.compile(r"(?:^|(?<=\n\n))>>> .*?(?=\n\n|\Z)", re.DOTALL)  # a paragraph that is a Python session
FIELD = re.compile(r"number\((?:default=(.*))?\)")  # fedconvex.parameters.number, a dataclass field


class PlainText(griffe.Extension):
    """An extension of mkdocstrings, which mkdocs.yml names."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Escapes the docstring of one object, and makes its Python sessions code blocks."""
        if obj.docstring is not None:
            text = EXAMPLE.sub(lambda found: indent(found[0], "    "), obj.docstring.value)
            obj.docstring.value = AT_THE_START.sub(r"\1\>", text)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Shows a field's default as a caller writes it: none for `number()`, 1 for `number(default=1)`."""
        if field := FIELD.fullmatch(str(attr.value)):
            attr.value = field[1]
