"""Each notebook runs, shows what it should, fits the gallery, and uses public names only."""

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
run = making("notebooks").executed


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
    """Warnings, paths of this machine, pictures that do not appear, and last lines that show nothing."""
    found = []
    for i, cell in enumerate(executed.cells):
        outputs = cell.get("outputs", [])
        for output in outputs:
            if output.get("name") == "stderr":
                found.append(f"cell {i} warns: {output.text}")
            elif re.search("/(home|tmp)/", str(output)):
                found.append(f"cell {i} shows a path")
        if SHOWS_PICTURE.search(cell.source) and not any("image/png" in o.get("data", {}) for o in outputs):
            found.append(f"cell {i} shows no picture")
        elif cell.cell_type == "code" and not outputs and shows(cell.source):
            found.append(f"cell {i} shows nothing")
    return found


def shows(code: str) -> bool:
    """Whether the code ends with an expression, which a notebook shows."""
    lines = (line for line in code.splitlines() if not line.startswith("%"))
    return isinstance([ast.Pass(), *ast.parse("\n".join(lines)).body][-1], ast.Expr)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
class TestEach:
    def test_it_goes_from_a_question_to_an_answer_on_a_few_screens(self, source: Path) -> None:
        first, *_, last = jupytext.read(source).cells
        assert re.fullmatch(r"# .+?\n\n\*\*.+\?\*\*.*", first.source, re.DOTALL)
        assert last.source.startswith("**Answer.** ")
        assert len(source.read_text("utf-8").splitlines()) <= MOST_LINES

    def test_it_uses_what_is_public_and_documented(self, source: Path) -> None:
        documents = "\n".join(document.read_text("utf-8") for document in (*DOCUMENTS, DOCS / "making/reference.py"))
        assert not_public(source.read_text("utf-8"), documents) == []

    @pytest.mark.sample(1)
    def test_it_runs_and_is_a_page_of_the_gallery(self, source: Path, tmp_path: Path) -> None:
        executed = run(jupytext.read(source))
        assert unfit(executed) == []
        nbformat.write(executed, written := tmp_path / source.with_suffix(".ipynb").name)
        page = making("gallery").shown(written)
        assert page.question.endswith("?")
        assert len(page.pictures) == written.read_text("utf-8").count('"image/png"')


def test_a_notebook_runs_again_where_its_source_or_the_package_has_changed(tmp_path, monkeypatch) -> None:
    made, runs, kernel = making("notebooks"), [], {"name": "python3", "display_name": "Python"}
    monkeypatch.setattr(made, "executed", lambda one: runs.append(one) or new_notebook(metadata={"kernelspec": kernel}))
    for cell, package in ("1", b"a"), ("1", b"a"), ("2", b"a"), ("2", b"b"):
        monkeypatch.setattr(made, "package", lambda package=package: package)
        (tmp_path / "a.py").write_text(f"# %%\n{cell}\n", "utf-8")
        assert made.up_to_date(tmp_path / "a.py") == tmp_path / "a.ipynb"
    assert [one.cells[0].source for one in runs] == ["1", "2", "2"]


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
    silent, path = new_code_cell("f(1)"), new_code_cell("a = 1", outputs=[new_output("stream", text="/tmp/x")])
    assert unfit(new_notebook(cells=[silent, path])) == ["cell 0 shows nothing", "cell 1 shows a path"]
