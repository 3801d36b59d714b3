"""More methods whose clients keep vectors, line by line in Fractions, as in `pseudo_code`; nothing is the package's."""

from fractions import Fraction

import numpy as np
from problem_makers import Terms
from pseudo_code import Rounds, Solve, Work, client_gradient, exactly, plain_mean, steps_of, weighted_mean


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


def fednova_momentum(
    terms: Terms, x: np.ndarray, rounds: Rounds, *, s: Fraction, tau: Work, rho: Fraction, fault: str = ""
) -> np.ndarray:
    """Wang et al. (2020), section 4.2: heavy-ball steps have ‖a_i‖₁ = (τ_i − ρ(1 − ρ^τ_i)/(1 − ρ))/(1 − ρ)."""
    points = [x]
    for active in rounds:
        w, norms, directions = points[-1], [], []
        for i in active:
            w_i, v, steps = w, 0 * w, steps_of(tau, i)
            for _ in range(steps):
                v = rho * v + client_gradient(terms, i, w_i)
                w_i = w_i - s * v
            norm = (steps - rho * (1 - rho**steps) / (1 - rho)) / (1 - rho)
            if fault == "steps counted":
                norm = Fraction(steps)
            norms.append(np.array([norm], dtype=object))
            directions.append((w - w_i) / (s * norm))
        effective = weighted_mean(terms, active, norms)[0]
        points.append(w - effective * s * weighted_mean(terms, active, directions))
    return np.stack(points)
