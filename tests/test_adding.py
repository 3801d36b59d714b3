"""Each page of docs/adding is a whole commit: made in a copy of the project, it passes the tests that can notice it."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from processes import python, require

ROOT = Path(__file__).resolve().parent.parent
PAGES = {page.stem: page.read_text("utf-8") for page in sorted((ROOT / "docs/adding").glob("*.md"))}
FILE = re.compile(r'^```python title="([^",]+)(?:, (imports|appended))?"\n(.*?)^```$', re.DOTALL | re.MULTILINE)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
AFTER_THE_DOCSTRING = re.compile(r'\Ar?""".*?"""\n\n', re.DOTALL)
# What a page may leave out though another page does it.
STUBS = "tests/test_typing.py::test_the_stubs_are_what_the_code_makes"
# What tests name that go through all that there is: what a page adds is one more there.
ALL_THERE_IS = re.compile(
    r"\b(METHODS|PROBLEMS|LOCAL_SOLVERS|DATASETS|SCHEMES|calculators|papers|recorded|sentences|statements\(\)|r?glob"
    r"|iterdir|listdir|iter_modules|walk_packages)\b"
)
# What the guide must then contain.
SHOWN = {
    "methods/fedmom.html": "Huo, Yang, Gu, Huang (2020)",
    "api/methods.html": "fedconvex.methods.fedmom.FedMom",
    "api/local-solvers.html": "fedconvex.local_solvers.heavy_ball.HeavyBall",
    "api/problems.html": "fedconvex.problems.targets.Targets",
    "api/deep.html": "fedconvex.deep.datasets.stl10.stl10",
    "statements.html": "bubeck.equation3_5",
    "verdicts.html": "dane.oneroundshorter",
}

pytestmark = pytest.mark.slow


def tracked_files() -> list[str]:
    """The files of the project, links included, without what git ignores."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if not (ROOT / ".git").exists():
        pytest.skip("the copy is made from git's list of files, and this is no checkout")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name and os.path.lexists(ROOT / name)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project, with what Python has compiled of it: that takes seconds."""
    copy, tracked = tmp_path / "project", tracked_files()
    compiled = (os.path.relpath(cache_from_source(ROOT / name), ROOT) for name in tracked if name.endswith(".py"))
    for name in (*tracked, *filter(os.path.isfile, compiled)):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    return copy


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python …` in the copy, whose package comes before the installed one."""
    own = {"PYTHONPATH": str(project), "FEDCONVEX_CACHE": str(project / ".cache"), "NO_MKDOCS_2_WARNING": "1"}
    own["FEDCONVEX_GALLERY"] = "01"  # the guide with one notebook: the others take minutes
    return python(*arguments, cwd=project, **own)


def files_of(text: str) -> Iterator[tuple[str, str, str]]:
    """Path, "imports", "appended" or nothing for a new file, and text of every file that a page shows."""
    yield from FILE.findall(text)


def commands_of(text: str) -> Iterator[list[str]]:
    """The commands of a page, as arguments of Python."""
    for block in COMMANDS.findall(text):
        for line in block.splitlines():
            program, *arguments = line.split()
            yield {"python": arguments, "fedconvex": ["-m", "fedconvex", *arguments]}[program]


def make(text: str, project: Path) -> list[str]:
    """Writes the files of a page into the copy and runs its commands; returns the files' paths."""
    for name, how, content in files_of(text):
        file = project / name
        before = file.read_text("utf-8") if file.is_file() else ""
        assert bool(how) == bool(before), f"{name} is there already, or is not there yet"
        if how == "imports":
            head = AFTER_THE_DOCSTRING.match(before)
            assert head is not None
            before, content = "", head[0] + content + before[head.end() :]
        file.write_text(before + "\n\n" * (how == "appended") + content, "utf-8")
    paths = list(dict.fromkeys(name for name, _, _ in files_of(text)))
    require(run(project, "-m", "ruff", "check", "--quiet", "--fix", "--select", "I", *paths))  # merges the imports
    for arguments in commands_of(text):
        require(run(project, *arguments))
    return paths


def pytest_in(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(project, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *arguments)


def paths_of_tests(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if path.startswith("tests/")]


@pytest.mark.parametrize("name", PAGES)
def test_the_commit_of_a_page_passes_its_tests(name: str, project: Path) -> None:
    paths = make(PAGES[name], project)
    assert paths_of_tests(paths)
    require(run(project, "-m", "ruff", "check", *paths))
    require(run(project, "-m", "ruff", "format", "--check", *paths))
    require(pytest_in(project, *paths_of_tests(paths), STUBS))


def words_of(text: str) -> Iterator[str]:
    """The ids of a page's own tests, and of the cases about what it adds, have one of these words."""
    for name, how, _ in files_of(text):
        if not how:
            stem = Path(name).stem.removeprefix("test_")
            yield from (stem, stem.replace("_", ""))


def test_all_pages_together_pass_what_walks_over_everything_and_are_in_the_guide(project: Path) -> None:
    """Of the core layer the tests that can notice them: other tests never see what the pages add."""
    assert len(PAGES) == 8
    for text in PAGES.values():
        make(text, project)
    words = {words.rpartition(".")[2] for words in SHOWN.values()}.union(*map(words_of, PAGES.values()))
    require(pytest_in(project, "-m", "core", "-k", " or ".join(word for word in words if word.isidentifier())))
    tests = [name for name in tracked_files() if re.fullmatch(r"tests/.*/test_\w+\.py", name)]
    walking = [name for name in tests if ALL_THERE_IS.search((ROOT / name).read_text("utf-8"))]
    # without the cases about what there was
    require(pytest_in(project, "-m", "core", "-k", "not [ or test_discovery or test_good_input", *walking))
    require(run(project, "-m", "mkdocs", "build", "--strict", "--site-dir", str(project / "site")))
    for page, words in SHOWN.items():
        assert words in (project / "site" / page).read_text("utf-8"), page
    if (ROOT / ".mypy_cache").is_dir():  # what it knows of the libraries saves a minute
        shutil.copytree(ROOT / ".mypy_cache", project / ".mypy_cache")
    require(run(project, "-m", "mypy"))


def test_the_copy_is_what_runs(project: Path) -> None:
    program = "import fedconvex, fedconvex.theory; print(fedconvex.__file__, fedconvex.theory.__file__)"
    found = run(project, "-c", program).stdout.split()
    assert [Path(file).resolve().is_relative_to(project.resolve()) for file in found] == [True, True]
    assert not (project / ".git").exists()


def test_a_page_with_a_mistake_is_noticed(project: Path) -> None:
    wrong = PAGES["method"].replace("(average - state.shared", "(average + state.shared", 1)
    assert wrong != PAGES["method"]
    paths = make(wrong, project)
    assert "test_three_rounds_are_those_of_the_paper" in pytest_in(project, *paths_of_tests(paths)).stdout


def test_stubs_that_were_not_written_again_are_noticed(project: Path) -> None:
    make(COMMANDS.sub("", PAGES["solver"]), project)
    assert "run `python docs/making/type_stubs.py`" in pytest_in(project, STUBS).stdout


def test_blocks_that_change_a_file_need_one_and_others_do_not() -> None:
    opened = ('```python title="a.py"\nA', '```python title="b.py, imports"\nB', "```python\nC", "```sh\npython d")
    text = "".join(f"{block}\n```\n" for block in opened)
    assert list(files_of(text)) == [("a.py", "", "A\n"), ("b.py", "imports", "B\n")]
    assert list(commands_of(text)) == [["d"]]
