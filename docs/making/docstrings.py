"""How docstrings are read: as plain text, of which Markdown must take nothing for marks of its own."""

import re
from textwrap import indent
from typing import Any

import griffe

AT_THE_START = re.compile(r"(: |^ *)>(?!>>)", re.MULTILINE)  # "step: > 0.": no quotation
EXAMPLE = re.compile(r"(?:^|(?<=\n\n))>>> .*?(?=\n\n|\Z)", re.DOTALL)  # a paragraph that is a Python session
FIELD = re.compile(r"number\((?:default=(.*))?\)")  # fedconvex.parameters.number, a dataclass field


class PlainText(griffe.Extension):
    """Found by mkdocstrings through mkdocs.yml."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Escapes the docstring of every object that is read."""
        if obj.docstring is not None:
            text = EXAMPLE.sub(lambda found: indent(found[0], "    "), obj.docstring.value)
            obj.docstring.value = AT_THE_START.sub(r"\1\>", text)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Says the default of a field as one would give it: none for `number()`, 1 for `number(default=1)`."""
        if field := FIELD.fullmatch(str(attr.value)):
            attr.value = field[1]
