"""The picture of a recommendation: predicted and measured rounds to the tolerance, method by method."""

from typing import TYPE_CHECKING

from fedconvex.audit.methods import shorthand
from fedconvex.drawing import COLOURS, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fedconvex.audit.recommendation_result import Recommendation


def draw_rounds(found: "Recommendation", axes: "Axes | None" = None) -> "Axes":
    """A bar for the predicted rounds of each method, the recommended one on top, and a dot for the measured rounds."""
    axes = new_axes() if axes is None else axes
    entries = list(enumerate(reversed(found.ranked)))
    predicted = [(place, entry.predicted_rounds) for place, entry in entries if entry.predicted_rounds is not None]
    measured = [(place, entry.measured_rounds) for place, entry in entries if entry.measured_rounds is not None]
    axes.barh([p for p, _ in predicted], [max(n, 1) for _, n in predicted], color=COLOURS[0], label="predicted")
    axes.plot([max(n, 1) for _, n in measured], [p for p, _ in measured], "o", color=COLOURS[1], label="measured")
    axes.set_yticks([place for place, _ in entries], [shorthand(entry.method) for _, entry in entries])
    axes.set_ylabel("method")
    axes.set_xscale("log")
    axes.set_xlim(left=1)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"rounds to relative suboptimality {found.tolerance:g} (no bar: not reached)")
    axes.set_title("recommended: " + shorthand(found.best.method))
    if predicted or measured:
        axes.legend()
    tidy(axes)
    return axes
