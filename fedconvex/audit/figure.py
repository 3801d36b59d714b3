"""The pictures of an audit, a recommendation and a diagnosis."""

from typing import TYPE_CHECKING

import numpy as np

from fedconvex.audit.methods import shorthand
from fedconvex.drawing import COLOURS, STYLES, finished, label_decades, new_axes
from fedconvex.safe_text import in_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fedconvex.audit.measure import Audit, MethodAudit
    from fedconvex.audit.recommendation_result import Recommendation
    from fedconvex.audit.run_diagnosis import RunDiagnosis

LABELLED = 12  # methods in the legend
MARGINS = (0.105, 0.105, 0.985, 0.935)  # room for powers of ten, the labels and the title
LOWEST = 1e-14  # relative suboptimality below this is rounding error
DRAWN = (1e-20, 1e20)  # what is drawn of a user's run: zeros and below are at the lower bound


def draw_audit(audit: "Audit", axes: "Axes | None" = None) -> "Axes":
    """Plot the relative suboptimality (f(x_t) − f(x*))/(f(0) − f(x*)) of every method over rounds; returns the axes.

    The scale is logarithmic: linear convergence is a straight line. A horizontal line marks the error floor, computed
    from the fixed point and not from the run, at which a biased method levels off.
    """
    axes = new_axes(MARGINS) if axes is None else axes
    first = audit.first_gap
    floors = {method.name: _floor(method, first) for method in audit.methods}
    for i, method in enumerate(audit.methods):
        colour = COLOURS[i % len(COLOURS)]
        relative = np.clip(method.gaps / first, LOWEST, 1e3)
        style = STYLES[i % len(STYLES)]
        axes.plot(np.arange(len(relative)), relative, style, color=colour, linewidth=1.8, label=_label(method))
        floor = floors[method.name]
        if floor is not None:
            axes.axhline(floor, color=colour, linewidth=0.9, alpha=0.8)
            # of two floors close together, the lower one gets its label below the line
            crowded = any(other is not None and 1 < other / floor < 3 for other in floors.values())
            axes.annotate(
                f"error floor {floor:.1e}", (1, floor), (-4, -3 if crowded else 3), xycoords=("axes fraction", "data"),
                textcoords="offset points", ha="right", va="top" if crowded else "bottom", fontsize=7, color=colour,
            )  # fmt: skip
    axes.axhline(audit.tolerance, color="0.6", linewidth=0.8, linestyle=(0, (1, 3)))
    axes.annotate(
        f"tolerance {audit.tolerance:g}", (0, audit.tolerance), (4, 3), xycoords=("axes fraction", "data"),
        textcoords="offset points", fontsize=7, color="0.4",
    )  # fmt: skip
    axes.set_yscale("log")
    label_decades(axes.yaxis)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=LOWEST / 2)
    title = f"{in_picture(audit.source)}: {audit.problem.num_clients} clients, {audit.problem.dim} unknowns"
    finished(axes, "communication rounds", "relative suboptimality  (f(x) − f*) / (f(0) − f*)", title)
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > LABELLED:
        labels[LABELLED - 1] += f", and {len(labels) - LABELLED} more"
    legend = (handles[:LABELLED], labels[:LABELLED])
    axes.legend(*legend, frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 0.02))
    return axes


def _floor(method: "MethodAudit", first: float) -> float | None:
    """The relative error floor; None if the fixed point is the minimiser, up to rounding."""
    if method.floor is None or not method.floor.value > LOWEST * first:
        return None
    return method.floor.value / first


def _label(method: "MethodAudit") -> str:
    name = in_picture(method.name)
    return name if method.attracting is not False else f"{name}, does not converge"


def draw_rounds(found: "Recommendation", axes: "Axes") -> "Axes":
    """A bar for the predicted rounds of each method, the recommended one on top, and a dot for the measured rounds."""
    entries = list(enumerate(reversed(found.ranked)))
    predicted = [(place, entry.predicted_rounds) for place, entry in entries if entry.predicted_rounds is not None]
    measured = [(place, entry.measured_rounds) for place, entry in entries if entry.measured_rounds is not None]
    axes.barh([p for p, _ in predicted], [max(n, 1) for _, n in predicted], color=COLOURS[0], label="predicted")
    axes.plot([max(n, 1) for _, n in measured], [p for p, _ in measured], "o", color=COLOURS[1], label="measured")
    axes.set_yticks([place for place, _ in entries], [shorthand(entry.method) for _, entry in entries])
    axes.set_xscale("log")
    axes.set_xlim(left=1)
    axes.set_axisbelow(True)
    x = f"rounds to relative suboptimality {found.tolerance:g} (no bar: not reached)"
    legend = bool(predicted or measured)
    return finished(axes, x, "method", "recommended: " + shorthand(found.best.method), legend=legend)


def draw_run(found: "RunDiagnosis", axes: "Axes") -> "Axes":
    """Plot what the run recorded, its method played without chance, the floor, and the tolerance."""
    series, twin = found.series, found.twin
    first = float(series.values[0])
    relative = np.full(len(series.values), np.nan)
    finite = np.isfinite(series.values)
    relative[finite] = np.clip(series.values[finite] / first, *DRAWN)
    axes.plot(series.places, relative, STYLES[0], color=COLOURS[0], linewidth=1.8, label="the run")
    played = np.clip(twin.played / first, *DRAWN)
    start = "from the same start" if twin.starts_alike else "from 0"
    axes.plot(
        np.arange(len(played)), played, STYLES[1], color=COLOURS[1], linewidth=1.2, label=f"without chance, {start}"
    )
    for value, name, colour in ((twin.floor / first, "error floor", COLOURS[2]), (found.tolerance, "tolerance", "0.5")):
        if DRAWN[0] < value < DRAWN[1]:
            axes.axhline(value, color=colour, linewidth=0.9, linestyle=(0, (1, 2)), label=f"{name} {value:.2g}")
    axes.set_yscale("log")
    label_decades(axes.yaxis)
    axes.set_xlim(left=0)
    title = in_picture(f"{shorthand(twin.method)}: {found.cause}")
    return finished(axes, "communication rounds", f"{series.name}, relative to the first", title, legend=True)
