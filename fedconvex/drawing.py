"""Colours, line styles and axes shared by all pictures."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# the palette of Okabe and Ito: distinguishable for colour-blind readers and in grey print
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")


def new_axes() -> "Axes":
    """Axes of a new figure outside Matplotlib's global state; lines get the colours and styles in turn."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(7.5, 4.8), layout="constrained").subplots()
    axes.set_prop_cycle(color=COLOURS, linestyle=[STYLES[i % len(STYLES)] for i in range(len(COLOURS))])
    return axes


def tidy(axes: "Axes") -> None:
    """Adds a faint grid, and removes the frame at the top and on the right."""
    axes.grid(True, which="major", color="0.92")
    axes.spines[["top", "right"]].set_visible(False)
