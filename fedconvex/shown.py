"""How results show themselves: one summary, as text of at most 25 lines and 100 columns, and as HTML for a notebook.

Everything in a summary may come from files: control characters are written out, and HTML is escaped.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from importlib import import_module
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from fedconvex.pickled import register_flint, without_caches
from fedconvex.safe_text import one_line

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

LINES, COLUMNS = 25, 100
NOTE_LINES = 3  # of a note in text
ROWS_IN_HTML = 40
NARROW = 8  # columns that a column of words keeps
GAP = "  "
CSS = "border-collapse:collapse;font-variant-numeric:tabular-nums"


@dataclass(frozen=True)
class Summary:
    """What a result shows of itself: a title, facts by name, a table, and notes."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """At most `LINES` lines of at most `COLUMNS` columns; of a long table the first and the last rows."""
        shown = self._safe()
        lines = [_cut(shown.title)]
        name_width = max((_width(name) for name, _ in shown.facts), default=0)
        lines += [_cut(f"{GAP}{_padded(name, name_width)}{GAP}{value}") for name, value in shown.facts]
        notes = [line for note in shown.notes for line in _wrapped(note)]
        room = LINES - len(lines)
        if len(notes) > max(room - 4 * bool(shown.rows), 1):
            kept = max(room - 4 * bool(shown.rows), 1) - 1
            notes = [*notes[:kept], f"… {len(notes) - kept} more lines"]
        if shown.rows:
            lines += _table(shown.headings, shown.rows, LINES - len(lines) - len(notes))
        return "\n".join([*lines, *notes][:LINES])

    def html(self) -> str:
        """The same for a notebook, with more rows."""
        from fedconvex.display.html import Html, tag

        def row(cells: Sequence[str], name: str = "td") -> Html:
            return tag("tr", *(tag(name, cell) for cell in cells))

        parts = [tag("p", tag("b", self.title))]
        if self.facts:
            parts.append(
                tag("table", *(tag("tr", tag("th", n), tag("td", value)) for n, value in self.facts), style=CSS)
            )
        if self.rows:
            rows = map(row, _ends(self.rows, ROWS_IN_HTML, len(self.headings)))
            parts.append(tag("table", tag("thead", row(self.headings, "th")), tag("tbody", *rows), style=CSS))
        return str(tag("div", *parts, *(tag("p", note) for note in self.notes), class_="fedconvex"))

    def _safe(self) -> "Summary":
        """The same on single lines that a terminal can show."""
        return replace(
            self,
            title=one_line(self.title, 10 * COLUMNS),
            facts=tuple((one_line(name, COLUMNS), one_line(value, COLUMNS)) for name, value in self.facts),
            headings=tuple(one_line(heading, COLUMNS) for heading in self.headings),
            rows=tuple(tuple(one_line(cell, COLUMNS) for cell in row) for row in self.rows),
            notes=tuple(one_line(note, LINES * COLUMNS) for note in self.notes),
        )


class ShownResult(ABC):
    """Base of results that are shown on a terminal, in a notebook, as a table and as a picture.

    They hold numbers. What they look like is registered by type, in the module `display` of their folder, which is
    imported when a result is shown.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):  # `dataclass` does not replace a class's own, and its own prints whole arrays
            cls.__repr__ = _short_repr  # type: ignore[method-assign, assignment]

    def __getstate__(self) -> dict[str, Any]:
        register_flint()  # before the fields, which are pickled next, and may be balls
        return without_caches(self)

    @abstractmethod
    def to_frame(self) -> "pandas.DataFrame":
        """The result as a pandas table."""

    def summary(self) -> Summary:
        """What a screen and a notebook show."""
        _load_display(self)
        return summary_of(self)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw the result, on new axes or on these; returns Matplotlib's axes."""
        from fedconvex.drawing import new_axes

        _load_display(self)
        return drawn(self, new_axes() if axes is None else axes)

    def __str__(self) -> str:
        _load_display(self)
        return text_of(self)

    def _repr_html_(self) -> str:
        return self.summary().html()


@singledispatch
def summary_of(result: Any) -> Summary:
    """What is shown of a result of this type: registered in the module `display` of the result's folder."""
    raise NotImplementedError(type(result).__name__)


@singledispatch
def drawn(result: Any, axes: "Axes") -> "Axes":
    """The axes with the picture of a result of this type, registered like its summary."""
    raise NotImplementedError(type(result).__name__)


@singledispatch
def text_of(result: Any) -> str:
    """A result of this type as text."""
    return summary_of(result).text()


def _load_display(result: ShownResult) -> None:
    import_module(f"{type(result).__module__.rpartition('.')[0]}.display")


