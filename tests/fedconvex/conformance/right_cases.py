"""Right implementations with random methods, parameters, precision and work; some shuffle mini-batches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from classifying import softmax_gradient
from federation import Federation, report_on
from planted_list import KNOWN

import fedconvex as fc
from fedconvex.conformance import Report, check


@dataclass(frozen=True)
class Right:
    """What is checked, in words, and its check."""

    name: str
    report: Callable[[], Report]

    def __str__(self) -> str:
        return self.name


@dataclass
class Shuffling:
    """FedAvg over mini-batches, in an order drawn anew for every epoch by a generator of its own."""

    stepsize: float
    epochs: int
    batch_size: int
    dtype: Any
    seed: int

    def __post_init__(self) -> None:
        self.draw = np.random.default_rng(self.seed)

    def round(self, problem: Any, w: Any, active: Any) -> Any:
        ends = np.stack([self.train(problem, k, w) for k in active])
        samples = np.array([len(problem.b[k]) for k in active], self.dtype)
        return (samples / samples.sum()) @ ends

    def train(self, problem: Any, k: int, theta: Any) -> Any:
        n = len(problem.b[k])
        for _ in range(self.epochs):
            order = self.draw.permutation(n)
            for begin in range(0, n, self.batch_size):
                batch = order[begin : begin + self.batch_size]
                A, b = problem.A[k][batch].astype(self.dtype), problem.b[k][batch]
                if hasattr(problem, "num_classes"):
                    gradient = softmax_gradient(A, b, theta)
                else:
                    gradient = 2 * A.T @ (A @ theta - b.astype(self.dtype)) / self.dtype(len(b))
                theta = (theta - self.dtype(self.stepsize) * gradient).astype(self.dtype)
        return theta

    def report(self, loss: str | None) -> Report:
        """Its check."""
        return check(
            fc.FedAvg(stepsize=self.stepsize, epochs=self.epochs, batch_size=self.batch_size),
            init=lambda problem, x0: np.asarray(x0, self.dtype),
            round=self.round,
            server_model=lambda w: w,
            loss=loss,
            shuffled=True,
        )


def right_cases(count: int, seed: int = 1) -> Iterator[Right]:
    """One in eight shuffles mini-batches, half of the others the samples of full batches."""
    draw = np.random.default_rng(seed)
    for i in range(count):
        dtype = [np.float64, np.float32][draw.integers(2)]
        if i % 8 == 7:
            epochs, size = [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (3, 1)][draw.integers(6)]
            shuffling = Shuffling(float(10 ** draw.uniform(-2, -0.5)), epochs, size, dtype, int(draw.integers(1000)))
            loss = "cross_entropy" if draw.integers(4) == 0 else None
            yield Right(f"{shuffling} of {loss or 'squares'}", lambda one=shuffling, loss=loss: one.report(loss))  # type: ignore[misc]
            continue
        kind, steps = str(draw.choice(list(KNOWN))), int(draw.integers(1, 9))
        weight = float(10 ** draw.uniform(-2, 1))
        proximal = kind in ("FedProx", "FedDyn", "FedSplit")
        one = Federation(
            kind,
            stepsize=float(10 ** draw.uniform(-2, 0) / (weight if proximal else 1)),
            steps=steps,
            weight=weight,
            server_stepsize=float(10 ** draw.uniform(-1, 0.3)),
            dtype=dtype,
            torch_steps=bool(draw.integers(4) == 0),
            batches_seed=None if draw.integers(2) else int(draw.integers(1000)),
        )
        known = bool(draw.integers(2))
        yield Right(str(one), lambda one=one, known=known: report_on(one, known))  # type: ignore[misc]
