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
