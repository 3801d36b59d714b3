"""`fedconvex conform` as a user runs it: exit status, report, files, refusals."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runner import running

import fedconvex

pytestmark = pytest.mark.beyond_core  # takes seconds

FILE = Path(__file__).parents[1] / "conformance" / "wrapped_fedprox.py"
Run = Callable[..., tuple[int, str, str]]
run = running("conform")


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_right_implementation(run: Run) -> None:
    status, out, err = run(f"{FILE}:FedProx", "--badge", "badge.svg")
    assert status == 0
    assert out.startswith("FedProx(mu=0.5): the implementation conforms")
    assert set(err.split()) == {"starts"}  # what it prints is not mixed with the report
    assert ">conforms</text>" in Path("badge.svg").read_text("utf-8")


def test_a_wrong_implementation_and_its_files(run: Run) -> None:
    files = ("--json", "a.json", "--junit", "a.xml", "--badge", "a.svg")
    out = run.prints(f"{FILE}:Repelled", *files, status=1)
    assert "* the proximal gradient has the wrong sign" in out
    assert out.endswith("saved a.json, a.xml, a.svg\n")
    read = json.loads(Path("a.json").read_text("utf-8"))
    assert (read["passed"], read["implementation"]) == (False, f"{FILE}:Repelled")
    assert read["report"] in out
    assert int(ElementTree.parse("a.xml").getroot().attrib["failures"]) > 0
    assert ">differs</text>" in Path("a.svg").read_text("utf-8")
    out = run.prints(f"{FILE}:FedProx", "--junit", "a.xml", "--json", "a.json")
    assert out.endswith("saved a.json (replaced), a.xml (replaced)\n")
    assert ElementTree.parse("a.xml").getroot().attrib["failures"] == "0"


def test_json_on_the_terminal_is_nothing_else(run: Run) -> None:
    out = run.prints(f"{FILE}:Diverges", "--json", "-", status=1)
    assert json.loads(out)["passed"] is False


def test_an_implementation_that_ends_the_program_cannot_end_it_with_success(run: Run) -> None:
    out = run.prints(f"{FILE}:Leaves", status=1)
    assert "SystemExit: 0" in out


@pytest.mark.parametrize(
    "words",
    [
        ("nowhere.py:FedProx",),
        (f"{FILE}:Nothing",),
        (f"{FILE}:Static",),
        (f"{FILE}:FedProx", "--method", "FedProx(mu=open('owned', 'w'))"),
        (f"{FILE}:FedProx", "--local-solver", "FedProx(mu=1)"),
        (f"{FILE}:FedProx", "--loss", "mad"),
        (f"{FILE}:FedProx", "--weights", "mad"),
        (f"{FILE}:FedProx", "--precision", "float8"),
        (f"{FILE}:FedProx", "--json", "no/such/folder.json"),
        (f"{FILE}:FedProx", "--badge", "."),
        (f"{FILE}:FedProx", "--badge", "/dev/null"),  # would become a file, for all programs
        (f"{FILE}:FedProx", "--json", "/dev/stdout"),
        (f"{FILE}:FedProx", "--json", "same", "--junit", "./same"),
        (f"{FILE}:BrokenAttribute",),
    ],
    ids=str,
)
def test_wrong_input_is_one_line_and_leaves_no_file(words: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("fedconvex: ")
    assert set(err.splitlines()[:-1]) <= {"starts"}
    assert list(tmp_path.iterdir()) == []


def test_the_implementation_is_not_overwritten_by_a_report(run: Run) -> None:
    file = Path("mine.py")
    file.write_bytes(FILE.read_bytes())
    for option in ("--json", "--junit", "--badge"):
        said = run.refuses("mine.py:FedProx", option, "../" + Path.cwd().name + "/mine.py")
        assert "is the file that is read" in said
    assert file.read_bytes() == FILE.read_bytes()


def test_json_on_the_terminal_has_no_output_of_compiled_code(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fedconvex", "conform", f"{FILE}:WritesToTheDescriptor", "--json", "-"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=Path(fedconvex.__file__).parents[1])
    assert json.loads(done.stdout)["passed"] is True
    assert b"raw" in done.stderr


@pytest.mark.parametrize(
    ("words", "near"),
    [((f"{FILE}:Fedprox",), "FedProx"), ((f"{FILE}:FedProx", "--method", "FedPorx(mu=1)"), "FedProx")],
    ids=["the implementation", "the method"],
)
def test_a_misspelt_name_gets_the_nearest(words: tuple[str, ...], near: str, run: Run) -> None:
    status, _, err = run(*words)
    assert status == 2
    assert f"did you mean {near}?" in err


def test_files_are_refused_before_the_implementation_runs(run: Run) -> None:
    assert run(f"{FILE}:FedProx", "--junit", "no/such/folder.xml")[2].count("\n") == 1


HANGING = """
import fedconvex as fc

class Base:
    method = fc.FedSGD(stepsize=0.1)
    init = staticmethod(lambda problem, x0: x0)
    server_model = staticmethod(lambda w: w)

class Loops(Base):
    def round(self, problem, w, active):
        while True:
            pass

class Stuck(Base):
    def round(self, problem, w, active):
        return sum(range(10**13))  # one native call, which no exception interrupts
"""


def test_what_hangs_is_a_line_of_the_report(run: Run) -> None:
    Path("hanging.py").write_text(HANGING, "utf-8")
    status, out, err = run("hanging.py:Loops", "--time-limit", "0.05", "--junit", "a.xml")
    assert status == 1
    assert "* the implementation does not come back (round 1 of 'one client')" in out
    assert "a run may take 0.05 s" in out
    assert "Traceback" not in out + err
    assert int(ElementTree.parse("a.xml").getroot().attrib["failures"]) > 0


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "1e9", "soon"])
def test_what_is_no_time_limit_is_refused_before_the_file_runs(limit: str, run: Run) -> None:
    Path("wrapper.py").write_text("open('ran', 'w')", "utf-8")
    run.refuses("wrapper.py:A", "--time-limit", limit)
    assert not Path("ran").exists()


def test_what_no_exception_can_end_ends_the_command_without_success(tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text(HANGING, "utf-8")
    program = (
        "import sys; from fedconvex.conformance import guard; guard.GRACE = 0.1; sys.argv[0] = 'fedconvex';"
        "from fedconvex.commands.main import main; main()"
    )
    command = [sys.executable, "-c", program, "conform", "hanging.py:Stuck", "--time-limit", "0.1"]
    environment = os.environ | {"PYTHONPATH": str(Path(fedconvex.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert re.search(r'Timeout.*\n.*\n +File ".*hanging.py", line 16 in round', done.stderr)
