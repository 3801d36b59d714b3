"""The audit's figure: suboptimality over rounds, with each method's predicted error floor as a horizontal line."""

from typing import TYPE_CHECKING

import numpy as np

from fedconvex.drawing import COLOURS, STYLES, label_decades, new_axes, tidy
from fedconvex.safe_text import in_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fedconvex.audit.measure import Audit, MethodAudit

LABELLED = 12  # methods in the legend
MARGINS = (0.105, 0.105, 0.985, 0.935)  # room for powers of ten, the labels and the title
LOWEST = 1e-14  # relative suboptimality below this is rounding error


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
    axes.set_xlabel("communication rounds")
    axes.set_ylabel("relative suboptimality  (f(x) − f*) / (f(0) − f*)")
    axes.set_title(
        f"{in_picture(audit.source)}: {audit.problem.num_clients} clients, {audit.problem.dim} unknowns", fontsize=10
    )
    tidy(axes)
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
