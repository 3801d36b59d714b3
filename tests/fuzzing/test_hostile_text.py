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
from rich.text import Text

from fedconvex.audit.display import print_audit
from fedconvex.audit.measure import Audit, audit
from fedconvex.audit.report import save
from fedconvex.commands.safe_console import SafeConsole
from fedconvex.data import load
from fedconvex.proofs_checks.export.proof_files import write_proofs
from fedconvex.proofs_checks.reporting import cache
from fedconvex.report import audits
from fedconvex.reproduce import summary
from fedconvex.safe_text import one_line, printable
from fedconvex.symbols import NAME
from fedconvex.theory import statement

pytestmark = pytest.mark.beyond_core  # audits, and draws pictures
SOME = ("terminal", "markup", "a formula", "undecodable", "lines")


def seconds_each(test: Any) -> Any:
    """Some names, where time is no matter."""
    return pytest.mark.exhaustive(pytest.mark.parametrize("name", [NAMES[kind] for kind in SOME], ids=SOME)(test))


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


def table_of(name: str, file: Path, classes: bool = False) -> None:
    """A table whose columns and clients have the name."""
    rng = random.Random(1)
    with file.open("w", newline="", encoding="utf-8", errors="replace") as handle:
        write = csv.writer(handle).writerow
        write([name, "z", "target", "client"])
        for i in range(12):
            write([rng.gauss(), rng.gauss(), i % 2 if classes else rng.gauss(), f"{name}{i // 6}"])


@pytest.mark.sample(1)
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


@pytest.mark.sample(1)
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


@pytest.mark.sample(3)
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


@pytest.mark.sample(1)
@names("terminal", "markup", "undecodable", "lines", "a brace")
def test_a_wrong_argument_is_named_on_one_line(name: str, run: Run, tmp_path: Path) -> None:
    path = file_named(tmp_path, name)
    for arguments in (
        ("audit", path), ("audit", "diabetes", "--clients", 2, "--partition", name), ("--" + name,),
        ("audit", "diabetes", "--clients", 2, "--method", name), ("audit", "diabetes", "--client-column", name),
        ("report", "--audit", path), ("report", "--results", path), ("report", name), ("report", "--out", path / "x"),
        ("landscape", name), ("verify", name),
        ("verify", f"{path}.json"), ("verify", f"{path}.py"), ("reproduce", name),
        ("verify", "fedprox.equation6", "--json", path / "a" / "b"), ("worst-case", name, "--L", 1),
        ("worst-case", "fedgd", "--L", name), ("worst-case", "fedgd", "--L", 1, "--draw", name),
        ("worst-case", "fedgd", "--L", 1, "--metric", name), ("bounds", name), ("bounds", "fedprox.rho", "--mu", name),
        ("bounds", "fedprox.rho", f"--{name}", 1), (name,), ("conform", name), ("conform", f"{path}.py:A"),
        ("conform", f"{__file__}:NAMES", "--method", name), ("conform", f"{__file__}:{name}"),
    ):  # fmt: skip
        status, out, err = run(*arguments)
        assert (status, out, err.count("\n")) == (2, "", 1), arguments
        assert err.startswith("fedconvex: ")
        assert len(err) < 6000


@pytest.mark.sample(2)
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


@seconds_each
def test_sweeps_and_experiments_are_saved_in_folders_with_hostile_names(name: str, run: Run, tmp_path: Path) -> None:
    folder = file_named(tmp_path, name)
    folder.mkdir()
    numbers = ("--L", 1, "--L-minus", 0, "--B", "1.2", "--gamma", 0, "--K", 10)
    files = ("--plot", folder / "a.png", "--out", folder / "a.csv")
    status, _, err = run("bounds", "fedprox.rho", "--sweep", "mu=5:80:5", *numbers, *files)
    assert (status, one_line(str(folder)) in err) == (0, True)
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    status, out, _ = run("reproduce", "fedsplit.figure1", "--quick", "--out", folder, "--jobs", 1)
    assert (status, one_line(str(folder)) in out) == (0, True)


@seconds_each
def test_a_network_is_trained_on_data_with_hostile_names(name: str, run: Run, tmp_path: Path) -> None:
    folder = file_named(tmp_path, name)
    folder.mkdir()
    data, config = file_named(folder, in_tables(name), ".csv"), file_named(folder, name, ".toml")
    table_of(name, data, classes=True)
    config.write_text(
        f"""
        [data]
        name = {json.dumps(data.name, ensure_ascii=False)}
        target_column = "target"
        client_column = "client"
        [model]
        name = "fully_connected"
        sizes = [2, 3, 2]
        [method]
        name = "FedProx"
        mu = 1
        [local_solver]
        name = "GradientDescent"
        steps = 2
        stepsize = 0.1
        [run]
        rounds = 2
        measure = "all"
        """.replace("\x7f", "\\u007f"),
        "utf-8",
    )
    status, out, _ = run("deep", "run", config, "--out", folder / "out")
    assert (status, one_line(str(folder)) in out) == (0, True)
    assert (folder / "out" / "run.png").read_bytes().startswith(b"\x89PNG")
    data.unlink()
    assert run("deep", "run", config, "--out", folder / "out")[0] == 2


@names("lines", "long", "terminal")
def test_a_proof_in_a_file_with_a_hostile_name(name: str, run: Run, tmp_path: Path) -> None:
    """Parameters that are no names in ASCII letters are refused, and shown; a file's name is just shown."""
    (made,) = write_proofs(tmp_path, [statement("fedprox.equation6")])
    text = made.read_text("utf-8")
    file = file_named(tmp_path, name, ".json")
    file.write_text(text, "utf-8")
    status, out, _ = run("verify", file)
    assert (status, f"{one_line(str(file))} is PROVED" in out) == (0, True)
    file.write_text(text.replace('"gamma"', json.dumps(name)), "utf-8")
    status, _, error = run("verify", file)
    assert (status, "is no name" in error) == ((0, False) if NAME.fullmatch(name) else (2, True))


def test_progress_on_a_terminal_shows_the_name() -> None:
    console = SafeConsole(file=io.StringIO(), force_terminal=True, width=200)
    for name in NAMES.values():
        with console.status("…") as status:
            status.update(Text(name))
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", console.file.getvalue())  # styles and movements of the cursor
    assert unsafe(shown) == []


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
