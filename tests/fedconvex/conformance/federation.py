"""Six methods in NumPy or PyTorch with any of the faults of `planted_list`, in code of its own: none of the package's.

`Federation` plays FedAvg, FedProx, FedNova, FedDyn, SCAFFOLD and FedSplit in NumPy, or with torch's autograd and
optimisers (`torch_steps`), and `faults` says what is wrong: short names with an optional number, "momentum=0.95".
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from checking import report_of

import fedconvex as fc
from fedconvex.conformance import Report


@dataclass
class Federation:
    """One of the methods, with these faults; the state is a dict."""

    kind: str
    faults: tuple[str, ...] = ()
    stepsize: float = 0.1
    steps: int = 4
    weight: float = 0.5  # mu, alpha or 1/s
    server_stepsize: float = 1.0
    dtype: Any = np.float64
    torch_steps: bool = False
    batches_seed: int | None = None  # the samples of each full batch in another order in every step
    numbers: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for text in self.faults:
            name, _, number = text.partition("=")
            self.numbers[name] = float(number) if number else 1.0

    def has(self, name: str) -> bool:
        return name in self.numbers

    def init(self, problem: Any, x0: Any) -> dict[str, Any]:
        w = np.asarray(x0, self.dtype) * self.dtype(0 if self.has("zero") else 1)
        zeros = [0 * w for _ in range(problem.num_clients)]
        return {
            "w": w,
            "old": w,
            "t": 0,
            "own": [w] * problem.num_clients,
            "memory": [w] * problem.num_clients if self.kind == "FedSplit" else zeros,
            "seen": [-1] * problem.num_clients,
            "server memory": 0 * w,
            "sent": {},
            "starts": {},
            "shared": 0 * w,
            "shuffle": np.random.default_rng(self.batches_seed),
        }

    def server_model(self, state: dict[str, Any]) -> Any:
        return state["w"]

    def client_models(self, state: dict[str, Any]) -> dict[int, Any]:
        return state["sent"]

    def round(self, problem: Any, state: dict[str, Any], active: Any, local_steps: Any) -> dict[str, Any]:
        state = dict(state, own=list(state["own"]), memory=list(state["memory"]), seen=list(state["seen"]))
        w, t = state["w"], state["t"]
        work = dict(zip(active, local_steps, strict=True))
        if self.has("everyone"):
            work = {k: work.get(k, self.steps) for k in range(problem.num_clients)}
        if self.has("late dropped"):
            work = {k: K for k, K in work.items() if self.steps == K}
        if self.has("late go on"):
            work = dict.fromkeys(work, self.steps)
        received = state["old"] if self.has("stale") else w
        sent: dict[int, Any] = {}
        last = None
        for k, K in work.items():
            if self.has("memory lost") and state["seen"][k] != t - 1:
                state["memory"][k] = 0 * w
            start, center = received, received
            if self.kind == "FedSplit":
                start = center = 2 * received - state["memory"][k]
                if self.has("around x"):
                    start = center = received
                if self.has("around z"):
                    start = center = state["memory"][k]
            if self.has("own start"):
                start = state["own"][k]
            if last is not None and (self.has("chain") or self.has("live") or (self.has("chain at first") and t == 0)):
                start = last
            if last is not None and (self.has("chain with pull") or (self.has("chain with pull at first") and t == 0)):
                start = center = last
            if self.has("memory shared"):
                state["memory"][k] = state["shared"]
            data = list(work)[-1] if self.has("last data") else k
            A, b = self.samples(problem, data)
            linear = self.linear(state, k, w)
            weight = 0.0 if self.kind in ("FedAvg", "FedNova", "SCAFFOLD") else self.weight
            train = self.with_torch if self.torch_steps else self.by_hand
            last = sent[k] = train(state, A, b, start, center, linear, weight, K + self.extra_steps(), t)
            state["starts"] = {**state["starts"], k: start}
            state["shared"] = state["shared"] - self.dtype(self.weight) * (last - w)
        new = self.aggregate(problem, state, sent, work)
        for k, model in sent.items():
            state["own"][k] = model
            state["seen"][k] = t
        return dict(state, w=new.astype(self.dtype), old=w, t=t + 1, sent=sent)

    def samples(self, problem: Any, k: int) -> tuple[Any, Any]:
        A, b = np.array(problem.A[k], self.dtype), np.array(problem.b[k], self.dtype)
        return A, np.trunc(b) if self.has("integers") else b

    def extra_steps(self) -> int:
        return self.has("step more") - self.has("step less")

    def linear(self, state: dict[str, Any], k: int, w: Any) -> Any:
        sign = -1 if self.has("term sign") else 1
        if self.kind == "FedDyn":
            return -sign * state["memory"][k]
        if self.kind == "SCAFFOLD":
            c = 0 * w if self.has("c unused") else state["server memory"]
            return sign * (c - state["memory"][k])
        return 0 * w

    def size(self, t: int) -> float:
        """The stepsize of round t."""
        number = self.numbers
        factor = number.get("decay", 1.0) ** t
        factor *= number.get("after ten rounds", 1.0) ** (t // 10) * number.get("after three rounds", 1.0) ** (t // 3)
        return self.stepsize * factor / (t + 1 if self.has("1/t") else 1)

    def pull_weight(self, weight: float, t: int) -> float:
        gone = self.has("pull missing") or (self.has("pull missing at first") and t == 0)
        return (
            0.0
            if gone
            else weight
            * (-1 if self.has("pull sign") else 2 if self.has("pull twice") else 0.5 if self.has("pull half") else 1)
        )

    def by_hand(
        self, state: dict[str, Any], A: Any, b: Any, start: Any, center: Any, linear: Any, weight: float, K: int, t: int
    ) -> Any:
        number, weight = self.numbers, self.pull_weight(weight, t)
        theta, v, m1, m2 = start, 0 * start, 0 * start, 0 * start
        beta = number.get("momentum", number.get("nesterov", 0.0))
        for i in range(K):
            at = start if self.has("frozen") else theta
            if self.batches_seed is not None:
                order = state["shuffle"].permutation(len(b))
                A, b = A[order], b[order]
            g = A.T @ (A @ at - b) * self.dtype(2 if self.has("loss twice") else 1) + linear
            away = -center if self.has("pull without square") else theta if self.has("pull to zero") else theta - center
            if self.has("pull on last tensor"):
                away = away * np.array([0, 1], self.dtype)
            if self.has("pull norm"):
                length = np.sqrt((away * away).sum())
                away = away / (2 * length) if length > 0 else away
            g = g + self.dtype(weight) * away
            if self.has("clip"):
                length = np.sqrt((g * g).sum())
                g = g * min(1.0, number["clip"] / length) if length > 0 else g
            g = (g + self.dtype(number.get("weight decay", 0.0)) * theta).astype(self.dtype)
            if self.has("adam"):
                m1, m2 = 0.9 * m1 + 0.1 * g, 0.999 * m2 + 0.001 * g**2
                g = m1 / (1 - 0.9 ** (i + 1)) / (np.sqrt(m2 / (1 - 0.999 ** (i + 1))) + 1e-8)
            elif beta:
                v = self.dtype(beta) * v + g
                g = g + self.dtype(beta) * v if self.has("nesterov") else v
            theta = (theta - self.dtype(self.size(t)) * g).astype(self.dtype)
        return theta

    def with_torch(
        self, state: dict[str, Any], A: Any, b: Any, start: Any, center: Any, linear: Any, weight: float, K: int, t: int
    ) -> Any:
        """The same with autograd, a module of two parameters and torch's own optimisers and clipping."""
        import torch

        weight, number = self.pull_weight(weight, t), self.numbers
        kind = torch.float64 if self.dtype is np.float64 else torch.float32
        X, y = torch.tensor(A, dtype=kind), torch.tensor(b, dtype=kind)
        parts = [torch.nn.Parameter(torch.tensor([value], dtype=kind)) for value in start]
        fixed = [torch.tensor([value], dtype=kind) for value in center]
        tilt = [torch.tensor([value], dtype=kind) for value in linear]
        beta = number.get("momentum", number.get("nesterov", 0.0))
        if self.has("adam"):
            optimiser: Any = torch.optim.Adam(parts, lr=self.size(t))
        else:
            decay = number.get("weight decay", 0.0)
            optimiser = torch.optim.SGD(
                parts, lr=self.size(t), momentum=beta, nesterov=self.has("nesterov"), weight_decay=decay
            )
        begin = torch.cat([part.detach().clone() for part in parts])
        for _ in range(K):
            optimiser.zero_grad()
            theta = torch.cat(parts)
            if self.has("frozen"):
                slope = X.T @ (X @ begin - y) * (2 if self.has("loss twice") else 1)
                loss = (slope * theta).sum()
            else:
                loss = ((X @ theta - y) ** 2).sum() / (1 if self.has("loss twice") else 2)
            loss = loss + sum((q * p).sum() for p, q in zip(parts, tilt, strict=True))
            pairs = [(p, 0 * q if self.has("pull to zero") else q) for p, q in zip(parts, fixed, strict=True)]
            squares = sum(((p - q) ** 2).sum() for p, q in (pairs[-1:] if self.has("pull on last tensor") else pairs))
            if self.has("pull norm"):
                squares = torch.sqrt(squares) if squares.item() > 0 else 0 * squares
            if self.has("pull without square"):
                squares = -2 * sum((p * q).sum() for p, q in pairs)
            (loss + weight / 2 * squares).backward()
            if self.has("clip"):
                lengths = torch.cat([p.grad for p in parts]).norm()
                for p in parts:
                    p.grad *= min(1.0, number["clip"] / float(lengths))
            optimiser.step()
        return np.array([p.item() for p in parts], self.dtype)

    def aggregate(self, problem: Any, state: dict[str, Any], sent: dict[int, Any], work: dict[int, int]) -> Any:
        w, m, t, kind = state["w"], problem.num_clients, state["t"], self.dtype
        if not sent:
            return w
        samples = np.array([len(problem.b[k]) for k in sent], float)
        plain = self.kind in ("FedDyn", "SCAFFOLD", "FedSplit")
        if (plain and not self.has("by samples")) or self.has("unweighted"):
            samples = np.ones(len(sent))
        p = samples / samples.sum()
        if self.has("lost weights"):
            p = samples / sum(len(b) for b in problem.b)
        if self.has("over m"):
            p = samples / m
        if self.has("summed"):
            p = np.ones(len(sent))
        if self.has("last model") or (self.has("last model at first") and t == 0):
            p = np.eye(len(sent))[-1]
        p = p.astype(kind)
        rows = np.stack(list(sent.values()))
        if self.kind == "FedNova":
            new = self.nova(w, rows, p, np.array(list(work.values()), kind))
        elif self.kind == "FedDyn":
            new = self.dyn(state, sent, p @ rows, m)
        elif self.kind == "SCAFFOLD":
            new = self.scaffold(state, sent, work, p, m)
        elif self.kind == "FedSplit":
            new = self.split(state, sent, m)
        else:
            new = np.vstack([rows, w]).mean(0) if self.has("old model too") else p @ rows
        new = w + kind(self.numbers.get("scaled step", 1.0)) * (new - w)
        new = kind(self.numbers.get("scaled model", 1.0)) * new
        return 2 * new - w if self.has("twice") else new

    def nova(self, w: Any, rows: Any, p: Any, tau: Any) -> Any:
        if self.has("not normalised"):
            return p @ rows
        mean = self.dtype(1) if self.has("no mean work") else p @ tau
        if self.has("weights on models"):
            return mean * (p / tau) @ rows
        return w + mean * ((p / tau) @ (rows - w))

    def dyn(self, state: dict[str, Any], sent: dict[int, Any], mean: Any, m: int) -> Any:
        w, a, h = state["w"], self.dtype(self.weight), state["server memory"]
        last = list(sent.values())[-1]
        drift = sum(model - (last if self.has("h from last") else w) for model in sent.values())
        drift = last - w if self.has("last change") else drift
        before = h
        count = len(sent) if self.has("h over active") else 1 if self.has("h summed") else m
        h = h + (a if self.has("h sign") else -a) * drift / self.dtype(count)
        for k, model in sent.items():
            state["memory"][k] = state["memory"][k] - (-a if self.has("memory sign") else a) * (model - w)
        if self.has("h of active"):
            h = sum(state["memory"][k] for k in sent) / self.dtype(len(sent))
        state["server memory"] = h
        used = before if self.has("h late") else h
        new = mean - (0 if self.has("h unused") else -1 if self.has("h added") else 1) * used / a
        if self.has("memory at new model"):
            for k in sent:
                state["memory"][k] = state["memory"][k] + a * (new - w)
        return new

    def scaffold(self, state: dict[str, Any], sent: dict[int, Any], work: dict[int, int], p: Any, m: int) -> Any:
        w, c, eta = state["w"], state["server memory"], self.dtype(self.server_stepsize)
        change = 0 * w
        for k, model in sent.items():
            path = self.dtype(work[k] + self.has("path one more")) * self.dtype(
                1 if self.has("path in steps") else self.stepsize
            )
            old, begun = state["memory"][k], state["starts"][k] if self.has("live") else w
            new = (
                (0 if self.has("own forgotten") else 1) * old
                - c
                + (-1 if self.has("path sign") else 1) * (begun - model) / path
            )
            change = (0 if self.has("last change") else change) + new - old
            state["memory"][k] = new
        if not self.has("c frozen"):
            state["server memory"] = c + change / self.dtype(len(sent) if self.has("c over active") else m)
        if self.has("c of active"):
            state["server memory"] = sum(state["memory"][k] for k in sent) / self.dtype(len(sent))
        rows = np.stack(list(sent.values()))
        if self.has("live"):
            return rows[-1] + eta * (p @ (rows - np.stack([state["starts"][k] for k in sent])))
        return eta * (p @ rows) if self.has("eta on models") else w + eta * (p @ (rows - w))

    def split(self, state: dict[str, Any], sent: dict[int, Any], m: int) -> Any:
        w = state["w"]
        factor = self.dtype(1 if self.has("reflect once") else -2 if self.has("reflect back") else 2)
        for k, model in sent.items():
            state["memory"][k] = state["memory"][k] + factor * (model - w)
        new = sum(state["memory"]) / self.dtype(m)
        if self.has("z reset"):
            for k in sent:
                state["memory"][k] = new
        return sum(sent.values()) / self.dtype(len(sent)) if self.has("mean of points") else new


def method_of(one: Federation) -> tuple[Any, Any]:
    """The right method and local solver."""
    s, K = one.stepsize, one.steps
    steps = fc.GradientDescent(steps=K, stepsize=s)
    return {
        "FedAvg": (fc.FedAvg(epochs=K, stepsize=s, batch_size=None), None),
        "FedProx": (fc.FedProx(mu=one.weight), steps),
        "FedNova": (fc.FedNova(stepsize=s, local_steps=K), None),
        "FedDyn": (fc.FedDyn(alpha=one.weight), steps),
        "SCAFFOLD": (fc.Scaffold(stepsize=s, local_steps=K, server_stepsize=one.server_stepsize), None),
        "FedSplit": (fc.FedSplit(stepsize=1 / one.weight), steps),
    }[one.kind]


def report_on(one: Federation, clients_known: bool = True) -> Report:
    """The kit's check of it."""
    method, solver = method_of(one)
    return report_of(method, one, clients_known, local_solver=solver)
