"""The FedDyn paper, pages 4, 5 and 28: the algorithm, its rates, what smoothness gives, the virtual devices."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

from mpmath import mpf, sqrt


def mean(terms: Sequence[Any]) -> Any:
    return reduce(add, terms) / mpf(len(terms))


def device_objective(value: Any, linear: Any, alpha: Any, distance: Any) -> Any:
    return value - linear + alpha / 2 * distance


def first_order_residual(new_gradient: Any, old_gradient: Any, alpha: Any, theta: Any, server: Any) -> Any:
    return new_gradient - old_gradient + alpha * (theta - server)


def global_gradient(gradients: Sequence[Any]) -> Any:
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


def rates(
    L: Any, mu: Any, num_clients: Any, num_active: Any, T: Any, D0: Any, G: Any, delta: Any, spread: Any
) -> tuple[Any, Any, Any]:
    ratio = mpf(num_clients) / num_active
    beta = max(5 * ratio * mu, 30 * L)
    # printed r = 1 + mu/alpha; Theorem 3 takes alpha = beta for these rates
    return rates_at(beta, 1 + mu / beta, L, ratio, T, D0, G, delta, spread)


def smooth_upper(value: Any, inner: Any, L: Any, distance: Any) -> Any:
    return value + inner + L / 2 * distance


def cocoercivity_left(L: Any, mean_square: Any) -> Any:
    return 1 / (2 * L) * mean_square


def cocoercivity(gap: Any) -> Any:
    return gap


def three_points(value_z: Any, value_y: Any, L: Any, distance: Any) -> Any:
    return -value_z + value_y + L / 2 * distance


def virtual_objective(value: Any, linear: Any, alpha: Any, distance: Any) -> Any:
    return value - linear + alpha / 2 * distance


def virtual_step(old_gradient: Any, new_gradient: Any, alpha: Any) -> Any:
    return 1 / alpha * (old_gradient - new_gradient)


def active_average(server: Any, h: Any, alpha: Any) -> Any:
    return server + 1 / alpha * h


RIGHT: dict[str, Callable[..., Any]] = {
    "feddyn.theorem1": rates,
    "feddyn.equation1": device_objective,
    "feddyn.equation2": first_order_residual,
    "feddyn.equation3": global_gradient,
    "feddyn.equation4": smooth_upper,
    "feddyn.equation5": cocoercivity,
    "feddyn.equation6": three_points,
    "feddyn.equation7": virtual_objective,
    "feddyn.equation8": virtual_step,
    "feddyn.equation9": active_average,
}

LEFT: dict[str, Callable[..., Any]] = {
    "feddyn.equation5": cocoercivity_left,
}

CONSTANTS: dict[str, Callable[..., Any]] = {}

PAGE: dict[str, int] = {
    "feddyn.theorem1": 5,
    "feddyn.equation1": 4,
    "feddyn.equation2": 4,
    "feddyn.equation3": 4,
    "feddyn.equation4": 28,
    "feddyn.equation5": 28,
    "feddyn.equation6": 28,
    "feddyn.equation7": 28,
    "feddyn.equation8": 28,
    "feddyn.equation9": 28,
}
