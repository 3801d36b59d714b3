"""The figure of a sweep: one curve per method with a band that shows the spread over the seeds."""

from typing import TYPE_CHECKING

import numpy as np

from fedconvex.drawing import COLOURS, STYLES, finished, new_axes
from fedconvex.errors import InvalidInput
from fedconvex.names import checked_keywords
from fedconvex.safe_text import in_picture
from fedconvex.validation import is_choice

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

LABELS = {"round": "communication rounds", "bytes": "bytes sent so far, up and down", "gap": "gap  f(x) − f*"}


@checked_keywords
def draw_sweep(
    table: "pandas.DataFrame",
    y: str = "gap",
    x: str = "round",
    problem: str | None = None,
    axes: "Axes | None" = None,
) -> "Axes":
    """Plots the median over the seeds of column `y` against rounds or bytes; the band spans all seeds.

    Use x="bytes" to compare methods that send different amounts a round (SCAFFOLD sends two vectors each way).

    Args:
        table: the table that `sweep` returned or wrote.
        y: a column of the table. The axis is logarithmic if the column has no negative and some positive values.
        x: "round", or "bytes": the cumulative bytes sent in both directions, at the median over the seeds.
        problem: the name of one problem; needed if the table has several.
        axes: draw into these axes; None: into a new figure.

    Raises:
        InvalidInput: an unknown problem, column or x.
    """
    if not {"problem", "method", "seed", "round"} <= set(getattr(table, "columns", ())):
        raise InvalidInput("table", type(table).__name__, "is not the table of a sweep", "give what `sweep` returned")
    problems = list(table["problem"].unique())
    chosen = problems[0] if problem is None and len(problems) == 1 else problem
    if not is_choice(chosen, problems):
        raise InvalidInput("problem", problem, "is not in the table", f"choose {', '.join(map(str, problems))}")
    if not is_choice(y, list(table.columns)):
        raise InvalidInput("y", y, "is no column of the table", f"choose from {', '.join(table.columns)}")
    if not is_choice(x, ("round", "bytes")):
        raise InvalidInput("x", x, "is unknown", "give 'round' or 'bytes'")
    if axes is not None and not hasattr(axes, "fill_between"):
        raise InvalidInput("axes", axes, "are not Matplotlib's axes", "leave them out for a new figure")
    axes = new_axes() if axes is None else axes
    shown = table[table["problem"] == chosen]
    for i, (method, runs) in enumerate(shown.groupby("method", sort=False, observed=True)):
        # one column per seed; runs that stopped early have NaN
        values = runs.pivot_table(index="round", columns="seed", values=y, observed=True)
        places = values.index.to_numpy(dtype=float)
        if x == "bytes":
            sent = (runs["bytes_down"] + runs["bytes_up"]).groupby(runs["seed"]).cumsum()
            places = sent.groupby(runs["round"]).median().reindex(values.index).to_numpy(dtype=float)
        colour = COLOURS[i % len(COLOURS)]
        axes.fill_between(places, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            places,
            values.median(axis=1),
            STYLES[i % len(STYLES)],
            color=colour,
            linewidth=1.8,
            label=in_picture(method),
        )
    numbers = shown[y].to_numpy(dtype=float)
    if np.nanmax(numbers) > 0 and np.nanmin(numbers) >= 0:
        axes.set_yscale("log")
    axes.set_xlim(left=0)
    title = f"{in_picture(chosen)}: median of {shown['seed'].nunique()} seeds, band: all of them"
    return finished(axes, LABELS[x], LABELS.get(y, in_picture(y)), title, legend=True)
