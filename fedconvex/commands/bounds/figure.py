"""`fedconvex bounds --plot`: a figure of a sweep, labelled with the paper's symbols."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.commands.bounds.parameters import written
from fedconvex.commands.bounds.sweep import Sweep
from fedconvex.drawing import COLOURS, STYLES, new_axes, picture_if_possible, tidy
from fedconvex.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 7  # the most lines in a plot; with more points on both axes it becomes a contour plot
LEVELS = 13
IN_A_LINE = 6  # values in a line of the title
DECADES = 2.5  # values that span more powers of ten are drawn on a logarithmic scale
BELOW = 1.5  # negative values are cut off at this multiple of the largest one: near a pole all else would be flat


def picture_of(sweep: Sweep, ending: str) -> bytes | None:
    """The figure as a .png, .pdf or .svg file; None, and a warning, where Matplotlib fails."""
    return picture_if_possible(lambda: draw_sweep(sweep).figure, ending.lstrip("."), dpi=150)


def draw_sweep(sweep: Sweep, axes: "Axes | None" = None) -> "Axes":
    """Draw a sweep: one parameter as a curve for each part; two as lines if one has few values, else as contours."""
    if len(sweep.axes) > 2 or (len(sweep.axes) == 2 and len(sweep.numbers) > 1):
        what = f"{len(sweep.axes)} parameters, {len(sweep.numbers)} numbers"
        raise InvalidInput("--plot", what, "are too many for a picture", "sweep one parameter, or two for one number")
    axes = new_axes() if axes is None else axes
    if len(sweep.axes) == 2 and min(sweep.shape) > FEW:
        _contours(sweep, axes)
    else:
        _curves(sweep, axes)
    given = [f"{_parameter_symbol(sweep, name)} = {_short(value)}" for name, value in sweep.fixed.items()]
    lines = [", ".join(given[i : i + IN_A_LINE]) for i in range(0, len(given), IN_A_LINE)]
    axes.set_title("\n".join([f"{sweep.entry.source} ({sweep.entry.claim})", *lines]), fontsize=9)
    return axes


def _curves(sweep: Sweep, axes: "Axes") -> None:
    """Draw lines over the swept parameter with more values."""
    names = list(sweep.axes)
    along = int(np.argmax(sweep.shape))
    x = sweep.axes[names[along]]
    lines = {}
    if len(names) == 1:
        lines = dict(zip(_names(sweep), sweep.numbers.values(), strict=True))
    else:
        other = names[1 - along]
        (values,) = sweep.numbers.values()
        rows = np.moveaxis(values.reshape(sweep.shape), along, 1)
        for value, row in zip(sweep.axes[other].values, rows, strict=True):
            lines[f"{_parameter_symbol(sweep, other)} = {value:.6g}"] = row
    for i, (label, y) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        axes.plot(x.values, y, STYLES[i % len(STYLES)], color=colour, linewidth=1.8, label=label)
        if sweep.entry.positive and len(lines) == 1:
            axes.fill_between(x.values, 0, y, where=y > 0, color=colour, alpha=0.12, linewidth=0, interpolate=True)
    every = np.concatenate(list(lines.values()))
    if sweep.entry.positive:
        _show_positive(axes, every)
    elif _spreads(every):
        axes.set_yscale("log")
    if x.logarithmic:
        axes.set_xscale("log")
    axes.set_xlabel(_described(sweep, names[along]))
    axes.set_ylabel(_symbol(sweep))
    tidy(axes)
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=8)


def _show_positive(axes: "Axes", values: np.ndarray) -> None:
    """Draw the zero line, label the side without a promise, and cut off values far below 0."""
    axes.axhline(0, color="0.3", linewidth=0.9)
    top, bottom = np.nanmax(values), np.nanmin(values)
    if top > 0 and bottom < -BELOW * top:
        axes.set_ylim(-BELOW * top, 1.15 * top)
    says = "below: no guarantee" if top > 0 else "nowhere positive: no guarantee"
    axes.annotate(says, (1, 0), (-4, -4), xycoords=("axes fraction", "data"), textcoords="offset points",
                  ha="right", va="top", fontsize=8, color="0.3")  # fmt: skip


def _contours(sweep: Sweep, axes: "Axes") -> None:
    """Draw contours: the first swept parameter on the horizontal axis, the second on the vertical one."""
    from matplotlib.colors import BoundaryNorm

    (x_name, x), (y_name, y) = sweep.axes.items()
    (numbers,) = sweep.numbers.values()
    values = np.ma.masked_invalid(numbers.reshape(sweep.shape).T)
    top, bottom = float(values.max()), float(values.min())
    label = _symbol(sweep)
    levels = (
        np.geomspace(bottom, top, LEVELS)
        if bottom > 0 and _spreads(values.compressed())
        else np.linspace(bottom, top, LEVELS)
    )
    if sweep.entry.positive:
        axes.contourf(x.values, y.values, values, levels=[min(bottom, 0) - 1, 0], colors=["0.88"])
        label += ", grey: no guarantee"
        # logarithmic levels over two decades and a third: near a pole linear ones would all lie beside it
        levels = np.array([0, *np.geomspace(max(bottom, top / 200), top, LEVELS - 1)]) if top > 0 else np.zeros(2)
    label += ", white: refused" if sweep.refusals else ""
    if (np.diff(levels) > 0).all():
        norm = BoundaryNorm(levels, 256)
        filled = axes.contourf(x.values, y.values, values, levels=levels, norm=norm, cmap="viridis")
        axes.figure.colorbar(filled, ax=axes, label=label, ticks=levels, format="%.2g")
        if levels[0] == 0 > bottom:
            axes.contour(x.values, y.values, values, levels=[0], colors=["#D55E00"], linewidths=1.5)
    else:
        says = "nowhere positive: no guarantee" if sweep.entry.positive else f"everywhere {top:.6g}"
        axes.annotate(says, (0.5, 0.5), xycoords="axes fraction", ha="center")
    for axis, set_scale in ((x, axes.set_xscale), (y, axes.set_yscale)):
        if axis.logarithmic:
            set_scale("log")
    axes.set_xlabel(_described(sweep, x_name))
    axes.set_ylabel(_described(sweep, y_name))


def _spreads(values: np.ndarray) -> bool:
    """Whether all values are positive (or underflow to 0) and span more than `DECADES` powers of ten."""
    positive = values[values > 0]
    return bool(len(positive) and np.nanmin(values) >= 0 and positive.max() > 10**DECADES * positive.min())


def _parameter_symbol(sweep: Sweep, name: str) -> str:
    return _typeset(sweep.entry.parameters[name].latex_symbol(), name)


def _described(sweep: Sweep, name: str) -> str:
    return f"{_parameter_symbol(sweep, name)}  ({sweep.entry.parameters[name].meaning})"


def _symbol(sweep: Sweep) -> str:
    """The left-hand side of the statement, or the calculator's name."""
    statement, name = sweep.entry.statement, sweep.entry.calculator.name
    if statement is None or len(sweep.numbers) > 1 or not statement.symbol[0]:
        return name
    return _typeset(statement.symbol[0], name)


def _names(sweep: Sweep) -> list[str]:
    """The paper's symbols of the parts, or their names if Matplotlib cannot set all symbols."""
    names, statement = list(sweep.numbers), sweep.entry.statement
    symbols = statement.symbol if statement is not None else ()
    typeset = [_typeset(symbol, "") for symbol in symbols]
    return typeset if len(typeset) == len(names) and all(typeset) else names


def _typeset(latex: str, otherwise: str) -> str:
    """The formula for Matplotlib, or `otherwise` if Matplotlib cannot set it."""
    from matplotlib.mathtext import MathTextParser

    if not latex:
        return otherwise
    try:
        MathTextParser("path").parse(f"${latex}$")
    except ValueError:
        return otherwise
    return f"${latex}$"


def _short(value: Any) -> str:
    text = written(value)
    return text if isinstance(text, str) else ",".join(text)
