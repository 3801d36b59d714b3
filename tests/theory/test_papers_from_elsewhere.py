"""Papers of users: in a file, and of installed packages; what clashes or cannot be run is refused."""

import json
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import fedconvex as fc
from fedconvex import theory
from fedconvex.commands.errors import WRONG_INPUT, run
from fedconvex.commands.main import app
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import verify
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import CURVATURE, Parameter
from fedconvex.statements.statement import ClaimType, Paper
from fedconvex.theory import others
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core

PAPER = '''"""A paper of one's own: one step of gradient descent."""

from fedconvex.claims.claim import at_most
from fedconvex.claims.terms import gradient, mean, server, square, value
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Derivation, Upper
from fedconvex.proofs_checks.library import by, concluding
from fedconvex.statements.assumptions import Everyone, Runs, SmoothObjective
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import CURVATURE, STEPSIZE, Parameter
from fedconvex.statements.statement import ClaimType, Paper

PAPER = Paper(
    name="mypaper", short="Mine", reference="I: A paper (2026)", convention="f = sum_k p_k F_k",
    letters=Letters(server="w^@"),
    notation={
        "stepsize": Parameter("s", "stepsize", STEPSIZE, above=0, measured="stepsize"),
        "L": Parameter("L", "smoothness of f", CURVATURE, above=0, measured="objective_smoothness"),
    },
)
ABOUT = {
    "symbol": r"\\rho", "relation": "=", "units": STEPSIZE,
    "assumes": (Runs("FedSGD"), Everyone(), SmoothObjective("L")),
    "states": lambda rho: at_most(value(server(1)), value(server(0)) - rho * square(mean(gradient(server(0))))),
}


@PAPER.statement("Theorem 1", ClaimType.UPPER, **ABOUT)
def theorem1(*, stepsize, L):
    """One step decreases f."""
    return stepsize - L * stepsize**2 / 2


@proof_of(theorem1)
def proof(claim):
    return Derivation((concluding(claim, by(Upper(server(1), server(0)))),))


@PAPER.statement("Theorem 2", ClaimType.UPPER, **ABOUT)
def searched(*, stepsize, L):
    """The same without a proof."""
    return stepsize - L * stepsize**2 / 2
'''
FALSE = '''

@PAPER.statement("Theorem 3", ClaimType.UPPER, **ABOUT)
def too_much(*, stepsize, L):
    """Twice as much."""
    return 2 * stepsize - L * stepsize**2
'''


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No paper from elsewhere is known before and after."""
    monkeypatch.setattr(others, "_FROM_FILES", {})
    caches = (others._installed, others._imported)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
def file(clean: None, tmp_path: Path) -> Path:
    path = tmp_path / "mypaper.py"
    path.write_text(PAPER, "utf-8")
    return path


@pytest.fixture
def installed(clean: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Installs a package with these entry points, and these texts of modules."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(entries: str = "mypaper = mypackage.mypaper", text: str = PAPER) -> Path:
        (tmp_path / "mypackage").mkdir()
        (tmp_path / "mypackage" / "__init__.py").write_text("", "utf-8")
        (tmp_path / "mypackage" / "mypaper.py").write_text(text, "utf-8")
        metadata = tmp_path / "mypackage-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n", "utf-8")
        (metadata / "entry_points.txt").write_text(f"[fedconvex.papers]\n{entries}\n", "utf-8")
        others._installed.cache_clear()
        return tmp_path / "mypackage"

    yield install
    for name in [name for name in sys.modules if name.partition(".")[0] == "mypackage"]:
        del sys.modules[name]


def test_a_file_is_verified_recorded_and_compared(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verify_it = ["verify", str(file), "--tries", "30"]
    assert run(app, verify_it) == 0
    shown = capsys.readouterr().out
    assert "mypaper.theorem1 is PROVED: the kernel replayed its proof" in shown
    assert "mypaper.theorem2 is PROVED: the kernel replayed its proof, which was found by a search" in shown
    assert run(app, [*verify_it, "--record"]) == 0
    beside = file.with_suffix(".verdicts.json")
    written = beside.read_text("utf-8")
    assert [entry["verdict"] for entry in json.loads(written).values()] == ["proved", "proved"]
    assert run(app, verify_it) == 0
    assert theory.statement("mypaper.theorem1").content == json.loads(written)["mypaper.theorem1"]["content"]
    beside.write_text(written.replace("proved", "unknown", 1), "utf-8")
    capsys.readouterr()
    assert run(app, verify_it) == 1
    assert "recorded is unknown" in capsys.readouterr().out


def test_a_false_statement_of_a_file_is_refuted(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(PAPER + FALSE, "utf-8")
    verify_it = ["verify", str(file), "--tries", "30"]
    assert run(app, verify_it) == 1
    assert "mypaper.theorem3 is REFUTED: a federation breaks it" in capsys.readouterr().out
    assert run(app, [*verify_it, "--record"]) == 0  # a reviewed refutation is no failure afterwards
    assert run(app, verify_it) == 0
    file.write_text(PAPER + FALSE.replace("2 *", "3 *"), "utf-8")
    others._FROM_FILES.clear()
    capsys.readouterr()
    assert run(app, verify_it) == 1  # of another claim nobody has reviewed it
    assert "recorded is another claim of this name" in capsys.readouterr().out


def test_bounds_of_a_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["bounds", f"{file}:theorem1", "--stepsize", "1/4", "--L", "2"]) == 0
    assert "3/16 = 0.1875" in capsys.readouterr().out
    assert run(app, ["bounds", f"{file}:searched", "--stepsize", "1/4", "--L", "2"]) == 0
    assert run(app, ["bounds", str(file)]) == 0
    assert "mypaper.theorem2" in capsys.readouterr().out
    assert run(app, ["bounds", f"{file}:theorem9"]) == WRONG_INPUT
    assert "did you mean mypaper.theorem" in capsys.readouterr().err


def test_an_installed_paper_is_one_of_all_papers(installed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = installed()
    assert theory.papers()["mypaper"].reference == "I: A paper (2026)"
    assert theory.statement("mypaper.theorem1") is theory.mypaper.theorem1
    assert theory.mypaper.theorem1(stepsize=Fraction(1, 4), L=2) == Fraction(3, 16)
    for number in (1, 2):  # the second by a search
        assert verify(f"mypaper.theorem{number}").verdict is Verdict.PROVED
    problem = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [0, 4]])
    found = theory.bounds_for(fc.FedSGD(stepsize=Fraction(1, 32)), problem)
    assert "mypaper.theorem1" in {entry.statement.identifier for entry in found.applies}
    assert run(app, ["verify", "mypaper"]) == 0
    assert run(app, ["verify", "mypaper", "--record"]) == 0
    recorded = json.loads((folder / "mypaper.verdicts.json").read_text("utf-8"))
    assert {entry["verdict"] for entry in recorded.values()} == {"proved"}
    assert run(app, ["bounds", "mypaper.theorem1", "--stepsize", "1/4", "--L", "2"]) == 0
    assert "3/16" in capsys.readouterr().out


@pytest.mark.slow  # the page has plots
def test_an_installed_paper_is_in_the_report(installed: Any, tmp_path: Path) -> None:
    installed()
    assert run(app, ["report", "mypaper", "--out", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Mine, Theorem 1" in page
    assert all(f'id="mypaper.theorem{k}"' in page for k in (1, 2))


def test_the_guides_examples_are_short_and_proved(
    clean: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "verify.md").read_text("utf-8")
    part = guide[guide.index("## A lemma of your own") : guide.index("## Checking proofs independently")]
    examples = re.findall(r"```python\n(.*?)```", part, re.DOTALL)
    assert [len(text.splitlines()) for text in examples] == [18, 9, 34]  # at most 60 each
    for number, (text, said) in enumerate(zip(examples, ("descent", "suboptimality", "steps.theorem1"), strict=True)):
        file = tmp_path / f"example{number}.py"
        file.write_text(text, "utf-8")
        run(app, ["verify", str(file), "--tries", "30"])
        assert f"{said} is PROVED: the kernel replayed its proof" in " ".join(capsys.readouterr().out.split())


def test_an_installed_statement_without_proof_fails_until_it_is_recorded(installed: Any) -> None:
    installed(text=PAPER + FALSE)
    assert run(app, ["verify", "mypaper"]) == 1
    assert run(app, ["verify", "mypaper", "--record"]) == 0
    assert run(app, ["verify", "mypaper"]) == 0


def test_the_package_itself_knows_no_other_papers(clean: None) -> None:
    assert set(theory.paper_names()) == set(theory.own_names())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("raise ValueError('no such luck')", "cannot be run: ValueError: no such luck"),
        ("raise SystemExit(0)", "cannot be run: SystemExit: 0"),
        ("x = 1", "defines no lemma and no statement"),
        ("PAPER = 3", "defines no PAPER"),
        (PAPER.replace('name="mypaper"', 'name="fedprox"'), "PAPER.name = fedprox: is the name of another paper"),
        (PAPER.replace('name="mypaper"', 'name="My Paper"'), "is no name of a module"),
        (PAPER.replace('"Theorem 2"', '"Theorem 1"'), "is the number of two statements of mypaper"),
        (PAPER.replace('"Theorem 2"', '"theorem 1"'), "is the number of two statements of mypaper"),
        (PAPER.replace("(*, stepsize, L)", "(*, stepsize, Lip)", 1), "has the parameter Lip, which is not in"),
        (PAPER.replace("(*, stepsize, L)", "(stepsize, L)", 1), "takes parameters by position; write (*, …)"),
        (PAPER.replace("return stepsize", "return 1 / 0 * stepsize", 1),
         "formula = mypaper.theorem1: cannot be called with terms (ZeroDivision"),
        (PAPER.replace("return Derivation", "return nothing + Derivation", 1),
         "statement = mypaper.theorem1: has a proof that fails, NameError"),
    ],
)  # fmt: skip
def test_files_that_are_no_papers_are_refused(
    file: Path, text: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what raises in a formula or proof of a paper is the file's fault."""
    file.write_text(text, "utf-8")
    assert run(app, ["verify", str(file)]) == WRONG_INPUT
    assert named in " ".join(capsys.readouterr().err.split())
    assert ("mypaper" in theory.paper_names()) is ("has a proof that fails" in named)


