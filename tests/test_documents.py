"""The examples of the README and of the guide run as printed. Files in docs/adding are another matter: test_adding."""

import re
from pathlib import Path

import pytest
from documents import DOCUMENTS, PAGES, ROOT

pytestmark = pytest.mark.beyond_core  # runs the documents' examples

BLOCKS = [
    pytest.param(document, block, id=f"{document.relative_to(ROOT)}-{i}")
    for document in DOCUMENTS
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", document.read_text("utf-8"), re.DOTALL))
]


@pytest.mark.sample(10)
@pytest.mark.parametrize(("document", "block"), BLOCKS)
def test_example_runs(document: Path, block: str, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # examples may write files
    names: dict[str, object] = {}
    exec(compile(block, str(document), "exec"), names)  # noqa: S102 - our own documents
    for name, value in list(names.items()):
        if name.startswith("test_"):
            value()
    capsys.readouterr()


def test_the_architecture_has_a_file_to_read_first_in_every_folder() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w/]+)` \|[^|]*\| `([\w/.]+)` \|$", text, re.MULTILINE))
    assert [folder for folder, first in rows.items() if not (ROOT / folder / first).is_file()] == []
    papers = {path.stem for path in (ROOT / "theory").iterdir()} - {"sentences", "display"}
    packages = {path.parent for name in ("fedconvex", "proofs_checks") for path in (ROOT / name).glob("*/__init__.py")}
    links = {"fedconvex/theory", "fedconvex/proofs_checks", "fedconvex/deep"}
    folders = {str(path.relative_to(ROOT)) for path in packages if path.name not in papers} - links
    assert folders | {"theory", "proofs_checks", "deep"} == rows.keys()
    files = [
        str(path) for name in ("fedconvex", "theory", "proofs_checks", "deep") for path in (ROOT / name).rglob("*.py")
    ]
    named = re.findall(r"`(\w+/[\w/]*\.py)`", text)
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in files)] == []


def test_every_link_in_a_checkout_leads_to_a_file() -> None:
    texts = {page: page.read_text("utf-8") for page in (*ROOT.glob("*.md"), *PAGES)}
    links = [(page, link) for page in texts for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", texts[page])]
    assert [f"{page}: {link}" for page, link in links if not (page.parent / link).exists()] == []
    assert len(links) > 100


def test_every_document_has_examples() -> None:
    """Blocks with a title are files: tests/test_adding.py makes them in a copy of the project."""
    with_files = {document for document in DOCUMENTS if "```python title=" in document.read_text("utf-8")}
    assert {document.parent.name for document in with_files} == {"adding"}
    assert {block.values[0] for block in BLOCKS} | with_files == set(DOCUMENTS)


# A terminal as it looks after a command, "…" for what is left out; and the file of a command, the code block before it.
TERMINALS = re.compile(r"```text\n\$ fedconvex (.*?)\n(.*?)```", re.DOTALL)
FILES = re.compile(r"```python\n((?:(?!```).)*)```(?:(?!```).)*```text\n\$ fedconvex verify \./(\S+)", re.DOTALL)
VERIFY = (ROOT / "docs/verify.md").read_text("utf-8")
TABLES = (ROOT / "docs/tables.md").read_text("utf-8")


def not_printed(page: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that the page shows after its commands and that these print neither as output nor as messages."""
    from fedconvex.commands.errors import run
    from fedconvex.commands.main import command_line

    for code, name in FILES.findall(page):
        Path(name).write_text(code, "utf-8")
    missing = []
    for command, shown in TERMINALS.findall(page):
        run(command_line(command.split()), command.split())
        printed = "\n".join(line.rstrip() for line in "".join(reversed(capsys.readouterr())).splitlines())
        parts = ("\n".join(line.rstrip() for line in part.splitlines()) for part in shown.split("…\n"))
        missing += [part for part in parts if part not in printed]
    return missing


@pytest.mark.slow
def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("fedconvex.theory.others._FROM_FILES", {})  # other tests shall not know the page's paper
    monkeypatch.chdir(tmp_path)
    assert (len(TERMINALS.findall(VERIFY)), len(FILES.findall(VERIFY))) == (6, 3)
    assert not_printed(VERIFY, capsys) == []


def test_a_page_that_shows_something_else_is_noticed(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    shown = "which was found by a search"
    before, _, after = VERIFY.partition(shown)
    file_and_command = before[before.rindex("```python") :] + "which was easy" + after[: after.index("```") + 3]
    assert len(not_printed(file_and_command, capsys)) == 1


@pytest.mark.slow  # audits
def test_commands_on_a_table_print_what_the_page_shows(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(re.findall(r"```python\n(.*?)```", TABLES, re.DOTALL)[0], "tables.md", "exec"), {})  # noqa: S102
    capsys.readouterr()
    assert len(TERMINALS.findall(TABLES)) == 3
    assert not_printed(TABLES, capsys) == []
    wrong = TABLES.replace("--drop admitted", "--drop patient_id", 1)
    assert len(not_printed(wrong, capsys)) == 1


@pytest.mark.parametrize("name", ["README.md", "docs/recommend.md"])
def test_the_recommendation_is_printed_as_shown(name: str) -> None:
    """The bounds of errors that are 0, and the runs of the alternatives, are left out: rounding decides the first."""
    import fedconvex as fc
    from fedconvex.audit.display import text

    found = text(fc.recommend(fc.data.diabetes(clients=10)), with_objective=False).splitlines()
    page = (ROOT / name).read_text("utf-8")
    stable = [line for line in found if "≤" not in line and "rounds to relative" not in line and "enclosed" not in line]
    assert len(stable) > 5
    for line in stable:
        assert line in page
    assert "64 predicted, 64 measured" in page
