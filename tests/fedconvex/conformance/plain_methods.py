"""The papers' algorithms as a framework's author would write them: NumPy code that shares nothing with the package.

Each is a class with `init`, `round`, `server_model` and `client_models`; clients' functions are ½‖A_k x − b_k‖². All
are right: `planted_edits` plants faults by edits of this text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

State = dict[str, Any]


@dataclass
class Plain:
    """What all have in common: a fresh dict as state, gradients, averages, local work."""

    dtype: Any = np.float64
    stepsize: float | None = None  # None: exact local solutions
    steps: int = 1
    equal: bool = False  # whether averages are plain, not weighted by samples

    def init(self, problem: Any, x0: Any) -> State:
        w = np.asarray(x0).astype(self.dtype)
        return {"w": w, "before": w, "sent": {}, "t": 0, **self.memory(w, problem.num_clients)}

    def memory(self, w: Any, m: int) -> State:
        return {}

    def server_model(self, state: State) -> Any:
        return state["w"]

    def client_models(self, state: State) -> dict[int, Any]:
        return state["sent"]

    def data(self, problem: Any, k: int) -> tuple[Any, Any]:
        return np.array(problem.A[k], self.dtype), np.array(problem.b[k], self.dtype)

    def gradient(self, problem: Any, k: int, x: Any) -> Any:
        A, b = self.data(problem, k)
        return A.T @ (A @ x - b)

    def solve(
        self,
        problem: Any,
        k: int,
        start: Any,
        linear: Any = 0,
        weight: Any = 0,
        center: Any = 0,
        work: Any = None,
        t: int = 0,
    ) -> Any:
        """argmin f_k + ⟨linear, θ⟩ + (weight/2)‖θ − center‖², or so many gradient steps towards it."""
        weight = self.dtype(weight)
        if self.stepsize is None:
            A, b = self.data(problem, k)
            I = np.eye(len(start), dtype=self.dtype)
            return np.linalg.solve(A.T @ A + weight * I, A.T @ b - linear + weight * center).astype(self.dtype)
        theta, size = start, self.dtype(self.stepsize)
        count = self.steps if work is None else work
        for i in range(count):  # noqa: B007 - edits use it
            slope = self.gradient(problem, k, theta)
            pull = weight * (theta - center)
            g = slope + linear + pull
            theta = (theta - size * g).astype(self.dtype)
        return theta

    def weights(self, problem: Any, active: Sequence[int]) -> Any:
        n = np.array([1 if self.equal else len(problem.b[k]) for k in active], self.dtype)
        return n / n.sum()

    def average(self, problem: Any, rows: dict[int, Any]) -> Any:
        """The average over the clients that have a row."""
        shares = zip(self.weights(problem, list(rows)), rows.values(), strict=True)
        return sum(share * row for share, row in shares)

    def after(self, state: State, w: Any, sent: dict[int, Any], **more: Any) -> State:
        new = w.astype(self.dtype)
        return {**state, "w": new, "before": state["w"], "sent": sent, "t": state["t"] + 1, **more}


@dataclass
class FedProx(Plain):
    """FedProx; FedAvg where mu is 0."""

    mu: float = 0.0

    def memory(self, w: Any, m: int) -> State:
        return {"last": [w] * m}

    def round(self, problem: Any, state: State, active: Sequence[int], local_steps: Any) -> State:
        w, sent, last = state["w"], {}, list(state["last"])
        work = dict(zip(active, local_steps, strict=True)) if local_steps else dict.fromkeys(active)
        for k in work:
            start, center, data_of = w, w, k
            sent[k] = self.solve(problem, data_of, start, 0, self.mu, center, work[k], state["t"])
            last[k] = sent[k]
        new = self.average(problem, sent)
        return self.after(state, new, sent, last=last)


@dataclass
class FedNova(Plain):
    """FedNova, of plain or heavy-ball steps."""

    momentum: float = 0.0

    def round(self, problem: Any, state: State, active: Sequence[int], local_steps: Any) -> State:
        w, rho, sent, tau = state["w"], self.dtype(self.momentum), {}, {}
        for k, steps in zip(active, local_steps, strict=True):
            if self.momentum:
                theta, v, norm, last = w, 0 * w, 0.0, 0.0
                for _ in range(steps):
                    v = rho * v + self.gradient(problem, k, theta)
                    theta = theta - self.dtype(self.stepsize) * v
                    last = 1 + self.momentum * last
                    norm = norm + last
            else:
                theta, norm = self.solve(problem, k, w, work=steps, t=state["t"]), steps
            sent[k], tau[k] = theta, self.dtype(norm)
        effective = self.average(problem, tau)
        new = w + effective * self.average(problem, {k: (sent[k] - w) / tau[k] for k in sent})
        return self.after(state, new, sent)


@dataclass
class Dane(Plain):
    """FedDANE, or DANE with the gradient of all clients; FedLin is DANE without a proximal term."""

    mu: float = 1.0
    all_gradients: bool = False

    def round(self, problem: Any, state: State, active: Sequence[int], local_steps: Any) -> State:
        w, sent = state["w"], {}
        asked = range(problem.num_clients) if self.all_gradients else active
        g = self.average(problem, {k: self.gradient(problem, k, w) for k in asked})
        for k, steps in zip(active, local_steps or [None] * len(active), strict=True):
            linear = g - self.gradient(problem, k, w)
            sent[k] = self.solve(problem, k, w, linear, self.mu, w, steps, state["t"])
        new = self.average(problem, sent)
        return self.after(state, new, sent)


@dataclass
class FedDyn(Plain):
    """FedDyn; FedDynOneGD with one step of size 1/alpha."""

    alpha: float = 1.0
    equal: bool = True

    def memory(self, w: Any, m: int) -> State:
        return {"h": 0 * w, "g": [0 * w] * m}

    def round(self, problem: Any, state: State, active: Sequence[int]) -> State:
        w, h, g, a, sent, drift = state["w"], state["h"], list(state["g"]), self.dtype(self.alpha), {}, 0
        for k in active:
            theta = self.solve(problem, k, w, -g[k], a, w, t=state["t"])
            g[k] = g[k] - a * (theta - w)
            drift = drift + a * (theta - w)
            sent[k] = theta
        h = h - drift / self.dtype(problem.num_clients)
        mean = self.average(problem, sent)
        new = mean - h / a
        return self.after(state, new, sent, h=h, g=g)


@dataclass
class Scaffold(Plain):
    """SCAFFOLD."""

    option: int = 2
    server_stepsize: float = 1.0
    equal: bool = True

    def memory(self, w: Any, m: int) -> State:
        return {"c": 0 * w, "own": [0 * w] * m}

    def round(self, problem: Any, state: State, active: Sequence[int], local_steps: Any) -> State:
        w, c, own, sent, change = state["w"], state["c"], list(state["own"]), {}, 0
        s, eta, m = self.dtype(self.stepsize), self.dtype(self.server_stepsize), problem.num_clients
        for k, K in zip(active, local_steps, strict=True):
            used = own[k]
            y = self.solve(problem, k, w, c - used, work=K, t=state["t"])
            if self.option == 1:
                new = self.gradient(problem, k, w)
            else:
                new = own[k] - c + (w - y) / (K * s)
            change = change + (new - own[k])
            own[k], sent[k] = new, y
        c_new = c + change / self.dtype(m)
        mean = self.average(problem, sent)
        new = w + eta * (mean - w)
        return self.after(state, new, sent, c=c_new, own=own)


@dataclass
class FedSplit(Plain):
    """FedSplit."""

    s: float = 1.0

    def memory(self, w: Any, m: int) -> State:
        return {"z": [w] * m}

    def round(self, problem: Any, state: State, active: Sequence[int]) -> State:
        x, z, sent = state["w"], list(state["z"]), {}
        for k in active:
            center = 2 * x - z[k]
            sent[k] = self.solve(problem, k, center, 0, 1 / self.s, center, t=state["t"])
            z[k] = z[k] + 2 * (sent[k] - x)
        new = sum(z) / self.dtype(len(z))
        return self.after(state, new, sent, z=z)


@dataclass
class FedPD(Plain):
    """FedPD without local rounds."""

    eta: float = 1.0
    equal: bool = True

    def memory(self, w: Any, m: int) -> State:
        return {"dual": [0 * w] * m}

    def round(self, problem: Any, state: State, active: Sequence[int]) -> State:
        w, dual, eta, sent, proposed = state["w"], list(state["dual"]), self.dtype(self.eta), {}, {}
        for k in active:
            sent[k] = self.solve(problem, k, w, dual[k], 1 / eta, w)
            dual[k] = dual[k] + (sent[k] - w) / eta
            proposed[k] = sent[k] + eta * dual[k]
        return self.after(state, self.average(problem, proposed), sent, dual=dual)


@dataclass
class FedADMM(Plain):
    """FedADMM."""

    rho: float = 1.0
    eta: float | None = None  # None: the share of the clients that take part

    def memory(self, w: Any, m: int) -> State:
        return {"y": [0 * w] * m, "own": [w] * m}

    def round(self, problem: Any, state: State, active: Sequence[int]) -> State:
        w, y, own, rho, sent, total = state["w"], list(state["y"]), list(state["own"]), self.dtype(self.rho), {}, 0
        for k in active:
            theta = self.solve(problem, k, w, y[k], rho, w, t=state["t"])
            dual, before = y[k] + rho * (theta - w), own[k]
            total = total + (theta - before + (dual - y[k]) / rho)
            y[k], own[k], sent[k] = dual, theta, theta
        share = 1 / problem.num_clients if self.eta is None else self.eta / len(active)
        new = w + self.dtype(share) * total
        return self.after(state, new, sent, y=y, own=own)


@dataclass
class Ditto(Plain):
    """Ditto."""

    lam: float = 1.0

    def memory(self, w: Any, m: int) -> State:
        return {"v": [w] * m}

    def round(self, problem: Any, state: State, active: Sequence[int], local_steps: Any) -> State:
        w, v, sent = state["w"], list(state["v"]), {}
        for k, steps in zip(active, local_steps, strict=True):
            sent[k] = self.solve(problem, k, w, work=steps, t=state["t"])
            start, center = v[k], w
            v[k] = self.solve(problem, k, start, 0, self.lam, center, steps, state["t"])
        personal = {k: v[k] for k in active}
        new = self.average(problem, sent)
        return self.after(state, new, personal, v=v)


@dataclass
class PFedMe(Plain):
    """pFedMe."""

    lam: float = 1.0
    eta: float = 0.5
    inner: int = 1
    beta: float = 1.0
    equal: bool = True

    def round(self, problem: Any, state: State, active: Sequence[int]) -> State:
        w, personal, local, beta = state["w"], {}, {}, self.dtype(self.beta)
        for k in active:
            own = theta = w
            for _ in range(self.inner):
                theta = self.solve(problem, k, theta, 0, self.lam, own, t=state["t"])
                own = own - self.dtype(self.eta * self.lam) * (own - theta)
            personal[k], local[k] = theta, own
        new = (1 - beta) * w + beta * self.average(problem, local)
        return self.after(state, new, personal)


@dataclass
class FedAvgM(Plain):
    """FedAvgM."""

    momentum: float = 0.9
    server_stepsize: float = 1.0

    def memory(self, w: Any, m: int) -> State:
        return {"v": 0 * w}

    def moved(self, problem: Any, state: State, active: Sequence[int], local_steps: Any) -> tuple[Any, Any]:
        """The average of the clients' moves, and the local models."""
        sent = {}
        for k, steps in zip(active, local_steps, strict=True):
            sent[k] = self.solve(problem, k, state["w"], work=steps, t=state["t"])
        return self.average(problem, {k: sent[k] - state["w"] for k in sent}), sent

    def round(self, problem: Any, state: State, active: Sequence[int], local_steps: Any) -> State:
        move, sent = self.moved(problem, state, active, local_steps)
        beta, eta, old = self.dtype(self.momentum), self.dtype(self.server_stepsize), state["v"]
        v = beta * old + move
        step = v
        new = state["w"] + eta * step
        return self.after(state, new, sent, v=v)


@dataclass
class Adaptive(FedAvgM):
    """Adagrad, Adam or Yogi on the server, by Reddi et al. (2021)."""

    kind: str = "Adam"
    beta2: float = 0.99
    tau: float = 1e-3

    def memory(self, w: Any, m: int) -> State:
        return {"m": 0 * w, "v": np.full_like(w, self.tau**2)}

    def round(self, problem: Any, state: State, active: Sequence[int], local_steps: Any) -> State:
        move, sent = self.moved(problem, state, active, local_steps)
        beta1, beta2, tau = self.dtype(self.momentum), self.dtype(self.beta2), self.dtype(self.tau)
        m = beta1 * state["m"] + (1 - beta1) * move
        square, v, t = move * move, state["v"], state["t"] + 1  # noqa: F841 - edits use t
        new_v = {
            "Adagrad": v + square,
            "Adam": beta2 * v + (1 - beta2) * square,
            "Yogi": v - (1 - beta2) * square * np.sign(v - square),
        }[self.kind]
        step = m / (np.sqrt(new_v) + tau)
        new = state["w"] + self.dtype(self.server_stepsize) * step
        return self.after(state, new, sent, m=m, v=new_v)
