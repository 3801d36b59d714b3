"""The FedDyn paper, pages 37 to 42: one gradient step a round, for convex devices and for any smooth ones."""

from collections.abc import Sequence
from typing import Any

from mpmath import mpf

from .algorithm import mean, rates_at


def theorem5(
    L: Any, mu: Any, num_clients: Any, num_active: Any, T: Any, D0: Any, G: Any, delta: Any, spread: Any
) -> tuple[Any, Any, Any]:
    ratio = mpf(num_clients) / num_active
    beta = max(50 * ratio * mu, 50 * L)
    # printed r = 1 + mu/(3 alpha), with alpha = beta
    return rates_at(beta, 1 + mu / (3 * beta), L, ratio, T, D0, G, delta, spread)


def equation15(server: Any, gradient: Any, memory: Any, alpha: Any) -> Any:
    # (15) also prints the memory's step with theta_k^t where (16) needs the virtual theta~_k^t.
    return server - 1 / alpha * (gradient - memory)


def equation16(memories: Sequence[Any]) -> Any:
    return mean(memories)


def lemma13(alpha: Any, mean_gradient: Any) -> Any:
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


def equation18(D0: Any, G: Any, alpha: Any, num_clients: Any, num_active: Any, T: Any) -> Any:
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


def equation20(
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
