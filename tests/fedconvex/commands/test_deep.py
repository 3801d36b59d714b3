"""`fedconvex deep run --json` prints valid JSON, also for infinite and undefined numbers."""

import json
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fedconvex.commands.deep import app
from fedconvex.deep.runner import DeepRun

CONFIG = """
data = {name = "digits", clients = 4}
model = {name = "fully_connected", sizes = [64, 1]}
method = {name = "FedSGD", stepsize = STEPSIZE}
run = {rounds = 2, loss = "half_square", dtype = "float32"}
"""


def printed(folder: Path, stepsize: float) -> tuple[int, dict[str, Any]]:
    (folder / "run.toml").write_text(CONFIG.replace("STEPSIZE", str(stepsize)))
    done = CliRunner().invoke(app, ["run", str(folder / "run.toml"), "--out", str(folder / "out"), "--json"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return done.exit_code, json.loads(done.stdout, parse_constant=refuse)


@pytest.mark.slow
@pytest.mark.beyond_core  # trains a network
def test_a_value_that_is_infinite_ends_the_run(tmp_path: Path) -> None:
    """A stepsize with which the parameters stay below 1e38, and their squares do not."""
    code, found = printed(tmp_path, 1e22)
    assert code == 1
    assert found["stopped"] == "round 0: its value is not finite; a smaller stepsize may help"
    assert found["last"]["round"] == 0
    assert np.isfinite(found["last"]["value"])


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("number", [inf, -inf, nan])
def test_numbers_that_json_does_not_have_are_null(
    number: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to_frame = DeepRun.to_frame
    monkeypatch.setattr(DeepRun, "to_frame", lambda self: to_frame(self).assign(dissimilarity=number))
    code, found = printed(tmp_path, 1e-6)
    assert code == 0
    assert found["last"]["dissimilarity"] is None
    assert found["last"]["round"] == 2
    assert found["last"]["value"] > 0
