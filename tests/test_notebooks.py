"""Each notebook runs, is stored with what it shows, agrees with its source, and uses public names only."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import jupytext
import nbformat
import pytest
from documents import DOCS, DOCUMENTS, ROOT, making
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

pytestmark = pytest.mark.beyond_core  # runs notebooks

SOURCES = sorted((ROOT / "notebooks").glob("*.py"))
SHOWS_PICTURE = re.compile(r"\.figure(\(.*\))?$")
MOST_LINES = 160  # a few screens
CURE = "run `python docs/making/notebooks.py`"


def content(notebook: NotebookNode) -> list[tuple[str, str]]:
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def kinds(notebook: NotebookNode) -> list[list[str]]:
    """What each cell shows: the formats of its outputs, or the stream's name. Numbers differ a little elsewhere.

    Text that is printed in a row is one output, or several where the kernel is slow.
    """
    shown = []
    for cell in notebook.cells:
        names = [
            name
            for output in cell.get("outputs", [])
            for name in sorted(output.get("data", [output.get("name", "error")]))
        ]
        shown.append([name for i, name in enumerate(names) if name != "stdout" or names[i - 1 : i] != ["stdout"]])
    return shown


def differences(source: NotebookNode, stored: NotebookNode, executed: NotebookNode | None = None) -> list[str]:
    """What keeps a stored notebook from being that of its source, as it was executed, one line each."""
    found = [] if content(source) == content(stored) else [f"not the cells of its source; {CURE}"]
    if executed is not None:
        found += [
            f"cell {i} shows {now}, not {before}; {CURE}"
            for i, (before, now) in enumerate(zip(kinds(stored), kinds(executed), strict=False))
            if before != now
        ]
    return found


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of every import; the name is empty where the module itself is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def not_public(text: str, documents: str) -> list[str]:
    """Names with an underscore in front, and modules of ours that no document mentions."""
    tree = ast.parse(text)
    found = [
        f"{module} is in no document"
        for module, _ in imported(tree)
        if module.split(".")[0] == "fedconvex" and not re.search(rf"\b{re.escape(module)}\b(?!\.\w)", documents)
    ]
    names = [part for module, name in imported(tree) for part in (*module.split("."), name)]
    names += [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return [*found, *(f"{name} is private" for name in names if name.startswith("_"))]


def unfit(executed: NotebookNode) -> list[str]:
    """Warnings, and pictures that do not appear."""
    found = []
    for i, cell in enumerate(executed.cells):
        outputs = cell.get("outputs", [])
        found += [f"cell {i} warns: {o.text}" for o in outputs if o.output_type == "stream" and o.name == "stderr"]
        if SHOWS_PICTURE.search(cell.source) and not any("image/png" in o.get("data", {}) for o in outputs):
            found.append(f"cell {i} shows no picture")
    return found


def run(notebook: NotebookNode) -> NotebookNode:
    """Executes a notebook as the stored ones were."""
    return making("notebooks").executed(notebook)


def stored(source: Path) -> NotebookNode:
    return nbformat.read(source.with_suffix(".ipynb"), as_version=4)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
class TestEach:
    def test_it_is_in_step_with_its_source_and_stored_with_what_it_shows(self, source: Path) -> None:
        nbformat.validate(stored(source))
        assert differences(jupytext.read(source), stored(source)) == []
        assert unfit(stored(source)) == []
        assert any(kinds(stored(source)))
        assert "/home/" not in (text := source.with_suffix(".ipynb").read_text("utf-8"))
        assert "/tmp/" not in text

    def test_it_goes_from_a_question_to_an_answer_on_a_few_screens(self, source: Path) -> None:
        first, *_, last = jupytext.read(source).cells
        assert re.fullmatch(r"# .+?\n\n\*\*.+\?\*\*.*", first.source, re.DOTALL)
        assert last.source.startswith("**Answer.** ")
        assert len(source.read_text("utf-8").splitlines()) <= MOST_LINES

    def test_it_uses_what_is_public_and_documented(self, source: Path) -> None:
        documents = "\n".join(document.read_text("utf-8") for document in (*DOCUMENTS, DOCS / "making/reference.py"))
        assert not_public(source.read_text("utf-8"), documents) == []

    @pytest.mark.sample(1)
    def test_it_runs(self, source: Path) -> None:
        executed = run(jupytext.read(source))
        assert unfit(executed) == []
        assert differences(executed, stored(source), executed) == []


def test_every_notebook_has_a_source() -> None:
    assert [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))] == [path.stem for path in SOURCES]
    assert len(SOURCES) >= 9


def test_a_pair_out_of_step_and_older_outputs_are_noticed() -> None:
    source, other = new_notebook(cells=[new_code_cell("1")]), new_notebook(cells=[new_code_cell("2")])
    assert differences(source, source, source) == []
    assert [line[:9] for line in differences(source, other)] == ["not the c"]
    executed = new_notebook(cells=[new_code_cell("1", outputs=[new_output("stream", text="1")])])
    assert differences(source, source, executed) == [f"cell 0 shows ['stdout'], not []; {CURE}"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("from fedconvex.theory import _hidden", "_hidden is private"),
        ("import fedconvex as fc\nfc._HOMES", "_HOMES is private"),
        ("from fedconvex.theory.secret import rho", "fedconvex.theory.secret is in no document"),
        ("import fedconvex.theor", "fedconvex.theor is in no document"),
    ],
)
def test_what_is_not_public_is_noticed(text: str, complaint: str) -> None:
    assert not_public(text, "`import fedconvex`, `fedconvex.theory.fedprox`, and fedconvex.theory.") == [complaint]


def test_a_failing_notebook_fails() -> None:
    with pytest.raises(CellExecutionError, match="6 times 9"):
        run(new_notebook(cells=[new_code_cell("assert 6 * 9 == 42, '6 times 9'")]))


def test_warnings_and_missing_pictures_are_noticed() -> None:
    warns = new_code_cell("import warnings\nwarnings.warn('beware', stacklevel=1)")
    draws = "from fedconvex.drawing import new_axes\nnew_axes().figure"
    executed = run(new_notebook(cells=[warns, new_code_cell(draws), new_code_cell(f"%matplotlib inline\n{draws}")]))
    warned, missing = unfit(executed)
    assert "beware" in warned
    assert missing == "cell 1 shows no picture"
