"""The results of an audit as data: audit.json, tables, the trajectories, and a figure."""

import math
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.atomic_files import replaces, write_atomically
from fedconvex.audit.figure import draw_audit
from fedconvex.audit.intervals import Interval
from fedconvex.audit.objectives import objective
from fedconvex.audit.scaling import Scaling
from fedconvex.drawing import picture_if_possible
from fedconvex.json_files import plain_data, to_json
from fedconvex.optional import is_installed

if TYPE_CHECKING:
    import pandas

    from fedconvex.audit.measure import Audit, MethodAudit


FILES = ("audit.json", "trajectories.parquet", "trajectories.csv", "audit.png")  # of which `save` writes three


def to_dictionary(audit: "Audit") -> dict[str, Any]:
    """The audit without trajectories, for JSON: numbers that are not finite become None."""
    truth = audit.truth
    content = {
        "fedconvex": version("fedconvex"),
        "source": audit.source,
        "problem": repr(audit.problem),
        "objective": objective(audit.problem),
        "clients": audit.problem.num_clients,
        "dimension": audit.problem.dim,
        "tolerance": audit.tolerance,
        "first_gap": audit.first_gap,
        "constants": vars(audit.constants),
        "scaling": None if audit.scaling is None else _scaling(audit.scaling),
        "minimizer": {
            "point": truth.point.tolist(),
            "coefficients": coefficients(audit),
            "value": truth.value,
            "distance_bound": truth.distance_bound,
            "gap_bound": truth.gap_bound,
            "strong_convexity": truth.strong_convexity,
            "certainty": truth.certainty.value,
            "solver": truth.solver,
        },
        "methods": [_method_dictionary(method) for method in audit.methods],
        "recommendation": None if audit.recommendation is None else audit.recommendation.to_dictionary(),
        "notes": list(audit.notes),
    }
    found: dict[str, Any] = plain_data(content)
    return found


def coefficients(audit: "Audit") -> dict[str, float] | None:
    """The minimiser's coefficients by their names, repeated ones numbered; None where the data have no names."""
    found: dict[str, float] = {}
    for name, value in zip(audit.coefficient_names, audit.truth.point.tolist(), strict=False):
        number, key = 2, name
        while key in found:
            key, number = f"{name} ({number})", number + 1
        found[key] = value
    return found or None


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
        "audit.json": to_json(to_dictionary(audit), ascii_only=True).encode(),
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


def _method_dictionary(method: "MethodAudit") -> dict[str, Any]:
    def bounds(number: "Interval | None") -> dict[str, Any] | None:
        if number is None:
            return None
        ends = {name: getattr(number, name) for name in ("value", "lower", "upper")}
        return {**ends, "certainty": number.certainty.value}

    return {
        "method": method.name,
        "bias": bounds(method.bias),
        "floor": bounds(method.floor),
        "unique": method.unique,
        "attracting": method.attracting,
        "predicted_contraction": method.predicted_contraction,
        "predicted_at": method.predicted_at,
        "measured_contraction": method.measured_contraction,
        "rounds_to_tolerance": method.rounds_to_tolerance,
        "outcome": method.outcome,
        "rounds_run": len(method.gaps) - 1,
    }


def _scaling(scaling: Scaling) -> dict[str, Any]:
    kappas = {"kappa": scaling.kappa, "kappa_standardized": scaling.standardized}
    places = ("narrowest", "widest", "offset")
    return {**kappas, **{name: dict(zip(("feature", "value"), getattr(scaling, name), strict=True)) for name in places}}
