"""Keeps the star of x* and L^*: right after a letter it is part of the name and does not mark emphasis in Markdown."""

import re
from typing import Any

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor

OPENED = re.compile(r"(?<![\w^*)])\*(?=\w)[^*\n]*$")  # an emphasis that is still open, as in "*every"
BEFORE_EMPHASIS = 65  # Python-Markdown's own has 60, code 190


class Star(InlineProcessor):
    """Matches such a star and leaves it as text."""

    def handleMatch(self, m: re.Match[str], data: str) -> Any:  # noqa: N802 - Markdown's
        if OPENED.search(data[: m.start()]):
            return None, None, None
        return "*", m.start(), m.end()


class Stars(Extension):
    """The Markdown extension, for pages and docstrings alike."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
        md.inlinePatterns.register(Star(r"(?<=[\w^])\*(?!\*)", md), "stars", BEFORE_EMPHASIS)


def on_config(config: Any, **_: Any) -> None:
    """Adds the extension to those of mkdocs.yml."""
    config.markdown_extensions.append(Stars())
