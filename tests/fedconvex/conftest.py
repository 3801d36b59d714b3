"""Fixtures that several folders use."""

from typing import Any

import pytest

from fedconvex.runs.rounds import Rounds


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
