"""The console for tables: it writes text as it is, never as markup, emoji codes or a terminal's commands."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from fedconvex.safe_text import printable


class SafeConsole(Console):
    """A console for text that may come from files; styles are given as styles, never within the text."""

    def __init__(self, **options: Any) -> None:
        # no highlighting: rich would colour the numbers within names
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """The text, safe before it is measured, so that columns are as wide as what they show."""
        return super().render_str(printable(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The parts of whatever is printed, also of a `Text` that somebody else made."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(printable(part.text), part.style)
