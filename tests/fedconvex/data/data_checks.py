"""Checks of random data that several test files share; each is shown to reject something where it is used."""

import numpy as np
from scipy.optimize import linprog
from scipy.stats import chi2

import fedconvex as fc

CHANCE = 1e-6  # of rejecting what is right; seeds are fixed, so that what passes once passes always


def is_variance(square_sum: float, degrees: int, claimed: float) -> bool:
    """Whether a sum of squares of N(0, claimed), with that many degrees of freedom, is within its 1 − CHANCE range."""
    low, high = chi2.ppf([CHANCE / 2, 1 - CHANCE / 2], degrees)
    return bool(low <= square_sum / claimed <= high)


def scatter(rows: np.ndarray) -> float:
    """Σ_k (x_k − mean)², which has len(x) − 1 degrees of freedom."""
    return float(((rows - rows.mean()) ** 2).sum())


def is_argmax_of_some_linear_model(x: np.ndarray, y: np.ndarray, classes: int) -> bool:
    """Whether W and b exist with (W x_i + b)_{y_i} the largest score of every sample i, by a margin: a linear program.

    A second route to the labels: it knows neither the model nor how it was drawn.
    """
    ones = np.column_stack([x, np.ones(len(x))])
    rows = []
    for sample, label in zip(ones, y, strict=True):
        for other in range(classes):
            if other != label:
                row = np.zeros((classes, ones.shape[1]))
                row[other], row[label] = sample, -sample
                rows.append(row.ravel())
    A = np.array(rows)
    return bool(linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=-np.ones(len(A)), bounds=(None, None)).status == 0)


def pooled(data: fc.data.FederatedData) -> tuple[np.ndarray, np.ndarray]:
    """All clients' features and targets, below one another."""
    return np.concatenate(data.features), np.concatenate(data.targets)


def same(one: fc.data.FederatedData, other: fc.data.FederatedData, clients: int | None = None) -> bool:
    """Whether the first clients of both (default: all) have the same numbers, bit for bit."""
    pairs = [*zip(one.features, other.features, strict=False)], [*zip(one.targets, other.targets, strict=False)]
    return all(np.array_equal(a, b) for kind in pairs for a, b in kind[:clients])
