"""What a minimiser looks like: its bounds, and some of its coefficients."""

from typing import TYPE_CHECKING

from fedconvex.arithmetic.decimals import at_least, at_most
from fedconvex.errors import short_text
from fedconvex.ground_truths.certificates import GroundTruth
from fedconvex.shown import Summary, drawn, number, some_of, summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@summary_of.register(GroundTruth)
def summary(truth: GroundTruth) -> Summary:
    """The minimum with its bounds, and some of the minimiser's coefficients."""
    kept = some_of(len(truth.point), 12)
    return Summary(
        f"minimiser of {short_text(truth.problem)}, {truth.certainty.value}",
        (
            ("f(point)", number(truth.value, 10)),
            ("‖point − x*‖", at_most(truth.distance_bound, 2)),
            ("f(point) − f(x*)", at_most(truth.gap_bound, 2)),
            ("strong convexity", at_least(truth.strong_convexity, 4)),
            ("found by", truth.solver),
        ),
        ("coefficient", "value"),
        tuple((str(i), number(truth.point[i])) for i in kept),
    )


@drawn.register(GroundTruth)
def draw_minimizer(truth: GroundTruth, axes: "Axes") -> "Axes":
    """Draw the minimiser's coefficients; returns Matplotlib's axes."""
    from fedconvex.drawing import draw_coefficients

    return draw_coefficients({"x*": truth.point}, f"minimiser of {short_text(truth.problem)}", axes)
