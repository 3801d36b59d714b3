"""Runs the notebooks: `python docs/making/notebooks.py [NAME …]` writes each, with its outputs, beside its source.

Every notebook in `notebooks/` is a source in Python, written by hand. The guide runs those of which the source or the
package has changed; all take about two minutes. Git ignores what is written.
"""

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
PACKAGE = ("fedconvex", "theory", "proofs_checks", "deep")
HANGS = 300  # seconds in one cell


@contextmanager
def kernels() -> Iterator[str]:
    """A short path for a kernel's sockets, away from the user's settings."""
    with TemporaryDirectory() as short:
        names = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR")
        with patch.dict("os.environ", dict.fromkeys(names, short)):
            yield short


def executed(notebook: NotebookNode) -> NotebookNode:
    """The notebook with its outputs, run in a process and an empty folder of its own. Raises CellExecutionError."""
    with kernels() as short, TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=HANGS,
            resources={"metadata": {"path": folder}},
            record_timing=False,
        )
        kernel = client.create_kernel_manager()
        kernel.transport, kernel.ip = "ipc", f"{short}/kernel"  # no ports, which other programs might take
        done: NotebookNode = client.execute()
    return done


def sources(names: list[str]) -> list[Path]:
    """The notebooks whose names begin with one of these, or all."""
    return [path for path in sorted(FOLDER.glob("*.py")) if not names or path.name.startswith(tuple(names))]


def up_to_date(source: Path) -> Path:
    """The notebook with its outputs, run unless it was with this source and this package."""
    written, made_from = source.with_suffix(".ipynb"), hashlib.sha256(source.read_bytes() + package()).hexdigest()
    if not written.exists() or nbformat.read(written, as_version=4).metadata.get("made_from") != made_from:
        notebook = executed(jupytext.read(source))
        notebook.metadata = {
            "kernelspec": notebook.metadata["kernelspec"],
            "language_info": {"name": "python"},
            "made_from": made_from,
        }
        nbformat.write(notebook, written)
    return written


@cache
def package() -> bytes:
    """A fingerprint of all files of the package."""
    files = sorted(path for name in PACKAGE for path in (ROOT / name).rglob("*") if path.is_file())
    content = (path.read_bytes() for path in files if path.suffix != ".pyc")
    return b"".join(hashlib.sha256(one).digest() for one in content)


if __name__ == "__main__":
    for source in sources(sys.argv[1:]):
        sys.stdout.write(f"{up_to_date(source)}\n")
