"""The figure of an experiment: panels of curves, rounds over condition numbers, bars, or a histogram."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.atomic_files import write_atomically
from fedconvex.drawing import COLOURS, STYLES, finished, picture_if_possible, tidy
from fedconvex.reproduce.execution import rounds_of
from fedconvex.reproduce.metrics import ExperimentMetrics, official_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {
    "value": "training loss",
    "gap": "F − F*, mean over clients",
    "test_accuracy": "test accuracy",
    "accuracy": "training accuracy",
    "gradient_variance": "variance of gradients",
}
LOWEST = 1e-15  # gaps below are rounding errors
CUT = 3.0  # a diverging loss is cut off at this multiple of the largest initial value
GREY = "0.45"
RELEASED = "released code, authors' data (thin)"


def draw(measured: ExperimentMetrics, folder: Path) -> list[Path]:
    """Write figure.png and figure.svg; nothing if the experiment has no figure."""
    kind = measured.experiment.figure.get("kind", "none")
    if kind == "none":
        return []
    figure = {"curves": curves, "rounds": rounds, "bars": bars, "histogram": histogram}[kind]
    files = {folder / f"figure.{ending}": ending for ending in ("png", "svg")}
    for file, ending in files.items():
        # no date in the SVG: equal runs give equal files
        metadata = {"Date": None} if ending == "svg" else None
        content = picture_if_possible(lambda: figure(measured), ending, dpi=160, metadata=metadata)
        if content is None:
            return []
        write_atomically(file, content)
    return list(files)


def curves(measured: ExperimentMetrics) -> "Figure":
    """Curves: a row of panels per quantity, a column per data set and group of methods; bands over seeds."""
    experiment = measured.experiment
    options, methods = experiment.figure, experiment.methods
    groups = list(dict.fromkeys(entry.get("panel", "") for entry in methods.values()))
    places = [(label, group) for label in options.get("panels", list(experiment.data)) for group in groups]
    lines = list(dict.fromkeys(_line(label, entry) for label, entry in methods.items()))
    figure = _figure(len(options["y"]), len(places))
    all_axes = figure.subplots(len(options["y"]), len(places), squeeze=False, sharex=True, sharey="row")
    for column, row in zip(options["y"], all_axes, strict=True):
        for (label, group), axes in zip(places, row, strict=True):
            for method, entry in methods.items():
                if entry.get("panel", "") == group and label in entry.get("only", [label]):
                    line = _line(method, entry)
                    _curve(axes, measured, column, label, method, line, lines.index(line))
                    _official(axes, measured, column, label, method, lines.index(line))
            _scale(axes, column, options.get("log", False))
            axes.set_title(", ".join(filter(None, (label, group))), fontsize=9)
            tidy(axes)
        row[0].set_ylabel(LABELS.get(column, column))
    for axes in all_axes[-1]:
        axes.set_xlabel("communication rounds")
    _legend_below(figure, 3 if len(places) < 3 else 4)
    return _titled(figure, measured)


def _legend_below(figure: "Figure", columns: int) -> None:
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        handles |= {text: handle for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    if RELEASED in handles:
        handles[RELEASED] = handles.pop(RELEASED)  # moved to the end
    columns = min(len(handles), columns)
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns, fontsize=8, frameon=False
    )


def _line(label: str, entry: Mapping[str, Any]) -> str:
    return str(entry.get("line", label))


def _curve(axes: "Axes", measured: ExperimentMetrics, column: str, data: str, method: str, line: str, i: int) -> None:
    found = measured.curves(column, data, method)
    lowest = LOWEST if column == "gap" else -math.inf
    highest = CUT * float(np.max(found[:, 0])) if column == "value" else math.inf
    if (found > highest).any():
        axes.annotate("cut off", (0, highest), (3, 2), textcoords="offset points", fontsize=7, color=GREY)
    found = np.clip(found, lowest, highest)
    places = np.arange(found.shape[1])
    colour = COLOURS[i % len(COLOURS)]
    if len(found) > 1:
        axes.fill_between(places, found.min(0), found.max(0), color=colour, alpha=0.12, linewidth=0)
    axes.plot(places, np.median(found, 0), STYLES[i % len(STYLES)], color=colour, linewidth=1.5, label=line)
    if measured.experiment.figure.get("floors") and (floor := measured.floor(data, method)) > LOWEST:
        axes.axhline(floor, color=colour, linewidth=0.8, alpha=0.9)
        axes.annotate(f"closed form {floor:.2g}", (1 - 0.2 * i, floor), (-3, 2), xycoords=("axes fraction", "data"),
                      textcoords="offset points", ha="right", fontsize=7, color=colour,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # fmt: skip


def _official(axes: "Axes", measured: ExperimentMetrics, column: str, data: str, method: str, i: int) -> None:
    """The released code's curve, thin, if it measures the same: its gradient variance weights clients differently."""
    run = measured.experiment.figure.get("official", {}).get(data, {}).get(method)
    curve = official_curves(measured.data_dir).get(run, {}).get(column) if run else None
    if curve is None or column == "gradient_variance":
        return
    shown = curve[: rounds_of(measured.experiment, method) + 1]
    axes.plot(np.arange(len(shown)), shown, color=COLOURS[i % len(COLOURS)], linewidth=0.6, alpha=0.6)
    if RELEASED not in axes.get_legend_handles_labels()[1]:
        axes.plot([], [], color=GREY, linewidth=0.6, label=RELEASED)


