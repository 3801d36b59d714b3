"""Check the server's part alone, such as a framework's strategy: the kit plays the clients.

The author passes to `check`

* `init(problem, x0) -> state` and `server_model(state)`, as for `round`;
* `server(problem, state, replies) -> state`, one round: `replies` has a `Reply` for each active client, in a dict by
  the client's number. Working on the state in place is fine; return it;
* for SCAFFOLD `broadcast(state)`, what the server sends besides its model, as a dict of (d,) arrays: {"c": …}.

The clients' part is the method's own, computed at the model (and c) that this server sends. DANE's and FedDANE's server
averages gradients first; that average is the kit's own and is not checked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.implementation import WORK, Implementation, Turn
from fedconvex.conformance.reference import Reference, draw_of, rounds_on, started
from fedconvex.conformance.setup import Setup
from fedconvex.conformance.vectors import vector
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.methods.scaffold import Scaffold
from fedconvex.runs.rounds import Rounds


@final
@dataclass(frozen=True, eq=False)
class Reply:
    """What a client sends to the server after its local work."""

    model: np.ndarray  # (d,): θ_k
    num_samples: int
    local_steps: int | None  # steps or epochs taken; None for exact local solutions
    memory: Mapping[
        str, np.ndarray
    ]  # (d,) by name, what the client keeps: SCAFFOLD "c", FedDyn "gradient", FedSplit "z"
    changes: Mapping[str, np.ndarray]  # (d,) by name: `memory` minus what it was before the round


@dataclass(frozen=True, eq=False)
class Trained:
    """The implementation's server between two rounds, and the kit's clients."""

    theirs: Any
    rounds: Rounds
    clients: State  # the correct clients' memory, and the shared vectors that they saw last
    round: int = 0


@final
@dataclass(frozen=True, eq=False)
class ServerFunctions(Implementation):
    """A server that the method's own clients reply to. Raises InvalidInput where one of its vectors is not given."""

    setup: Setup
    references: Sequence[Reference]
    init: Callable[..., Any]
    update: Callable[..., Any]
    read: Callable[..., Any]
    broadcast: Callable[..., Any] | None
    found: list[ConformanceFinding] = field(default_factory=list)
    client_models: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.setup.method, Scaffold) and self.broadcast is None:
            problem = "is missing: SCAFFOLD's server also sends c, which would not be checked"
            raise InvalidInput("broadcast", self.broadcast, problem, 'give broadcast(state) -> {"c": (d,) array}')

    def takes(self, name: str) -> bool:
        return name == WORK  # the kit's clients do as much work as they are told

    def begin(self, problem: Any, x0: np.ndarray, turns: Sequence[Turn]) -> Trained:
        rounds, first = rounds_on(self.setup, self.references, problem)
        return Trained(self.init(problem, x0), rounds, started(rounds, first))

    def advance(self, problem: Any, state: Trained, turn: Turn) -> Trained:
        members, draw = draw_of(state.round, turn.active, turn.extra.get(WORK))
        before = self._sent(state)
        played = state.rounds.play(before, draw)
        assert played is not None
        after, work = played.state, turn.extra.get(WORK)
        replies = {}
        for i, k in enumerate(turn.active):
            memory = {name: rows[k].copy() for name, rows in after.memory.items()}
            replies[k] = Reply(
                played.answers.points[members.index(k)].copy(),
                len(problem.b[k]),
                None if work is None else work[i],
                memory,
                {name: row - before.memory[name][k] for name, row in memory.items()},
            )
        theirs = self.update(problem, state.theirs, replies)
        if theirs is None:
            self.found.append(ConformanceFinding(findings.NO_STATE, "return the next state"))
            theirs = state.theirs
        return replace(state, theirs=theirs, clients=after, round=state.round + 1)

    def server_model(self, state: Trained) -> Any:
        return self.read(state.theirs)

    def _sent(self, state: Trained) -> State:
        """What the clients see: this server's model and broadcast, and their own memory."""
        dim = state.clients.server.size
        point, _ = vector(self.read(state.theirs), dim)
        shared = dict(state.clients.shared)
        if self.broadcast is not None:
            given = self.broadcast(state.theirs)
            shared.update({name: vector(given[name], dim)[0] for name in shared if name in given})
        return State(point, shared, state.clients.memory)
