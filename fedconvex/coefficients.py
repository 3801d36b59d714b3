"""Pictures of a point's coefficients, such as a minimiser or the bias of a fixed point."""

from typing import TYPE_CHECKING

import numpy as np

from fedconvex.drawing import COLOURS, new_axes, tidy
from fedconvex.safe_text import in_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 60  # coefficients that are drawn as stems; more are a line


def draw_coefficients(series: "dict[str, np.ndarray]", title: str, ylabel: str, axes: "Axes | None" = None) -> "Axes":
    """Plot each series of numbers over the coefficients' indices 0, …, d − 1; returns Matplotlib's axes."""
    from matplotlib.ticker import MaxNLocator

    axes = new_axes() if axes is None else axes
    for i, (name, values) in enumerate(series.items()):
        places = np.arange(len(values))
        style = {"marker": "os^"[i % 3], "markersize": 5 - i, "linestyle": ""} if len(values) <= FEW else {}
        axes.plot(places, values, color=COLOURS[i % len(COLOURS)], label=in_picture(name), **style)  # type: ignore[arg-type]
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("coefficient")
    axes.set_ylabel(ylabel)
    axes.set_title(in_picture(title, 70), fontsize=10)
    tidy(axes)
    if len(series) > 1:
        axes.legend(frameon=False, fontsize=8)
    return axes
