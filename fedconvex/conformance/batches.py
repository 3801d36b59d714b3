"""Mini-batches of local work: the ones that an implementation is given, and local SGD over chosen ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.minibatches import draw_minibatches
from fedconvex.local_solvers.sgd import SGD
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.problems.local_sgd import Descent, Minibatches

Batches = Sequence[Sequence[int]]  # a client's batches of one round in the order of its steps, each of sample numbers


@dataclass(frozen=True)
class Work:
    """A client's local work in one round, in samples: which batches it visits depends on nothing else."""

    client: int
    round: int
    samples: int
    amount: int  # epochs, or steps where the solver counts these


def drawn(solver: SGD, work: Work) -> Batches:
    """The batches that the solver draws; SGD over them is the method's own."""
    amount, counts_epochs = np.array([work.amount]), solver.steps is None
    found = draw_minibatches(
        first=np.zeros(1, dtype=np.int64),
        count=np.array([work.samples]),
        batch_size=solver.batch_size,
        epochs=amount if counts_epochs else None,
        steps=None if counts_epochs else amount,
        members=np.array([work.client]),
        seed=Draw().seed,
        round=work.round,
    )
    return [part.tolist() for part in np.split(found.order, found.bounds[1:-1])] if len(found.bounds) > 1 else []


def full_ones(solver: SGD, work: Work, batches: Batches) -> Batches:
    """The batches without smaller ones."""
    return [batch for batch in batches if len(batch) == min(solver.batch_size or work.samples, work.samples)]


def first_epoch_again(solver: SGD, work: Work, batches: Batches) -> Batches:
    """The first epoch's batches in every epoch."""
    first = drawn(solver, replace(work, amount=1)) if solver.steps is None else batches
    return [first[i % len(first)] for i in range(len(batches))]


def first_batch_only(solver: SGD, work: Work, batches: Batches) -> Batches:
    """The first batch of every epoch."""
    return batches[:: -(-work.samples // (solver.batch_size or work.samples))]


def of_first_round(solver: SGD, work: Work, batches: Batches) -> Batches:
    """The batches of the first round."""
    return drawn(solver, replace(work, round=0))


def path_lengths(solver: SGD, clients: Clients, amounts: np.ndarray, round: int) -> Array:
    """The path lengths (K, 1) of the solver's own batches, without its steps; `amounts` (K,): epochs, or steps."""
    if solver.steps is None and solver.batch_size is not None:
        amounts = amounts * -(-clients.samples().count // solver.batch_size)
    return solver.stepsize * solver.decay**round * solver.path_units(clients.arithmetic, amounts)[:, None]


@final
@dataclass(frozen=True, eq=False)
class ChosenBatches(LocalSolver):
    """The solver's steps over batches of one's own choice; its path lengths are those of the solver's own batches."""

    inner: SGD
    choose: Callable[[Work], Batches]

    def require(self, problem: Problem, scale: Any, weight: Scalar) -> None:
        """Accepts every problem with samples: the kit makes no others."""

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        samples, full = clients.samples(), self.inner.effort
        members = np.arange(clients.num_clients) if draw.members is None else draw.members
        assert full is not None
        amounts = [full] * len(members) if draw.efforts is None else draw.efforts.tolist()
        rows, bounds, numbers = [], [0], [0]
        for first, count, client, amount in zip(samples.first, samples.count, members, amounts, strict=True):
            batches = self.choose(Work(int(client), draw.round, int(count), amount))
            rows += [int(first) + i for batch in batches for i in batch]
            bounds += (bounds[-1] + np.cumsum([len(batch) for batch in batches])).tolist()
            numbers.append(len(bounds) - 1)
        visited = Minibatches(*(np.array(part, dtype=np.int64) for part in (rows, bounds, numbers)))
        inner, numeric = self.inner, None if self.inner.clip is None else float(self.inner.clip)
        stepsize = inner.stepsize * inner.decay**draw.round
        points = samples.descend(Descent(subproblem, visited, stepsize, inner.weight_decay, numeric, inner.momentum))
        return Answers(points, path_lengths(inner, clients, np.array(amounts), draw.round))
