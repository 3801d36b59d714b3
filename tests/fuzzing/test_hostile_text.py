"""Hostile names of files, folders, columns, clients and methods: shown, and neither obeyed nor in the way."""

import csv
import dataclasses
import io
import json
import random
import re
import warnings
from functools import cache as once
from pathlib import Path
from typing import Any

import pandas
import pytest
from hostile_names import NAMES, Run, elements, every_name, file_named, names, run_command, unsafe

from fedconvex.audit.measure import Audit, audit
from fedconvex.audit.report import print_audit, save
from fedconvex.commands.safe_console import SafeConsole
from fedconvex.data import load
from fedconvex.proofs_checks.reporting import cache
from fedconvex.report import audits
from fedconvex.reproduce import summary
from fedconvex.safe_text import one_line, printable

pytestmark = pytest.mark.beyond_core  # audits, and draws pictures


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.setenv(cache.ENVIRONMENT_VARIABLE, str(tmp_path / "kept"))
    with warnings.catch_warnings():  # the command line silences warnings, such as of signs that a font lacks
        yield lambda *arguments: run_command(monkeypatch, capsys, *arguments)


def in_tables(name: str) -> str:
    """The name as Parquet and pandas can hold it: in Unicode."""
    return name.encode("utf-8", "replace").decode()


@once
def measured() -> Audit:
    problem = load("diabetes", clients=2).problem(model="least-squares")
    return audit(problem, ["fedgd:local_steps=2", "fedprox:mu=2"], rounds=3)


def table_of(name: str, file: Path) -> None:
    """A table whose columns and clients have the name."""
    rng = random.Random(1)
    with file.open("w", newline="", encoding="utf-8", errors="replace") as handle:
        write = csv.writer(handle).writerow
        write([name, "z", "target", "client"])
        for i in range(12):
            write([rng.gauss(), rng.gauss(), rng.gauss(), f"{name}{i % 2}"])


@names("terminal", "markup", "a formula")
def test_an_audit_with_hostile_names_is_made_and_reported(name: str, run: Run, tmp_path: Path) -> None:
    folder, page = file_named(tmp_path, name), tmp_path / "page.html"
    folder.mkdir()
    file = file_named(folder, name, ".csv")
    table_of(name, file)
    status, out, _ = run("audit", file, "--method", "fedgd", "--rounds", 2, "--out", folder / "audit")
    assert status == 0
    assert one_line(file.name) in out.replace("\n", "")
    assert (folder / "audit" / "audit.png").read_bytes().startswith(b"\x89PNG")
    json.loads((folder / "audit" / "audit.json").read_text("utf-8"))
    assert run("report", "fedprox.equation6", "--audit", folder / "audit", "--out", page)[0] == 0
    assert unsafe(page.read_text("utf-8")) == []
    assert page.read_text("utf-8").count("<script>") == 1  # the page's own
    assert elements(page.read_text("utf-8")).count("script") == 1
    assert run("audit", file, "--target-column", f"{name}?", "--out", folder / "none")[0] == 2


