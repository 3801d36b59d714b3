"""The results of an audit: tables for a terminal, audit.json, the trajectories and a figure."""

import json
import math
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.arithmetic.decimals import at_least, at_most
from fedconvex.atomic_files import replaces, write_atomically
from fedconvex.audit.figure import draw_audit
from fedconvex.audit.intervals import Interval, magnitude
from fedconvex.audit.methods import shorthand
from fedconvex.audit.objectives import objective
from fedconvex.audit.recommendation_text import text
from fedconvex.audit.scaling import Scaling
from fedconvex.certainty import Certainty
from fedconvex.drawing import picture_if_possible
from fedconvex.optional import is_installed
from fedconvex.safe_text import one_line
from fedconvex.shown import Summary

if TYPE_CHECKING:
    import pandas
    from rich.console import Console

    from fedconvex.audit.measure import Audit, MethodAudit


HEADINGS = (
    "method", "bias\n‖x − x*‖", "error floor\nf(x) − f*", "\nknown", "\nattracts", "contraction\npredicted",
    "\nmeasured",
)  # fmt: skip
FILES = ("audit.json", "trajectories.parquet", "trajectories.csv", "audit.png")  # of which `save` writes three
WIDE = 112  # columns of a terminal that fits every column


def print_audit(audit: "Audit", console: "Console") -> None:
    """Print the problem's constants and a table with one row for each method; narrow terminals get two rows each."""
    from rich.table import Table
    from rich.text import Text

    constants, truth = audit.constants, audit.truth
    console.print(Text.assemble((one_line(audit.source), "bold"), f": {audit.problem!r}"))
    console.print(objective(audit.problem), highlight=False, markup=False)
    facts = Table(box=None, show_header=False, padding=(0, 1))
    facts.add_row(
        "constants",
        f"L {at_most(constants.L, 6)}",
        f"mu {at_least(constants.mu, 6)}",
        f"κ {at_most(constants.kappa, 4)}",
    )
    facts.add_row(
        "heterogeneity",
        f"B(0) = {constants.dissimilarity_at_zero:.4g}",
        f"B near x* = {constants.dissimilarity_near_optimum:.4g}",
        f"σ²(x*) = {constants.gradient_variance_at_optimum:.4g}",
    )
    facts.add_row(
        "minimiser x*",
        f"f* = {truth.value:.8g}",
        f"‖error‖ {at_most(truth.distance_bound, 2)}",
        "proved" if truth.certainty is Certainty.ENCLOSED else "no strong convexity",
    )
    console.print(facts, highlight=False)
    if audit.scaling is not None:
        console.print(Text(one_line(str(audit.scaling)), "bold"))
    rows = [(*HEADINGS, f"rounds to relative\nsuboptimality {audit.tolerance:g}"), *map(_row, audit.methods)]
    if console.width < WIDE:
        rows = [(name, *("\n".join(pair) for pair in zip(cells[0:6:2], cells[1:6:2], strict=True)), cells[6])
                for name, *cells in rows]  # fmt: skip
        rows[0] = ("method", "bias\nerror floor", "known\nattracts", "predicted\nmeasured", "rounds")
    table = Table(box=None, padding=(0, 1), header_style="bold")
    for column in rows[0]:
        table.add_column(column, justify="left" if column == "method" else "right", no_wrap=True)
    for row in rows[1:]:
        table.add_row(*row)
    console.print()
    console.print(table, highlight=False)
    for note in audit.notes:
        console.print(note, highlight=False)
    for method in audit.methods:
        if method.predicted_at == "last round":
            console.print(
                f"{shorthand(method.method)}: contraction predicted at the last round, as the clients' memory at the "
                "fixed point is not known",
                highlight=False,
            )
    console.print()
    recommended = audit.recommendation and text(audit.recommendation, with_objective=False)
    recommended = recommended or "none, since the clients' Hessians do not fit into memory"
    console.print(Text.assemble(("recommendation", "bold"), f": {recommended}"), highlight=False)


