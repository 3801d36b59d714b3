"""The examples of the README and of the guide run as printed. Files in docs/adding are another matter: test_adding."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.beyond_core  # runs the documents' examples

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    pytest.param(document, block, id=f"{document.relative_to(ROOT)}-{i}")
    for document in DOCUMENTS
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", document.read_text("utf-8"), re.DOTALL))
]


@pytest.mark.parametrize(("document", "block"), BLOCKS)
def test_example_runs(document: Path, block: str, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # examples may write files
    names: dict[str, object] = {}
    exec(compile(block, str(document), "exec"), names)  # noqa: S102 - our own documents
    for name, value in list(names.items()):
        if name.startswith("test_"):
            value()
    capsys.readouterr()


def test_every_document_has_examples() -> None:
    """Blocks with a title are files: tests/test_adding.py makes them in a copy of the project."""
    with_files = {document for document in DOCUMENTS if "```python title=" in document.read_text("utf-8")}
    assert {document.parent.name for document in with_files} == {"adding"}
    assert {block.values[0] for block in BLOCKS} | with_files == set(DOCUMENTS)