def test_two_files_with_one_name_and_a_file_without_paper(file: Path, tmp_path: Path) -> None:
    theory.paper_in(file)
    assert theory.paper_in(file).name == "mypaper"  # run once
    other = tmp_path / "other.py"
    twice = PAPER.replace("@proof_of(theorem1)", "@proof_of(theorem1)\n@proof_of(theorem1)")
    for text, named in ((twice, "has two proofs"), (PAPER, "of another paper")):
        other.write_text(text, "utf-8")
        with pytest.raises(InvalidInput, match=named):
            theory.paper_in(other)
    other.write_text("x = 1", "utf-8")
    with pytest.raises(InvalidInput, match="defines no PAPER"):
        theory.paper_in(other)
    with pytest.raises(InvalidInput, match="does not exist"):
        theory.paper_in(tmp_path / "none.py")


@pytest.mark.parametrize(
    ("entries", "text", "named"),
    [
        ("fedprox = mypackage.mypaper", PAPER, "is the name of a paper of fedconvex"),
        ("mypaper = mypackage.absent", PAPER, "cannot be run: ModuleNotFoundError"),
        ("mypaper = mypackage.mypaper", "x = 1", "defines no PAPER"),
        ("mypaper = mypackage.mypaper", "1 / 0", "cannot be run: ZeroDivisionError"),
        ("another = mypackage.mypaper", PAPER, "has a paper of another name, mypaper"),
    ],
)
def test_packages_whose_papers_are_none_are_refused(installed: Any, entries: str, text: str, named: str) -> None:
    installed(entries, text)
    with pytest.raises(InvalidInput) as refusal:
        theory.papers()
    assert named in str(refusal.value)


