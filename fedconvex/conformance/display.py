"""What a conformance report looks like: its first lines, and the error in each round."""

from typing import TYPE_CHECKING

import numpy as np

from fedconvex.conformance.report import Report, gaps
from fedconvex.drawing import finished
from fedconvex.safe_text import in_picture
from fedconvex.shown import Summary, drawn, summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@summary_of.register(Report)
def summary(report: Report) -> Summary:
    """The report's first lines; `report()` is all of it."""
    title, *others = report.report().splitlines()
    return Summary(title, notes=tuple(others))


@drawn.register(Report)
def draw_errors(report: Report, axes: "Axes") -> "Axes":
    """Draw the error in each round and scenario, with the largest tolerance; returns Matplotlib's axes."""
    tolerances = [report.tolerances(reference) for reference in report.references]
    smallest = min(float(of_run.min()) for of_run in tolerances)
    for run, reference in zip(report.runs, report.references, strict=True):
        # errors of 0 have no logarithm: they are drawn far below every tolerance
        axes.plot(np.maximum(gaps(run, reference), smallest / 1e3), marker="o", label=in_picture(run.scenario.name))
    axes.axhline(
        max(float(of_run[-1]) for of_run in tolerances), color="black", linestyle=":", label="largest tolerance"
    )
    axes.set_yscale("log")
    return finished(axes, "round", "distance from the exact trajectory", in_picture(report.method), legend=True)
