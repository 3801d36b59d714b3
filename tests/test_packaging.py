"""The wheel contains every module of the tree once, and works without the checkout."""

import os
import shutil
import stat
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from processes import python, require

pytestmark = pytest.mark.beyond_core  # starts processes

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FOLDERS: dict[str, str] = PYPROJECT["tool"]["setuptools"]["package-dir"]
PYTEST = PYPROJECT["tool"]["pytest"]["ini_options"]
LINKS = {name: folder for name, folder in FOLDERS.items() if name != folder}

# Runs with -I -S: neither the current folder nor the .pth files of site-packages, hence no editable install, can supply
# a module that is missing from the folder given.
SEES = """
import sys
target, *libraries = sys.argv[1:]
sys.path[:0] = [target]
sys.path += libraries
"""
IMPORT_ALL = """
import importlib, importlib.metadata, pkgutil
def reraise(name):
    raise
import fedconvex
names = ["fedconvex"]
for module in pkgutil.walk_packages(fedconvex.__path__, "fedconvex.", onerror=reraise):
    if not any(part.startswith("_") for part in module.name.split(".")):
        importlib.import_module(module.name)
        names.append(module.name)
strangers = [m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "fedconvex"
             and not m.__file__.startswith(target)]
assert not strangers, strangers
(script,) = importlib.metadata.distribution("fedconvex").entry_points.select(group="console_scripts")
assert script.name == "fedconvex" and callable(script.load())
print("\\n".join(names))
"""

# The main jobs, each in a second, on the files that are installed and nothing else.
WORK = """
from fractions import Fraction
import fedconvex as fc
from fedconvex.commands.errors import run
from fedconvex.commands.main import app
from fedconvex.proofs_checks import SmoothStronglyConvex, verify, worst_case
from fedconvex.theory import fedprox
from fedconvex.verdicts import Verdict
assert fc.__file__.startswith(target)
problem = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [0, 4]])
assert fc.fixed_point(fc.FedSplit(stepsize=1), problem, "exact").bias_is_zero
assert not fc.fixed_point(fc.FedProx(mu=1), problem, "exact").bias_is_zero
assert fc.ground_truth(problem).distance_bound < 1e-9
assert fedprox.rho(mu=50.0, L=1, L_minus=0, B=1.2, gamma=0, K=10) > 0
assert verify("fedprox.equation3").verdict is Verdict.PROVED
assert verify("fedsplit.equation17").verdict is Verdict.REFUTED
split, clients = fc.FedSplit(stepsize=Fraction(1, 2)), SmoothStronglyConvex(mu=1, L=4)
assert worst_case(split, clients, "any", metric="lifted_distance").upper == Fraction(1, 9)
assert run(app, ["audit", "diabetes", "--rounds", "3"]) == 0
assert run(app, ["verify", "dane", "--no-cache"]) == 0
assert run(app, ["reproduce", "list"]) == 0
assert run(app, ["deep", "example"]) == 0
"""


# A user's own lemmas and paper, in files of the current folder.
OWN = """
import fedconvex as fc
from fedconvex.commands.errors import run
from fedconvex.commands.main import app
assert fc.__file__.startswith(target)
assert run(app, ["verify", "./mypaper.py", "--tries", "100"]) == 1  # one of its lemmas is false
assert run(app, ["verify", "./suboptimality.py", "--tries", "100"]) == 0
assert run(app, ["verify", "./steps.py", "--tries", "100", "--record"]) == 0
assert run(app, ["verify", "./steps.py", "--tries", "100"]) == 0
assert run(app, ["bounds", "./steps.py:theorem1", "--stepsize", "1/4", "--L", "2"]) == 0
"""


def python_files(root: Path, folders: dict[str, str] = FOLDERS) -> list[str]:
    """Where the wheel has to have each .py file of the source folders, read without following links."""
    files = []
    for name, folder in folders.items():
        for path, subfolders, names in os.walk(root / folder):
            subfolders[:] = [s for s in subfolders if s != "__pycache__" and not (Path(path) / s).is_symlink()]
            inside = Path(name.replace(".", "/")) / Path(path).relative_to(root / folder)
            files += [str(inside / n) for n in names if n.endswith(".py")]
    return files


def differences(expected: Iterable[str], found: Iterable[str]) -> list[str]:
    """One line for each name that does not occur equally often on both sides."""
    want, have = Counter(expected), Counter(found)
    return [f"{name}: {have[name]} times, not {want[name]}" for name in sorted(want | have) if have[name] != want[name]]


def copy_tree(destination: Path, links: bool) -> Path:
    """The files that a distribution is built from. A build writes beside its sources, so never in the checkout."""
    clutter = shutil.ignore_patterns("__pycache__", *([] if links else LINKS.values()))
    for folder in FOLDERS.values():
        ignore = clutter if folder == "fedconvex" else shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, destination / folder, symlinks=True, ignore=ignore)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, destination)
    return destination


