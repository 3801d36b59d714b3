"""The papers' algorithms as a framework's author would write them, in plain NumPy, with faults to plant.

They share nothing with the package. Each is a class with `init`, `round`, `server_model` and `client_models`; `fault`
names what it does wrong, in its own words. Clients' functions are ½‖A_k x − b_k‖².
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Plain:
    """What all have in common: a fresh dict as state, gradients, averages, local work."""

    fault: str = ""
    dtype: Any = np.float64
    stepsize: float | None = None  # None: exact local solutions
    steps: int = 1

    def init(self, problem: Any, x0: np.ndarray) -> dict[str, Any]:
        x0 = np.asarray(x0).astype(self.dtype)
        if self.fault == "starts at zero":
            x0 = 0 * x0
        return {"w": x0, "before": x0, "sent": {}, "t": 0, **self.memory(x0, problem.num_clients)}

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        return {}

    def server_model(self, state: dict[str, Any]) -> np.ndarray:
        return state["w"]

    def client_models(self, state: dict[str, Any]) -> dict[int, np.ndarray]:
        return state["sent"]

    def data(self, problem: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        return np.array(problem.A[k], self.dtype), np.array(problem.b[k], self.dtype)

    def gradient(self, problem: Any, k: int, x: np.ndarray) -> np.ndarray:
        A, b = self.data(problem, k)
        factor = {"loss not halved": 2, "loss is a mean": 1 / len(b)}.get(self.fault, 1)
        return self.dtype(factor) * (A.T @ (A @ x - b))

    def solve(
        self,
        problem: Any,
        k: int,
        start: np.ndarray,
        linear: Any = 0,
        weight: float = 0,
        center: Any = 0,
        steps: int | None = None,
        t: int = 0,
    ) -> np.ndarray:
        """argmin f_k + ⟨linear, θ⟩ + (weight/2)‖θ − center‖², or so many gradient steps towards it."""
        sign = -1 if self.fault == "proximal sign" else 1
        weight = self.dtype({"no halving": 2, "no proximal term": 0}.get(self.fault, 1) * sign * weight)
        if self.stepsize is None:
            A, b = self.data(problem, k)
            I = np.eye(len(start), dtype=self.dtype)
            return np.linalg.solve(A.T @ A + weight * I, A.T @ b - linear + weight * center).astype(self.dtype)
        steps = self.steps if steps is None else steps
        steps += {"one step more": 1, "one step less": -1}.get(self.fault, 0)
        size, theta = self.dtype(self.stepsize), start
        if self.fault == "decay":
            size = self.dtype(self.stepsize * 0.9**t)
        for _ in range(steps):
            at = start if self.fault == "frozen gradient" else theta
            pull = weight * (theta - center)
            if self.fault == "norm not squared":
                pull = self.dtype(0.5) * pull / max(np.linalg.norm(theta - center), self.dtype(1e-30))
            theta = (theta - size * (self.gradient(problem, k, at) + linear + pull)).astype(self.dtype)
        return theta

    def weights(self, problem: Any, active: Sequence[int]) -> np.ndarray:
        n = np.array([len(problem.b[k]) for k in active], self.dtype)
        if self.fault == "average not weighted":
            n = np.ones_like(n)
        if self.fault == "weights lost":
            return n / self.dtype(sum(len(b) for b in problem.b))
        return n / n.sum()

    def after(self, state: dict[str, Any], w: np.ndarray, sent: dict[int, np.ndarray], **more: Any) -> dict[str, Any]:
        w = w.astype(self.dtype)
        if self.fault == "server step twice":
            w = 2 * w - state["w"]
        return {**state, "w": w, "before": state["w"], "sent": sent, "t": state["t"] + 1, **more}


@dataclass
class FedProx(Plain):
    """FedProx; FedAvg where mu is 0."""

    mu: float = 0.0

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        return {"last": [x0] * m}

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int], local_steps: Any) -> dict[str, Any]:
        w, sent = state["w"], {}
        last = list(state["last"])
        if self.fault == "stale model":
            w = state["before"]
        full = max(local_steps) if local_steps else None
        if self.fault == "stragglers dropped" and full:
            kept = [i for i, steps in enumerate(local_steps) if steps == self.steps]
            active, local_steps = [active[i] for i in kept], [local_steps[i] for i in kept]
        if self.fault == "stragglers go on" and full:
            local_steps = [self.steps] * len(active)
        if self.fault == "everyone works":
            work = dict(zip(active, local_steps or (), strict=False))
            active = range(problem.num_clients)
            local_steps = [work.get(k, self.steps) for k in active]
        start = w
        for i, k in enumerate(active):
            if self.fault == "own start":
                start = last[k]
            center = {"own centre": last[k], "centre of before": state["before"]}.get(self.fault, w)
            data_of = active[-1] if self.fault == "last client's data" else k
            steps = local_steps[i] if local_steps else None
            sent[k] = self.solve(problem, data_of, start, 0, self.mu, center, steps, state["t"])
            if self.fault == "one model for all":
                start = sent[k]
        weights = self.weights(problem, active)
        new = sum(weight * sent[k] for weight, k in zip(weights, active, strict=True))
        for k in active:
            last[k] = sent[k]
        if self.fault == "inactive averaged in":
            everyone = self.weights(problem, range(problem.num_clients))
            new = sum(weight * theta for weight, theta in zip(everyone, last, strict=True))
        if self.fault == "summed":
            new = sum(sent[k] for k in active)
        return self.after(state, new, sent, last=last)


@dataclass
class FedNova(Plain):
    """FedNova."""

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int], local_steps: Any) -> dict[str, Any]:
        w = state["w"]
        sent = {k: self.solve(problem, k, w, steps=s, t=state["t"]) for k, s in zip(active, local_steps, strict=True)}
        p, tau = self.weights(problem, active), np.array(local_steps, self.dtype)
        if self.fault == "not normalised":
            return self.after(state, sum(q * sent[k] for q, k in zip(p, active, strict=True)), sent)
        effective = 1 if self.fault == "no tau_eff" else p @ tau
        move = sum(q * (sent[k] - w) / n for q, k, n in zip(p, active, tau, strict=True))
        return self.after(state, w + effective * move, sent)


@dataclass
class Dane(Plain):
    """FedDANE, or DANE with the gradient of all clients."""

    mu: float = 1.0
    all_gradients: bool = False

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int]) -> dict[str, Any]:
        w = state["w"]
        asked = range(problem.num_clients) if self.all_gradients != (self.fault == "other sample") else active
        weights = np.array([len(problem.b[k]) for k in asked], self.dtype)
        if self.fault == "gradient not weighted":
            weights = np.ones_like(weights)
        weights = weights / weights.sum()
        g = sum(weight * self.gradient(problem, k, w) for weight, k in zip(weights, asked, strict=True))
        sent = {}
        for k in active:
            linear = g - self.gradient(problem, k, w)
            linear = {
                "no correction": 0 * linear,
                "correction sign": -linear,
                "own gradient left out": g,
                "mean gradient left out": linear - g,
            }.get(self.fault, linear)
            sent[k] = self.solve(problem, k, w, linear, self.mu, w)
        return self.after(
            state, sum(q * sent[k] for q, k in zip(self.weights(problem, active), active, strict=True)), sent
        )


@dataclass
class FedDyn(Plain):
    """FedDyn; FedDynOneGD with one step of size 1/alpha."""

    alpha: float = 1.0

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        return {"h": 0 * x0, "g": [0 * x0] * m, "seen": [-1] * m}

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int]) -> dict[str, Any]:
        w, h, g, a = state["w"], state["h"], list(state["g"]), self.dtype(self.alpha)
        seen, m, sent = list(state["seen"]), problem.num_clients, {}
        for k in active:
            if self.fault == "memory lost" and seen[k] != state["t"] - 1:
                g[k] = 0 * w
            linear = {"linear sign": g[k], "no linear term": 0 * w}.get(self.fault, -g[k])
            sent[k] = self.solve(problem, k, w, linear, self.alpha, w, t=state["t"])
            if self.fault != "memory not stored":
                g[k] = g[k] + a * (sent[k] - w) if self.fault == "memory sign" else g[k] - a * (sent[k] - w)
            seen[k] = state["t"]
        drift = sum(sent[k] - w for k in active)
        divisor = {"divided by the active": len(active), "summed": 1}.get(self.fault, m)
        factor = {"h sign": -a, "h without alpha": self.dtype(1)}.get(self.fault, a)
        old, h = h, h - factor * drift / self.dtype(divisor)
        mean = sum(sent.values()) / self.dtype(m if self.fault == "mean over m" else len(active))
        if self.fault == "weighted by samples":
            mean = sum(q * sent[k] for q, k in zip(self.weights(problem, active), active, strict=True))
        correction = {
            "h not applied": 0 * h,
            "h applied with plus": -h / a,
            "h one round late": old / a,
            "h not divided": h,
        }.get(self.fault, h / a)
        new = mean - correction
        if self.fault == "memory around the new model":
            g = [state["g"][k] - a * (sent[k] - new) if k in sent else g[k] for k in range(m)]
        return self.after(state, new, sent, h=h, g=g, seen=seen)


@dataclass
class Scaffold(Plain):
    """SCAFFOLD."""

    option: int = 2
    server_stepsize: float = 1.0

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        return {"c": 0 * x0, "c_k": [0 * x0] * m, "seen": [-1] * m}

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int], local_steps: Any) -> dict[str, Any]:
        w, c, c_k, seen = state["w"], state["c"], list(state["c_k"]), list(state["seen"])
        moved, changes, sent, m = [], [], {}, problem.num_clients
        s = self.dtype(self.stepsize)
        for k, K in zip(active, local_steps, strict=True):
            own = c_k[k]
            if self.fault == "memory lost" and seen[k] != state["t"] - 1:
                own = 0 * own
            used = self.gradient(problem, k, w) if self.fault.startswith("used after the update") else own
            correction = {
                "wrong sign": used - c,
                "never used": 0 * c,
                "no c": -used,
                "no c_k": c,
            }.get(self.fault, c - used)
            y = self.solve(problem, k, w, correction, steps=K, t=state["t"])
            option = self.option if self.fault not in ("other option", "used after the update, option I") else 1
            option = 2 if self.fault == "other option" and self.option == 1 else option
            path = {
                "no stepsize": self.dtype(K),
                "no steps": s,
                "one too many": (K + 1) * s,
                "full steps": self.steps * s,
            }.get(self.fault, K * s)
            path_end = -(w - y) if self.fault == "path sign" else w - y
            new = self.gradient(problem, k, w) if option == 1 else own - c + path_end / path
            if option == 2:
                new = new + {"c not subtracted": c, "c added": 2 * c, "old c_k forgotten": -own}.get(self.fault, 0)
            moved.append(y - w)
            changes.append(new - own)
            sent[k] = y
            if self.fault != "not stored":
                c_k[k] = new
            seen[k] = state["t"]
        divisor = {"divided by the active": len(active), "summed": 1}.get(self.fault, m)
        c_new = c + sum(changes) / self.dtype(divisor)
        if self.fault == "c never updated":
            c_new = c
        if self.fault == "c is the mean of the active":
            c_new = sum(c_k[k] for k in active) / self.dtype(len(active))
        eta = self.dtype(1 if self.fault == "server stepsize ignored" else self.server_stepsize)
        weights = np.full(len(active), 1 / len(active), self.dtype)
        if self.fault == "weighted by samples":
            weights = self.weights(problem, active)
        new = w + eta * sum(q * step for q, step in zip(weights, moved, strict=True))
        return self.after(state, new, sent, c=c_new, c_k=c_k, seen=seen)


@dataclass
class FedSplit(Plain):
    """FedSplit."""

    s: float = 1.0

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        return {"z": [x0] * m}

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int]) -> dict[str, Any]:
        x, z, sent, m = state["w"], list(state["z"]), {}, problem.num_clients
        for k in active:
            center = {"around x": x, "around z": z[k]}.get(self.fault, 2 * x - z[k])
            sent[k] = self.solve(problem, k, center, 0, 1 / self.s, center, t=state["t"])
            factor = {"no factor 2": 1, "wrong way": -2}.get(self.fault, 2)
            z[k] = z[k] + self.dtype(factor) * (sent[k] - x)
        averaged = {
            "proximal points averaged": list(sent.values()),
            "active z averaged": [z[k] for k in active],
        }.get(self.fault, z)
        new = sum(averaged) / self.dtype(len(averaged))
        if self.fault == "divided by the active":
            new = x + sum(z[k] - state["z"][k] for k in active) / self.dtype(len(active))
        if self.fault == "reset":
            z = [new if k in sent else z[k] for k in range(m)]
        if self.fault == "never stored":
            z = state["z"]
        return self.after(state, new, sent, z=z)


@dataclass
class FedPD(Plain):
    """FedPD without local rounds."""

    eta: float = 1.0
    notes: list[str] = field(default_factory=list)

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        return {"dual": [0 * x0] * m}

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int]) -> dict[str, Any]:
        w, dual, sent, proposed = state["w"], list(state["dual"]), {}, []
        for k in active:
            linear = {"dual sign": -dual[k], "no dual": 0 * w}.get(self.fault, dual[k])
            sent[k] = self.solve(problem, k, w, linear, 1 / self.eta, w)
            step = (sent[k] - w) / self.dtype(self.eta)
            new = dual[k] - step if self.fault == "dual update sign" else dual[k] + step
            proposed.append(sent[k] + (0 if self.fault == "no dual in the average" else self.dtype(self.eta) * new))
            dual[k] = new
        return self.after(state, sum(proposed) / self.dtype(len(active)), sent, dual=dual)
