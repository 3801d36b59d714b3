"""Federated Learning Based on Dynamic Regularization (FedDyn): its formulas, transcribed from the text for mpmath.

The transcription shares nothing with the calculators it is compared with. Every function is the right-hand side as
printed, also where the printed formula is loose or unclear; the comments say where. Distances, moves and gradients are
(expectations of) squared norms. Vectors may be numbers or anything that adds and scales entrywise.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

from mpmath import mpf, sqrt


def mean(terms: Sequence[Any]) -> Any:
    return reduce(add, terms) / mpf(len(terms))


# Pages 4 and 5: the algorithm and the rates


def device_objective(value: Any, linear: Any, alpha: Any, distance: Any) -> Any:
    return value - linear + alpha / 2 * distance


def first_order_residual(new_gradient: Any, old_gradient: Any, alpha: Any, theta: Any, server: Any) -> Any:
    return new_gradient - old_gradient + alpha * (theta - server)


def global_gradient(gradients: Sequence[Any]) -> Any:
    # Printed as grad l(theta^t) = (1/m) sum grad L_k(theta_*) = sum E grad l_k(theta_*) = 0: the argument on the left
    # should be theta_*, and the second sum lacks its 1/m (no matter, at 0).
    return mean(gradients)


def rates(
    L: Any,
    mu: Any,
    num_clients: Any,
    num_active: Any,
    T: Any,
    D0: Any,
    G: Any,
    delta: Any,
    spread: Any,
) -> tuple[Any, Any, Any]:
    ratio = mpf(num_clients) / num_active
    beta = max(5 * ratio * mu, 30 * L)
    r = 1 + mu / beta  # printed 1 + mu/alpha; Theorem 3 takes alpha = beta for these rates
    return (
        1 / r**T * (beta * D0 + ratio * (1 / beta) * G),
        mpf(1) / T * sqrt(ratio) * (L * D0 + 1 / L * G),
        mpf(1) / T * (L * ratio * delta + L**2 * spread),
    )


# Page 28: smoothness, Theorem 2, the virtual devices


def smooth_upper(value: Any, inner: Any, L: Any, distance: Any) -> Any:
    return value + inner + L / 2 * distance


def cocoercivity_left(L: Any, mean_square: Any) -> Any:
    return 1 / (2 * L) * mean_square


def cocoercivity(gap: Any) -> Any:
    return gap


def three_points(value_z: Any, value_y: Any, L: Any, distance: Any) -> Any:
    return -value_z + value_y + L / 2 * distance


def convex_bound(alpha: Any, L: Any, num_clients: Any, num_active: Any, T: Any, D0: Any, G: Any) -> Any:
    return mpf(1) / T * (10 * alpha * D0 + 100 * (mpf(num_clients) / num_active) * (1 / alpha) * G)


def virtual_objective(value: Any, linear: Any, alpha: Any, distance: Any) -> Any:
    return value - linear + alpha / 2 * distance


def virtual_step(old_gradient: Any, new_gradient: Any, alpha: Any) -> Any:
    return 1 / alpha * (old_gradient - new_gradient)


def active_average(server: Any, h: Any, alpha: Any) -> Any:
    return server + 1 / alpha * h


# Pages 29 to 31: the convex case


def convex_constants(alpha: Any, L: Any, num_clients: Any, num_active: Any) -> tuple[Any, Any, Any, Any]:
    ratio = mpf(num_clients) / num_active
    kappa = 8 * ratio * (1 / alpha) * (L + alpha) / (alpha**2 - 20 * L**2)
    kappa0 = 2 * (1 / alpha) * (alpha**2 - 20 * alpha * L - 40 * L**2) / (alpha**2 - 20 * L**2)
    scale4 = alpha * (L + alpha) / (alpha**2 - 20 * L**2)
    scale5 = 8 * ratio * (1 / alpha) * (L + alpha) / (alpha**2 - 20 * L**2)
    return kappa, kappa0, scale4, scale5


def lemma1_left(distance_next: Any, C_next: Any, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Any:
    kappa = convex_constants(alpha, L, num_clients, num_active)[0]
    return distance_next + kappa * C_next


def lemma1(distance: Any, C: Any, gap: Any, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Any:
    kappa, kappa0, _, _ = convex_constants(alpha, L, num_clients, num_active)
    return distance + kappa * C - kappa0 * gap


def mean_move(alpha: Any, mean_gradient: Any) -> Any:
    return 1 / alpha * (-mean_gradient)


def lemma3(epsilon: Any) -> Any:
    return epsilon


def lemma4_left(epsilon: Any, alpha: Any, L: Any) -> Any:
    return (1 - 4 * L**2 * (1 / alpha**2)) * epsilon


def lemma4(C: Any, gap: Any, alpha: Any, L: Any) -> Any:
    return 8 * (1 / alpha**2) * C + 8 * L * (1 / alpha**2) * gap


def lemma5(C: Any, gap: Any, epsilon: Any, L: Any, num_clients: Any, num_active: Any) -> Any:
    share = mpf(num_active) / num_clients
    return (1 - share) * C + 2 * L**2 * share * epsilon + 4 * L * share * gap


def convex_step(distance: Any, gap: Any, epsilon: Any, move: Any, alpha: Any, L: Any) -> Any:
    return distance - 2 / alpha * gap + L / alpha * epsilon + move


def lemma6(count: Any, total: Any) -> Any:
    return count * total


def lemma7(C: Any) -> Any:
    return C


# Pages 32 and 33: the strongly convex case


def growth_sum(alpha: Any, mu: Any, T: Any) -> Any:
    r = 1 + mu / alpha
    return sum((r**t for t in range(int(T))), mpf(0))


def strongly_convex_bound(
    alpha: Any,
    L: Any,
    mu: Any,
    num_clients: Any,
    num_active: Any,
    T: Any,
    D0: Any,
    G: Any,
) -> Any:
    # The prefactor is read as 1/r^(T-1), not 1/(r^T - 1): its "-1" is set without the space of a minus sign in a
    # displayed denominator (compare Lemma 12), so it belongs to the exponent; and 1/R <= 1/r^(T-1) holds for every r.
    r = 1 + mu / alpha
    return 1 / r ** (T - 1) * (20 * alpha * D0 + 400 * (mpf(num_clients) / num_active) * (1 / alpha) * G)


def strongly_convex_constants(
    alpha: Any,
    L: Any,
    mu: Any,
    num_clients: Any,
    num_active: Any,
) -> tuple[Any, Any, Any, Any, Any, Any]:
    m, P = mpf(num_clients), mpf(num_active)
    r = 1 + mu / alpha
    z = (
        alpha**3 * P
        + alpha**2 * P * mu
        - alpha**2 * m * mu
        - 20 * alpha * L**2 * P
        + 4 * L**2 * m * mu
        - 20 * L**2 * P * mu
    )
    kappa = 8 * m * (L + alpha) / z
    kappa0 = (
        2 * alpha**3 * P
        + 2 * alpha**2 * P * mu
        - 2 * alpha**2 * m * mu
        - 40 * alpha**2 * L * P
        - 80 * alpha * L**2 * P
        - 40 * alpha * L * P * mu
        + 8 * alpha * L * m * mu
        + 16 * L**2 * m * mu
        - 80 * L**2 * P * mu
    ) / (alpha * z)
    scale4 = alpha * (L + alpha) * (P * alpha + P * mu - m * mu) / z
    scale5 = 8 * m * (L + alpha) * (alpha + mu) / (alpha * z)
    return r, z, kappa, kappa0, scale4, scale5


def lemma8_left(
    distance_next: Any,
    C_next: Any,
    alpha: Any,
    L: Any,
    mu: Any,
    num_clients: Any,
    num_active: Any,
) -> Any:
    r, _, kappa, _, _, _ = strongly_convex_constants(alpha, L, mu, num_clients, num_active)
    return r * (distance_next + kappa * C_next)


def lemma8(
    distance: Any,
    C: Any,
    gap: Any,
    alpha: Any,
    L: Any,
    mu: Any,
    num_clients: Any,
    num_active: Any,
) -> Any:
    _, _, kappa, kappa0, _, _ = strongly_convex_constants(alpha, L, mu, num_clients, num_active)
    return distance + kappa * C - kappa0 * gap


def three_points_strong(value_z: Any, value_y: Any, L: Any, mu: Any, distance: Any, separation: Any) -> Any:
    return -value_z + value_y + L / 2 * distance - mu / 2 * separation


def strongly_convex_step(
    distance: Any,
    distance_next: Any,
    gap: Any,
    epsilon: Any,
    move: Any,
    alpha: Any,
    L: Any,
    mu: Any,
) -> Any:
    # The number (12) stands at the last line of its display, whose left side is E|gamma^t - theta_*|^2 alone.
    return distance - 2 / alpha * gap + L / alpha * epsilon - mu / alpha * distance_next + move


def equation13_left(distance_next: Any, alpha: Any, mu: Any) -> Any:
    return (1 + mu / alpha) * distance_next


def equation13(distance: Any, gap: Any, epsilon: Any, move: Any, alpha: Any, L: Any) -> Any:
    return distance - 2 / alpha * gap + L / alpha * epsilon + move


def lemma9(distance_next: Any) -> Any:
    return -distance_next


# Pages 33 to 35: the non-convex case (C_t is the spread of the devices' models here)


def nonconvex_bound(
    alpha: Any,
    L: Any,
    num_clients: Any,
    num_active: Any,
    T: Any,
    delta: Any,
    spread: Any,
) -> Any:
    return mpf(1) / T * (3 * alpha * delta + 30 * L**3 * (mpf(num_clients) / num_active) * (1 / alpha) * spread)


def nonconvex_constants(
    alpha: Any,
    L: Any,
    num_clients: Any,
    num_active: Any,
) -> tuple[Any, Any, Any, Any, Any, Any]:
    m, P = mpf(num_clients), mpf(num_active)
    z = alpha**2 * P**2 - 32 * L**2 * m**2 + 16 * L**2 * P * m - 20 * L**2 * P**2
    kappa = 4 * L**3 * P * ((alpha + L) / alpha) * ((2 * m - P) / z)
    top = alpha**2 * P**2 - 4 * alpha * L * P**2 - 32 * L**2 * m**2 - 16 * L**2 * P * m - 24 * L**2 * P**2
    kappa0 = 1 / (2 * alpha) * top / z
    z0 = 4 * L**3 * P * ((alpha + L) / alpha) * ((2 * m - P) / z)
    z1 = L / 2 + z0 * 2 * (m / P)
    z2 = L * P**2 * (alpha / 2) * ((L + alpha) / z)
    return z, kappa, kappa0, z0, z1, z2


def lemma10_left(loss_next: Any, C_next: Any, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Any:
    kappa = nonconvex_constants(alpha, L, num_clients, num_active)[1]
    return loss_next + kappa * C_next


def lemma10(loss: Any, C: Any, gradient: Any, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Any:
    _, kappa, kappa0, _, _, _ = nonconvex_constants(alpha, L, num_clients, num_active)
    return loss + kappa * C - kappa0 * gradient


def lemma11_left(epsilon: Any, alpha: Any, L: Any) -> Any:
    return (1 - 4 * L**2 * (1 / alpha**2)) * epsilon


def lemma11(C: Any, gradient: Any, alpha: Any, L: Any) -> Any:
    return 8 * L**2 * (1 / alpha**2) * C + 4 * (1 / alpha**2) * gradient


def lemma12(C: Any, epsilon: Any, move: Any, num_clients: Any, num_active: Any) -> Any:
    m, P = mpf(num_clients), mpf(num_active)
    return 2 * ((m - P) / (2 * m - P)) * C + 2 * (P / (2 * m - P)) * epsilon + 2 * (m / P) * move


def equation14_left(loss_next: Any, loss: Any, move: Any, L: Any) -> Any:
    return loss_next - loss - L / 2 * move


def equation14(epsilon: Any, gradient: Any, alpha: Any, L: Any) -> Any:
    return L**2 / (2 * alpha) * epsilon - 1 / (2 * alpha) * gradient


# Pages 37 to 40: one gradient step, strongly convex and convex


def one_gradient_rates(
    L: Any,
    mu: Any,
    num_clients: Any,
    num_active: Any,
    T: Any,
    D0: Any,
    G: Any,
    delta: Any,
    spread: Any,
) -> tuple[Any, Any, Any]:
    ratio = mpf(num_clients) / num_active
    beta = max(50 * ratio * mu, 50 * L)
    r = 1 + mu / (3 * beta)  # printed 1 + mu/(3 alpha), with alpha = beta
    return (
        1 / r**T * (beta * D0 + ratio * (1 / beta) * G),
        mpf(1) / T * sqrt(ratio) * (L * D0 + 1 / L * G),
        mpf(1) / T * (L * ratio * delta + L**2 * spread),
    )


def virtual_gradient_step(server: Any, gradient: Any, memory: Any, alpha: Any) -> Any:
    # (15) also prints the memory's step with theta_k^t where (16) needs the virtual theta~_k^t.
    return server - 1 / alpha * (gradient - memory)


def mean_memory(memories: Sequence[Any]) -> Any:
    return mean(memories)


def mean_move_one_gradient(alpha: Any, mean_gradient: Any) -> Any:
    return 1 / alpha * (-mean_gradient)


def lemma14(A: Any, gap: Any, alpha: Any, L: Any) -> Any:
    return (8 / alpha**2 + 4 * L**2 / alpha**4) * A + 8 * L / alpha**2 * gap


def lemma15(A: Any, gap: Any, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Any:
    share = mpf(num_active) / num_clients
    return (1 - share + share * (2 * L**2 / alpha**2)) * A + 4 * L * share * gap


def lemma16(distance_next: Any, move: Any, A: Any, alpha: Any) -> Any:
    return -(mpf(1) / 3) * distance_next + move + 1 / alpha**2 * A


def equation17_left(gap: Any, alpha: Any) -> Any:
    return 2 / alpha * gap


def equation17(distance: Any, distance_next: Any, A: Any, epsilon: Any, alpha: Any, L: Any, mu: Any) -> Any:
    return distance - (1 + mu / (3 * alpha)) * distance_next + (L + mu) / alpha**3 * A + (1 + mu / alpha) * epsilon


def one_gradient_scales(alpha: Any, L: Any, mu: Any, num_clients: Any, num_active: Any) -> tuple[Any, Any]:
    # The numerator is read as (1 + mu/3alpha) times a bracket of two terms, the second ending in (1 + mu/alpha); it is
    # also what makes the coefficients of A_(t-1) and A_t telescope.
    growth = 1 + mu / (3 * alpha)
    scale14 = 1 + mu / alpha
    numerator = growth * ((L + mu) / alpha**3 + (8 / alpha**2 + 4 * L**2 / alpha**4) * (1 + mu / alpha))
    denominator = mpf(num_active) / num_clients * (1 - 2 * L**2 / alpha**2) * growth - mu / (3 * alpha)
    return scale14, numerator / denominator


def one_gradient_sum(D0: Any, G: Any, alpha: Any, num_clients: Any, num_active: Any, T: Any) -> Any:
    return mpf(1) / T * (alpha * D0 + 10 * (mpf(num_clients) / num_active) * (1 / alpha) * G)  # A_0 = G at h_k^0 = 0


def lemma17(A: Any) -> Any:
    return A


def lemma18(A: Any, alpha: Any) -> Any:
    return 1 / alpha**2 * A


# Pages 40 to 42: one gradient step, non-convex


def lemma19(B: Any, gradient: Any, alpha: Any, L: Any) -> Any:
    # The proof's last but one line has 8/alpha^2 before B_(t-1), the statement and its uses 4/alpha^2.
    return (4 / alpha**2 + 8 * L**2 / alpha**4) * B + (4 / alpha**2 + 8 * L**2 / alpha**4) * gradient


def lemma20(B: Any, gradient: Any, epsilon: Any, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Any:
    m, P = mpf(num_clients), mpf(num_active)
    return (
        2 * m / (2 * m - P) * (1 + P / m * (2 * L**2 / alpha**2 - 1)) * B
        + L**2 / alpha**2 * (4 * P / (2 * m - P)) * gradient
        + 2 * m / P * L**2 * epsilon
    )


def equation19(B: Any, gradient: Any, epsilon: Any, alpha: Any, L: Any) -> Any:
    return L**2 / alpha**3 * B - (1 / (2 * alpha) - L**2 / alpha**3) * gradient + L / 2 * epsilon


def one_gradient_nonconvex_scales(alpha: Any, L: Any, num_clients: Any, num_active: Any) -> tuple[Any, Any]:
    m, P = mpf(num_clients), mpf(num_active)
    z = (2 * L / alpha**2 + 4 * L**3 / alpha**4 + L**2 / alpha**3) / (
        P / (2 * m - P)
        - 4 * P / (2 * m - P) * (L**2 / alpha**2)
        - 8 * (m / P) * L**2 * (1 / alpha**2 + 2 * L**2 / alpha**4)
    )
    return 2 * (m / P) * L**2 * z + L / 2, z


def one_gradient_nonconvex_sum(
    delta: Any,
    B0: Any,
    alpha: Any,
    L: Any,
    num_clients: Any,
    num_active: Any,
    T: Any,
) -> Any:
    return mpf(1) / T * (4 * alpha * delta + 50 * (mpf(num_clients) / num_active) * (1 / alpha) * L * B0)


def lemma21(B_next: Any, gradient_next: Any, alpha: Any, L: Any) -> Any:
    return 2 * L**2 / alpha**2 * B_next + 2 * L**2 / alpha**2 * gradient_next


RIGHT: dict[str, Callable[..., Any]] = {
    "feddyn.theorem1": rates,
    "feddyn.theorem2": convex_bound,
    "feddyn.theorem3": strongly_convex_bound,
    "feddyn.theorem4": nonconvex_bound,
    "feddyn.theorem5": one_gradient_rates,
    "feddyn.lemma1": lemma1,
    "feddyn.lemma2": mean_move,
    "feddyn.lemma3": lemma3,
    "feddyn.lemma4": lemma4,
    "feddyn.lemma5": lemma5,
    "feddyn.lemma6": lemma6,
    "feddyn.lemma7": lemma7,
    "feddyn.lemma8": lemma8,
    "feddyn.lemma9": lemma9,
    "feddyn.lemma10": lemma10,
    "feddyn.lemma11": lemma11,
    "feddyn.lemma12": lemma12,
    "feddyn.lemma13": mean_move_one_gradient,
    "feddyn.lemma14": lemma14,
    "feddyn.lemma15": lemma15,
    "feddyn.lemma16": lemma16,
    "feddyn.lemma17": lemma17,
    "feddyn.lemma18": lemma18,
    "feddyn.lemma19": lemma19,
    "feddyn.lemma20": lemma20,
    "feddyn.lemma21": lemma21,
    "feddyn.equation1": device_objective,
    "feddyn.equation2": first_order_residual,
    "feddyn.equation3": global_gradient,
    "feddyn.equation4": smooth_upper,
    "feddyn.equation5": cocoercivity,
    "feddyn.equation6": three_points,
    "feddyn.equation7": virtual_objective,
    "feddyn.equation8": virtual_step,
    "feddyn.equation9": active_average,
    "feddyn.equation10": convex_step,
    "feddyn.equation11": three_points_strong,
    "feddyn.equation12": strongly_convex_step,
    "feddyn.equation13": equation13,
    "feddyn.equation14": equation14,
    "feddyn.equation15": virtual_gradient_step,
    "feddyn.equation16": mean_memory,
    "feddyn.equation17": equation17,
    "feddyn.equation18": one_gradient_sum,
    "feddyn.equation19": equation19,
    "feddyn.equation20": one_gradient_nonconvex_sum,
}

LEFT: dict[str, Callable[..., Any]] = {
    "feddyn.lemma1": lemma1_left,
    "feddyn.lemma4": lemma4_left,
    "feddyn.lemma8": lemma8_left,
    "feddyn.lemma10": lemma10_left,
    "feddyn.lemma11": lemma11_left,
    "feddyn.equation5": cocoercivity_left,
    "feddyn.equation13": equation13_left,
    "feddyn.equation14": equation14_left,
    "feddyn.equation17": equation17_left,
}

CONSTANTS: dict[str, Callable[..., Any]] = {
    "convex_constants": convex_constants,
    "strongly_convex_constants": strongly_convex_constants,
    "growth_sum": growth_sum,
    "nonconvex_constants": nonconvex_constants,
    "one_gradient_scales": one_gradient_scales,
    "one_gradient_nonconvex_scales": one_gradient_nonconvex_scales,
}

PAGE: dict[str, int] = {
    "feddyn.theorem1": 5,
    "feddyn.theorem2": 28,
    "feddyn.theorem3": 32,
    "feddyn.theorem4": 33,
    "feddyn.theorem5": 37,
    "feddyn.lemma1": 29,
    "feddyn.lemma2": 29,
    "feddyn.lemma3": 29,
    "feddyn.lemma4": 30,
    "feddyn.lemma5": 30,
    "feddyn.lemma6": 30,
    "feddyn.lemma7": 30,
    "feddyn.lemma8": 32,
    "feddyn.lemma9": 33,
    "feddyn.lemma10": 34,
    "feddyn.lemma11": 34,
    "feddyn.lemma12": 34,
    "feddyn.lemma13": 37,
    "feddyn.lemma14": 38,
    "feddyn.lemma15": 38,
    "feddyn.lemma16": 38,
    "feddyn.lemma17": 39,
    "feddyn.lemma18": 39,
    "feddyn.lemma19": 40,
    "feddyn.lemma20": 40,
    "feddyn.lemma21": 41,
    "feddyn.equation1": 4,
    "feddyn.equation2": 4,
    "feddyn.equation3": 4,
    "feddyn.equation4": 28,
    "feddyn.equation5": 28,
    "feddyn.equation6": 28,
    "feddyn.equation7": 28,
    "feddyn.equation8": 28,
    "feddyn.equation9": 28,
    "feddyn.equation10": 30,
    "feddyn.equation11": 32,
    "feddyn.equation12": 33,
    "feddyn.equation13": 33,
    "feddyn.equation14": 35,  # the display begins on page 34, its number and last line are on page 35
    "feddyn.equation15": 37,
    "feddyn.equation16": 37,
    "feddyn.equation17": 38,
    "feddyn.equation18": 38,
    "feddyn.equation19": 41,
    "feddyn.equation20": 41,
}

# Said once in Theorems 1 and 5 and meant everywhere.
SAMPLED = "P devices drawn uniformly in each round"
FEDDYN = "Algorithm 1, alpha > 0, grad L_k(theta_k^0) = 0, " + SAMPLED
ONE_STEP = "Algorithm 2, alpha > 0, " + SAMPLED

ASSUMES: dict[str, str] = {
    "feddyn.theorem1": "alpha suitably chosen; L_k L-smooth and mu-strongly convex, or convex, or non-convex; "
    + FEDDYN,
    "feddyn.theorem2": "L_k convex and L-smooth, alpha >= 25 L; " + FEDDYN,
    "feddyn.theorem3": "L_k mu-strongly convex and L-smooth, alpha >= max(5 mu m/P, 30 L); " + FEDDYN,
    "feddyn.theorem4": "L_k L-smooth, l bounded below, alpha >= 20 L m/P; " + FEDDYN,
    "feddyn.theorem5": "alpha suitably chosen; L_k L-smooth and mu-strongly convex, or convex, or non-convex; "
    + ONE_STEP,
    "feddyn.lemma1": "L_k convex and L-smooth, alpha >= 25 L; " + FEDDYN,
    "feddyn.lemma2": FEDDYN,
    "feddyn.lemma3": FEDDYN,
    "feddyn.lemma4": "L_k convex and L-smooth (no condition on alpha); " + FEDDYN,
    "feddyn.lemma5": "L_k convex and L-smooth (no condition on alpha); " + FEDDYN,
    "feddyn.lemma6": "none: any n vectors",
    "feddyn.lemma7": "grad l(theta_*) = 0; " + FEDDYN,
    "feddyn.lemma8": "L_k mu-strongly convex and L-smooth, alpha >= max(5 mu m/P, 30 L); " + FEDDYN,
    "feddyn.lemma9": FEDDYN,
    "feddyn.lemma10": "L_k L-smooth, alpha >= 20 L m/P; " + FEDDYN,
    "feddyn.lemma11": "L_k L-smooth (no condition on alpha); " + FEDDYN,
    "feddyn.lemma12": "L_k L-smooth (not used, no condition on alpha); " + FEDDYN,
    "feddyn.lemma13": ONE_STEP,
    "feddyn.lemma14": "L_k convex and L-smooth (no condition on alpha); " + ONE_STEP,
    "feddyn.lemma15": "L_k convex and L-smooth (no condition on alpha); " + ONE_STEP,
    "feddyn.lemma16": ONE_STEP,
    "feddyn.lemma17": "grad l(theta_*) = 0; " + ONE_STEP,
    "feddyn.lemma18": "grad l(theta_*) = 0; " + ONE_STEP,
    "feddyn.lemma19": "L_k L-smooth (no condition on alpha); " + ONE_STEP,
    "feddyn.lemma20": "L_k L-smooth (no condition on alpha); " + ONE_STEP,
    "feddyn.lemma21": "L_k L-smooth (used, though the statement does not say it); " + ONE_STEP,
    "feddyn.equation1": "none: the definition of an active device's objective; in the argmin alpha > 0",
    "feddyn.equation2": "L_k differentiable, theta_k^t a minimiser of (1)",
    "feddyn.equation3": "theta_* stationary for l",
    "feddyn.equation4": "L_k L-smooth (not necessarily convex)",
    "feddyn.equation5": "L_k convex and L-smooth, grad l(x_*) = 0",
    "feddyn.equation6": "L_k convex and L-smooth",
    "feddyn.equation7": "none: the definition of the virtual devices, for all devices and t > 0",
    "feddyn.equation8": "theta~_k^t a minimiser of (7)",
    "feddyn.equation9": "Algorithm 1 (or 2): the server's update",
    "feddyn.equation10": "L_k convex and L-smooth (no condition on alpha); " + FEDDYN,
    "feddyn.equation11": "L_k mu-strongly convex and L-smooth",
    "feddyn.equation12": "L_k mu-strongly convex and L-smooth (no condition on alpha); " + FEDDYN,
    "feddyn.equation13": "L_k mu-strongly convex and L-smooth (no condition on alpha); " + FEDDYN,
    "feddyn.equation14": "L_k L-smooth (no condition on alpha); " + FEDDYN,
    "feddyn.equation15": "none: the definition of the virtual devices, for all devices and t > 0",
    "feddyn.equation16": "Algorithm 2, server and devices starting with h^0 = (1/m) sum h_k^0",
    "feddyn.equation17": "L_k mu-strongly convex and L-smooth (no condition on alpha yet); " + ONE_STEP,
    "feddyn.equation18": "L_k mu-strongly convex and L-smooth, alpha >= max(50 mu m/P, 50 L), h_k^0 = 0 for A_0 = G; "
    + ONE_STEP,
    "feddyn.equation19": "L_k L-smooth (no condition on alpha yet); " + ONE_STEP,
    "feddyn.equation20": "L_k L-smooth, l bounded below, alpha >= 50 L m/P; " + ONE_STEP,
}
