"""Draws the pictures of the README and of the guide: `python docs/making/pictures.py [NAME …]` replaces the files.

All take a few minutes, `synthetic-sweep` most of it. `report` is a screenshot in Chromium, which `.ci/browser` fetches.
"""

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import fedconvex as fc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def audit() -> bytes:
    """The figure of `fedconvex audit diabetes`."""
    from fedconvex.audit import audit as audited
    from fedconvex.audit.figure import draw_audit

    return _png(draw_audit(audited(fc.data.diabetes(clients=10), source="diabetes")).figure)


def bounds() -> bytes:
    """The sweep that docs/bounds.md gives on the command line."""
    from fedconvex.commands.bounds.figure import draw_sweep
    from fedconvex.commands.bounds.formulas import find
    from fedconvex.commands.bounds.parameters import parse
    from fedconvex.commands.bounds.sweep import run_sweep

    theorem = find("fedprox.theorem4")
    given = parse(theorem, {"L": "1", "L_minus": "0.3", "B": "1.2", "gamma": "0"})
    return _png(draw_sweep(run_sweep(theorem, given, ["mu=2:100:100", "K=2:60:59"])).figure)


def sweep() -> bytes:
    """The sweep of four methods that docs/federated-runs.md describes."""
    epochs = fc.SGD(epochs=5, batch_size=10, stepsize=0.01)
    methods = {
        "FedAvg": fc.FedAvg(epochs=5, batch_size=10, stepsize=0.01),
        "FedProx, μ = 1": fc.FedProx(mu=1),
        "SCAFFOLD": fc.Scaffold(stepsize=0.01, local_steps=1),
        "FedDyn, α = 0.1": fc.FedDyn(alpha=0.1),
    }
    problem = {"Synthetic(1, 1), 10 of 30 clients a round": fc.data.synthetic(1, 1).problem()}
    drawn = fc.participation.UniformThenWeighted(10)
    table = fc.sweep(methods, problem, seeds=range(5), rounds=300, participation=drawn, local_solver=epochs)
    return _png(fc.draw_sweep(table).figure)


def deep() -> bytes:
    """The run of docs/deep.md, for 120 rounds."""
    import torch
    from torch import nn

    from fedconvex.deep import run

    data, _ = fc.data.train_test_split(fc.data.load("digits", clients=10), 0.2)
    torch.manual_seed(0)
    result = run(
        fc.FedProx(mu=8),
        nn.Sequential(nn.Linear(64, 20), nn.Tanh(), nn.Linear(20, 10)).double(),
        list(zip(data.features, data.targets, strict=True)),
        rounds=120,
        participation=fc.participation.Weighted(60),
        local_solver=fc.GradientDescent(steps=30, stepsize=0.07),
        measure="all",
    )
    return _png(result.figure())


def report() -> bytes:
    """One statement of the report, unfolded, with the tooltip of a point under the mouse."""
    from fedconvex.report import report as made

    sys.path.insert(0, str(ROOT))  # for the tests' driver of Chromium, which no package has
    from tests.fedconvex.report.chromium import MISSING, chromium, program

    path = program()
    if path is None:
        sys.exit(MISSING)
    with tempfile.TemporaryDirectory() as name, chromium(path, Path(name) / "profile") as browser:
        page, picture = Path(name) / "report.html", Path(name) / "report.png"
        page.write_text(made(["feddyn.theorem2"])[0], "utf-8")
        browser.open(page, width=1000, height=1215, hash="#feddyn.theorem2")
        browser.point_at("[id='feddyn.theorem2'] .pictures figure:last-child .s0 circle")
        browser.value("document.getElementById('feddyn.theorem2').scrollIntoView()")
        browser.picture(picture)
        return picture.read_bytes()


PICTURES: dict[str, Callable[[], bytes]] = {
    "audit-diabetes": audit,
    "bounds-theorem4": bounds,
    "synthetic-sweep": sweep,
    "deep-theorem4": deep,
    "report": report,
}


def _png(figure: "Figure | None") -> bytes:
    assert figure is not None
    file = io.BytesIO()
    # Without the version of matplotlib in the file, equal pictures are equal bytes.
    figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()


if __name__ == "__main__":
    for chosen in sys.argv[1:] or PICTURES:
        (DOCS / f"{chosen}.png").write_bytes(PICTURES[chosen]())
