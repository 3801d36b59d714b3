"""The pictures of the page, as SVG: how much of each bound is used, and what a sharper statement promises."""

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedconvex.proofs_checks.reporting.records import Record

COLUMNS = 4


def parts_of_bounds_used(records: "list[Record]") -> str:
    """A bar for every bound whose tightness was searched; 1 is attained."""
    measured = [(r.identifier, r.tightness["quotient"]) for r in records if r.tightness is not None]
    if not measured:
        return "<p>None was searched.</p>"
    measured.sort(key=lambda pair: pair[1])
    figure, axes = _figure(height=0.6 + 0.22 * len(measured))
    axes.barh([name for name, _ in measured], [max(q, 0) for _, q in measured], color="#4477aa")
    axes.axvline(1, color="#aa3377", linewidth=1)
    axes.set_xlabel("what happens / what is promised, at worst")
    axes.set_xlim(0, 1.05)
    axes.tick_params(axis="y", labelsize=7)
    return _svg(figure)


def bounds_against_truth(records: "list[Record]", seconds: float = 0.5) -> str:
    """What happens against what is promised, on the worst instance found and on others near it, a panel each."""
    from fedconvex.proofs_checks.engines.tightness import neighbours
    from fedconvex.proofs_checks.verification import proof_of
    from fedconvex.theory import statement

    panels = []
    for record in records:
        proof = proof_of(statement(record.identifier)) if record.tightness is not None else None
        if proof is not None and proof.tightness is not None:
            panels.append((record, neighbours(proof.tightness, seconds)))
    panels = [(record, points) for record, points in panels if len(points) > 1]
    if not panels:
        return ""
    rows = -(-len(panels) // COLUMNS)
    figure, grid = _figure(height=1.9 * rows, rows=rows, columns=COLUMNS)
    for axes, (record, points) in zip(grid.flat, panels, strict=False):
        low = min(min(pair) for pair in points)
        high = max(max(pair) for pair in points)
        axes.plot([low, high], [low, high], color="#aa3377", linewidth=1)
        axes.plot(*zip(*points, strict=True), ".", color="#4477aa", markersize=4)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(record.identifier, fontsize=8)
        axes.tick_params(labelsize=6)
        axes.minorticks_off()
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    figure.supxlabel("promised", fontsize=8)
    figure.supylabel("happens", fontsize=8)
    return _svg(figure)


def published_against_sharp() -> str:
    """FedProx's guaranteed decrease over μ: Theorem 4, and the same without its terms for sampling devices."""
    import numpy as np

    from fedconvex.theory import fedprox

    mu = np.geomspace(2, 2000, 300)
    figure, axes = _figure(height=3.2)
    for K in (10, 100):
        published = fedprox.rho(mu=mu, L=1, L_minus=0, B=1.5, gamma=0.1, K=K)
        axes.plot(mu, np.maximum(published, 0), label=f"Theorem 4, {K} devices a round")
    sharp = fedprox.rho_sharp(mu=mu, L=1, L_minus=0, B=1.5, gamma=0.1)
    axes.plot(mu, np.maximum(sharp, 0), "--", label="without the terms for sampling, any number of devices")
    axes.set_xscale("log")
    axes.set_xlabel("μ (L = 1, B = 1.5, γ = 0.1)")
    axes.set_ylabel("ρ, where positive")
    axes.legend(fontsize=8)
    return _svg(figure)


def _figure(height: float, rows: int = 1, columns: int = 1) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=rows * columns == 1)


def _svg(figure: Any) -> str:
    """Without the XML head; letters as letters, so that the page stays small."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "fedconvex"}):
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]
