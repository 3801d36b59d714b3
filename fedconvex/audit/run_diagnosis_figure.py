"""The picture of a diagnosis: the run over rounds, its method's prediction, the error floor and the tolerance."""

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from fedconvex.audit.methods import shorthand
from fedconvex.drawing import COLOURS, STYLES, label_decades, new_axes, tidy
from fedconvex.safe_text import in_picture
from fedconvex.shown import some_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fedconvex.audit.run_diagnosis import RunDiagnosis

PREDICTED = 24  # rounds for which the prediction is computed
LOWEST = 1e-20  # of the first value: what is drawn for zeros and below
HIGHEST = 1e20


def draw_run(found: "RunDiagnosis", axes: "Axes | None" = None) -> "Axes":
    """Plot what the run recorded, the prediction where the run recorded losses, the floor, and the tolerance."""
    axes = new_axes() if axes is None else axes
    series, twin = found.series, found.twin
    first = float(series.values[0])
    relative = np.full(len(series.values), np.nan)
    finite = np.isfinite(series.values)
    relative[finite] = np.clip(series.values[finite] / first, LOWEST, HIGHEST)
    rounds = np.arange(len(relative))
    axes.plot(rounds, relative, STYLES[0], color=COLOURS[0], linewidth=1.8, label="the run")
    if series.of_losses:
        places = some_of(len(relative), PREDICTED)
        gaps = [twin.model.first_gap if t == 0 else twin.gap_after(t) for t in places]
        shown = [(t, min(max(gap / first, LOWEST), HIGHEST)) for t, gap in zip(places, gaps, strict=True)]
        shown = [(t, gap) for (t, gap), raw in zip(shown, gaps, strict=True) if isfinite(raw)]
        axes.plot(
            [t for t, _ in shown], [gap for _, gap in shown], STYLES[1], color=COLOURS[1], linewidth=1.2,
            label="predicted without chance, from 0",
        )  # fmt: skip
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
