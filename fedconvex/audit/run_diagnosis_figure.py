"""The picture of a diagnosis: the run over rounds, its method's prediction, the error floor and the tolerance."""

from typing import TYPE_CHECKING

import numpy as np

from fedconvex.audit.methods import shorthand
from fedconvex.drawing import COLOURS, STYLES, label_decades, new_axes, tidy
from fedconvex.safe_text import in_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fedconvex.audit.run_diagnosis import RunDiagnosis

LOWEST = 1e-20  # of the first value: what is drawn for zeros and below
HIGHEST = 1e20


def draw_run(found: "RunDiagnosis", axes: "Axes | None" = None) -> "Axes":
    """Plot what the run recorded, its method played without chance, the floor, and the tolerance."""
    axes = new_axes() if axes is None else axes
    series, twin = found.series, found.twin
    first = float(series.values[0])
    relative = np.full(len(series.values), np.nan)
    finite = np.isfinite(series.values)
    relative[finite] = np.clip(series.values[finite] / first, LOWEST, HIGHEST)
    axes.plot(series.places, relative, STYLES[0], color=COLOURS[0], linewidth=1.8, label="the run")
    played = np.clip(twin.played / first, LOWEST, HIGHEST)
    start = "from the same start" if twin.starts_alike else "from 0"
    axes.plot(
        np.arange(len(played)), played, STYLES[1], color=COLOURS[1], linewidth=1.2, label=f"without chance, {start}"
    )
    for value, name, colour in ((twin.floor / first, "error floor", COLOURS[2]), (found.tolerance, "tolerance", "0.5")):
        if LOWEST < value < HIGHEST:
            axes.axhline(value, color=colour, linewidth=0.9, linestyle=(0, (1, 2)), label=f"{name} {value:.2g}")
    axes.set_yscale("log")
    label_decades(axes.yaxis)
    axes.set_xlim(left=0)
    axes.set_xlabel("communication rounds")
    axes.set_ylabel(f"{series.name}, relative to the first")
    axes.set_title(in_picture(f"{shorthand(twin.method)}: {found.cause}"), fontsize=10)
    tidy(axes)
    axes.legend(frameon=False, fontsize=8)
    return axes
