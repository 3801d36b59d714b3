"""Rounds of FedAvg and FedProx with SGD against a plain PyTorch loop over clients and batches.

FedProx's Synthetic(1, 1): 30 clients, 10 a round, 20 epochs, batches of 10, multinomial logistic regression 60 → 10,
stepsize 0.01, float64, one thread for both. The same clients take part in both, round by round.

    python benchmarks/local_sgd.py
"""

import statistics

import numpy as np
import torch
from run import interleaved, median_ratio, record, row

import fedconvex as fc
from fedconvex.participation import Draw, UniformThenWeighted
from fedconvex.runs.rounds import Rounds, rounds_of

EPOCHS, BATCH, STEPSIZE, CHOSEN, ROUNDS, TARGET = 20, 10, 0.01, 10, 12, 40


class Running:
    """A method on its way: every call is one more round, draw and mini-batches included."""

    def __init__(self, rounds: Rounds) -> None:
        self.rounds, self.state, self.t = rounds, rounds.start(np.zeros(rounds.problem.dim)), 0

    def __call__(self) -> None:
        """Go one round further."""
        draw = UniformThenWeighted(CHOSEN).draw(self.rounds.problem, 0, self.t)
        self.state, self.t = self.rounds.advance(self.state, draw, in_place=True), self.t + 1


class PlainLoop:
    """What people write: a model, an optimiser, two loops. With mu > 0 the proximal term is part of the loss."""

    def __init__(self, data: fc.data.FederatedData, problem: fc.MultinomialLogistic, mu: float) -> None:
        self.problem, self.mu, self.t = problem, mu, 0
        self.clients = [
            (torch.tensor(np.array(X)), torch.tensor(np.searchsorted(data.classes, y)))
            for X, y in zip(data.features, data.targets, strict=True)
        ]
        self.model = torch.nn.Linear(data.num_features, len(data.classes)).double()
        self.server = [torch.zeros_like(p) for p in self.model.parameters()]
        self.loss = torch.nn.CrossEntropyLoss()

    def __call__(self) -> None:
        """One round."""
        draw: Draw = UniformThenWeighted(CHOSEN).draw(self.problem, 0, self.t)
        self.t += 1
        sizes = [len(self.clients[k][1]) for k in draw.members]
        total = [torch.zeros_like(p) for p in self.server]
        for k, size in zip(draw.members, sizes, strict=True):
            for summand, part in zip(total, self._train(*self.clients[k]), strict=True):
                summand += size / sum(sizes) * part
        self.server = total

    def _train(self, X: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        with torch.no_grad():
            for parameter, value in zip(self.model.parameters(), self.server, strict=True):
                parameter.copy_(value)
        optimiser = torch.optim.SGD(self.model.parameters(), lr=STEPSIZE)
        for _ in range(EPOCHS):
            order = torch.randperm(len(y))
            for batch in order.split(BATCH):
                optimiser.zero_grad()
                loss = self.loss(self.model(X[batch]), y[batch])
                if self.mu:
                    pairs = zip(self.model.parameters(), self.server, strict=True)
                    loss = loss + self.mu / 2 * sum(((p - w) ** 2).sum() for p, w in pairs)
                loss.backward()
                optimiser.step()
        return [p.detach().clone() for p in self.model.parameters()]


def main() -> None:
    """Measure and record."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = fc.data.synthetic(alpha=1, beta=1, seed=0)
    problem = data.problem(model="multinomial", ridge=0)
    solver = fc.SGD(epochs=EPOCHS, batch_size=BATCH, stepsize=STEPSIZE)
    rows = []
    for method, mu in ((fc.FedAvg(epochs=EPOCHS, batch_size=BATCH, stepsize=STEPSIZE), 0.0), (fc.FedProx(mu=1.0), 1.0)):
        rounds = rounds_of(method, problem, local_solver=solver)
        with rounds.arithmetic.context():
            ours, plain = Running(rounds), PlainLoop(data, problem, mu)
            times = interleaved({"ours": ours, "plain": plain}, ROUNDS)
        ratio = median_ratio(times["plain"], times["ours"])
        chosen = [UniformThenWeighted(CHOSEN).draw(problem, 0, t).members for t in range(1, ROUNDS + 1)]
        steps = [EPOCHS * sum(-(-int(data.sizes[k]) // BATCH) for k in members) for members in chosen]
        rows.append(
            row(
                f"{type(method).__name__} with SGD on Synthetic(1, 1): rounds a second, times the plain loop's",
                ratio,
                TARGET,
                "×",
                peer="plain PyTorch loop",
                peer_value=statistics.median(times["plain"]),
                peer_unit="s a round",
                ratio=ratio,
                at_least=True,
                seconds_a_round=statistics.median(times["ours"]),
                microseconds_a_step=statistics.median(a / b for a, b in zip(times["ours"], steps, strict=True)) * 1e6,
                peer_microseconds_a_step=statistics.median(a / b for a, b in zip(times["plain"], steps, strict=True))
                * 1e6,
                steps_a_round=statistics.median(steps),
                gap_between_losses=abs(_loss(problem, ours) - _loss(problem, plain)),
            )
        )
    record("local_sgd", rows)


def _loss(problem: fc.MultinomialLogistic, run: "Running | PlainLoop") -> float:
    """The objective where a run stands: both must have learned the same, up to the order of their batches."""
    if isinstance(run, Running):
        return float(problem.value(run.state.server))
    weight, bias = run.server
    return float(problem.value(torch.hstack([weight, bias[:, None]]).reshape(-1).numpy()))


if __name__ == "__main__":
    main()
