"""Type checkers know every public name: the stubs are what the code makes, and mypy and pyright read them alike."""

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from documents import ROOT, making
from processes import python

from fedconvex.methods import METHODS

# `# type:` names the type that both checkers must reveal, `# error` marks a line that both must refuse.
PROGRAM = """
from fractions import Fraction

import numpy as np

import fedconvex as fc
from fedconvex import theory
from fedconvex.local_solvers import LOCAL_SOLVERS
from fedconvex.methods import METHODS
from fedconvex.problems import PROBLEMS
from fedconvex.proofs_checks import SmoothStronglyConvex, verify, worst_case
from fedconvex.theory import fedprox

problem = fc.LeastSquares(A=[[[1, 2]]], b=[[1]])
run = fc.simulate(fc.FedPD(eta=1), problem, rounds=3, local_solver=fc.SGD(epochs=1, batch_size=1, stepsize=0.1))
reveal_type(fc.FedPD(eta=1))  # type: FedPD
reveal_type(problem)  # type: LeastSquares
reveal_type(fc.Exact())  # type: Exact
reveal_type(run)  # type: Trajectory
reveal_type(run.points)  # type: ndarray
reveal_type(run.to_frame())  # type: DataFrame
reveal_type(fc.data.diabetes(clients=2))  # type: Problem
reveal_type(fc.data.load("digits"))  # type: FederatedData
reveal_type(fc.participation.Uniform(2))  # type: Uniform
reveal_type(fc.ground_truth(problem).value)  # type: float
reveal_type(fc.fixed_point(fc.DANE(mu=1), problem).unique)  # type: bool | None
reveal_type(fc.__version__)  # type: str
reveal_type(fedprox.rho)  # type: Statement
reveal_type(fedprox.theorem4)  # type: Statement
reveal_type(theory.papers()["fedprox"])  # type: Paper
reveal_type(verify("fedprox.theorem4").verdict)  # type: Verdict
reveal_type(worst_case(fc.FedSplit(stepsize=1), SmoothStronglyConvex(mu=1, L=4)))  # type: WorstCase
reveal_type(METHODS["FedPD"])  # type: type[Method]
reveal_type(LOCAL_SOLVERS["Exact"])  # type: type[LocalSolver]
reveal_type(PROBLEMS["Quadratic"])  # type: type[Problem]
reveal_type(fedprox.rho(mu=Fraction(50), L=np.ones(3), L_minus=0, B=1.2, gamma=0, K=10))  # type: Any
fedprox.objective(weights=[0.5, 0.5], values=np.ones(2))
fedprox.rho(mu="50", L=1, L_minus=0, B=1.2, gamma=0, K=10)  # error
fedprox.rho(mu=50, L=1, Lminus=0, B=1.2, gamma=0, K=10)  # error
fedprox.rho(50, L=1, L_minus=0, B=1.2, gamma=0, K=10)  # error
fc.FedPD(eat=1)  # error
fc.simulate(problem, fc.FedPD(eta=1), rounds=3)  # error
fc.simulate(fc.FedPD(eta=1), problem, rounds="3")  # error
fc.FedNothing  # error
fc.data.diabetis()  # error
fc.participation.Uniform("two", "three")  # error
"""
PYRIGHT = {"typeCheckingMode": "standard", "include": ["program.py"], "extraPaths": [str(ROOT)]}


@pytest.fixture
def stubs() -> ModuleType:
    return making("type_stubs")


def test_the_stubs_are_what_the_code_makes(stubs: ModuleType) -> None:
    outdated = [name for name in stubs.PACKAGES if stubs.stub_path(name).read_text("utf-8") != stubs.as_stub(name)]
    assert outdated == [], "run `python docs/making/type_stubs.py`"
    found = {
        path for folder in ("fedconvex", "theory", "proofs_checks", "deep") for path in (ROOT / folder).rglob("*.pyi")
    }
    assert {path.resolve() for path in found} == {stubs.stub_path(name) for name in stubs.PACKAGES}


def test_every_method_is_in_the_stubs(stubs: ModuleType) -> None:
    for package in ("fedconvex", "fedconvex.methods"):
        text = stubs.stub_path(package).read_text("utf-8")
        assert [name for name in METHODS if f" import {name} as {name}\n" not in text] == []


def test_a_name_that_hides_its_module_is_refused(stubs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    import fedconvex.data

    monkeypatch.setattr(fedconvex.data, "load", lambda: None)
    with pytest.raises(ValueError, match=r"fedconvex\.data\.load is not fedconvex\.data\.load\.load"):
        stubs.as_stub("fedconvex.data")


def lines_with(mark: str) -> dict[int, str]:
    """Line number of the program -> what stands behind the mark."""
    lines = enumerate(PROGRAM.splitlines(), start=1)
    return {number: line.partition(mark)[2].strip() for number, line in lines if mark in line}


def short(type_shown: str) -> str:
    """The type without modules and, but for type[…], without its arguments: both checkers print these differently."""
    name = re.sub(r"\b(?:\w+\.)+(?=\w)", "", type_shown)
    return name if name.startswith("type[") else name.partition("[")[0]


def by_mypy(program: Path) -> tuple[dict[int, str], set[int]]:
    """Revealed types and lines with errors."""
    words = ("-m", "mypy", "--strict", "--config-file", "pyproject.toml", program)
    done = python(*words, cwd=ROOT, MYPYPATH=str(ROOT))
    assert done.stderr == ""
    found = re.findall(r"^(.+?):(\d+): (note|error): (.*)$", done.stdout, re.MULTILINE)
    assert {Path(file).name for file, *_ in found} == {"program.py"}, done.stdout
    revealed = {
        int(line): short(kind[1])
        for _, line, _, text in found
        if (kind := re.fullmatch(r'Revealed type is "(.*)"', text))
    }
    return revealed, {int(line) for _, line, severity, _ in found if severity == "error"}


def by_pyright(program: Path) -> tuple[dict[int, str], set[int]]:
    """Revealed types and lines with errors."""
    (program.parent / "pyrightconfig.json").write_text(json.dumps(PYRIGHT), "utf-8")
    done = python("-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, cwd=program.parent)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert {Path(one["file"]).name for one in found} == {"program.py"}, done.stdout
    revealed = {
        one["range"]["start"]["line"] + 1: short(kind[1])
        for one in found
        if (kind := re.fullmatch(r'Type of ".*" is "(.*)"', one["message"], re.DOTALL))
    }
    return revealed, {one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"}


@pytest.mark.slow  # starts both type checkers
@pytest.mark.parametrize("checker", [by_mypy, by_pyright])
def test_a_type_checker_knows_the_names_and_refuses_wrong_calls(checker, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    revealed, errors = checker(program)
    assert revealed == lines_with("# type: ")
    assert errors == set(lines_with("# error"))
