"""The guide's workflow for GitHub Actions and its other commands, executed on the guide's own example."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.beyond_core  # starts processes

ROOT = Path(__file__).resolve().parents[3]
SECTION = (ROOT / "docs/conformance.md").read_text("utf-8").partition("## In continuous integration")[2]
EXAMPLE = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)[0]
WORKFLOW = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", SECTION, re.DOTALL)[0])
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL) for line in block.splitlines()]
STEPS = [step["run"] for step in WORKFLOW["jobs"]["conform"]["steps"] if "run" in step]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's repository: the example, a test of theirs, and the programs that pip would have installed."""
    for name in ("ci", "tests", "bin"):
        (tmp_path / name).mkdir()
    (tmp_path / "ci/fedprox.py").write_text(EXAMPLE, "utf-8")
    (tmp_path / "tests/test_theirs.py").write_text("def test_theirs():\n    pass\n", "utf-8")
    for name, module in (
        ("fedconvex", "fedconvex"),
        ("pytest", "pytest -p fedconvex.commands.pytest_plugin -p no:fedconvex"),
    ):
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n', "utf-8")
        program.chmod(0o755)
    return tmp_path


def execute(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command as GitHub's runner executes it, but in the environment at hand."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **WORKFLOW["env"], "PATH": path}
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_the_workflow_installs_and_checks(folder: Path) -> None:
    install, *steps = STEPS
    assert install == 'pip install "$FEDCONVEX"'  # not executed: it needs the network
    assert steps
    for step in steps:
        done = execute(step, folder)
        assert done.returncode == 0, done.stdout + done.stderr
    upload = WORKFLOW["jobs"]["conform"]["steps"][-1]
    assert upload["if"] == "always()"
    assert sorted(file.name for file in folder.glob(upload["with"]["path"])) == [
        "conform.json",
        "conform.svg",
        "conform.xml",
    ]


def test_the_workflow_fails_where_the_implementation_is_wrong(folder: Path) -> None:
    assert EXAMPLE.count("+ 0.5 * (theta - w)") == 1
    (folder / "ci/fedprox.py").write_text(EXAMPLE.replace("+ 0.5 * (theta - w)", "- 0.5 * (theta - w)"), "utf-8")
    done = execute(STEPS[1], folder)
    assert done.returncode == 1
    assert "the proximal gradient has the wrong sign" in done.stdout
    assert int(ElementTree.parse(folder / "conform.xml").getroot().attrib["failures"]) > 0


@pytest.mark.sample(1)
@pytest.mark.parametrize("command", COMMANDS)
def test_the_other_commands_of_the_section(command: str, folder: Path) -> None:
    done = execute(command, folder)
    assert done.returncode == 0, done.stdout + done.stderr
