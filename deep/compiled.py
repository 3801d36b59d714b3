"""What lies between the matrix products of networks, in machine code: K clients, B samples, p numbers of each.

All in place, float32 or float64; NaN stays NaN.
"""

import numpy as np

from fedconvex.arithmetic.machine_code import compiled


@compiled
def add_bias(values: np.ndarray, bias: np.ndarray, relu: bool) -> None:
    """values (K, B, p) += bias (K, 1, p); then negative ones become 0 if relu."""
    clients, samples, width = values.shape
    zero, added = values.dtype.type(0), np.empty(width, values.dtype)
    for k in range(clients):
        for j in range(width):
            added[j] = bias[k, 0, j]  # side by side, however the parameters lie
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
    """errors (K, B, p) become 0 where values (K, B, p) are not positive."""
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
