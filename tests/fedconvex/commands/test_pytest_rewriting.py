"""pytest leaves the asserts of the package alone, although it rewrites those of all files installed with a plugin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.beyond_core  # starts processes

ROOT = Path(__file__).parents[3]
FILES = {
    "METADATA": "Metadata-Version: 2.1\nName: fedconvex-installed\nVersion: 1\n",
    "entry_points.txt": "[pytest11]\nfedconvex_installed = fedconvex.commands.pytest_plugin\n",
    "RECORD": "fedconvex/__init__.py,,\nfedconvex/methods/__init__.py,,\n",  # as of a wheel
}
TEST = """
import fedconvex.methods.fedprox

def test_left_alone():
    assert "AssertionRewritingHook" not in repr(type(fedconvex.methods.fedprox.__loader__))
"""


@pytest.mark.parametrize(("options", "outcome"), [((), "1 passed"), (("-p", "no:fedconvex_installed"), "1 failed")])
def test_with_the_plugin_alone_no_module_of_the_package_is_rewritten(
    tmp_path: Path, options: tuple[str, ...], outcome: str
) -> None:
    """The package is installed with its plugin; without it, pytest would rewrite its modules."""
    installed = tmp_path / "fedconvex_installed-1.dist-info"
    installed.mkdir()
    for name, text in FILES.items():
        (installed / name).write_text(text, "utf-8")
    (tmp_path / "test_it.py").write_text(TEST, "utf-8")
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    words = "-m pytest -q -n 0 -p no:cacheprovider -p no:fedconvex test_it.py"
    command = [sys.executable, *words.split(), *options]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert outcome in done.stdout, done.stdout + done.stderr
