"""What a hook sees of a candidate's round, and what it may change of the state after it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedconvex.conformance.identification.vocabulary import memory_of


class View:
    """What a hook sees: the vectors of one candidate, in one round, for one client, in one local step.

    `w` is the server's point before the round, `old` that of one round earlier; `own` the client's last answer, x0
    before the first; `seen` the number of its last round, −1 before the first; `prev` where the client before it ended
    in this round, None for the first; `last_mean` the mean of the local models of the round before.
    """

    def __init__(self, played: Any) -> None:
        self.play = played  # the `CandidateRounds`
        self.e = self.k = self.i = self.t = self.j = 0
        self.value: float | None = None
        self.active: list[int] = []
        self.efforts: list[int | None] = []
        self.prev: Any = None
        self.r: Any = None  # in the update: the state after it …
        self.first: Any = None  # … and an adaptive server's first moment
        self.local: dict[str, Any] = {}
        self.vectors: dict[str, np.ndarray] = {}  # (E, d) arrays of the client's local work, by name

    @property
    def m(self) -> Any:
        return len(self.play.sizes)

    @property
    def n(self) -> Any:
        return self.play.sizes[self.k]

    @property
    def work(self) -> Any:
        """The client's prescribed local steps."""
        effort = self.efforts[self.i]
        return self.effort if effort is None else effort

    @property
    def keep(self) -> Any:
        """What the candidate keeps over the whole run."""
        return self.play.kept[self.play.names[self.e]]

    @property
    def own(self) -> Any:
        return self.play.last[self.k][self.e]

    @property
    def seen(self) -> Any:
        return self.play.seen[self.k]

    @property
    def all_last(self) -> Any:
        """(m, d): the last answers of all clients, those of this round included once they are known."""
        return self.play.last[:, self.e]

    @property
    def gradients(self) -> Any:
        """(K, d): the participants' gradients at the server's point."""
        return self.play.gradients_at(self.play.w, self.active)[:, self.e]

    @property
    def all_gradients(self) -> Any:
        return self.play.gradients_at(self.play.w, range(self.m))[:, self.e]

    @property
    def weights(self) -> Any:
        """(K,): the correct average's."""
        return self.play.weights_of(self.active)

    def average(self, rows: np.ndarray, but: Any = None) -> Any:
        """The server's average of the rows (K, …), with the candidate's own edits of it but for one hook."""
        found, value = self.weights @ rows, self.value
        for own, hook in self.play.averages.get(self.e, ()):
            if hook is but:
                continue
            self.value = own
            before = self.vectors.get("rows")
            self.vectors["rows"] = np.broadcast_to(rows[:, None], (len(rows), self.play.count, rows.shape[1]))
            found = hook(self, found)
            if before is not None:
                self.vectors["rows"] = before
        self.value = value
        return found

    @property
    def all_weights(self) -> Any:
        """(m,): those of all clients."""
        return self.play.weights_of(range(self.m))

    @property
    def shared(self) -> dict[str, np.ndarray]:
        return {name: row[self.e] for name, row in self.play.shared.items()}

    @property
    def memory(self) -> dict[str, np.ndarray]:
        """(K, d) by name: the participants' memory before the round."""
        return {name: rows[self.active][:, self.e] for name, rows in self.play.memory.items()}

    @property
    def mine(self) -> Any:
        """(K, d): the participants' memory before the round that corrects local gradients, or FedSplit's z_k."""
        return self.memory[memory_of(self.method)]

    @property
    def delta(self) -> Any:
        """(d,): the average of the participants' θ_k − w."""
        return self.average(self.answers - self.w)

    @property
    def samples(self) -> Any:
        """(K,): the participants' numbers of samples."""
        return np.array([self.sizes[k] for k in self.active], float)

    @property
    def column(self) -> Any:
        return self.samples[:, None]

    @property
    def last_tensor(self) -> Any:
        """Which entries of the model belong to its last tensor: its bias."""
        classes = getattr(self.play.scenario.base, "num_classes", 1)
        return np.arange(self.play.dim) >= self.play.dim - classes

    @property
    def first_step(self) -> Any:
        """The server's model after the first local step of the first client, before anything corrects that step."""
        return self.w - float(self.method.stepsize) * self.gradients[0]

    @property
    def solver_momentum(self) -> Any:
        return float(self.play.setup.solver.momentum)

    def __getattr__(self, name: str) -> Any:
        if name in self.vectors:
            return self.vectors[name][..., self.e, :]
        if name in ("w", "old", "last_mean"):
            return getattr(self.play, name)[self.e]
        if name in ("method", "sizes", "effort"):
            return getattr(self.play, name)
        raise AttributeError(name)

    def gradient(self, X: np.ndarray) -> Any:
        """The client's gradient at another point, (d,)."""
        return self.play.gradient(self.k, X[None], [self.e])[0]


@dataclass
class EditedState:
    """The state of one candidate after the method's own update: a hook changes it."""

    server: np.ndarray
    shared: dict[str, np.ndarray]
    memory: dict[str, np.ndarray]  # (K, d)


@dataclass(eq=False)
class Models:
    """The models of the candidates after a round: the server's (E, d), the clients' (E, d) by number."""

    server: np.ndarray
    clients: dict[int, np.ndarray]
