"""One round of a deep run: played, recorded, and taken back where it came to nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch

from fedconvex.arithmetic.rationals import Array
from fedconvex.deep.memory import with_room
from fedconvex.deep.problem import budget_of
from fedconvex.deep.processes import Processes
from fedconvex.methods.base import State
from fedconvex.runs.player import Simulator


@final
@dataclass(frozen=True, eq=False)
class RecordedRound:
    """The core's `player.Turn`, recorded. What the clients sent is gone, the rows that were overwritten are kept."""

    state: State
    of_round: dict[str, Any]
    undo: Callable[[], None]
    communicated: bool

    def is_finite(self, processes: Processes | None) -> bool:
        """Whether what the server has is: all that a round changed goes into it, but where it hears of nothing."""
        server = self.state.server
        vectors = [server, *(part for part in self.state.shared.values() if part.shape == server.shape)]
        if not all(map(_is_finite, vectors)):
            return False
        if self.communicated:
            return True
        here = all(map(_is_finite, self.state.memory.values()))
        return here if processes is None else processes.largest(float(not here)) == 0


def play(player: Simulator, state: State, t: int, processes: Processes | None) -> RecordedRound:
    """Round t; where memory runs out, the round or its record alone again, with less at once."""
    budget = budget_of(player.rounds.problem)
    turn = with_room(lambda: player.next_round(state, t), budget, processes)
    return RecordedRound(turn.state, with_room(turn.record, budget, processes), turn.undo, turn.communicated)


def _is_finite(part: Array) -> bool:
    return bool(torch.as_tensor(part).isfinite().all())
