"""Colours, line styles and axes shared by all pictures."""

import io
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.errors import InvalidInput, PictureFailed
from fedconvex.safe_text import in_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# the palette of Okabe and Ito: distinguishable for colour-blind readers and in grey print
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def new_axes(margins: tuple[float, float, float, float] | None = None) -> "Axes":
    """Axes of a new figure outside Matplotlib's global state; lines get the colours and styles in turn.

    margins: the axes' left, bottom, right and top in the figure, where they are known; Matplotlib's search for them
        takes as long as the drawing.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.8), layout="constrained" if margins is None else None)
    if margins is not None:
        figure.subplots_adjust(*margins)
    axes = figure.subplots()
    axes.set_prop_cycle(color=COLOURS, linestyle=[STYLES[i % len(STYLES)] for i in range(len(COLOURS))])
    return axes


def picture(draw: "Callable[[], Figure | Any]", ending: str, **options: Any) -> bytes:
    """The drawn figure as a file with that ending, in Matplotlib's default style whatever the user's matplotlibrc says.

    options: of the figure's `savefig`.
    """
    import matplotlib

    content = io.BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # a matplotlibrc may ask for LaTeX, which is not installed
        draw().savefig(content, format=ending, **options)
    return content.getvalue()


def picture_if_possible(draw: "Callable[[], Figure | Any]", ending: str, **options: Any) -> bytes | None:
    """`picture`, or None and a warning, PictureFailed, where Matplotlib fails: call it once the numbers are saved."""
    try:
        return picture(draw, ending, **options)
    except InvalidInput:  # what is asked for has no picture
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        warnings.warn(PictureFailed(f"no picture was drawn ({reason}); nothing else is lost"), stacklevel=2)
        return None


def tidy(axes: "Axes") -> None:
    """Adds a faint grid, and removes the frame at the top and on the right."""
    axes.grid(True, which="major", color="0.92")
    axes.spines[["top", "right"]].set_visible(False)


def finished(axes: "Axes", x: str, y: str, title: str = "", *, legend: bool = False) -> "Axes":
    """The axes with their labels, a title, the grid, and a legend if there is something to tell apart."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=10)
    tidy(axes)
    if legend:
        axes.legend(frameon=False, fontsize=8)
    return axes


def label_decades(axis: "Axis") -> None:
    """Labels the powers of ten, and nothing between them, on a logarithmic axis of many decades.

    The labels are plain text: Matplotlib's own pass through its parser of formulas, which takes longer than the plot.
    """
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: decade(value)))
    axis.set_minor_formatter(NullFormatter())


def decade(value: float) -> str:
    """A power of ten, such as 10⁻³."""
    return f"10{str(round(math.log10(value))).translate(SUPERSCRIPTS)}"


FEW = 60  # coefficients that are drawn as stems; more are a line


def draw_coefficients(series: "dict[str, np.ndarray]", title: str, axes: "Axes") -> "Axes":
    """Plot each series of numbers over the coefficients' indices 0, …, d − 1; returns Matplotlib's axes."""
    from matplotlib.ticker import MaxNLocator

    for i, (name, values) in enumerate(series.items()):
        places = np.arange(len(values))
        style = {"marker": "os^"[i % 3], "markersize": 5 - i, "linestyle": ""} if len(values) <= FEW else {}
        axes.plot(places, values, color=COLOURS[i % len(COLOURS)], label=in_picture(name), **style)  # type: ignore[arg-type]
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return finished(axes, "coefficient", "value", in_picture(title, 70), legend=len(series) > 1)
