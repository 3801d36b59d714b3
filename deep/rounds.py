"""One round of a deep run: simulated and recorded, again with smaller batches where memory runs out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch

from fedconvex.arithmetic.rationals import Array
from fedconvex.deep.memory import with_room
from fedconvex.deep.problem import budget_of, training_of, used
from fedconvex.deep.processes import Processes
from fedconvex.methods.base import State
from fedconvex.runs.simulator import Simulator


@final
@dataclass(frozen=True, eq=False)
class RecordedRound:
    """A `SimulatedRound` with its record. It no longer holds what the clients sent, only the overwritten rows."""

    state: State
    columns: dict[str, Any]  # of this round's record
    undo: Callable[[], None]
    communicated: bool

    def is_finite(self, processes: Processes | None) -> bool:
        """Whether the model after the round is finite: the server's vectors and, after a local round, the memories.

        A round with communication carries every client's change into the server's vectors, so that these suffice.
        """
        server = self.state.server
        vectors = [server, *(part for part in self.state.shared.values() if part.shape == server.shape)]
        if not all(map(_is_finite, vectors)):
            return False
        if self.communicated:
            return True
        here = all(map(_is_finite, self.state.memory.values()))
        return here if processes is None else processes.largest(float(not here)) == 0


def recorded_round(simulator: Simulator, state: State, t: int, processes: Processes | None) -> RecordedRound:
    """Round t with its record; where memory runs out, the round or the record is repeated with smaller batches."""
    problem = simulator.rounds.problem
    budget, training = budget_of(problem), training_of(problem)
    done = with_room(lambda: simulator.next_round(used(state, problem), t), budget, processes)
    following = done.state if training is None else training.following(state, done, problem, processes)
    return RecordedRound(following, with_room(done.record, budget, processes), done.undo, done.communicated)


def _is_finite(part: Array) -> bool:
    return bool(torch.as_tensor(part).isfinite().all())