def build(source: Path, kind: str, destination: Path) -> Path:
    """Build with the setuptools at hand, offline; kind is wheel or sdist."""
    require(python("-m", "build", "--no-isolation", f"--{kind}", "--outdir", destination, source))
    (result,) = destination.iterdir()
    return result


def contents(wheel: Path) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted((entry.filename, archive.read(entry)) for entry in archive.infolist())


def work(folder: Path, somewhere: Path, program: str = WORK) -> subprocess.CompletedProcess[str]:
    """Run the program with what is installed in `folder`, seeing besides it only the libraries."""
    libraries = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]
    return python("-I", "-S", "-c", SEES + program, folder, *libraries, cwd=somewhere)


def install(wheel: Path, folder: Path) -> Path:
    require(python("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", folder, wheel))
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = copy_tree(tmp_path_factory.mktemp("checkout"), links=True)
    return build(source, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    return install(wheel, tmp_path / "installed")


def test_every_module_is_in_the_wheel_once(wheel: Path) -> None:
    found = [name for name, _ in contents(wheel) if name.endswith(".py")]
    assert "fedconvex/theory/__init__.py" in found
    assert differences(python_files(ROOT), found) == []


def test_every_stub_is_in_the_wheel(wheel: Path) -> None:
    stubs = {
        str(Path(name.replace(".", "/")) / path.relative_to(ROOT / folder))
        for name, folder in FOLDERS.items()
        for path in (ROOT / folder).rglob("*.pyi")
    }
    assert {"fedconvex/__init__.pyi", "fedconvex/deep/models/__init__.pyi"} <= stubs
    assert stubs <= {name for name, _ in contents(wheel)}


def test_a_missing_a_repeated_and_a_strange_file_are_noticed() -> None:
    expected, found = ["a/__init__.py", "a/lost.py", "a/b.py"], ["a/__init__.py", "a/b.py", "a/b.py", "b.py"]
    assert differences(expected, found) == [
        "a/b.py: 2 times, not 1",
        "a/lost.py: 0 times, not 1",
        "b.py: 1 times, not 0",
    ]


def test_source_files_are_counted_once_in_spite_of_links(tmp_path: Path) -> None:
    for file in ("fedconvex/a/b.py", "theory/c.py", "theory/__pycache__/c.py", "theory/no_package/d.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "fedconvex/theory").symlink_to("../theory")
    files = python_files(tmp_path, {"fedconvex": "fedconvex", "fedconvex.theory": "theory"})
    assert sorted(files) == ["fedconvex/a/b.py", "fedconvex/theory/c.py", "fedconvex/theory/no_package/d.py"]


def test_the_wheel_is_typed_and_licensed(wheel: Path) -> None:
    names = [name for name, _ in contents(wheel)]
    assert "fedconvex/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert all(
        name.split("/")[0] in ("fedconvex", f"fedconvex-{PYPROJECT['project']['version']}.dist-info") for name in names
    )


@pytest.mark.slow
def test_a_checkout_without_links_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    source = copy_tree(tmp_path / "checkout", links=False)
    assert not (source / "fedconvex/theory").exists()
    assert contents(build(source, "wheel", tmp_path / "wheel")) == contents(wheel)


@pytest.mark.slow
def test_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    sdist = build(copy_tree(tmp_path / "checkout", links=True), "sdist", tmp_path / "sdist")
    shutil.unpack_archive(sdist, tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    assert contents(build(source, "wheel", tmp_path / "wheel")) == contents(wheel)


@pytest.mark.slow
def test_every_public_module_imports_from_the_installed_wheel(installed: Path) -> None:
    imported = set(require(work(installed, installed, IMPORT_ALL)).split())
    assert FOLDERS.keys() <= imported
    modules = {file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in python_files(ROOT)}
    assert imported == {name for name in modules if not any(part.startswith("_") for part in name.split("."))}


@pytest.mark.slow
def test_the_installed_wheel_works_alone(installed: Path, tmp_path: Path) -> None:
    assert "fedsplit.figure1" in require(work(installed, tmp_path))
    assert (tmp_path / "audit-diabetes/audit.png").is_file()


@pytest.mark.slow
def test_the_guides_own_lemmas_and_paper_are_checked_by_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    """Three files of growing size, as the guide has them; the last one's theorem is proved without a proof by hand."""
    text = (ROOT / "docs/verify.md").read_text("utf-8")
    own = text[text.index("## A lemma of your own") : text.index("## Checking proofs independently")]
    blocks = [block.partition("```")[0] for block in own.split("```python\n")[1:]]
    for name, block in zip(("mypaper", "suboptimality", "steps"), blocks, strict=True):
        assert len([line for line in block.splitlines() if line.strip()]) <= 60
        (tmp_path / f"{name}.py").write_text(block, "utf-8")
    require(work(installed, tmp_path, OWN))
    assert (tmp_path / "steps.verdicts.json").read_text("utf-8").count("proved") == 1


@pytest.mark.slow
def test_a_data_file_that_the_wheel_lacks_is_noticed(installed: Path, tmp_path: Path) -> None:
    (installed / "fedconvex/proofs_checks/verdicts.json").unlink()
    assert work(installed, tmp_path).returncode != 0


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["theory", "errors.py"])
def test_the_checkout_does_not_lend_what_the_wheel_lacks(installed: Path, lost: str) -> None:
    module, path = f"fedconvex.{lost.removesuffix('.py')}", installed / "fedconvex" / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    (installed / "fedconvex/__init__.py").write_text(f"import {module}\n")
    done = work(installed, installed, IMPORT_ALL)
    assert done.returncode != 0
    assert f"ModuleNotFoundError: No module named '{module}'" in done.stderr


def test_the_links_lead_to_the_mapped_folders() -> None:
    for name, folder in LINKS.items():
        link = ROOT / name.replace(".", "/")
        if not link.is_symlink():
            pytest.skip("this checkout was made without symlinks")
        assert link.readlink() == Path("..") / folder


def test_the_version_is_the_same_everywhere() -> None:
    version = PYPROJECT["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def readme_test_command(readme: str) -> str:
    (command,) = {line.strip() for line in readme.splitlines() if line.strip().endswith("-m pytest")}
    return command


def last_check(script: str) -> str:
    """What the script runs last, if nothing after it prints."""
    *_, check, end = [line.strip() for line in script.splitlines() if line.strip()]
    assert end == "exit $status", f"{end} comes after the tests"
    return check.removesuffix(" || status=1")


def test_ci_ends_with_the_readmes_test_command() -> None:
    command = readme_test_command((ROOT / "README.md").read_text("utf-8"))
    assert command.startswith("python3 -m venv ")
    assert last_check((ROOT / ".ci/run").read_text("utf-8")) == command


def test_ci_that_ends_otherwise_is_noticed() -> None:
    assert last_check("mypy || status=1\nexit $status\n") == "mypy"
    with pytest.raises(AssertionError, match="echo done comes after"):
        last_check("pytest || status=1\necho done\n")


def pretended_ci(folder: Path, failing: str) -> subprocess.CompletedProcess[str]:
    """What `.ci/run` does where every tool only says how it was called, and one fails."""
    (folder / ".ci").mkdir()
    (folder / ".venv/bin").mkdir(parents=True)
    shutil.copy(ROOT / ".ci/run", folder / ".ci/run")
    for tool in (".ci/browser", *(f".venv/bin/{n}" for n in ("python3", "pip", "ruff", "mypy", "python", "coqc"))):
        stub, name = folder / tool, Path(tool).name
        stub.write_text(f'#!/bin/sh\ncall="{name} $*"\necho "$call"\ncase "$call" in "$FAILING"*) exit 3;; esac\n')
        stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    environment = {"PATH": f"{folder / '.venv/bin'}{os.pathsep}{os.environ['PATH']}", "FAILING": failing or "none"}
    return subprocess.run([folder / ".ci/run"], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    "failing",
    [
        "", "python3", "pip", "ruff format", "ruff check", "mypy", "python -m coverage run",
        "python -m coverage combine", "python -m coverage report", "python -m fedconvex verify --kernel rocq",
        "python -m pytest -m slow or exhaustive",
        "python -m pytest",
    ],
)  # fmt: skip
def test_ci_fails_if_any_check_fails(tmp_path: Path, failing: str) -> None:
    done = pretended_ci(tmp_path, failing)
    assert (done.returncode == 0) == (failing == "")
    assert "SKIPPED" not in done.stderr
    if failing not in ("python3", "pip"):
        assert done.stdout.splitlines()[-1] == "python -m pytest"


def test_exploring_is_nightly_and_no_commit_fails_by_chance(tmp_path: Path) -> None:
    assert "explore" not in pretended_ci(tmp_path, "").stdout
    (nightly,) = (
        f for f in (ROOT / ".github/workflows").glob("*.yml") if '-m pytest -m "explore' in f.read_text("utf-8")
    )
    assert "schedule:" in nightly.read_text("utf-8")


def test_ci_runs_every_layer(tmp_path: Path) -> None:
    """What the marks leave out of the README's command is the second run, and nothing is in both."""
    (kept_out,) = [option.removeprefix("-m=") for option in PYTEST["addopts"] if option.startswith("-m=")]
    assert kept_out == "not slow and not exhaustive"
    calls = pretended_ci(tmp_path, "").stdout.splitlines()
    assert {"python -m pytest -m slow or exhaustive --durations=40", "python -m pytest"} <= set(calls)


def test_ci_without_a_browser_says_so_and_goes_on(tmp_path: Path) -> None:
    done = pretended_ci(tmp_path, "browser")
    assert done.returncode == 0
    assert "its tests are SKIPPED" in done.stderr
