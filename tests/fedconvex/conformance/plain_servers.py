"""FedAvgM, FedAdagrad, FedAdam and FedYogi as a framework's author would write them, with faults to plant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from plain_methods import Plain


@dataclass
class HeavyServer(Plain):
    """FedAvgM."""

    momentum: float = 0.9
    server_stepsize: float = 1.0

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        return {"velocity": 0 * x0}

    def moved(self, problem: Any, state: dict[str, Any], active: Sequence[int], local_steps: Any) -> tuple[Any, Any]:
        """The weighted average of the clients' moves, the local models; the pseudo-gradient with the other sign."""
        work = local_steps or [self.steps] * len(active)
        sent = {k: self.solve(problem, k, state["w"], steps=n, t=state["t"]) for k, n in zip(active, work, strict=True)}
        weights = self.weights(problem, active)
        return sum(q * (sent[k] - state["w"]) for q, k in zip(weights, active, strict=True)), sent

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int], local_steps: Any) -> dict[str, Any]:
        move, sent = self.moved(problem, state, active, local_steps)
        beta, eta, before = self.dtype(self.momentum), self.dtype(self.server_stepsize), state["velocity"]
        if self.fault == "eta ignored":
            eta = self.dtype(1)
        new = beta * before + (1 - beta if self.fault == "dampened" else 1) * move
        if self.fault == "no momentum":
            new = move
        step = {"Nesterov": beta * new + move, "old velocity": before, "wrong way": -new}.get(self.fault, new)
        return self.after(state, state["w"] + eta * step, sent, velocity=new)


@dataclass
class AdaptiveServer(HeavyServer):
    """Adagrad, Adam or Yogi on the server, by Reddi et al. (2021)."""

    kind: str = "Adam"
    beta2: float = 0.99
    tau: float = 1e-3

    def memory(self, x0: np.ndarray, m: int) -> dict[str, Any]:
        first = 0.0 if self.fault == "v starts at 0" else self.tau**2
        return {"velocity": 0 * x0, "v": np.full_like(x0, first)}

    def round(self, problem: Any, state: dict[str, Any], active: Sequence[int], local_steps: Any) -> dict[str, Any]:
        move, sent = self.moved(problem, state, active, local_steps)
        beta1, beta2, tau = self.dtype(self.momentum), self.dtype(self.beta2), self.dtype(self.tau)
        m, v, t = state["velocity"], state["v"], state["t"] + 1
        m = beta1 * m + (1 if self.fault == "not dampened" else 1 - beta1) * move
        if self.fault == "no first moment":
            m = move
        square = move * move
        if self.fault == "clients' squares":
            weights = self.weights(problem, active)
            square = sum(q * (sent[k] - state["w"]) ** 2 for q, k in zip(weights, active, strict=True))
        kind = {"Adam's": "Adam", "Yogi's": "Yogi"}.get(self.fault, self.kind)
        if kind == "Adagrad":
            new = v + square
        elif kind == "Adam":
            new = beta2 * v + (1 - beta2) * square
        else:
            new = v - (1 - beta2) * square * np.sign(v - square)
        used = v if self.fault == "old v" else new
        root = {"no root": used, "tau inside": np.sqrt(used + tau) - tau}.get(self.fault, np.sqrt(used))
        step = m / (root + tau)
        if self.fault == "corrected":
            step = m / (1 - beta1**t) / (np.sqrt(new / (1 - beta2**t)) + tau)
        if self.fault == "corrected stepsize":
            step = step * np.sqrt(1 - beta2**t) / (1 - beta1**t)
        if self.fault == "wrong way":
            step = -step
        return self.after(state, state["w"] + self.dtype(self.server_stepsize) * step, sent, velocity=m, v=new)
