"""The plain methods on cross-entropies: softmax regression by hand, with torch.nn.Linear's order of parameters."""

from typing import Any

import numpy as np
import plain_methods as plain
from checking import report_of

import fedconvex as fc
from fedconvex.conformance import Report


def softmax_gradient(A: np.ndarray, labels: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The gradient of the mean cross-entropy at x = (weight row by row, bias), in the arithmetic of A."""
    classes = len(x) // (A.shape[1] + 1)
    scores = A @ x[:-classes].reshape(classes, -1).T + x[-classes:]
    odds = np.exp(scores - scores.max(1, keepdims=True))
    error = odds / odds.sum(1, keepdims=True) - np.eye(classes, dtype=A.dtype)[labels]
    return np.concatenate([(error.T @ A).ravel(), error.sum(0)]) / A.dtype.type(len(A))


class Classifying:
    """Takes the place of the gradient of a method in `plain_methods`."""

    dtype: Any

    def gradient(self, problem: Any, k: int, x: np.ndarray) -> np.ndarray:
        return softmax_gradient(problem.A[k].astype(self.dtype), problem.b[k], x)


class FedProx(Classifying, plain.FedProx):
    pass


class FedDyn(Classifying, plain.FedDyn):
    pass


class Scaffold(Classifying, plain.Scaffold):
    pass


class Dane(Classifying, plain.Dane):
    pass


def random_report(seed: int) -> Report:
    """The check of a right implementation on cross-entropies: the same for the same seed."""
    draw = np.random.default_rng(seed)
    stepsize, steps, option = float(10 ** draw.uniform(-4, 0.3)), int(draw.integers(1, 9)), int(draw.integers(1, 3))
    strength = float(10 ** draw.uniform(-2, 0) / stepsize)
    dtype = draw.choice([np.float64, np.float32])
    work = {"stepsize": stepsize, "steps": steps, "dtype": dtype}
    solver = fc.GradientDescent(steps=steps, stepsize=stepsize)
    method, made, local_solver = [
        (fc.FedGD(stepsize=stepsize, local_steps=steps), FedProx(**work), None),
        (fc.FedProx(mu=strength), FedProx(mu=strength, **work), solver),
        (fc.FedDyn(alpha=strength), FedDyn(alpha=strength, **work), solver),
        (fc.FedDANE(mu=strength), Dane(mu=strength, **work), solver),
        (fc.Scaffold(stepsize=stepsize, local_steps=steps, option=option), Scaffold(option=option, **work), None),
    ][int(draw.integers(5))]
    return report_of(method, made, bool(draw.integers(2)), local_solver=local_solver, loss="cross_entropy")
