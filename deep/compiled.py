"""Compiled loops (numba) for what a fully connected network computes between its matrix products.

Arrays have the axes K clients, B samples, p units, and are changed in place, in float32 or float64. Comparisons are
written so that a NaN is passed on: a diverging run must not look finite.
"""

import numpy as np

from fedconvex.arithmetic.machine_code import compiled


@compiled
def add_bias(values: np.ndarray, bias: np.ndarray, relu: bool) -> None:
    """values (K, B, p) += bias (K, 1, p); with `relu`, negative values then become 0."""
    clients, samples, width = values.shape
    zero, added = values.dtype.type(0), np.empty(width, values.dtype)
    for k in range(clients):
        for j in range(width):
            # A copy: the bias may be strided, and the inner loops vectorise on contiguous data.
            added[j] = bias[k, 0, j]
        for i in range(samples):
            row = values[k, i]
            if relu:
                for j in range(width):
                    value = row[j] + added[j]
                    row[j] = zero if value < zero else value
            else:
                for j in range(width):
                    row[j] += added[j]


@compiled
def relu_backward(errors: np.ndarray, values: np.ndarray) -> None:
    """errors (K, B, p) become 0 where the layer's outputs, values (K, B, p), are 0: the derivative of ReLU there."""
    clients, samples, width = values.shape
    zero = values.dtype.type(0)
    for k in range(clients):
        for i in range(samples):
            row, at = errors[k, i], values[k, i]
            for j in range(width):
                row[j] = zero if at[j] <= zero else row[j]


@compiled
def add_sums(bias: np.ndarray, errors: np.ndarray, factor: float) -> None:
    """bias (K, 1, p) += factor · Σ_i errors_ki, errors (K, B, p)."""
    clients, samples, width = errors.shape
    total = np.empty(width, errors.dtype)
    for k in range(clients):
        total[:] = 0
        for i in range(samples):
            row = errors[k, i]
            for j in range(width):
                total[j] += row[j]
        for j in range(width):
            bias[k, 0, j] += factor * total[j]


@compiled
def cross_entropy_derivatives(
    outputs: np.ndarray, targets: np.ndarray, shares: np.ndarray, derivatives: np.ndarray
) -> None:
    """derivatives (K, B, C) ← shares (K, B) · (softmax(outputs (K, B, C)) − e_targets (K, B))."""
    clients, samples, classes = outputs.shape
    zero = outputs.dtype.type(0)
    for k in range(clients):
        for i in range(samples):
            # The largest output is subtracted, so that no exponential overflows.
            row, result, highest, total = outputs[k, i], derivatives[k, i], outputs[k, i, 0], zero
            for c in range(1, classes):
                highest = max(highest, row[c])
            for c in range(classes):
                result[c] = np.exp(row[c] - highest)
                total += result[c]
            factor = shares[k, i] / total
            for c in range(classes):
                result[c] *= factor
            result[targets[k, i]] -= shares[k, i]
