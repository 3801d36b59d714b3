"""How a worst case shows itself: the interval with the origin of its two bounds, and the certificate's multipliers."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.errors import short_text
from fedconvex.proofs_checks.worst_cases.result import WorstCase
from fedconvex.safe_text import in_picture
from fedconvex.shown import Summary, drawn, number, summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIGITS = 8
BARS = 15  # multipliers in a picture, the largest


@summary_of.register(WorstCase)
def summary(found: WorstCase) -> Summary:
    """The question, the interval, how its bounds are known, and the multipliers, the largest first."""
    spec = found.question.spec
    facts = [("lower bound", bound(found.lower, Rounding.FLOOR)), ("upper bound", bound(found.upper, Rounding.CEILING))]
    if found.lower == found.upper:
        facts = [("worst case", bound(found.lower, Rounding.NEAREST))]
    rows = tuple((name, number(value)) for name, value in largest(found))
    return Summary(
        f"worst {spec.metric} of {short_text(spec.method)} on {short_text(spec.clients)}, "
        f"{spec.rounds} round{'s' * (spec.rounds != 1)}",
        tuple(facts), ("inequality", "multiplier"), rows, (found.says,),
    )  # fmt: skip


def bound(value: Any, rounding: Rounding) -> str:
    """The bound as decimals that are rounded to its own side, and as a fraction where that is short."""
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return "∞" if value > 0 else "−∞"
    text = to_text(value, DIGITS, rounding)
    short = isinstance(value, Fraction) and value.denominator < 10**6 and value.denominator > 1
    return f"{value} = {text}" if short else text


def largest(found: WorstCase) -> list[tuple[str, Fraction]]:
    """The certificate's multipliers with their inequalities, the largest first."""
    return sorted(found.multipliers.items(), key=lambda item: -abs(item[1]))


@drawn.register(WorstCase)
def draw_worst_case(found: WorstCase, axes: "Axes") -> "Axes":
    """Draw the certificate's largest multipliers as bars, with the interval in the title; returns Matplotlib's axes."""
    from fedconvex.drawing import COLOURS, finished

    shown = largest(found)[:BARS][::-1]
    places = range(len(shown))
    axes.barh(places, [float(value) for _, value in shown], color=COLOURS[0])
    axes.set_yticks(places, [in_picture(name, 40) for name, _ in shown], fontsize=8)
    x = "multiplier of the inequality" if shown else "no bound was proved: there are no multipliers"
    interval = f"in [{bound(found.lower, Rounding.FLOOR)}, {bound(found.upper, Rounding.CEILING)}]"
    if found.lower == found.upper:
        interval = bound(found.lower, Rounding.NEAREST)
    method = in_picture(short_text(found.question.spec.method), 60)
    return finished(axes, x, "inequality", f"{method}\n{in_picture(found.question.spec.metric)} {interval}")
