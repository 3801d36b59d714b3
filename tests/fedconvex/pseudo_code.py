"""The papers' algorithms, line by line, in plain Fractions on quadratic clients: they share nothing with the package.

Every function takes the problem's `Terms` (the papers' client functions are ½xᵀH_k x − c_kᵀx), the first point and one
list of active clients for each round, and returns the server's points, one row more than there are rounds. `Solve` is
how a client minimises its function plus (weight/2)‖u − center‖²; a linear term ⟨g, u⟩ goes into c_k as −g. `fault`
names a mistake to make: what the comparisons must reject.

The papers that write a sum or a plain mean over the clients (FedSplit, FedDyn, SCAFFOLD, FedPD) are run on the clients
F_k = m·w_k·f_k; the others average with the weights w_k, over the active clients as w_k / Σ_active w.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from problem_makers import Terms, identity, inverse, weighted

Rounds = Sequence[Sequence[int]]
Work = int | Sequence[int]  # the number of local steps: everybody's, or each client's
Solve = Callable[[np.ndarray, np.ndarray, Fraction, np.ndarray, np.ndarray], np.ndarray]  # H, c, weight, center, start


def exactly(H: np.ndarray, c: np.ndarray, weight: Fraction, center: np.ndarray, start: np.ndarray) -> np.ndarray:
    """argmin ½uᵀHu − cᵀu + (weight/2)‖u − center‖²."""
    return inverse(H + weight * identity(len(c))) @ (c + weight * center)


def gradient_steps(e: int, a: Fraction) -> Solve:
    """e steps u ← u − a·(Hu − c + weight·(u − center)) from the start."""

    def solve(H: np.ndarray, c: np.ndarray, weight: Fraction, center: np.ndarray, start: np.ndarray) -> np.ndarray:
        u = start
        for _ in range(e):
            u = u - a * (H @ u - c + weight * (u - center))
        return u

    return solve


def plain_mean(rows: Sequence[np.ndarray]) -> np.ndarray:
    return sum(rows, 0 * rows[0]) / Fraction(len(rows))


def weighted_mean(terms: Terms, active: Sequence[int], rows: Sequence[np.ndarray], fault: str = "") -> np.ndarray:
    """Σ w_k row_k / Σ w_k, both over the active clients."""
    w = [terms.w[k] for k in active]
    if fault == "weights ignored":
        return plain_mean(rows)
    if fault == "weights not renormalised":
        return weighted(w, list(rows))
    return weighted([w_k / sum(w) for w_k in w], list(rows))


def client_gradient(terms: Terms, k: int, x: np.ndarray) -> np.ndarray:
    return terms.H[k] @ x - terms.c[k]


def steps_of(work: Work, k: int) -> int:
    return work if isinstance(work, int) else work[k]


def local_steps(
    terms: Terms, k: int, w: np.ndarray, s: Fraction, work: Work, correction: np.ndarray | int = 0
) -> np.ndarray:
    """Where client k arrives from w, with the same correction of each of its gradients."""
    for _ in range(steps_of(work, k)):
        w = w - s * (client_gradient(terms, k, w) + correction)
    return w


def objective(terms: Terms, x: np.ndarray) -> Fraction:
    """f(x) but for a constant."""
    H, c = terms.summed()
    return x @ H @ x / 2 - c @ x


def fedavg(terms: Terms, x: np.ndarray, rounds: Rounds, *, s: Fraction, e: Work, fault: str = "") -> np.ndarray:
    """FedProx paper, Algorithm 1, with full gradients; FedSplit paper, (3), (4); section 5.2 where the work differs."""
    points = [x]
    for active in rounds:
        answers = [local_steps(terms, k, points[-1], s, e) for k in active]
        points.append(weighted_mean(terms, active, answers, fault))
    return np.stack(points)


def fedprox(
    terms: Terms, x: np.ndarray, rounds: Rounds, *, mu: Fraction, solve: Solve = exactly, fault: str = ""
) -> np.ndarray:
    """FedProx paper, Algorithm 2: w_k ≈ argmin F_k(w) + (mu/2)‖w − w^t‖²."""
    points = [x]
    for active in rounds:
        w = points[-1]
        pull = Fraction(0) if fault == "the centre follows the iterate" else mu
        answers = [solve(terms.H[k], terms.c[k], pull, w, w) for k in active]
        points.append(weighted_mean(terms, active, answers, fault))
    return np.stack(points)


def adaptive_fedprox(
    terms: Terms, x: np.ndarray, rounds: Rounds, *, mu: Fraction, solve: Solve = exactly, fault: str = ""
) -> np.ndarray:
    """FedProx paper, appendix C.3.3: mu + 0.1 when the loss rises, mu − 0.1 when it has fallen five times in a row."""
    points, falls = [x], 0
    tenth = Fraction(-1 if fault == "wrong direction" else 1, 10)
    for active in rounds:
        if len(points) > 1:
            before, now = objective(terms, points[-2]), objective(terms, points[-1])
            falls = falls + 1 if now < before else 0
            if now > before:
                mu = mu + tenth
            if falls == (4 if fault == "four falls" else 5):
                mu, falls = mu - tenth, 0
            mu = max(mu, Fraction(0))
        w = points[-1]
        answers = [solve(terms.H[k], terms.c[k], mu, w, w) for k in active]
        points.append(weighted_mean(terms, active, answers))
    return np.stack(points)


def dane(
    terms: Terms,
    x: np.ndarray,
    rounds: Rounds,
    *,
    mu: Fraction,
    eta: Fraction = Fraction(1),
    solve: Solve = exactly,
    sampled: bool = False,
    fault: str = "",
) -> np.ndarray:
    """Shamir, Srebro and Zhang (2014), (13): argmin F_k(w) − ⟨∇F_k(w') − eta·∇f(w'), w⟩ + (mu/2)‖w − w'‖².

    The gradient ∇f(w') is that of all clients, whoever then takes part, or where it is sampled that of the active ones:
    Li et al. (2020), Algorithm 2.
    """
    points = [x]
    for active in rounds:
        w, answers = points[-1], []
        asked = active if sampled and fault != "everybody's gradient" else range(len(terms.w))
        g = eta * weighted_mean(terms, asked, [client_gradient(terms, k, w) for k in asked], fault)
        for k in active:
            correction = {"no correction": 0, "wrong sign": -1}.get(fault, 1) * (client_gradient(terms, k, w) - g)
            answers.append(solve(terms.H[k], terms.c[k] + correction, mu, w, w))
        points.append(weighted_mean(terms, active, answers, fault))
    return np.stack(points)


def feddane(terms: Terms, x: np.ndarray, rounds: Rounds, **parameters: Any) -> np.ndarray:
    return dane(terms, x, rounds, sampled=True, **parameters)


def fednova(terms: Terms, x: np.ndarray, rounds: Rounds, *, s: Fraction, tau: Work, fault: str = "") -> np.ndarray:
    """Wang et al. (2020): client i takes tau_i steps; w ← w − tau_eff·s·Σ p_i d_i with d_i = (w − w_i)/(s·tau_i)."""
    points = [x]
    for active in rounds:
        w = points[-1]
        steps, directions = [], []
        for i in active:
            w_i = local_steps(terms, i, w, s, tau)
            count = 1 if fault == "not normalised" else steps_of(tau, i)
            steps.append(np.array([Fraction(count)], dtype=object))
            directions.append((w - w_i) / (s * count))
        tau_effective = weighted_mean(terms, active, steps, fault)[0]
        points.append(w - tau_effective * s * weighted_mean(terms, active, directions, fault))
    return np.stack(points)


def fedsplit(
    terms: Terms,
    x: np.ndarray,
    rounds: Rounds,
    *,
    s: Fraction,
    solve: Solve = exactly,
    server: str = "all",
    start: str = "center",
    z: Sequence[np.ndarray] | None = None,
    fault: str = "",
) -> np.ndarray:
    """FedSplit paper, Algorithm 1; FedDyn paper, A.4: the inactive clients' z are frozen, the server averages the z of
    all clients (`server="all"`) or of the active ones. An inexact prox starts at its argument (Corollary 1), at the
    server's point, or at the client's last answer. `z` are the clients' first z, else x.
    """
    terms, m = terms if fault == "weights ignored" else terms.as_a_sum(), len(terms.w)
    points, z, last = [x], list(z or [x] * m), [x] * m
    centering = 1 if fault == "half the centering" else 2
    for active in rounds:
        x = points[-1]
        for j in active:
            v = 2 * x - z[j]
            last[j] = solve(terms.H[j], terms.c[j], 1 / s, v, {"center": v, "server": x, "warm": last[j]}[start])
            z[j] = z[j] + centering * (last[j] - x)
        points.append(plain_mean(z if server == "all" else [z[j] for j in active]))
    return np.stack(points)


def fedsplit_theorem_2(
    terms: Terms, x: np.ndarray, rounds: Rounds, *, s: Fraction, lam: Fraction, solve: Solve = exactly, fault: str = ""
) -> np.ndarray:
    """Algorithm 1 on the clients F_k + (lam/2)‖x − x^(1)‖²."""
    parts, I = terms.as_a_sum(), identity(len(x))
    center = 0 * x if fault == "centred at the origin" else x
    regularised = Terms([H + lam * I for H in parts.H], [c + lam * center for c in parts.c], parts.w)
    return fedsplit(regularised, x, rounds, s=s, solve=solve)


def feddyn(
    terms: Terms, x: np.ndarray, rounds: Rounds, *, alpha: Fraction, solve: Solve = exactly, fault: str = ""
) -> np.ndarray:
    """FedDyn paper, Algorithm 1."""
    terms, m = terms.as_a_sum(), len(terms.w)
    points, h, gradient = [x], 0 * x, [0 * x] * m
    for active in rounds:
        previous, theta = points[-1], {}
        for k in active:
            linear = -gradient[k] if fault == "sign of the linear term" else gradient[k]
            theta[k] = solve(terms.H[k], terms.c[k] + linear, alpha, previous, previous)
            change = alpha * (theta[k] - previous)
            gradient[k] = gradient[k] + change if fault == "sign of the memory" else gradient[k] - change
        divisor = len(active) if fault == "divided by the active" else m
        h = h - alpha * sum(theta[k] - previous for k in active) / Fraction(divisor)
        points.append(plain_mean(list(theta.values())) - h / alpha)
    return np.stack(points)


def feddyn_one_gd(terms: Terms, x: np.ndarray, rounds: Rounds, *, alpha: Fraction, fault: str = "") -> np.ndarray:
    """FedDyn paper, Algorithm 2: θ_k = θ − (∇F_k(θ) − h_k)/alpha in place of the minimiser."""
    return feddyn(terms, x, rounds, alpha=alpha, solve=gradient_steps(1, 1 / alpha), fault=fault)


def scaffold(
    terms: Terms,
    x: np.ndarray,
    rounds: Rounds,
    *,
    s: Fraction,
    steps: Work,
    server_stepsize: Fraction = Fraction(1),
    option: int = 2,
    fault: str = "",
) -> np.ndarray:
    """Karimireddy et al. (2020), Algorithm 1; all control variates start at 0.

    In the paper all clients take K steps; where the work differs, option 2's 1/(K s) has the client's own K.
    """
    terms, N = terms.as_a_sum(), len(terms.w)
    points, c, c_i = [x], 0 * x, [0 * x] * N
    for active in rounds:
        x = points[-1]
        delta_y, delta_c = [], []
        for i in active:
            used = client_gradient(terms, i, x) if fault == "control variate updated first" else c_i[i]
            y = local_steps(terms, i, x, s, steps, c - used if fault != "wrong sign" else used - c)
            if option == 1:
                updated = client_gradient(terms, i, x)
            else:
                updated = c_i[i] - c + (x - y) / (steps_of(steps, i) * s)
                if fault == "option 2 without −c":
                    updated = updated + c
            delta_y.append(y - x)
            delta_c.append(updated - c_i[i])
            c_i[i] = updated
        points.append(x + server_stepsize * plain_mean(delta_y))
        share = Fraction(1) if fault == "c not scaled by |S|/N" else Fraction(len(active), N)
        c = c + share * plain_mean(delta_c)
    return np.stack(points)


def fedpd(
    terms: Terms,
    x: np.ndarray,
    rounds: Rounds,
    *,
    eta: Fraction,
    solve: Solve = exactly,
    start: str = "warm",
    local: Sequence[int] = (),
    fault: str = "",
) -> np.ndarray:
    """Zhang et al. (2020), Algorithm 1; all dual variables start at 0. In the rounds `local` nothing is sent.

    Inexact local work starts at the client's last x_i (the paper's oracles) or at the server's point. In the paper
    every client takes part; here inactive ones keep x_i and lambda_i, and the server averages the active ones.
    """
    terms, m = terms.as_a_sum(), len(terms.w)
    points, dual, x_i, x0_i = [x], [0 * x] * m, [x] * m, [x] * m
    for r, active in enumerate(rounds):
        for i in active:
            x0 = x0_i[i]
            x_i[i] = solve(terms.H[i], terms.c[i] - dual[i], 1 / eta, x0, x_i[i] if start == "warm" else x0)
            step = (x_i[i] - x0) / eta
            dual[i] = dual[i] - step if fault == "sign of the dual" else dual[i] + step
            x0_i[i] = x_i[i] + eta * dual[i]
        if r not in local:
            points.append(plain_mean([x0_i[i] for i in active]))
        else:
            points.append(points[-1])
        if r not in local or fault == "local rounds forgotten":
            x0_i = [points[-1]] * m
    return np.stack(points)
