"""Draws the mini-batches of a round of local SGD before it starts, from the seed alone and so alike for all methods."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Scalar
from fedconvex.errors import InvalidInput, short_text
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.participation import Draw
from fedconvex.problems.base import Problem
from fedconvex.problems.local_sgd import Minibatches
from fedconvex.problems.samples import Samples
from fedconvex.randomness import Purpose, stream
from fedconvex.stepsizes import factors_within_round, rule_within_round, stepsize
from fedconvex.validation import integer_at_least, non_negative, positive

MOST_BYTES = 4 * 2**30  # of a round's order of samples


def draw_minibatches(
    first: np.ndarray,
    count: np.ndarray,
    batch_size: int | None,
    epochs: np.ndarray | None,
    steps: np.ndarray | None,
    members: np.ndarray,
    seed: int,
    round: int,
) -> Minibatches:
    """The batches of one round: every epoch visits all samples in a new random order, its last batch may be smaller.

    A client's order depends only on the seed, the round and the client's index. Two runs with different numbers of
    epochs or steps therefore agree as far as the shorter one goes.

    Args:
        first, count: (K,) each client's first row of samples and its number of samples.
        batch_size: the number of samples of a batch; None: all samples of the client.
        epochs, steps: (K,), one of them None: each client's number of full epochs, or its number of batches (which
            continue into further epochs).
        members: (K,) the indices of the clients among all clients.

    Raises InvalidInput for more samples in the round than memory could hold the order of.
    """
    if epochs is not None:
        _require_room("epochs", epochs, count)
    else:
        assert steps is not None
        _require_room("steps", steps, count if batch_size is None else np.minimum(count, batch_size))
    orders, sizes, numbers = [], [], [0]
    # a stream of random numbers per client: its batches do not depend on who else takes part
    for k, client in enumerate(members):
        n = int(count[k])
        size = n if batch_size is None else min(batch_size, n)
        per_epoch = -(-n // size)  # rounded up
        batches = int(epochs[k]) * per_epoch if epochs is not None else int(steps[k])  # type: ignore[index]
        started_epochs = -(-batches // per_epoch)
        generator = stream(seed, Purpose.MINIBATCHES, round, int(client))
        epoch = np.full(per_epoch, size)
        epoch[-1] = n - size * (per_epoch - 1)
        widths = np.tile(epoch, started_epochs)[:batches]
        order = np.concatenate([generator.permutation(n) for _ in range(started_epochs)] or [np.empty(0, np.int64)])
        orders.append(first[k] + order[: widths.sum()])
        sizes.append(widths)
        numbers.append(numbers[-1] + batches)
    bounds = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return Minibatches(np.concatenate(orders).astype(np.int64), bounds, np.array(numbers, dtype=np.int64))


class MinibatchSolver(LocalSolver):
    """The base class of `SGD` and `Adam`, which step along the gradients of mini-batches."""

    epochs: int | None
    steps: int | None
    batch_size: int | None
    stepsize: Scalar
    weight_decay: Scalar
    clip: Any
    within_round: Any

    def __post_init__(self) -> None:
        if (self.epochs is None) == (self.steps is None):
            problem = f"and steps = {short_text(self.steps)}: one is needed"
            raise InvalidInput("epochs", self.epochs, problem, "give epochs or steps")
        for name in ("epochs", "steps", "batch_size"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, integer_at_least(getattr(self, name), 1, name))
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        object.__setattr__(self, "within_round", rule_within_round(self.within_round))
        non_negative(self.weight_decay, "weight_decay")
        if self.clip is not None:
            positive(self.clip, "clip")

    @property
    def effort(self) -> int | None:
        return self.epochs if self.steps is None else self.steps

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Raises InvalidInput for a problem without samples."""
        if not problem.has_samples:
            raise InvalidInput(
                "local_solver", self, f"draws mini-batches, and {problem} has no samples", "use GradientDescent"
            )

    def minibatches(self, samples: Samples, draw: Draw) -> Minibatches:
        """The batches of a round's participants, of whom stragglers do only a part of the epochs, or of the steps."""
        number = len(samples.count)
        amounts = np.full(number, self.effort) if draw.efforts is None else draw.efforts
        return draw_minibatches(
            samples.first,
            samples.count,
            self.batch_size,
            epochs=amounts if self.steps is None else None,
            steps=amounts if self.steps is not None else None,
            members=np.arange(number) if draw.members is None else draw.members,
            seed=draw.seed,
            round=draw.round,
        )

    def factors(self, arithmetic: Arithmetic, batches: Minibatches) -> tuple[Scalar, ...] | None:
        """The factors of the stepsize at the steps of a round; None where there are none."""
        if self.within_round is None:
            return None
        return tuple(map(arithmetic.scalar, factors_within_round(self.within_round, int(batches.steps.max(initial=0)))))


def _require_room(name: str, amounts: np.ndarray, samples: np.ndarray) -> None:
    """Raises InvalidInput if the order of so many passes or steps over these samples is too large for the memory."""
    # Python's integers: the product may be beyond int64
    visits = sum(amount * n for amount, n in zip(amounts.tolist(), samples.tolist(), strict=True))
    if visits * 8 > MOST_BYTES:
        problem = f"would visit {visits} samples in a round, whose order takes {visits / 2**27:.0f} GiB"
        raise InvalidInput(name, max(amounts.tolist()), problem, f"give fewer {name}")
