"""Methods whose clients keep vectors, as a framework's author would write them, with faults to plant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plain_methods import Plain


@dataclass
class AlternatingDirections(Plain):
    """FedADMM."""

    rho: float = 1.0
    eta: float | None = None  # None: the share of the clients that take part

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        return {"y": [0 * x0] * m, "own": [x0] * m}

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int]) -> dict[str, Any]:
        w, y, own, sent, total = state["w"], list(state["y"]), list(state["own"]), {}, 0 * state["w"]
        for k in active:
            linear = {"dual sign": -y[k], "no dual": 0 * w}.get(self.fault, y[k])
            new = self.solve(problem, k, w, linear, self.rho, w, t=state["t"])
            step = self.dtype(self.rho) * (new - w)
            dual = y[k] - step if self.fault == "dual update sign" else y[k] + step
            before = w if self.fault == "from the server's model" else own[k]
            change = (
                new - before + (0 if self.fault == "no dual in the change" else (dual - y[k]) / self.dtype(self.rho))
            )
            total = total + change
            y[k], own[k], sent[k] = dual, new, new
        divisor = len(active) if self.fault == "divided by the active" else problem.num_clients
        factor = self.dtype(1 / divisor if self.eta is None else self.eta / len(active))
        new = w + factor * total
        if self.fault == "models averaged":
            new = sum(sent.values()) / self.dtype(len(active))
        if self.fault == "FedPD":
            new = sum(sent[k] + y[k] / self.dtype(self.rho) for k in active) / self.dtype(len(active))
        return self.after(state, new, sent, y=y, own=own)


@dataclass
class NormalisedMomentum(Plain):
    """FedNova whose clients take heavy-ball steps."""

    momentum: float = 0.5

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int], local_steps: Any) -> dict[str, Any]:
        w, rho, sent, norms = state["w"], self.dtype(self.momentum), {}, []
        for k, steps in zip(active, local_steps, strict=True):
            theta, v, norm, last = w, 0 * w, 0.0, 0.0
            for _ in range(steps):
                v = rho * v + self.gradient(problem, k, theta)
                theta = theta - self.dtype(self.stepsize or 0) * v
                last = 1 + self.momentum * last
                norm += last
            sent[k] = theta
            norms.append(steps if self.fault == "steps counted" else norm)
        p, a = self.weights(problem, active), np.array(norms, self.dtype)
        if self.fault == "not normalised":
            return self.after(state, sum(q * sent[k] for q, k in zip(p, active, strict=True)), sent)
        move = sum(q * (sent[k] - w) / n for q, k, n in zip(p, active, a, strict=True))
        return self.after(state, w + (p @ a) * move, sent)


@dataclass
class PersonalCopies(Plain):
    """Ditto."""

    lam: float = 1.0

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        return {"v": [x0] * m}

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int], local_steps: Any) -> dict[str, Any]:
        w, v, trained = state["w"], list(state["v"]), {}
        for k, steps in zip(active, local_steps, strict=True):
            trained[k] = self.solve(problem, k, w, steps=steps, t=state["t"])
            start = {"starts at the server's": w, "starts at the trained": trained[k]}.get(self.fault, v[k])
            center = trained[k] if self.fault == "pulled to the trained" else w
            weight = 0.0 if self.fault == "not pulled" else self.lam
            v[k] = self.solve(problem, k, start, 0, weight, center, steps, state["t"])
        sent = {k: v[k] for k in active} if self.fault == "personal averaged" else trained
        new = sum(q * sent[k] for q, k in zip(self.weights(problem, active), active, strict=True))
        return self.after(state, new, {k: v[k] for k in active}, v=v)


@dataclass
class EnvelopeSteps(Plain):
    """pFedMe."""

    lam: float = 1.0
    eta: float = 0.5
    inner: int = 1
    beta: float = 1.0

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int]) -> dict[str, Any]:
        w, personal, local = state["w"], {}, {}
        for k in active:
            own = theta = w
            for _ in range(1 if self.fault == "one step" else self.inner):
                theta = self.solve(problem, k, theta, 0, self.lam, w if self.fault == "around w" else own, t=state["t"])
                own = own - self.dtype(self.eta * (1 if self.fault == "no lambda" else self.lam)) * (own - theta)
            personal[k], local[k] = theta, own
        sent = personal if self.fault == "personal averaged" else local
        mean = sum(sent.values()) / self.dtype(len(active))
        beta = self.dtype(1 if self.fault in ("no beta", "personal averaged") else self.beta)
        return self.after(state, (1 - beta) * w + beta * mean, personal)


@dataclass
class Linearised(Plain):
    """FedLin."""

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int], local_steps: Any) -> dict[str, Any]:
        w, everyone = state["w"], range(problem.num_clients)
        asked = active if self.fault == "active gradients" else everyone
        g = sum(self.gradient(problem, k, w) for k in asked) / self.dtype(len(asked))
        sent = {}
        for k, steps in zip(active, local_steps, strict=True):
            linear = g - self.gradient(problem, k, w)
            linear = {"no correction": 0 * g, "correction sign": -linear}.get(self.fault, linear)
            sent[k] = self.solve(problem, k, w, linear, steps=steps, t=state["t"])
        return self.after(state, sum(sent.values()) / self.dtype(len(active)), sent)
