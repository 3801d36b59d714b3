"""What the statements that apply to a problem look like: their values, and why others do not apply."""

from typing import TYPE_CHECKING

from fedconvex.shown import Summary, drawn, summary_of
from fedconvex.statements.assumptions.base import short
from fedconvex.statements.results import entries_of, parts
from fedconvex.theory.bounds import Bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = 20  # values in a picture


def _title(found: Bounds) -> str:
    return f"{len(found.applies)} statements apply, {len(found.does_not)} do not"


@summary_of.register(Bounds)
def summary(found: Bounds) -> Summary:
    """The statements that apply, with their values, then how many do not; `to_frame()` has all with the reasons."""
    rows = []
    for entry in found.applies:
        numbers = [number for part in parts(entry.value) for _, number in entries_of("", part)]
        value = f"{entry.statement.calculator.name} = {', '.join(map(short, numbers))}"
        rows.append((entry.statement.identifier, value, entry.statement.phrases.holds))
    rows += [(e.statement.identifier, f"not: {e.assumption}", e.reason) for e in found.does_not]
    headings = ("statement", "value, or the assumption that fails", "what holds, or why it fails")
    notes = ("to_frame() has every statement with its number or its reason",)
    return Summary(_title(found), headings=headings, rows=tuple(rows), notes=notes)


@drawn.register(Bounds)
def draw_values(found: Bounds, axes: "Axes") -> "Axes":
    """Draw the positive values of the statements that apply, on a logarithmic scale; returns Matplotlib's axes."""
    from fedconvex.drawing import COLOURS, finished
    from fedconvex.safe_text import in_picture

    frame = found.to_frame()
    shown = frame[(frame["value"] > 0) & (frame["value"] < float("inf"))].iloc[:BARS][::-1]
    places = range(len(shown))
    if len(shown):
        axes.plot(shown["value"].to_numpy(), places, "o", color=COLOURS[0])
        axes.set_xscale("log")
    names = [f"{row.statement}: {row.quantity}" for row in shown.itertuples()]
    axes.set_yticks(places, [in_picture(name, 45) for name in names], fontsize=7)
    x = "value" if len(shown) else "no statement that applies has a positive value"
    return finished(axes, x, "statement", _title(found))
