"""Numbers of samples of the clients: random integers that follow a distribution and sum exactly to a total."""

import math
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import LARGEST_FLOAT_INTEGER
from fedconvex.data.random_streams import GeneratorStream, stream
from fedconvex.errors import InvalidInput
from fedconvex.memory import require_numbers
from fedconvex.validation import in_floats, integer_at_least, non_negative, random_seed

LARGEST_SIGMA = 1e6  # beyond it one client has everything, to double precision


def lognormal_sizes(num_clients: int, total: int, sigma: float, seed: int = 0) -> np.ndarray:
    """Log-normal client sizes: n_k proportional to exp(sigma·z_k) with z_k ~ N(0, 1), at least 1 each, sum `total`.

    Use it for moderately unbalanced clients; for heavy tails use `power_law_sizes`.

    sigma: >= 0, the standard deviation of log n_k; 0 gives equal sizes. total: >= num_clients.
    Returns int64 (num_clients,), rounded by largest remainders; clients with a share below 1 get 1. Raises
    InvalidInput. Source: FedDyn, section 4 and appendix A.2, unbalanced data (sigma = 0.3).
    """
    num_clients, total = _check(num_clients, total, 1)
    rng = stream(random_seed(seed), GeneratorStream.SIZE)
    return apportion(total, lognormal_shares(num_clients, in_floats(non_negative(sigma, "sigma"), "sigma"), rng), 1)


def power_law_sizes(
    num_clients: int, total: int, exponent: float = 2.75, minimum: int = 1, seed: int = 0
) -> np.ndarray:
    """Power-law client sizes: n_k proportional to w_k >= 1 with density ∝ w^(−exponent), sum `total`.

    Use it for the strong imbalance of real federations, where a few clients have most of the samples.

    exponent: > 1; the smaller, the larger the largest client. The default is ours, as FedProx states none: with the
        1000 clients and 69,035 samples of its MNIST, the standard deviation is near the 106 of its Table 1.
    minimum: >= 1. total: >= minimum·num_clients.
    Returns int64 (num_clients,), rounded by largest remainders; clients with a share below `minimum` get it. Raises
    InvalidInput. Source: FedProx, section 5.1 and appendix C.1 ("power law").
    """
    num_clients, total = _check(num_clients, total, minimum)
    rng = stream(random_seed(seed), GeneratorStream.SIZE)
    return apportion(total, power_law_shares(num_clients, exponent, rng), minimum)


def lognormal_shares(num_clients: int, sigma: float, rng: np.random.Generator) -> np.ndarray:
    """exp(sigma·z_k) with z_k ~ N(0, 1), scaled to a maximum of 1, shape (num_clients,)."""
    return _scaled(min(sigma, LARGEST_SIGMA) * rng.standard_normal(num_clients))


def power_law_shares(num_clients: int, exponent: float, rng: np.random.Generator) -> np.ndarray:
    """Random numbers with density ∝ w^(−exponent), w >= 1, scaled to a maximum of 1, shape (num_clients,)."""
    if not (non_negative(exponent, "exponent") > 1):
        raise InvalidInput("exponent", exponent, "has no distribution: w^(−exponent) has no sum", "give exponent > 1")
    return _scaled(
        rng.standard_exponential(num_clients) / (in_floats(exponent, "exponent") - 1)
    )  # log w is exponential: P(w > x) = x^(1 − exponent)


def apportion(total: int, shares: np.ndarray, lower: int, upper: Any = math.inf) -> np.ndarray:
    """Integers with sum `total` in proportion to `shares`, except where a limit `lower` or `upper` binds.

    They are the quotas clip(t·shares, lower, upper), with t such that these sum to `total`, rounded down; the largest
    remainders get one more each until the sum is right.

    shares: (m,) >= 0 with maximum 1. lower: a number; upper: a number or (m,); Σ lower <= total <= Σ upper.
    """
    # Bisection for t: the sum of the quotas increases with it. It ends when no float lies between the bounds. From 0
    # that would take a thousand steps, but no quota is above max(t, lower).
    low = float(lower) if lower > 0 else total / shares.size / 2
    high = float(total) if np.isinf(upper).all() else float(np.max(upper / np.maximum(shares, 1e-300)))
    while low < (middle := low + (high - low) / 2) < high:
        if np.clip(middle * shares, lower, upper).sum() < total:
            low = middle
        else:
            high = middle
    quotas = np.clip(high * shares, lower, upper)
    whole = np.floor(quotas).astype(np.int64)
    missing = total - int(whole.sum())
    whole[np.argsort(whole - quotas, kind="stable")[:missing]] += 1  # stable: ties go to the first clients
    return whole


def _scaled(logarithms: np.ndarray) -> np.ndarray:
    shares: np.ndarray = np.exp(logarithms - logarithms.max())  # cannot overflow
    return shares


def _check(num_clients: int, total: int, minimum: int) -> tuple[int, int]:
    num_clients = integer_at_least(num_clients, 1, "num_clients")
    total, minimum = integer_at_least(total, 1, "total"), integer_at_least(minimum, 1, "minimum")
    if total > LARGEST_FLOAT_INTEGER:
        raise InvalidInput("total", total, "is beyond 2^53, where floats merge neighbours", "give a smaller total")
    require_numbers({"num_clients": num_clients})
    if total < minimum * num_clients:
        problem = f"is too small for {num_clients} clients with at least {minimum} samples each"
        raise InvalidInput("total", total, problem, f"give total >= {minimum * num_clients}")
    return num_clients, total
