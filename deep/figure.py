"""Figure of a run: what a theorem promises in every round, beside what happened."""

from math import isnan, nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedconvex.atomic_files import write_atomically
from fedconvex.deep.over_the_run import DECREASE, REFUTED, statements_about, stretches
from fedconvex.deep.round_settings import RoundSetting
from fedconvex.drawing import COLOURS, STYLES, picture, tidy
from fedconvex.errors import InvalidInput
from fedconvex.safe_text import in_picture
from fedconvex.statements.instance import Unmeasured

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fedconvex.deep.runner import DeepRun

INK, PROMISE, OTHER = COLOURS[0], COLOURS[1], COLOURS[2]
FAILS, REFUTES = "#eceae6", "#f6d5c3"
CONSTANTS = {
    "smoothness": "L (Lanczos)",
    "weak_convexity": r"$L_-$ (Lanczos)",
    "dissimilarity": "B",
    "inexactness": r"$\gamma$ of all clients",
}


def figure(run: "DeepRun", statement: str = "fedprox.theorem4", **given: Any) -> "Figure":
    """Draw objective and accuracy; the decrease of every round beside the promised one; the measured constants.

    Use it to see when a theorem applies to a run, and by how much it underestimates the decrease. Rounds in which the
    statement does not apply are shaded and labelled with the assumption that fails; those that refute its assumptions
    have a shade of their own. The constants are those that ρ is computed from.

    Args:
        statement: identifier of a statement about the run's method; a promise is drawn for those that promise a
            decrease ρ‖∇f(w)‖².
        **given: as in `DeepRun.bounds`.

    Raises InvalidInput for a statement that is not about the method.
    """
    from matplotlib.figure import Figure

    frame, table = run.to_frame(), run.bounds(**given)
    known = sorted(found.identifier for found in statements_about(run.simulator.rounds.method))
    if statement not in known:
        raise InvalidInput("statement", statement, "is not about this method", f"give one of {', '.join(known)}")
    drawn = Figure(figsize=(8, 8), layout="constrained")
    _draw(drawn, run, frame, table, statement)
    return drawn


def draw(run: "DeepRun", path: "str | PathLike[str]", statement: str = "fedprox.theorem4", **given: Any) -> Path:
    """Save `figure` as a .png, .svg or .pdf file, and return its path. Raises InvalidInput for other suffixes."""
    file = Path(path)
    if file.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InvalidInput("path", file, "is not the name of a picture", "let it end in .png, .svg or .pdf")
    write_atomically(file, picture(lambda: figure(run, statement, **given), file.suffix[1:].lower(), dpi=150))
    return file


def _draw(
    figure: "Figure", run: "DeepRun", frame: "pandas.DataFrame", table: "pandas.DataFrame", statement: str
) -> None:
    top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 2))
    seen = frame.dropna(subset="value")
    top.plot(seen["round"], seen["value"], color=INK, label="objective")
    top.set_ylabel("objective")
    if seen["accuracy"].notna().any():
        right = top.twinx()
        right.plot(seen["round"], seen["accuracy"], color=OTHER, linestyle="--", label="accuracy")
        right.set_ylabel("accuracy", color=OTHER)
        right.set_ylim(0, 1)
    top.set_title(f"{in_picture(run.simulator.rounds.method)}\n{statement} over the run", fontsize=10)
    _decreases(middle, frame, table[table["statement"] == statement], statement)
    for axes in (top, middle, bottom):
        tidy(axes)
    for axes in (top, middle):
        _shade(axes, table, statement, words=axes is middle)
    for i, (name, label) in enumerate(CONSTANTS.items()):
        found = [(setting.row["round"], _measured(setting, name)) for setting in run.settings]
        if kept := [(t, value) for t, value in found if not isnan(value)]:
            bottom.plot(*zip(*kept, strict=True), STYLES[i], color=COLOURS[i], label=label)
    # The constants differ by orders of magnitude, and some are 0, which a logarithmic axis cannot show.
    bottom.set_yscale("symlog", linthresh=0.1)
    bottom.set_ylabel("measured")
    bottom.set_xlabel("round")
    if bottom.lines:
        figure.legend(*bottom.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8,
                      frameon=False)  # fmt: skip


def _measured(setting: RoundSetting, name: str) -> float:
    try:
        return float(setting.measure(name))
    except Unmeasured:
        return nan


def _decreases(axes: "Axes", frame: "pandas.DataFrame", rows: "pandas.DataFrame", statement: str) -> None:
    axes.set_ylabel("decrease in one round")
    # Row t has the value before round t, so the decrease of round t is the difference to row t + 1.
    fallen = -frame["value"].diff().shift(-1)
    if fallen.notna().any():  # only of rounds with an evaluation before and after
        axes.plot(frame["round"], fallen, "o", markersize=3, color=INK, alpha=0.5,
                  label="happened, with the clients drawn")  # fmt: skip
    if "decrease" in frame and frame["decrease"].notna().any():
        seen = frame.dropna(subset="decrease")
        axes.errorbar(seen["round"], seen["decrease"], seen["decrease_error"], marker=".", color=INK,
                      label="expected over the draws")  # fmt: skip
    held = rows[rows["promised"].notna()]  # what a refuting round was promised, too
    if statement in DECREASE and len(held):
        squares = frame.set_index("round")["gradient_norm"] ** 2
        axes.plot(held["round"], held["promised"] * squares[held["round"]].to_numpy(), "v-", color=PROMISE,
                  markersize=4, label=r"promised: $\rho\,\|\nabla f\|^2$")  # fmt: skip
    axes.axhline(0, color="black", linewidth=0.6)
    axes.legend(frameon=False, fontsize=8)


def _shade(axes: "Axes", table: "pandas.DataFrame", statement: str, words: bool) -> None:
    for first, last, assumption, _ in stretches(table, statement):
        if assumption:
            colour, text = (REFUTES, REFUTED) if assumption == REFUTED else (FAILS, f"not: {assumption}")
            axes.axvspan(first - 0.5, last + 0.5, color=colour, zorder=0)
            if words:
                axes.text((first + last) / 2, 0.3, text, transform=axes.get_xaxis_transform(),
                          ha="center", fontsize=8, wrap=True)  # fmt: skip
