"""How different the clients' gradients are at one point."""

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
    """E_k‖∇f_k − ∇f‖² and ‖∇f‖², the mean being with the problem's weights."""

    variance: float
    square: float

    @property
    def gradient_norm(self) -> float:
        """‖∇f‖."""
        return float(self.square**0.5)

    @property
    def dissimilarity(self) -> float:
        """B = √(E_k‖∇f_k‖²)/‖∇f‖ (FedProx paper, Definition 3); infinite where only ∇f is 0, 1 where all are."""
        if self.square == 0:
            return inf if self.variance > 0 else 1.0
        return (1 + self.variance / self.square) ** 0.5 if np.isfinite(self.square) else nan


def heterogeneity(clients: Clients, weights: np.ndarray, point: Array, among: Share | None = None) -> Heterogeneity:
    """At a (d,) point, in one pass over the clients; only some clients' gradients are held at a time.

    among: where these are the clients (and weights) of one of several processes; the answer is that over all of them.

    Mean and deviations are updated part by part, so that nothing is lost where all gradients are nearly the same.
    """
    mean: Any = None
    xp: Any = clients.arithmetic.xp  # type: ignore[attr-defined]
    spread = total = 0.0
    for members, gradients in clients.gradients_in_parts(point):
        share = weights[members]
        weight = float(share.sum())
        if weight == 0:
            continue
        normalised = clients.arithmetic.array(share / weight)
        here = clients.arithmetic.average(normalised, gradients)
        gradients -= here  # they are nobody else's
        squares = xp.einsum("kd,kd->k", gradients, gradients)  # no array of all squares
        spread += weight * float(normalised @ squares)
        if mean is None:
            mean, total = here, weight
            continue
        step = here - mean
        spread += float((step * step).sum()) * total * weight / (total + weight)
        total += weight
        mean = mean + step * (weight / total)
    if among is not None:
        own = clients.arithmetic.array(np.zeros(clients.dim)) if mean is None else mean
        everything = float(among.total_numbers(np.array([total]))[0])
        mean = among.total(own * (total / everything))
        step = own - mean
        spread = float(among.total_numbers(np.array([spread + total * float((step * step).sum())]))[0])
        total = everything
    return Heterogeneity(spread / total, float((mean * mean).sum()))
