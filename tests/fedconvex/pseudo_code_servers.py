"""Server optimisers, line by line as in their papers: FedAvgM in Fractions, the adaptive ones to sixty digits.

As in `pseudo_code`, from which the gradients and means come; nothing is the package's. `fault` names a mistake to make.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mp, mpf
from problem_makers import Terms, fraction, real
from pseudo_code import Rounds, Work, local_steps, weighted_mean

DIGITS = 60


def fedavgm(
    terms: Terms,
    x: np.ndarray,
    rounds: Rounds,
    *,
    s: Fraction,
    e: Work,
    beta: Fraction,
    eta: Fraction = Fraction(1),
    fault: str = "",
) -> np.ndarray:
    """Hsu, Qi and Brown (2019), section 4.1: v ← βv + Δw, w ← w − ηv, with Δw = Σ (n_k/n)(w − w_k)."""
    points, v = [x], 0 * x
    for active in rounds:
        w = points[-1]
        mean = weighted_mean(terms, active, [w - local_steps(terms, k, w, s, e) for k in active], fault)
        v = beta * v + (1 - beta if fault == "damped" else 1) * mean
        step = beta * v + mean if fault == "Nesterov" else v
        points.append(w - eta * step)
    return np.stack(points)


def adaptive(
    kind: str,
    H: Sequence[Any],
    c: Sequence[Any],
    weights: Sequence[Fraction],
    x: Sequence[Fraction],
    rounds: Rounds,
    *,
    s: Fraction,
    e: int,
    eta: Fraction,
    beta1: Fraction,
    beta2: Fraction,
    tau: Fraction,
    start: Fraction | None = None,
    fault: str = "",
) -> list[list[Fraction]]:
    """Reddi et al. (2021), Algorithm 2, entry by entry; v begins at τ² unless `start` is given."""

    with mp.workdps(DIGITS):
        d, p, points = len(x), [real(w) for w in weights], [[real(v) for v in x]]
        matrices = [[[real(v) for v in row] for row in H_k] for H_k in H]
        vectors = [[real(v) for v in c_k] for c_k in c]
        m, v = [mpf(0)] * d, [real(tau) ** 2 if start is None else real(start)] * d
        b1, b2, t = real(beta1), real(beta2), real(tau)
        for active in rounds:
            at = points[-1]
            share = sum(p[k] for k in active)
            delta = [mpf(0)] * d
            for k in active:
                y = list(at)
                for _ in range(e):
                    slope = [sum(matrices[k][i][j] * y[j] for j in range(d)) - vectors[k][i] for i in range(d)]
                    y = [y[i] - real(s) * slope[i] for i in range(d)]
                delta = [delta[i] + p[k] / share * (y[i] - at[i]) for i in range(d)]
            new = list(at)
            for i in range(d):
                m[i] = b1 * m[i] + (1 - b1) * delta[i]
                square = delta[i] ** 2
                if kind == "FedAdagrad":
                    v[i] = v[i] + square
                elif kind == "FedYogi":
                    v[i] = v[i] - (1 - b2) * square * mp.sign(v[i] - square)
                else:
                    v[i] = b2 * v[i] + (1 - b2) * square
                root = mp.sqrt(v[i] + t) if fault == "tau under the root" else mp.sqrt(v[i]) + t
                new[i] = at[i] + real(eta) * m[i] / root
            points.append(new)
        return [[fraction(value) for value in point] for point in points]
