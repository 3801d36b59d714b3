"""How a trajectory shows itself: some of its rounds as text, all of them as a picture, and whether it diverges."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.errors import short_text
from fedconvex.runs.measurements import at_points
from fedconvex.runs.simulation import Trajectory
from fedconvex.safe_text import in_picture
from fedconvex.shown import Summary, drawn, number, some_of, summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST = 8  # steps from which their growth tells anything
DIVERGING, GROWING = 100.0, 2.0  # how many times as long the last steps are as the first ones


@summary_of.register(Trajectory)
def summary(trajectory: Trajectory) -> Summary:
    """The method, the problem, and the objective at some rounds; the gap where the minimiser is known already."""
    points = arithmetics.of(trajectory.points).to_float(trajectory.points)
    kept = some_of(len(points))
    columns = ["value", "gradient_norm"]
    if getattr(trajectory.problem, "known_ground_truths", None):  # `str` does not solve a problem
        columns.insert(1, "gap")
    with np.errstate(all="ignore"):
        found = at_points(trajectory.problem, points[kept], columns)
    rows = tuple((str(t), *(number(found[name][i]) for name in columns)) for i, t in enumerate(kept))
    setup = trajectory.setup
    facts = () if setup is None else (
        ("participation", short_text(setup.participation)), ("local solver", short_text(setup.local_solver)),
        ("arithmetic", setup.arithmetic), ("random seed", str(setup.seed)),
    )  # fmt: skip
    warning = divergence(trajectory)
    return Summary(
        f"{short_text(trajectory.method)} on {short_text(trajectory.problem)}: {len(points) - 1} rounds"
        + f", {warning.partition(':')[0]}" * bool(warning),
        facts, ("round", *columns), rows, (warning,) if warning else (),
    )  # fmt: skip


def divergence(trajectory: Trajectory) -> str:
    """A sentence with the evidence that the run diverges, or may; "" without evidence.

    Evidence is a point that is not finite, or steps that grow: a little while the objective is above its first value,
    or very much where it falls, as without a minimiser. Steps of a run that converges to a biased point shrink, and
    those of a stationary stochastic one keep their size.
    """
    points = arithmetics.of(trajectory.points).to_float(trajectory.points)
    finite = np.isfinite(points).all(axis=-1)
    if not finite.all():
        return f"diverges: from round {int(np.argmin(finite))} on, the server's point is not finite"
    with np.errstate(all="ignore"):
        steps = np.linalg.norm(np.diff(points, axis=0), axis=-1)
        if len(steps) < FEWEST:
            return ""
        quarter = len(steps) // 4
        first, last = float(np.median(steps[:quarter])), float(np.median(steps[-quarter:]))
        values = at_points(trajectory.problem, points[[0, -1]], ["value"])["value"]
    if not np.isfinite(values[1]):
        return f"diverges: the objective after round {len(steps)} is not finite"
    rises = bool(values[1] > values[0])
    if not last > (GROWING if rises else DIVERGING) * first:
        return ""
    word = "diverges" if rises and last > DIVERGING * first else "may diverge"
    cure = "try a smaller stepsize" if rises else "the objective may have no minimiser"
    return (
        f"{word}: the steps grew from {number(first, 3)} (first quarter of the rounds) to {number(last, 3)} (last), "
        f"the objective from {number(values[0], 4)} to {number(values[1], 4)}; {cure}"
    )


@drawn.register(Trajectory)
def draw_trajectory(trajectory: Trajectory, axes: "Axes") -> "Axes":
    """Plot the suboptimality over the rounds, or the objective where there is no minimiser; returns the axes."""
    from matplotlib.ticker import MaxNLocator

    from fedconvex.drawing import finished, label_decades

    frame = trajectory.to_frame(("value", "gap"))
    gap = frame["gap"].to_numpy()
    is_gap = bool(np.isfinite(gap).any())
    shown: Any = gap if is_gap else frame["value"].to_numpy()
    shown = np.where(np.isfinite(shown), shown, np.nan)
    few = np.isfinite(shown).sum() <= FEWEST
    axes.plot(frame["round"].to_numpy(), shown, linewidth=1.8, marker="o" if few else None)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    positive = shown[shown > 0]
    if is_gap and len(positive) and positive.max() > 10 * positive.min():
        axes.set_yscale("log")
        if positive.max() > 1e3 * positive.min():
            label_decades(axes.yaxis)
    word = divergence(trajectory).partition(":")[0]
    title = in_picture(short_text(trajectory.method), 70) + f", {word}" * bool(word)
    return finished(axes, "communication rounds", "suboptimality f(x) − f*" if is_gap else "objective f(x)", title)
