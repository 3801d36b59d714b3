"""Small experiments as TOML files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fedconvex.reproduce.specification import Experiment, read

SWEEP = """
id = "test.sweep"
title = "two methods on least squares"
source = "nowhere"
about = "small"
runner = "sweep"
seconds = 1
quick_seconds = 1

[run]
rounds = 40
seeds = 2

[data.small]
name = "fedsplit_least_squares"
clients = 3
samples = 8
features = 4

[methods."GD, e = 1"]
name = "FedGD"
stepsize = "=1/L"
local_steps = 1

[methods."GD, e = 5"]
name = "FedGD"
stepsize = "=1/L"
local_steps = 5

[methods.Prox]
name = "FedProx"
mu = "=L"
"""
DEEP = """
id = "test.deep"
title = "two methods on digits"
source = "nowhere"
about = "small"
runner = "deep"
seconds = 1
quick_seconds = 1

[run]
rounds = 3
seeds = 2
test = 0.2
measure = ["heterogeneity"]
participation = { name = "UniformThenWeighted", K = 2 }
local_solver = { name = "SGD", epochs = 1, stepsize = 0.1 }

[data.digits]
name = "digits"
clients = 4
partition = "by-label:3"

[methods.FedAvg]
name = "FedProx"
mu = 0

[methods.FedProx]
name = "FedProx"
grid = { mu = [0.1, 1] }
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Experiment]:
    """The experiment of a text: written to a file and read."""

    def write(text: str, quick: bool = False) -> Experiment:
        file = tmp_path / "paper" / "test.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        return read(file, quick)

    return write


@pytest.fixture
def sweep_text() -> str:
    return SWEEP


@pytest.fixture
def deep_text() -> str:
    return DEEP