def to_dictionary(audit: "Audit") -> dict[str, Any]:
    """The audit without trajectories, for JSON: numbers that are not finite become None."""
    constants = {name: _json(value) for name, value in vars(audit.constants).items()}
    truth = audit.truth
    return {
        "fedconvex": version("fedconvex"),
        "source": audit.source,
        "problem": repr(audit.problem),
        "objective": objective(audit.problem),
        "clients": audit.problem.num_clients,
        "dimension": audit.problem.dim,
        "tolerance": audit.tolerance,
        "first_gap": _json(audit.first_gap),
        "constants": constants,
        "scaling": None if audit.scaling is None else _scaling(audit.scaling),
        "minimizer": {
            "point": truth.point.tolist(),
            "coefficients": coefficients(audit),
            "value": truth.value,
            "distance_bound": _json(truth.distance_bound),
            "gap_bound": _json(truth.gap_bound),
            "strong_convexity": truth.strong_convexity,
            "certainty": truth.certainty.value,
            "solver": truth.solver,
        },
        "methods": [_method_dictionary(method) for method in audit.methods],
        "recommendation": None if audit.recommendation is None else audit.recommendation.to_dictionary(),
        "notes": list(audit.notes),
    }


def coefficients(audit: "Audit") -> dict[str, float] | None:
    """The minimiser's coefficients by their names, repeated ones numbered; None where the data have no names."""
    found: dict[str, float] = {}
    for name, value in zip(audit.coefficient_names, audit.truth.point.tolist(), strict=False):
        number, key = 2, name
        while key in found:
            key, number = f"{name} ({number})", number + 1
        found[key] = value
    return found or None


def summary_of(audit: "Audit") -> Summary:
    """The problem's constants and one row for each method, with the columns of `print_audit`."""
    constants, truth = audit.constants, audit.truth
    certified = "proved" if truth.certainty is Certainty.ENCLOSED else "no strong convexity"
    headings = ("method", "bias", "floor", "known", "attracts", "contraction", "rounds")
    rows = [(name, *cells[:4], cells[4], cells[6]) for name, *cells in map(_row, audit.methods)]
    return Summary(
        f"{audit.source}: {audit.problem!r}",
        (
            (
                "constants",
                f"L {at_most(constants.L, 6)}, mu {at_least(constants.mu, 6)}, κ {at_most(constants.kappa, 4)}",
            ),
            ("minimiser x*", f"f* = {truth.value:.8g}, ‖error‖ {at_most(truth.distance_bound, 2)}, {certified}"),
        ),
        headings,
        tuple(rows),
        (f"rounds to relative suboptimality {audit.tolerance:g}", *audit.notes),
    )


def table(audit: "Audit") -> "pandas.DataFrame":
    """One row for each method: its bias and error floor with their lower and upper bounds, its speed and rounds.

    Columns: method, bias, bias_lower, bias_upper, floor, floor_lower, floor_upper, certainty, unique, attracting,
    predicted_contraction, measured_contraction, rounds_to_tolerance, outcome, rounds_run.
    """
    import pandas

    rows = []
    for method in audit.methods:
        row: dict[str, Any] = {"method": method.name}
        for name, interval in (("bias", method.bias), ("floor", method.floor)):
            row[name] = math.nan if interval is None else interval.value
            row[f"{name}_lower"] = math.nan if interval is None else interval.lower
            row[f"{name}_upper"] = math.nan if interval is None else interval.upper
        row["certainty"] = None if method.bias is None else method.bias.certainty.value
        for name in ("unique", "attracting", "predicted_contraction", "measured_contraction", "rounds_to_tolerance"):
            row[name] = getattr(method, name)
        rows.append(row | {"outcome": method.outcome, "rounds_run": len(method.gaps) - 1})
    return pandas.DataFrame(rows)


def trajectories(audit: "Audit") -> "pandas.DataFrame":
    """One row for each method and round: method, round, gap, relative_gap, distance (to the method's fixed point)."""
    import pandas

    return pandas.DataFrame(_trajectory_columns(audit))


def _trajectory_columns(audit: "Audit") -> dict[str, Any]:
    """The columns of `trajectories`: a list of names, then arrays."""
    names = [name for method in audit.methods for name in [method.name] * len(method.gaps)]
    gaps = np.concatenate([method.gaps for method in audit.methods])
    return {
        "method": names,
        "round": np.concatenate([np.arange(len(method.gaps)) for method in audit.methods]),
        "gap": gaps,
        "relative_gap": gaps / audit.first_gap,
        "distance": np.concatenate([method.distances for method in audit.methods]),
    }


