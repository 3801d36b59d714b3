"""Heterogeneity of the clients' gradients at one point."""

from dataclasses import dataclass
from math import inf, nan
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.problems.base import Clients
from fedconvex.runs.rounds import Share


@final
@dataclass(frozen=True)
class Heterogeneity:
    """The variance E_k‖∇f_k − ∇f‖² of the clients' gradients, and ‖∇f‖²; E_k is the mean with the problem's weights."""

    variance: float
    square: float

    @property
    def gradient_norm(self) -> float:
        """‖∇f‖."""
        return float(self.square**0.5)

    @property
    def dissimilarity(self) -> float:
        """B = √(E_k‖∇f_k‖²)/‖∇f‖ (FedProx paper, Definition 3); inf if only ∇f is 0, 1 if all gradients are."""
        if self.square == 0:
            return inf if self.variance > 0 else 1.0
        return (1 + self.variance / self.square) ** 0.5 if np.isfinite(self.square) else nan


def heterogeneity(clients: Clients, weights: np.ndarray, point: Array, among: Share | None = None) -> Heterogeneity:
    """Compute the heterogeneity at a point (d,), in one pass, with the gradients of a few clients in memory at a time.

    among: with several processes, the clients of this one, whose weights these are; the result is over all processes.

    Mean and squared deviations are updated by the formula of Chan, Golub and LeVeque: the difference of E_k‖∇f_k‖² and
    ‖∇f‖² would cancel where the gradients are nearly equal.
    """
    mean: Any = None
    xp: Any = clients.arithmetic.xp  # type: ignore[attr-defined]
    spread = total = 0.0
    for members, gradients in clients.gradients_in_parts(point):
        share = weights[members]
        weight = float(share.sum())
        if weight == 0:  # weights may be 0: such clients contribute nothing, and the average would be 0/0
            continue
        normalised = clients.arithmetic.array(share / weight)
        here = clients.arithmetic.average(normalised, gradients)
        gradients -= here  # in place: this array is not used again
        squares = xp.einsum("kd,kd->k", gradients, gradients)  # without a (K, d) array of squares
        spread += weight * float(normalised @ squares)
        if mean is None:
            mean, total = here, weight
            continue
        step = here - mean
        spread += float((step * step).sum()) * total * weight / (total + weight)
        total += weight
        mean = mean + step * (weight / total)
    if among is not None:
        # The same formula once more: the parts are now the processes.
        own = clients.arithmetic.array(np.zeros(clients.dim)) if mean is None else mean
        everything = float(among.total_numbers(np.array([total]))[0])
        mean = among.total(own * (total / everything))
        step = own - mean
        spread = float(among.total_numbers(np.array([spread + total * float((step * step).sum())]))[0])
        total = everything
    return Heterogeneity(spread / total, float((mean * mean).sum()))
