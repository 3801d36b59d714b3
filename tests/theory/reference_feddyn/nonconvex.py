"""The FedDyn paper, pages 33 to 35: Theorem 4, for any smooth devices (C_t is the spread of their models here)."""

from typing import Any

from mpmath import mpf


def theorem4(
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
