"""Runs the notebooks' sources and stores what they show: `python docs/making/notebooks.py [NAME …]`.

Every notebook in `notebooks/` is a source in Python, written by hand, and a notebook made here, with its outputs: the
repository and the guide's gallery show them. All take about two minutes.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
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


def main(names: list[str]) -> None:
    """Executes the notebooks of these names, or all."""
    for source in sorted(FOLDER.glob("*.py")):
        if names and not any(source.stem.startswith(name) for name in names):
            continue
        notebook = executed(jupytext.read(source))
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"{source.stem[:2]}-{number}"  # jupytext draws them at random
        notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
        nbformat.write(notebook, source.with_suffix(".ipynb"))
        sys.stdout.write(f"{source.stem}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