def rounds(measured: ExperimentMetrics) -> "Figure":
    """Rounds to a gap over the condition number, both logarithmic, with lines proportional to κ and √κ."""
    options, experiment = measured.experiment.figure, measured.experiment
    figure = _figure(1, 1.6)
    axes = figure.subplots()
    families = list(dict.fromkeys(entry["family"] for entry in experiment.data.values()))
    for i, method in enumerate(experiment.methods):
        for j, family in enumerate(families):
            labels = [label for label, entry in experiment.data.items() if entry["family"] == family]
            x = np.array([float(experiment.data[label][options["x"]]) for label in labels])
            y = np.array([measured.rounds_to(options["level"], "gap", label, method) for label in labels])
            kept = np.isfinite(y) & (y > 0)
            axes.plot(x[kept], y[kept], "o" + STYLES[j % len(STYLES)], markersize=3.5, color=COLOURS[i], linewidth=1.4,
                      label=f"{method}, {family}")  # fmt: skip
    guides = np.array([min(x), max(x)])
    for power, name in ((1.0, "∝ κ"), (0.5, "∝ √κ")):
        axes.plot(guides, 4 * guides**power, color="0.75", linewidth=0.8, zorder=0)
        axes.annotate(name, (guides[-1], 4 * guides[-1] ** power), (4, -3), textcoords="offset points", fontsize=8,
                      color=GREY)  # fmt: skip
    for row in experiment.numbers:
        if isinstance(row.get("published"), int | float) and row["published"] > 1:
            axes.plot([guides[-1]], [row["published"]], "kx", markersize=6)
            axes.annotate(f"published, about {row['published']:,}", (guides[-1], row["published"]), (-6, 4),
                          textcoords="offset points", ha="right", fontsize=7)  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    finished(axes, "condition number κ", f"communication rounds to F − F* ≤ {options['level']:g} (mean)", legend=True)
    return _titled(figure, measured)


def bars(measured: ExperimentMetrics) -> "Figure":
    """Published number and ours side by side."""
    rows = [row for row in measured.experiment.numbers if isinstance(row.get("published"), int | float)]
    ours = [measured.number(row, "ours") for row in rows]
    figure = _figure(0.3 + 0.1 * len(rows), 2.2)
    axes = figure.subplots()
    places = np.arange(len(rows))[::-1]
    if not measured.experiment.note:  # with a note, ours are from other data
        axes.barh(places + 0.2, [row["published"] for row in rows], 0.38, color="0.75", label="published")
    axes.barh(places - 0.2, [o if math.isfinite(o) else 0 for o in ours], 0.38, color=COLOURS[0], label="ours")
    for place, o in zip(places, ours, strict=True):
        text = f" {o:.0f}" if math.isfinite(o) else " not reached"
        axes.annotate(text, (o if math.isfinite(o) else 1, place - 0.2), va="center", fontsize=7, color=GREY)
    axes.set_yticks(places, [row["what"] for row in rows], fontsize=8)
    axes.margins(y=0.02)
    axes.set_axisbelow(True)
    axes.set_xscale("log")
    axes.set_xlim(left=1)
    axes.set_xlabel(measured.experiment.figure.get("x", "models sent until the level is reached"))
    tidy(axes)
    _legend_below(figure, 2)
    return _titled(figure, measured)


def histogram(measured: ExperimentMetrics) -> "Figure":
    """Histograms of the number of classes that hold a share of a client's samples: one panel per share."""
    frame = measured.frame
    shares: Sequence[float] = sorted(frame["share"].unique())
    names = list(frame["problem"].unique())
    figure = _figure(1, len(shares))
    for axes, share in zip(np.atleast_1d(figure.subplots(1, len(shares), sharey=True)), shares, strict=True):
        for i, name in enumerate(names):
            rows = frame[(frame["share"] == share) & (frame["problem"] == name)].sort_values("classes")
            width = 0.8 / len(names)
            axes.bar(rows["classes"] + (i - (len(names) - 1) / 2) * width, rows["clients"], width, color=COLOURS[i],
                     label=str(name))  # fmt: skip
        axes.set_axisbelow(True)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel("classes")
        axes.set_title(f"{share:.0%} of a client's samples", fontsize=9)
        tidy(axes)
    figure.axes[0].set_ylabel("clients")
    _legend_below(figure, 4)
    return _titled(figure, measured)


def _figure(rows: float, columns: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(max(3.1 * columns, 7.5), max(2.3 * rows + 1.1, 4.2)), layout="constrained")


def _titled(figure: "Figure", measured: ExperimentMetrics) -> "Figure":
    experiment = measured.experiment
    text = f"{experiment.id}: {experiment.title}" + (" (quick)" if experiment.quick else "")
    text += f"; {experiment.note}" if experiment.note else ""
    figure.suptitle(textwrap.fill(text, int(12 * figure.get_figwidth())), fontsize=10)
    return figure


def _scale(axes: "Axes", column: str, log: bool) -> None:
    axes.set_xlim(left=0)
    if log and "accuracy" not in column:
        axes.set_yscale("log")
    if "accuracy" in column:
        axes.set_ylim(0, 1)
