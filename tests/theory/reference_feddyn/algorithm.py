"""The FedDyn paper, pages 4, 5 and 28: the algorithm, its rates, what smoothness gives, the virtual devices."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from mpmath import mpf, sqrt


def mean(terms: Sequence[Any]) -> Any:
    return reduce(add, terms) / mpf(len(terms))


def equation1(value: Any, linear: Any, alpha: Any, distance: Any) -> Any:
    return value - linear + alpha / 2 * distance


def equation2(new_gradient: Any, old_gradient: Any, alpha: Any, theta: Any, server: Any) -> Any:
    return new_gradient - old_gradient + alpha * (theta - server)


def equation3(gradients: Sequence[Any]) -> Any:
    # Printed as grad l(theta^t) = (1/m) sum grad L_k(theta_*) = sum E grad l_k(theta_*) = 0: the argument on the left
    # should be theta_*, and the second sum lacks its 1/m (no matter, at 0).
    return mean(gradients)


def rates_at(
    beta: Any, r: Any, L: Any, ratio: Any, T: Any, D0: Any, G: Any, delta: Any, spread: Any
) -> tuple[Any, Any, Any]:
    """What Theorem 1 prints, and page 37 again for one gradient step with another beta and r."""
    return (
        1 / r**T * (beta * D0 + ratio * (1 / beta) * G),
        mpf(1) / T * sqrt(ratio) * (L * D0 + 1 / L * G),
        mpf(1) / T * (L * ratio * delta + L**2 * spread),
    )


def theorem1(
    L: Any, mu: Any, num_clients: Any, num_active: Any, T: Any, D0: Any, G: Any, delta: Any, spread: Any
) -> tuple[Any, Any, Any]:
    ratio = mpf(num_clients) / num_active
    beta = max(5 * ratio * mu, 30 * L)
    # printed r = 1 + mu/alpha; Theorem 3 takes alpha = beta for these rates
    return rates_at(beta, 1 + mu / beta, L, ratio, T, D0, G, delta, spread)


def equation4(value: Any, inner: Any, L: Any, distance: Any) -> Any:
    return value + inner + L / 2 * distance


def equation5_left(L: Any, mean_square: Any) -> Any:
    return 1 / (2 * L) * mean_square


def equation5(gap: Any) -> Any:
    return gap


def equation6(value_z: Any, value_y: Any, L: Any, distance: Any) -> Any:
    return -value_z + value_y + L / 2 * distance


def equation7(value: Any, linear: Any, alpha: Any, distance: Any) -> Any:
    return value - linear + alpha / 2 * distance


def equation8(old_gradient: Any, new_gradient: Any, alpha: Any) -> Any:
    return 1 / alpha * (old_gradient - new_gradient)


def equation9(server: Any, h: Any, alpha: Any) -> Any:
    return server + 1 / alpha * h
