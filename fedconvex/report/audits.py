"""The report's section on the user's data: results of `fedconvex audit`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedconvex.arithmetic.decimals import at_least, at_most
from fedconvex.certainty import Certainty
from fedconvex.display.documents import DocumentBlock, Heading, Paragraph, TableBlock, Verbatim
from fedconvex.display.html import Html, html, tag
from fedconvex.errors import InvalidInput
from fedconvex.json_files import fault_in, read_json
from fedconvex.report.plots import short
from fedconvex.shown import decided

CONSTANTS = {
    "L": "L", "mu": "μ", "kappa": "κ", "dissimilarity_at_zero": "B(0)", "dissimilarity_near_optimum": "B near x*",
    "gradient_variance_at_optimum": "σ²(x*)",
}  # fmt: skip
BOUNDED = {"L": at_most, "mu": at_least, "kappa": at_most}  # proved bounds: printed digits are rounded outwards
INTERVAL = {
    "value": (float, None), "lower": (float, None), "upper": (float, None),
    "certainty": frozenset(certainty.value for certainty in Certainty),
}  # fmt: skip
SHAPE = {
    "source": str, "problem": str, "clients": int, "dimension": int, "tolerance": float,
    "constants": dict.fromkeys(CONSTANTS, (float, None)),
    "minimizer": {"certainty": INTERVAL["certainty"]},
    "methods": [{
        "method": str, "bias": (None, INTERVAL), "floor": (None, INTERVAL), "attracting": (None, bool),
        "predicted_contraction": (None, float), "predicted_at?": (None, str), "measured_contraction": (None, float),
        "outcome": str,
    }],
}  # fmt: skip
HEADINGS = (
    "method", "bias ‖x − x*‖", "error floor f(x) − f*", "attracts", "contraction predicted", "measured", "rounds",
)  # fmt: skip


def section(path: Path) -> Html:
    """The problem's constants and a table of its methods, from audit.json or the folder that contains it.

    Raises InvalidInput for any other file.
    """
    file = path / "audit.json" if path.is_dir() else path
    try:
        found = read_json(file)
    except OSError as error:
        raise InvalidInput("--audit", file, f"cannot be read ({error.strerror})", "name an audit.json") from None
    except ValueError as error:
        raise InvalidInput("--audit", file, f"is no JSON: {error}", "run fedconvex audit again") from None
    if (fault := fault_in(found, SHAPE)) is not None:
        raise InvalidInput("--audit", file, f"is no result of an audit: {fault}", "run fedconvex audit again")
    return tag("div", html(_section(found)))


def _section(found: Mapping[str, Any]) -> list[DocumentBlock]:
    constants = "; ".join(_constant(name, found["constants"][name]) for name in CONSTANTS)
    about = (
        f"{found['problem']}: {found['clients']} clients, {found['dimension']} unknowns. {constants}. The minimiser is "
        f"{found['minimizer']['certainty']}; rounds are counted until (f(x) − f*) / (f(0) − f*) ≤ "
        f"{found['tolerance']:g}."
    )
    rows = [tuple(map(Verbatim, _method(row))) for row in found["methods"]]
    about_data = Heading(Verbatim(found["source"])), Paragraph(Verbatim(about))
    return [*about_data, TableBlock(HEADINGS, rows, len(HEADINGS) - 1)]


def _method(row: Mapping[str, Any]) -> tuple[str, ...]:
    where = " (at the last round)" if row.get("predicted_at") == "last round" else ""
    predicted, measured = (_number(row[f"{which}_contraction"]) for which in ("predicted", "measured"))
    bias, floor = _interval(row["bias"]), _interval(row["floor"])
    return row["method"], bias, floor, decided(row["attracting"]), predicted + where, measured, str(row["outcome"])


def _interval(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "–"
    lower, upper = found["lower"], found["upper"]  # None where infinite
    if (
        found["certainty"] == Certainty.ENCLOSED.value and None not in (lower, upper) and lower <= 0
    ):  # it may be 0: show only the bound
        return f"{at_most(max(upper, 0.0), 2)} ({found['certainty']})"
    return f"{_number(found['value'])} ({found['certainty']})"


def _constant(name: str, value: float | None) -> str:
    if value is None or name not in BOUNDED:
        return f"{CONSTANTS[name]} = {_number(value)}"
    return f"{CONSTANTS[name]} {BOUNDED[name](float(value), 4)}"


def _number(value: float | None) -> str:
    return "–" if value is None else short(float(value))