@names("8-bit terminal", "dollars", "script", "undecodable", "long", "lines", "right to left", "hidden")
@pytest.mark.filterwarnings("ignore:Glyph .* missing from", "ignore:.*constrained_layout not applied")
def test_tables_pictures_and_pages_of_an_audit_show_the_name(name: str, tmp_path: Path) -> None:
    method = in_tables(name)
    methods = tuple(dataclasses.replace(one, name=method) for one in measured().methods)
    hostile = dataclasses.replace(measured(), source=name, methods=methods)
    for terminal in (True, False):
        console = SafeConsole(file=io.StringIO(), force_terminal=terminal, width=300)
        print_audit(hostile, console)
        shown = (
            re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue()) if terminal else console.file.getvalue()
        )  # styles
        assert unsafe(shown) == []
        assert one_line(name) in shown
    save(hostile, tmp_path)
    assert (tmp_path / "audit.png").read_bytes().startswith(b"\x89PNG")
    page = audits.section(tmp_path)
    assert unsafe(page) == []
    assert set(elements(page)) <= {"div", "h3", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert pandas.read_parquet(tmp_path / "trajectories.parquet")["round"].max() == 3


@names("terminal", "a formula", "dollars", "undecodable", "long", "lines", "right to left", "hidden")
@pytest.mark.filterwarnings("ignore:Glyph .* missing from", "ignore:.*constrained_layout not applied")
def test_pictures_of_sweeps_and_their_legends_show_the_name(name: str) -> None:
    from fedconvex.sweeps.figure import draw_sweep

    name = in_tables(name)
    rows = [
        {"method": method, "problem": name, "seed": 0, "round": t, name: 1.0 + t}
        for method in (name, "other")
        for t in range(3)
    ]
    axes = draw_sweep(pandas.DataFrame(rows), y=name)
    axes.figure.savefig(io.BytesIO())  # type: ignore[union-attr]
    assert len(axes.get_legend().get_texts()) == 2  # none is taken for hidden, or for a formula
    assert not any(unsafe(text.get_text(), lines=False) for text in axes.get_legend().get_texts())


@names("terminal", "markup", "undecodable", "lines", "a brace")
def test_a_wrong_argument_is_named_on_one_line(name: str, run: Run, tmp_path: Path) -> None:
    path = file_named(tmp_path, name)
    for arguments in (
        ("audit", path), ("audit", "diabetes", "--clients", 2, "--partition", name), ("--" + name,),
        ("audit", "diabetes", "--clients", 2, "--method", name), ("audit", "diabetes", "--client-column", name),
        ("report", "--audit", path), ("report", "--results", path), ("report", name), ("report", "--out", path / "x"),
        ("verify", name), ("verify", f"{path}.json"), ("verify", f"{path}.py"), ("reproduce", name),
        ("verify", "fedprox.equation6", "--json", path / "a" / "b"), ("worst-case", name, "--L", 1),
        ("worst-case", "fedgd", "--L", name), ("worst-case", "fedgd", "--L", 1, "--draw", name),
        ("worst-case", "fedgd", "--L", 1, "--metric", name), ("bounds", name), ("bounds", "fedprox.rho", "--mu", name),
        ("bounds", "fedprox.rho", f"--{name}", 1), (name,),
    ):  # fmt: skip
        status, out, err = run(*arguments)
        assert (status, out, err.count("\n")) == (2, "", 1), arguments
        assert err.startswith("fedconvex: ")
        assert len(err) < 6000


@every_name
def test_results_of_experiments_with_hostile_texts_are_listed(
    name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "PACKAGED", tmp_path / "none")
    content: dict[str, Any] = {
        **dict.fromkeys(("title", "source", "note", "date"), name), "quick": False,
        "numbers": [{**dict.fromkeys(("what", "why", *summary.COLUMNS), name), "agrees": False}],
        "claims": [{**dict.fromkeys(("claim", "source", "note", "number"), name), "verdict": "reproduced"}],
        "choices": [{**dict.fromkeys(("open", "choice", "alternatives"), name), "effect": {name: name}}],
    }  # fmt: skip
    file = file_named(tmp_path, name) / "fedsplit.figure1" / "summary.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(content))
    status, out, _ = run("reproduce", "claims", "--out", file.parents[1])
    assert status == 0
    assert "reproduced: " in out
    status, out, _ = run("reproduce", "table", "--out", file.parents[1])
    assert status == 0
    assert not re.search("<[a-z/!]", out)
    assert [len(table.splitlines()) for table in out.strip().split("\n\n")] == [3, 3, 3]


@pytest.mark.parametrize("key", ["folder", "toml"])
def test_a_deep_run_with_hostile_names(key: str, run: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for kind in ("terminal", "markup", "lines"):
        name = NAMES[kind]
        text = f"[data]\nname = {json.dumps(name)}\n[model]\nname = 'x'\n[method]\nname = 'y'\n[run]\nrounds = 1\n"
        file = file_named(tmp_path, name, ".toml")
        file.write_text(text if key == "toml" else f"[{json.dumps(name)}]\n")
        assert run("deep", "run", file, "--out", file_named(tmp_path, name))[0] == 2


def test_the_names_bite_where_nothing_guards() -> None:
    """What the tests above look for is there without the guard."""
    from xml.etree import ElementTree

    from matplotlib.figure import Figure
    from rich.console import Console
    from rich.errors import MarkupError

    with pytest.raises(MarkupError):
        Console(file=io.StringIO()).print(NAMES["markup"])
    figure = Figure()
    figure.suptitle(NAMES["a formula"])
    with pytest.raises(ValueError, match="frac"):
        figure.savefig(io.BytesIO())
    with pytest.raises(ElementTree.ParseError):
        elements(f"<p>{NAMES['terminal']}</p>")
    assert unsafe(NAMES["right to left"]) == ["\u202e", "\u2066"]
    assert all(unsafe(printable(name)) == [] for name in NAMES.values())