def save(audit: "Audit", folder: Path) -> dict[Path, bool]:
    """Write audit.json, trajectories.parquet and audit.png to the folder, each of them whole or not at all.

    The picture comes last; where Matplotlib cannot draw it, a warning says so (`errors.PictureFailed`). Without
    pyarrow, which writes Parquet, the trajectories are in trajectories.csv. Returns for each file whether it replaced
    one with other contents.
    """
    import io

    folder.mkdir(parents=True, exist_ok=True)
    table, ending = io.BytesIO(), "parquet" if is_installed("pyarrow") else "csv"
    if ending == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(_arrow_table(_trajectory_columns(audit)), table)
    else:
        trajectories(audit).to_csv(table, index=False)
    contents = {
        "audit.json": json.dumps(to_dictionary(audit), indent=1, allow_nan=False).encode(),
        f"trajectories.{ending}": table.getvalue(),
    }
    replaced = {folder / name: _written(folder / name, content) for name, content in contents.items()}
    picture = picture_if_possible(lambda: draw_audit(audit).figure, "png", metadata={"Software": None})
    if picture is None:
        (folder / "audit.png").unlink(missing_ok=True)  # it shows other numbers
        return replaced
    return replaced | {folder / "audit.png": _written(folder / "audit.png", picture)}


def _written(path: Path, content: bytes) -> bool:
    """Writes the file; whether it replaced other contents."""
    replaced = replaces(path, content)
    write_atomically(path, content)
    return replaced


def _arrow_table(columns: dict[str, Any]) -> Any:
    """An Arrow table of texts and NumPy arrays, from their memory.

    `pyarrow.table` would import pandas to look at them, which takes longer than most audits of quadratics.
    """
    import pyarrow

    def column(values: Any) -> Any:
        if isinstance(values, np.ndarray):
            kind = pyarrow.from_numpy_dtype(values.dtype)
            buffer = pyarrow.py_buffer(np.ascontiguousarray(values))
            return pyarrow.Array.from_buffers(kind, len(values), [None, buffer])
        texts = [text.encode() for text in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        buffers = [pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(texts))]
        return pyarrow.LargeStringArray.from_buffers(len(texts), *buffers)

    return pyarrow.Table.from_arrays([column(values) for values in columns.values()], names=list(columns))


def _row(method: "MethodAudit") -> tuple[str, ...]:
    converges = {True: "yes", False: "no", None: "not decided"}[method.attracting]
    if method.bias is None or method.floor is None:
        none = "no" if method.is_one_map else "–"
        return shorthand(method.method), "–", "–", "–", none, "–", _rate(method.measured_contraction), method.outcome
    if method.unique is False:
        converges = "no: many"
    return (
        shorthand(method.method),
        magnitude(method.bias),
        magnitude(method.floor),
        method.bias.certainty.value,
        converges,
        _rate(method.predicted_contraction),
        _rate(method.measured_contraction),
        method.outcome,
    )


def _rate(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.5f}"


def _method_dictionary(method: "MethodAudit") -> dict[str, Any]:
    def bounds(number: "Interval | None") -> dict[str, Any] | None:
        if number is None:
            return None
        ends = {name: _json(getattr(number, name)) for name in ("value", "lower", "upper")}
        return {**ends, "certainty": number.certainty.value}

    return {
        "method": method.name,
        "bias": bounds(method.bias),
        "floor": bounds(method.floor),
        "unique": method.unique,
        "attracting": method.attracting,
        "predicted_contraction": _json(method.predicted_contraction),
        "predicted_at": method.predicted_at,
        "measured_contraction": _json(method.measured_contraction),
        "rounds_to_tolerance": method.rounds_to_tolerance,
        "outcome": method.outcome,
        "rounds_run": len(method.gaps) - 1,
    }


def _scaling(scaling: Scaling) -> dict[str, Any]:
    kappas = {"kappa": _json(scaling.kappa), "kappa_standardized": _json(scaling.standardized)}
    places = ("narrowest", "widest", "offset")
    return {**kappas, **{name: dict(zip(("feature", "value"), getattr(scaling, name), strict=True)) for name in places}}


def _json(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
