"""More methods whose clients keep vectors, line by line in Fractions, as in `pseudo_code`; nothing is the package's."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from problem_makers import Terms
from pseudo_code import Rounds, Solve, Work, client_gradient, exactly, local_steps, plain_mean, steps_of, weighted_mean


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


def ditto(
    terms: Terms, x: np.ndarray, rounds: Rounds, *, s: Fraction, e: Work, lam: Fraction, fault: str = ""
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Li, Hu, Beirami and Smith (2021), Algorithm 1: the server's points, and the v_k after the last round."""
    points, v = [x], [x] * len(terms.w)
    for active in rounds:
        w, sent = points[-1], []
        for k in active:
            sent.append(local_steps(terms, k, w, s, e))
            toward = sent[-1] if fault == "pulled to the trained copy" else w
            for _ in range(steps_of(e, k)):
                v[k] = v[k] - s * (client_gradient(terms, k, v[k]) + lam * (v[k] - toward))
        points.append(weighted_mean(terms, active, sent))
    return np.stack(points), v


def pfedme(
    terms: Terms,
    x: np.ndarray,
    rounds: Rounds,
    *,
    lam: Fraction,
    eta: Fraction,
    R: Work,
    beta: Fraction = Fraction(1),
    solve: Solve = exactly,
    fault: str = "",
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Dinh, Tran and Nguyen (2020), Algorithm 1: the server's points, and the clients' last θ_i.

    Inexact proximal points start at the last one of the round.
    """
    terms, points, last = terms.as_a_sum(), [x], [x] * len(terms.w)
    for active in rounds:
        w, sent = points[-1], []
        for i in active:
            w_i = theta = w
            for _ in range(steps_of(R, i)):
                theta = solve(terms.H[i], terms.c[i], lam, w if fault == "around the server" else w_i, theta)
                w_i = w_i - eta * (1 if fault == "no lambda" else lam) * (w_i - theta)
            last[i] = theta
            sent.append(w_i)
        points.append((1 - beta) * w + beta * plain_mean(sent))
    return np.stack(points), last


def scaffnew(
    terms: Terms, x: np.ndarray, rounds: Rounds, *, gamma: Fraction, p: Fraction, coins: Sequence[bool], fault: str = ""
) -> np.ndarray:
    """Mishchenko et al. (2022), Algorithm 2: the points at the last communication; `coins` are its θ_t."""
    terms, m = terms.as_a_sum(), len(terms.w)
    points, x_i, h = [x], [x] * m, [0 * x] * m
    for coin in coins:
        hat = [x_i[i] - gamma * (client_gradient(terms, i, x_i[i]) - h[i]) for i in range(m)]
        if coin:
            mean = plain_mean(hat)
            factor = 1 if fault == "p forgotten" else p
            # the paper's h_i + (p/γ)(x_{i,t+1} − x̂_{i,t+1})
            h = [h[i] + factor / gamma * (mean - hat[i]) for i in range(m)]
            x_i = [mean] * m
            points.append(mean)
        else:
            x_i = [points[-1]] * m if fault == "local steps forgotten" else hat
            points.append(points[-1])
    return np.stack(points)


def fedlin(terms: Terms, x: np.ndarray, rounds: Rounds, *, s: Fraction, tau: Work, fault: str = "") -> np.ndarray:
    """Mitra et al. (2021), Algorithm 1 without compression; all clients send gradients, whoever then works."""
    terms, points = terms.as_a_sum(), [x]
    for active in rounds:
        start = points[-1]
        gradients = [client_gradient(terms, i, start) for i in range(len(terms.w))]
        g = plain_mean([gradients[i] for i in active] if fault == "gradients of the active" else gradients)
        correction = [0 * g if fault == "no correction" else g - own for own in gradients]
        points.append(plain_mean([local_steps(terms, i, start, s, tau, correction[i]) for i in active]))
    return np.stack(points)
