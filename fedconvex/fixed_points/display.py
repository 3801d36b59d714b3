"""What a fixed point looks like: its bias and error floor with their certainty, and some of its coefficients."""

from typing import TYPE_CHECKING

from fedconvex.arithmetic.decimals import at_most
from fedconvex.arithmetic.rationals import Scalar
from fedconvex.errors import FedconvexError, short_text
from fedconvex.fixed_points.result import FixedPoint, floats_of
from fedconvex.shown import Summary, decided, drawn, number, some_of, summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DECIDED_QUICKLY = 300  # numbers of a state up to which uniqueness and attraction are decided in a moment


@summary_of.register(FixedPoint)
def summary(stop: FixedPoint) -> Summary:
    """The bias and the error floor with their certainty, whether the point is unique and attracting, the point."""
    point, facts = floats_of(stop.point), [("known", stop.certainty.value)]
    rows: tuple[tuple[str, ...], ...]
    try:
        minimizer, bias = floats_of(stop.minimizer), floats_of(stop.bias)
        facts += [("bias ‖point − x*‖", _magnitude(stop.bias_norm)), ("f(point) − f(x*)", _magnitude(stop.gap))]
        rows = tuple((str(i), number(point[i]), number(minimizer[i]), number(bias[i])) for i in some_of(len(point), 12))
    except FedconvexError as error:
        facts += [("bias", f"none: {error}")]
        rows = tuple((str(i), number(point[i]), "–", "–") for i in some_of(len(point), 12))
    if stop.problem.num_clients * stop.problem.dim <= DECIDED_QUICKLY:
        facts += [("unique", decided(stop.unique)), ("attracting", decided(stop.attracting))]
    else:
        facts += [("unique, attracting", "computed by .unique and .attracting, which may take long here")]
    title = f"fixed point of {short_text(stop.method)} on {short_text(stop.problem)}"
    return Summary(title, tuple(facts), ("coefficient", "point", "minimiser", "bias"), rows)


@drawn.register(FixedPoint)
def draw_fixed_point(stop: FixedPoint, axes: "Axes") -> "Axes":
    """Draw the coefficients of the fixed point and of the minimiser; returns Matplotlib's axes."""
    from fedconvex.drawing import draw_coefficients

    frame = stop.to_frame()
    series = {"fixed point": frame["point"].to_numpy(), "minimiser": frame["minimizer"].to_numpy()}
    return draw_coefficients(series, f"fixed point of {short_text(stop.method)}", axes)


def _magnitude(value: Scalar) -> str:
    """A float's digits; of a ball the midpoint, or the upper bound where the ball contains 0."""
    if not hasattr(value, "mid"):
        return number(value)
    from fedconvex.arithmetic.balls import lower_float, upper_float

    return number(value.mid()) if lower_float(value) > 0 else at_most(max(upper_float(value), 0.0), 2)
