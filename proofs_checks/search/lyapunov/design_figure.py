"""The picture of a design: how much dearer other values of each parameter are."""

from typing import TYPE_CHECKING

from fedconvex.drawing import COLOURS, STYLES, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fedconvex.proofs_checks.search.lyapunov.design_result import Design

HIGHEST = 5.0  # times the best cost: what is dearer is cut off


def draw_curves(found: "Design", axes: "Axes | None" = None) -> "Axes":
    """A line for each parameter, over its value relative to the best one; 1 is the best cost."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes = new_axes() if axes is None else axes
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
    axes.set_xlabel("value / best value")
    axes.set_ylabel(f"{found.per}s for the same decrease / fewest")
    axes.set_title(f"{type(found.method).__name__}: proved rates beside the best")
    axes.legend()
    tidy(axes)
    return axes