def test_a_record_that_is_no_json_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.with_suffix(".verdicts.json").write_text("{", "utf-8")
    assert run(app, ["verify", str(file), "--tries", "30"]) != 0
    assert "mypaper.verdicts.json cannot be read" in " ".join(capsys.readouterr().err.split())


def test_a_cell_may_run_again_and_a_file_may_not_define_twice() -> None:
    """Notebooks and interactive sessions are Python's module `__main__`."""

    def cell(module: str, formula: str = "theorem1") -> None:
        names: dict[str, Any] = {"__name__": module, "PAPER": paper, "about": about}
        exec(f"@PAPER.statement('Theorem 1', **about)\ndef {formula}(*, L):\n    return L", names)  # noqa: S102 - ours

    paper = Paper(
        name="again", short="Again", reference="I (2026)", convention="f", letters=Letters(),
        notation={"L": Parameter("L", "smoothness", CURVATURE, above=0)},
    )  # fmt: skip
    about = {"claim": ClaimType.UPPER, "symbol": "b", "relation": "=", "units": CURVATURE}
    cell("__main__")
    first = paper.find("theorem1")
    cell("__main__")
    assert paper.find("theorem1") is not first
    with pytest.raises(InvalidInput, match="two statements"):
        cell("__main__", "another")
    with pytest.raises(InvalidInput, match="two statements"):
        cell("somebodys")
