"""Values, gradients and minimisers of four clients, written out by hand, to compare measurements with."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import fedconvex as fc
from fedconvex import participation as who

generator = np.random.default_rng(20240229)
COUNTS, D = (5, 3, 7, 4), 3
DESIGNS = [generator.standard_normal((n, D)) for n in COUNTS]
TARGETS = [generator.standard_normal(n) for n in COUNTS]
SIGNS = [np.where(target > 0, 1.0, -1.0) for target in TARGETS]
WEIGHTS, RIDGE = np.array([0.125, 0.375, 0.25, 0.25]), 0.3
LEAST = fc.LeastSquares(DESIGNS, TARGETS, WEIGHTS)
LOGISTIC = fc.Logistic(DESIGNS, SIGNS, RIDGE, WEIGHTS)
ROUND_COLUMNS = ["inexactness", "drift", "control_error"]
DROP = who.Stragglers(Fraction(1, 2), "drop")


def least_value(k: int, x: np.ndarray) -> float:
    return float(np.sum((DESIGNS[k] @ x - TARGETS[k]) ** 2) / 2)


def least_gradient(k: int, x: np.ndarray) -> np.ndarray:
    return DESIGNS[k].T @ (DESIGNS[k] @ x - TARGETS[k])


def logistic_value(k: int, x: np.ndarray) -> float:
    return float(np.mean(np.log(1 + np.exp(-SIGNS[k] * (DESIGNS[k] @ x)))) + RIDGE / 2 * x @ x)


def logistic_gradient(k: int, x: np.ndarray) -> np.ndarray:
    slopes = -SIGNS[k] / (1 + np.exp(SIGNS[k] * (DESIGNS[k] @ x)))
    return DESIGNS[k].T @ slopes / COUNTS[k] + RIDGE * x


def logistic_minimizer() -> np.ndarray:
    """Many steps of gradient descent: slow, and nothing to go wrong."""
    x = np.zeros(D)
    for _ in range(3000):
        x = x - 0.5 * sum(WEIGHTS[k] * logistic_gradient(k, x) for k in range(4))
    return x


def least_minimizer() -> np.ndarray:
    rows = [np.sqrt(w) * A for w, A in zip(WEIGHTS, DESIGNS, strict=True)]
    right = [np.sqrt(w) * b for w, b in zip(WEIGHTS, TARGETS, strict=True)]
    return np.asarray(np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)[0])


KINDS: dict[str, tuple[Any, Callable, Callable, np.ndarray]] = {
    "least squares": (LEAST, least_value, least_gradient, least_minimizer()),
    "logistic": (LOGISTIC, logistic_value, logistic_gradient, logistic_minimizer()),
}
X0 = np.array([1.0, -2.0, 0.5])
ARITHMETICS = ["float", "exact", "torch"]
