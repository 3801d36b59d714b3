"""What a design looks like: its parameters, what is proved, and how much dearer other values of each one are."""

from typing import TYPE_CHECKING

from fedconvex.arithmetic.rationals import float_at_least
from fedconvex.drawing import COLOURS, STYLES, finished
from fedconvex.proofs_checks.search.lyapunov.design_result import UNITS, Design, rounded_up
from fedconvex.shown import Summary, drawn, number, summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HIGHEST = 5.0  # times the best cost: what is dearer is cut off


@summary_of.register(Design)
def summary(found: Design) -> Summary:
    """The parameters, what is proved, and how flat the optimum is."""
    lower, upper = 0.0 - float_at_least(-found.rate.lower), rounded_up(found.rate.upper)
    known = "the rate exactly" if found.rate.lower == found.rate.upper else f"quadratics attain {lower:.8g}"
    facts = [
        ("squared errors a round", f"at most × {upper:.8g}, proved; {known}"),
        ("decrease by a million", f"{found.rounds()} rounds, {number(float(found.rounds() * found.units))} "
         f"{UNITS[found.per]}" if found.per != "round" else f"{found.rounds()} rounds"),
    ]  # fmt: skip
    if found.before is not None:
        facts.append(("with the given parameters", f"at most × {rounded_up(found.before.upper):.8g} a round"))
    if found.theorem is not None:
        facts.append(("theorem with this rate", f"{found.theorem} (fedconvex bounds {found.theorem})"))
    rows = tuple(
        (name, str(value) if len(str(value)) < 20 else number(value), *map(number, found.flat[name]),
         str(found.closed_forms.get(name, "–")))
        for name, value in found.parameters.items()
    )  # fmt: skip
    notes = ["Good from, to: both ends need at most 1.1 times as many units, as proved. That no other parameters "
             "are better is not proved."]  # fmt: skip
    if found.closed_forms:
        notes.append("Formulas: as good as the best found here, and a local optimum for quadratics at two other "
                     "condition numbers.")  # fmt: skip
    return Summary(
        f"{type(found.method).__name__}, best per {found.per}: {number(found.rate.clients.lowest)}-strongly convex, "
        f"{number(found.rate.clients.highest)}-smooth clients", tuple(facts),
        ("parameter", "best", "good from", "to", "formula"), rows, tuple(notes),
    )  # fmt: skip


@drawn.register(Design)
def draw_curves(found: Design, axes: "Axes") -> "Axes":
    """A line for each parameter, over its value relative to the best one; 1 is the best cost."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for n, (name, best) in enumerate(found.parameters.items()):
        points = [one for one in found.curve if one.parameter == name]
        least = next(one.cost for one in points if one.value == best)
        shown = [(float(one.value / best), one.cost / least) for one in points if one.cost <= HIGHEST * least]
        axes.plot(
            *zip(*shown, strict=True), marker=".", label=f"{name}, best {float(best):.4g}",
            color=COLOURS[n % len(COLOURS)], linestyle=STYLES[n % len(STYLES)],
        )  # fmt: skip
    axes.plot([1], [1], "o", color=COLOURS[-1])
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    title = f"{type(found.method).__name__}: proved rates beside the best"
    return finished(axes, "value / best value", f"{found.per}s for the same decrease / fewest", title, legend=True)
