"""Pages that the guide makes while it is built, so that a new method or paper needs no page to be written.

* A method that the table in docs/methods/index.md lacks gets a page: its docstring, one round in formulas, a link to
  the reference. When there is more to explain, write a page in docs/methods and a row of the table.
* "The landscape", "Every statement", "Every verdict" and "Unnumbered sentences" (`GENERATED`).

New local solvers, problems, data sets and models are in the reference (`reference.py`).
"""

import inspect
import re
from functools import partial
from typing import Any

from method_pages import DOCS, algebra
from mkdocs.structure.files import File, Files

from fedconvex.methods import METHODS
from fedconvex.proofs_checks.reporting import landscape
from fedconvex.proofs_checks.reporting import markdown as verdicts
from fedconvex.proofs_checks.reporting.results import chosen, results
from fedconvex.proofs_checks.sentences import page as sentences
from fedconvex.theory import catalogue

# address of a page -> what makes it
GENERATED = {
    "statements.md": catalogue.as_markdown,
    "landscape.md": lambda: landscape.as_markdown(landscape.landscape()),
    "sentences.md": sentences.as_markdown,
    # Recorded verdicts, because running every proof takes minutes; a statement without a record is verified.
    "verdicts.md": lambda: verdicts.as_markdown([record for record, _ in results(chosen(), kept=False, records=True)]),
}
SPELLED = {"SCAFFOLD": "Scaffold"}  # as the papers write a name -> as the code does


def on_config(config: Any, **_: Any) -> None:
    """Adds the generated methods' pages to the navigation."""
    for entry in config.nav or []:
        if isinstance(entry, dict) and "Methods" in entry:
            entry["Methods"] += [{name: uri(name)} for name in unwritten()]


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Adds the generated pages."""
    made = {**GENERATED, **{uri(name): partial(method_page, name) for name in unwritten()}}
    for address, make in made.items():
        files.append(File.generated(config, address, content=make()))
    return files


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
