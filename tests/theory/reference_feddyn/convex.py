"""The FedDyn paper, pages 28 to 31: Theorem 2, for convex devices, and the steps of its proof."""

from typing import Any

from mpmath import mpf


def theorem2(alpha: Any, L: Any, num_clients: Any, num_active: Any, T: Any, D0: Any, G: Any) -> Any:
    return mpf(1) / T * (10 * alpha * D0 + 100 * (mpf(num_clients) / num_active) * (1 / alpha) * G)


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


def lemma2(alpha: Any, mean_gradient: Any) -> Any:
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


def equation10(distance: Any, gap: Any, epsilon: Any, move: Any, alpha: Any, L: Any) -> Any:
    return distance - 2 / alpha * gap + L / alpha * epsilon + move


def lemma6(count: Any, total: Any) -> Any:
    return count * total


def lemma7(C: Any) -> Any:
    return C
