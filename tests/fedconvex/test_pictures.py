"""All pictures share one style, and every drawing function returns its axes."""

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from program_runner import printed
from test_results import PAIR, wrong_fedsgd

import fedconvex as fc
from fedconvex.audit import audit
from fedconvex.audit.figure import draw_audit
from fedconvex.commands.bounds.figure import draw_sweep as draw_bounds
from fedconvex.commands.bounds.formulas import find
from fedconvex.commands.bounds.parameters import parse
from fedconvex.commands.bounds.sweep import run_sweep
from fedconvex.drawing import COLOURS, new_axes

pytestmark = pytest.mark.beyond_core  # draws

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("fedconvex", "theory", "proofs_checks", "deep")
# Those with several panels return the figure that holds them; these write a file and say where.
RETURNS = ("Axes", "Figure")
NAMES = ("draw", "plot", "figure")
WRITE = {"deep/figure.py: draw", "deep/runner.py: draw", "fedconvex/reproduce/figure.py: draw"}


def own_files() -> list[Path]:
    """Each once, through the real folders."""
    links = {ROOT / "fedconvex" / folder for folder in FOLDERS}
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    return [file for file in files if not links & set(file.parents)]


def plot_functions(file: Path) -> dict[str, str]:
    """The public plot functions and methods of a file that knows matplotlib, with what they say that they return."""
    found = {}
    text = file.read_text("utf-8")
    for node in ast.walk(ast.parse(text)) if "matplotlib" in text else ():
        if isinstance(node, ast.FunctionDef) and (node.name.startswith(("draw_", "plot_")) or node.name in NAMES):
            returned = ast.unparse(node.returns) if node.returns is not None else ""
            found[f"{file.relative_to(ROOT)}: {node.name}"] = returned.strip("'\"")
    return found


def test_every_plot_function_returns_what_it_drew_on() -> None:
    found = {name: returned for file in own_files() for name, returned in plot_functions(file).items()}
    pictures = {name: returned for name, returned in found.items() if name not in WRITE}
    assert {"fedconvex/audit/figure.py: draw_audit", "fedconvex/sweeps/figure.py: draw_sweep"} <= pictures.keys()
    strangers = {n: r for n, r in pictures.items() if r not in RETURNS}
    assert strangers == {}


def drawn() -> dict[str, Any]:
    """One picture of each kind with one panel."""
    table = fc.sweep({"FedProx": fc.FedProx(mu=1)}, {"p": PAIR}, seeds=[0, 1], rounds=3, jobs=1, progress=False)
    entry = find("fedprox.theorem4")
    fixed = {"L": "1", "L_minus": "0", "B": "1.2", "gamma": "0", "K": "10"}
    return {
        "audit": lambda axes: draw_audit(audit(PAIR, ["fedgd", "fedprox:mu=1"], rounds=3), axes),
        "sweep": lambda axes: fc.draw_sweep(table, axes=axes),
        "bounds": lambda axes: draw_bounds(run_sweep(entry, parse(entry, fixed), ["mu=5:50:9"]), axes),
        "conformance": wrong_fedsgd().figure,
    }


@pytest.fixture(scope="module")
def pictures() -> dict[str, Any]:
    return drawn()


@pytest.mark.parametrize("name", ["audit", "sweep", "bounds", "conformance"])
def test_a_picture_is_drawn_on_the_axes_that_it_returns(name: str, pictures: dict[str, Any]) -> None:
    mine = new_axes()
    assert pictures[name](mine) is mine
    alone = pictures[name](None)
    assert isinstance(alone, Axes)
    assert alone.get_xlabel()
    assert alone.get_ylabel()
    assert alone.get_title()
    assert not alone.spines["top"].get_visible()  # tidy


@pytest.mark.parametrize("name", ["audit", "sweep", "bounds", "conformance"])
def test_lines_have_the_shared_colours(name: str, pictures: dict[str, Any]) -> None:
    lines = [line for line in pictures[name](None).lines if len(np.unique(line.get_xdata())) > 2]
    assert lines
    assert {to_hex(line.get_color()).upper() for line in lines} <= {colour.upper() for colour in COLOURS}


def test_nobody_touches_the_global_figures() -> None:
    """Pyplot keeps every figure that it makes, and picks a window system."""
    users = [str(f.relative_to(ROOT)) for f in own_files() if "pyplot" in f.read_text("utf-8")]
    assert users == []
    program = (
        "import sys, fedconvex.drawing; fedconvex.drawing.new_axes(); sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert printed(program) == ""


def test_a_plot_function_that_returns_nothing_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "a.py").write_text(
        "import matplotlib\ndef draw_it(x) -> None: ...\ndef _draw(x) -> None: ...\n", "utf-8"
    )
    assert plot_functions(tmp_path / "a.py") == {"a.py: draw_it": "None"}
