"""Check the clients' part alone: the kit plays the server.

The author passes one function to `check`,

    client(problem, k, model, state)

* `problem`: as for `round`; client k's data are `problem.A[k]` and `problem.b[k]`.
* `model`: the server's parameters, a (d,) float64 array of its own in every call.
* `state`: this client's own dict, empty in its first round and kept for the whole run, also through rounds in which the
  client is inactive. Before each call the kit stores in `state["server"]` what the server sends besides the model, as
  (d,) arrays by name: "c" for SCAFFOLD, "gradient" (g in the correction g − ∇f_k(w)) for DANE and FedDANE.
* It returns the local model, in a form that `server_model` may have; None for a `model` trained in place.
* If it has arguments `local_steps` or `batches`, the kit passes this client's own, as for `round`.

The server's step is the method's own, computed from the local models alone: the weighted or plain average, FedDyn's h,
SCAFFOLD's c. An error in what a client keeps in its `state` therefore never reaches the server's memory, and what a
client sends besides its model is not looked at.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, final

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.implementation import (
    BATCHES,
    COARSE,
    RETURN_FLOATS,
    WORK,
    Implementation,
    Turn,
    takes,
)
from fedconvex.conformance.reference import Reference, draw_of, rounds_on, started
from fedconvex.conformance.setup import Setup
from fedconvex.conformance.vectors import WHOLE, vector
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import State
from fedconvex.methods.dane import GradientCorrected
from fedconvex.runs.rounds import RoundResult, Rounds


@dataclass(frozen=True, eq=False)
class Served:
    """The kit's server between two rounds, and the clients' own dicts."""

    rounds: Rounds
    state: State
    own: list[dict[str, Any]]  # each client's `state`
    round: int = 0
    models: dict[int, np.ndarray] = field(default_factory=dict)  # local models of the last round
    dtype: Any = np.float64  # of the local models


@final
@dataclass(frozen=True, eq=False)
class ClientFunction(Implementation):
    """A client's local work, served by the method's own server.

    `train(problem, k, point, own, **extra)` returns the local model; `accepts` are the names of its optional arguments.
    """

    setup: Setup
    references: Sequence[Reference]
    train: Callable[..., Any]
    accepts: frozenset[str] = frozenset()
    found: list[ConformanceFinding] = field(default_factory=list)

    keeps_states: ClassVar[bool] = False  # the clients' dicts change in place

    @staticmethod
    def client_models(served: Served) -> dict[int, np.ndarray]:
        """The local models of the last round."""
        return served.models

    def takes(self, name: str) -> bool:
        return name in self.accepts

    def begin(self, problem: Any, x0: np.ndarray, turns: Sequence[Turn]) -> Served:
        rounds, _ = rounds_on(self.setup, self.references, problem)
        return Served(rounds, started(rounds, x0), [{} for _ in range(problem.num_clients)])

    def advance(self, problem: Any, served: Served, turn: Turn) -> Served:
        members, draw = draw_of(served.round, turn.active, turn.extra.get(WORK))
        # The correct round comes first: it has the gradients that the server sends and the clients' path lengths.
        correct = served.rounds.play(served.state, draw)
        assert correct is not None
        sent, models, dtypes = _sent(served, correct), {}, set()
        for i, k in enumerate(turn.active):
            served.own[k]["server"] = {name: row.copy() for name, row in sent.items()}
            extra = {name: None if values is None else values[i] for name, values in turn.extra.items()}
            point = np.array(served.state.server)
            returned = self.train(problem, k, point, served.own[k], **extra)
            models[k], names = vector(point if returned is None else returned, served.state.server.size)
            dtypes |= names
        answers = Answers(np.stack([models[k] for k in members]), correct.answers.path_lengths)
        played = served.rounds.play(served.state, draw, answers=answers)
        assert played is not None
        whole = sorted(name for name in dtypes if name.startswith(WHOLE))
        if whole:
            self.found.append(ConformanceFinding(findings.INTEGERS, RETURN_FLOATS, ", ".join(whole)))
        return replace(served, state=played.state, round=served.round + 1, models=models, dtype=_coarsest(dtypes))

    def server_model(self, served: Served) -> np.ndarray:
        return np.asarray(served.state.server, dtype=served.dtype)


def optional_arguments(client: Callable[..., Any]) -> frozenset[str]:
    """The names of the function's optional arguments."""
    return frozenset(name for name in (WORK, BATCHES) if takes(client, name))


def _coarsest(names: set[str]) -> Any:
    """NumPy's type for the coarsest of these number types; float16 also for those that NumPy lacks."""
    if any(name.startswith(COARSE) for name in names):
        return np.float16
    return np.float32 if "float32" in names else np.float64


def _sent(served: Served, correct: RoundResult) -> Mapping[str, np.ndarray]:
    """The vectors that the server sends besides its model, by name."""
    sent = dict(served.state.shared)
    if isinstance(served.rounds.method, GradientCorrected):
        # the subproblem's linear term is g − ∇F_k(w) in row k: g is the same in every row
        gradients = correct.clients.gradients(correct.points)
        assert correct.subproblem.linear is not None
        sent["gradient"] = (correct.subproblem.linear + gradients)[0]
    return {name: np.asarray(vector, float) for name, vector in sent.items()}
