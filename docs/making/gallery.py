"""The gallery of the guide: the notebooks, run while it is built, with their pictures, and a page that leads to each.

FEDCONVEX_GALLERY=05,07 shows those whose names begin so, and runs no others.
"""

import logging
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter

from notebooks import sources, up_to_date

LOG = logging.getLogger("mkdocs.hooks.gallery")
TITLE = re.compile(
    r"\A# (?P<title>[^\n]+)\n\n\*\*(?P<question>.+?)\*\*", re.DOTALL
)  # as tests/test_notebooks.py demands
FIRST = """# Gallery

Questions, answered by calculation: the notebooks of the repository's folder `notebooks/`, with what they show. Install
`fedconvex[deep,notebooks]` to run them.
"""


class Shown(NamedTuple):
    """A notebook as a page: its address, title, question, text, and its pictures by address."""

    uri: str
    title: str
    question: str
    text: str
    pictures: dict[str, bytes]


@cache
def notebooks() -> tuple[Shown, ...]:
    """The notebooks of the gallery, run and converted."""
    names = os.environ.get("FEDCONVEX_GALLERY", "")
    found = sources(names.split(",") if names else [])
    LOG.info("Running those of %d notebooks that have changed", len(found))  # minutes, in which nothing else is said
    return tuple(shown(up_to_date(source)) for source in found)


def shown(path: Path) -> Shown:
    """A notebook with its outputs as a page."""
    name = path.stem.replace("_", "-")
    text, resources = MarkdownExporter().from_filename(path, {"unique_key": name})
    first = TITLE.match(text.lstrip())
    assert first is not None, f"{path.name} does not begin with a title and a question"
    pictures = {f"gallery/{picture}": content for picture, content in resources["outputs"].items()}
    return Shown(f"gallery/{name}.md", first["title"], " ".join(first["question"].split()), text, pictures)


def index() -> Iterator[str]:
    """The lines of the page that leads to the notebooks: title, question, and the last picture."""
    yield FIRST
    for notebook in notebooks():
        page = Path(notebook.uri).name
        yield f"## [{notebook.title}]({page})\n\n{notebook.question}\n"
        if notebook.pictures:
            yield f"[![{notebook.title}]({Path(list(notebook.pictures)[-1]).name}){{ loading=lazy }}]({page})\n"


def on_config(config: Any, **_: Any) -> None:
    """Adds the notebooks to the navigation."""
    for entry in config.nav or []:
        if isinstance(entry, dict) and "Gallery" in entry:
            entry["Gallery"] += [{notebook.title: notebook.uri} for notebook in notebooks()]


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Adds the notebooks' pages and pictures."""
    files.append(File.generated(config, "gallery/index.md", content="\n".join(index())))
    for notebook in notebooks():
        files.append(File.generated(config, notebook.uri, content=notebook.text))
        for uri, content in notebook.pictures.items():
            files.append(File.generated(config, uri, content=content))
    return files
