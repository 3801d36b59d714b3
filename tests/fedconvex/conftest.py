"""Tests of this folder may `import problem_makers`: with --import-mode=importlib, pytest adds no folder to the path."""

import sys
from pathlib import Path
from typing import Any

import pytest

from fedconvex.runs.rounds import Rounds

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def played(monkeypatch) -> list[int]:
    """The rounds that were really played."""
    numbers: list[int] = []
    play = Rounds.play

    def counted(self: Any, state: Any, draw: Any, *rest: Any, **options: Any) -> Any:
        numbers.append(draw.round)
        return play(self, state, draw, *rest, **options)

    monkeypatch.setattr(Rounds, "play", counted)
    return numbers
