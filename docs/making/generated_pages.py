"""What the guide makes from the code while it is built; nothing of it is kept in the repository.

* Parts of pages (`PARTS`): every statement, every verdict, the unnumbered sentences, the landscape, tables. In the
  Markdown stands the command that prints the part, in a block of its own:

      ```sh generated
      python docs/making/generated_pages.py algebra FedProx
      ```

* A page for each method that the table in docs/methods/index.md lacks: its docstring, one round in formulas, a link to
  the reference.

The gallery (`gallery.py`) and the reference (`reference.py`) have hooks of their own.
"""

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import faults_table
import frameworks_table
import landscape_page
import recorded_tables
import sentence_page
import statement_page
import verdict_page
from method_pages import DOCS, algebra, statements
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from fedconvex.methods import METHODS
from fedconvex.proofs_checks.reporting.landscape import landscape
from fedconvex.proofs_checks.reporting.results import chosen, results
from fedconvex.reproduce import experiments
from fedconvex.reproduce.summary import PACKAGED, last_results, markdown

SPELLED = {"SCAFFOLD": "Scaffold"}  # as the papers write a name -> as the code does
PART = re.compile(r"^```sh generated\npython docs/making/generated_pages\.py (\w+) ?([^\n]*)\n```$", re.MULTILINE)
# first word of a part's command -> what makes it, from the other words
PARTS: Mapping[str, Callable[..., str]] = {
    "catalogue": statement_page.as_markdown,
    "landscape": lambda: landscape_page.as_markdown(landscape()),
    "sentences": sentence_page.as_markdown,
    # Recorded verdicts, because running every proof takes minutes; a statement without a record is verified.
    "verdicts": lambda: verdict_page.as_markdown([found for found, _ in results(chosen(), kept=False, records=True)]),
    "algebra": lambda *methods: algebra(methods),
    "statements": lambda *identifiers: statements(identifiers),
    "table": recorded_tables.as_markdown,
    "faults": faults_table.table,
    "frameworks": frameworks_table.table,
    "reproduced": lambda: markdown(last_results(experiments(), PACKAGED)),
}


def on_config(config: Any, **_: Any) -> None:
    """Adds the generated methods' pages to the navigation."""
    for entry in config.nav or []:
        if isinstance(entry, dict) and "Methods" in entry:
            entry["Methods"] += [{name: uri(name)} for name in unwritten()]


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Adds the generated methods' pages."""
    for name in unwritten():
        files.append(File.generated(config, uri(name), content=method_page(name)))
    return files


def on_page_markdown(text: str, page: Any, **_: Any) -> str:
    """Puts the generated parts into a page."""

    def part(found: re.Match[str]) -> str:
        try:
            return PARTS[found[1]](*found[2].split())
        except Exception as error:  # of whatever makes it: the message names the page
            raise PluginError(f"{page.file.src_uri}: {found[1]} {found[2]}: {error!r}") from error

    return PART.sub(part, text)


def unwritten(index: str | None = None) -> list[str]:
    """The methods that the table in docs/methods/index.md (or in the text that is given) does not have."""
    text = (DOCS / "methods" / "index.md").read_text("utf-8") if index is None else index
    for paper, code in SPELLED.items():
        text = text.replace(paper, code)
    return [name for name in METHODS if not re.search(rf"\b{name}\b", text)]


def uri(name: str) -> str:
    """The address of a method's generated page, from docs/."""
    return f"methods/{name.lower()}.md"


def method_page(name: str) -> str:
    """A page for the method, from its class."""
    kind = METHODS[name]
    about = inspect.cleandoc(kind.__doc__ or "").partition("\nArgs:\n")[0].strip()
    return "\n".join([
        f"# {name}", "", about, "",
        f"Arguments, errors: [`{name}`](../api/methods.md#{kind.__module__}.{name}) in the reference.", "",
        "## One round", "", algebra([name]),
    ])  # fmt: skip


if __name__ == "__main__":
    name, *words = sys.argv[1:] or [""]
    sys.stdout.write(PARTS[name](*words)) if name in PARTS else sys.exit(f"{name}: give one of {', '.join(PARTS)}")
