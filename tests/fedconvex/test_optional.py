"""The package on a base installation: without the libraries of its extras, which stay away from the process here."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.errors import MissingLibrary
from fedconvex.optional import EXTRAS, is_installed, require_library, version_of

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

WITHOUT_EXTRAS = """
import sys
lacking = sys.argv[1].split()
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in lacking:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Lacking())
from fedconvex.commands.errors import run
from fedconvex.commands.main import command_line
def command(*words):
    return run(command_line(list(words)), list(words))
"""

AUDIT = """
assert command("audit", "diabetes", "--rounds", "3", "--out", "found") == 0
import pandas
assert len(pandas.read_csv("found/trajectories.csv")) == 4 * 4
"""

OTHER_WORK = """
import numpy as np
import fedconvex as fc
found = fc.simulate(fc.FedAvg(epochs=1, stepsize=0.1), fc.data.breast_cancer(clients=3), 2)
np.save("without.npy", found.points)

from fedconvex.proofs_checks import verify
assert "<code>" in verify("fedprox.equation3")._repr_html_()  # a formula as LaTeX, where nothing makes MathML of it

for call in (lambda: fc.sweep(None, None, rounds=1), lambda: fc.data.load("x.parquet")):
    try:
        call()
    except fc.FedconvexError as error:
        print(error)
open("x.parquet", "wb").close()
assert command("audit", "x.parquet") == 1
assert command("verify", "fedprox", "--latex", "x.tex") == 1
assert command("verify", "fedprox", "--html", "x.html") == 1
assert command("report") == 1
assert command("bounds", "fedprox.theorem4", "--mu", "50", "--L", "1", "--L-minus", "0", "--B", "1", "--gamma", "0",
               "--K", "10", "--sweep", "mu=1:2:3", "--out", "out.parquet") == 1
"""


def on_the_base(program: str, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS + program, " ".join(EXTRAS)],
        cwd=place, env={"PYTHONPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.beyond_core  # starts a process
def test_the_base_installation_audits(tmp_path: Path) -> None:
    done = on_the_base(AUDIT, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "found/trajectories.csv" in done.stdout
    assert sorted(path.name for path in (tmp_path / "found").iterdir()) == [
        "audit.json", "audit.png", "trajectories.csv",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_base_installation_names_the_extra_of_everything_else(tmp_path: Path) -> None:
    done = on_the_base(OTHER_WORK, tmp_path)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    for purpose, extra in (
        ("a sweep needs pyarrow", "parquet"),
        ("reading a Parquet file needs pyarrow", "parquet"),
        ("writing a Parquet file needs pyarrow", "parquet"),
        ("--latex needs pylatexenc", "documents"),
        ("--html needs latex2mathml", "documents"),
        ("the report needs latex2mathml", "documents"),
    ):
        assert f"{purpose}, which is not installed; pip install 'fedconvex[{extra}]'" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["without.npy", "x.parquet"]
    with_numba = fc.simulate(fc.FedAvg(epochs=1, stepsize=0.1), fc.data.breast_cancer(clients=3), 2).points
    np.testing.assert_allclose(np.load(tmp_path / "without.npy"), with_numba, rtol=1e-9, atol=1e-12)


@pytest.mark.beyond_core  # starts a process
def test_a_library_that_is_there_is_missed_where_it_is_kept_away() -> None:
    """The test above could not fail if the libraries were there."""
    program = WITHOUT_EXTRAS + "import pyarrow"
    done = subprocess.run([sys.executable, "-c", program, " ".join(EXTRAS)], cwd=ROOT, capture_output=True, text=True)
    assert "No module named 'pyarrow'" in done.stderr


def test_every_optional_library_is_in_its_extra_and_not_in_the_base() -> None:
    base = {line.split(">")[0] for line in PROJECT["dependencies"]}
    extras = PROJECT["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert library not in base
        assert any(line.startswith(library) for line in extras[extra])
        assert f"[{extra}" in extras["dev"][0] or f",{extra}" in extras["dev"][0]  # the tests have all of them


def test_every_dependency_says_what_it_is_for() -> None:
    lines = (ROOT / "pyproject.toml").read_text("utf-8").split("\ndependencies = [\n")[1].split("\n]")[0].splitlines()
    assert len(lines) == len(PROJECT["dependencies"])
    silent = [line.strip() for line in lines if "#" not in line]
    assert silent == ['"numpy>=2.0",']  # what that is for needs no words


def test_what_is_missing_is_named() -> None:
    assert is_installed("numpy")
    assert not is_installed("no_such_library")
    assert version_of("no-such-library") == "none"
    assert version_of("numpy")[0].isdigit()
    with pytest.raises(MissingLibrary, match="a table needs pyarrow"):
        raise MissingLibrary("pyarrow", "a table", EXTRAS["pyarrow"])
    require_library("pyarrow", "a table")