def _short_repr(result: ShownResult) -> str:
    return f"<{type(result).__name__}: {_cut(one_line(result.summary().title, 10 * COLUMNS), COLUMNS - 30)}>"


def on_screen(text: str, rest: str = "") -> str:
    """The text in at most `LINES` lines of at most `COLUMNS` columns: long lines wrap, and the last one counts others.

    Args:
        rest: where a reader finds all lines.
    """
    lines: list[str] = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())][: COLUMNS // 2]
        short = _width(line) <= COLUMNS  # its blanks are kept
        rest_indent = f"{indent}{GAP}"
        lines += [line] if short else wrap(line, _letters(line), subsequent_indent=rest_indent, break_on_hyphens=False)
    if len(lines) > LINES:
        where = f": {rest}" if rest else ""
        lines = [*lines[: LINES - 1], _cut(f"… {len(lines) - LINES + 1} more lines{where}")]
    return "\n".join(lines)


def number(value: Any, digits: int = 6) -> str:
    """A number for a table: the nearest float in a few digits, a dash for None and NaN."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**digits else f"{value:.{digits}g}"
    found = float(value)
    return "–" if found != found else f"{found:.{digits}g}"


def decided(value: bool | None) -> str:
    """Yes, no, or not decided."""
    return "not decided" if value is None else "yes" if value else "no"


def some_of(count: int, most: int = 10) -> list[int]:
    """At most `most` of the places 0, …, count − 1: close together at the start, with the first and the last."""
    if count <= most:
        return list(range(count))
    ratio = (count - 1) ** (1 / (most - 2))
    return sorted({0, *(round(ratio**i) for i in range(most - 1)), count - 1})


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[str]:
    """The lines of a table in at most `room` lines, one of them for the headings."""
    shown = [list(headings), *map(list, _ends(rows, max(room - 1, 1), len(headings)))]
    columns = [list(column) for column in zip_longest(*shown, fillvalue="")]
    widths = [max(map(_width, column)) for column in columns]
    words = [not all(_is_number(cell) for cell in column[1:]) for column in columns]
    while sum(widths) + len(GAP) * len(widths) > COLUMNS:  # shorten words, never numbers
        widest = max((w, i) for i, w in enumerate(widths) if words[i] or not any(words))[1]
        if widths[widest] <= NARROW:
            break
        widths[widest] -= 1
    lines = []
    for row in zip(*columns, strict=True):
        cells = [_padded(_cut(c, w), w, right=not s) for c, w, s in zip(row, widths, words, strict=True)]
        lines.append(_cut(GAP + GAP.join(cells).rstrip()))
    return lines


def _ends(rows: Sequence[Sequence[str]], room: int, width: int) -> list[Sequence[str]]:
    """The rows, or the first and the last of them with a row between that counts the others."""
    if len(rows) <= room:
        return list(rows)
    if room < 3:
        return [*rows[: room - 1], (f"… {len(rows) - room + 1} more", *[""] * (width - 1))]
    first = (room - 1) * 2 // 3
    last = room - 1 - first
    return [*rows[:first], (f"… {len(rows) - first - last} more", *[""] * (width - 1)), *rows[len(rows) - last :]]


def _is_number(cell: str) -> bool:
    return cell in ("", "–") or cell.startswith("… ") or cell.lstrip("≤≥ −-+")[:1].isdigit() or "inf" in cell


def _wrapped(note: str) -> list[str]:
    indent = " " * (len(note) - len(note.lstrip(" ")))
    lines = wrap(note, _letters(note), subsequent_indent=indent)
    return lines if len(lines) <= NOTE_LINES else [*lines[: NOTE_LINES - 1], _cut(f"{lines[NOTE_LINES - 1]} …")]


def _width(text: str) -> int:
    """The columns that a terminal shows the text in: East Asian letters take two."""
    if text.isascii():
        return len(text)
    try:
        from rich.cells import cell_len
    except ImportError:  # machines that only train networks may lack it
        return len(text)
    return int(cell_len(text))


def _letters(text: str) -> int:
    """How many letters of the text surely fit in a line: each is counted, since some take two columns and some none."""
    return COLUMNS // 2 if any(_width(letter) > 1 for letter in text) else COLUMNS


def _cut(text: str, limit: int = COLUMNS) -> str:
    """The text in at most `limit` columns."""
    if _width(text) <= limit:
        return text
    while _width(text) > limit - 1:
        text = text[: max(min(len(text) - 1, limit - 1), 0)]
        if not text:
            break
    return f"{text}…"


def _padded(text: str, width: int, right: bool = False) -> str:
    blanks = " " * max(width - _width(text), 0)
    return blanks + text if right else text + blanks
