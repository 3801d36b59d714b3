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


def run(folder: Path, *options: str) -> str:
    """The output of pytest where the package is installed with its plugin."""
    installed = folder / "fedconvex_installed-1.dist-info"
    installed.mkdir()
    for name, text in FILES.items():
        (installed / name).write_text(text, "utf-8")
    (folder / "test_it.py").write_text(TEST, "utf-8")
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:fedconvex",
        *options,
    ]
    done = subprocess.run([*command, "test_it.py"], cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_with_the_plugin_no_module_of_the_package_is_rewritten(tmp_path: Path) -> None:
    output = run(tmp_path)
    assert "1 passed" in output, output


def test_without_it_pytest_would_rewrite_them(tmp_path: Path) -> None:
    output = run(tmp_path, "-p", "no:fedconvex_installed")
    assert "1 failed" in output, output
