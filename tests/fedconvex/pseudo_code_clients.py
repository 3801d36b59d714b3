"""More methods whose clients keep vectors, line by line in Fractions, as in `pseudo_code`; nothing is the package's."""

from fractions import Fraction

import numpy as np
from problem_makers import Terms
from pseudo_code import Rounds, Solve, exactly, plain_mean


def fedadmm(
    terms: Terms,
    x: np.ndarray,
    rounds: Rounds,
    *,
    rho: Fraction,
    eta: Fraction | None = None,
    solve: Solve = exactly,
    fault: str = "",
) -> np.ndarray:
    """Gong, Li and Freris (2022), Algorithm 1; local work starts at θ; without `eta`, it is |S|/m in every round."""
    terms, m = terms.as_a_sum(), len(terms.w)
    points, w, y = [x], [x] * m, [0 * x] * m
    for active in rounds:
        theta, sent = points[-1], []
        for i in active:
            before = (theta if fault == "from the server's model" else w[i]) + y[i] / rho
            w[i] = solve(terms.H[i], terms.c[i] - y[i], rho, theta, theta)
            y[i] = y[i] + (rho if fault != "sign of the dual" else -rho) * (w[i] - theta)
            sent.append(w[i] + y[i] / rho - before)
        share = Fraction(len(active), m) if eta is None else eta
        points.append(theta + (Fraction(1) if fault == "divided by the active" else share) * plain_mean(sent))
    return np.stack(points)
