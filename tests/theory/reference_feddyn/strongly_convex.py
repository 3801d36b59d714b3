"""The FedDyn paper, pages 32 and 33: Theorem 3, for strongly convex devices, and the steps of its proof."""

from typing import Any

from mpmath import mpf


def growth_sum(alpha: Any, mu: Any, T: Any) -> Any:
    r = 1 + mu / alpha
    return sum((r**t for t in range(int(T))), mpf(0))


def theorem3(
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


def equation11(value_z: Any, value_y: Any, L: Any, mu: Any, distance: Any, separation: Any) -> Any:
    return -value_z + value_y + L / 2 * distance - mu / 2 * separation


def equation12(
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
