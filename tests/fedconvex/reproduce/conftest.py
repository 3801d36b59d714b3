"""Experiments from texts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fedconvex.reproduce.specification import Experiment, read


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Experiment]:
    """The experiment of a text: written to a file and read."""

    def write(text: str, quick: bool = False) -> Experiment:
        file = tmp_path / "paper" / "test.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        return read(file, quick)

    return write
