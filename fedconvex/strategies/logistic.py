"""Strategies for logistic problems with two classes or with several."""

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.strategies.byte_draws import ByteDraws, from_bytes
from fedconvex.strategies.client_weights import optional_weights
from fedconvex.strategies.numbers import NumberRange, count_range
from fedconvex.validation import integer_at_least, non_negative

MOST_CLASSES = 1000
RIDGES: list[Any] = [1, Fraction(1, 10), Fraction(1, 1000)]


def logistic_problems(
    min_value: Any = -3,
    max_value: Any = 3,
    *,
    ridge: Any = None,
    exact: bool = True,
    min_clients: int = 1,
    max_clients: int = 3,
    min_dim: int = 1,
    max_dim: int = 2,
    min_samples: int = 1,
    max_samples: int = 4,
    positive_weights: bool = False,
) -> st.SearchStrategy[fc.Logistic]:
    """A strategy for `Logistic` problems (labels −1 and +1) with a ridge, so that the minimiser is unique.

    Use it for properties of smooth convex problems that are not quadratic. Shrinks to one client with one sample,
    d = 1, ridge 1.

    Args:
        min_value, max_value: the range of the entries of A_k.
        ridge: default one of 1, 1/10, 1/1000. With 0, data may be separable: then there is no minimiser.
        exact: entries and ridge are ints and Fractions; False: floats.
        min_clients, max_clients, min_dim, max_dim, min_samples, max_samples: the ranges of m, d and n_k.
        positive_weights: no client has weight 0.

    Raises:
        InvalidInput: an empty range; a negative ridge.
    """
    sizes = (count_range(min_clients, max_clients, "clients"), count_range(min_dim, max_dim, "dim"))
    samples = count_range(min_samples, max_samples, "samples")
    span, ridges = NumberRange(min_value, max_value, exact), _ridges(ridge, exact)

    def build(draws: ByteDraws) -> fc.Logistic:
        A, y, members = _samples(draws, span, sizes, samples, (1, -1))  # shrinks to the first label
        weights = optional_weights(draws, members, sizes[0][1], positive=positive_weights, exact=exact)
        return fc.Logistic(A, y, draws.pick(ridges), weights)

    return from_bytes(build)


def multinomial_problems(
    min_value: Any = -3,
    max_value: Any = 3,
    *,
    num_classes: int = 3,
    ridge: Any = None,
    exact: bool = True,
    min_clients: int = 1,
    max_clients: int = 3,
    min_features: int = 1,
    max_features: int = 2,
    min_samples: int = 1,
    max_samples: int = 4,
    positive_weights: bool = False,
) -> st.SearchStrategy[fc.MultinomialLogistic]:
    """A strategy for `MultinomialLogistic` problems with labels 0, …, num_classes − 1.

    Use and arguments as for `logistic_problems`, with the number of features instead of d.

    Raises:
        InvalidInput: an empty range; a negative ridge; fewer than two classes.
    """
    if (count := integer_at_least(num_classes, 2, "num_classes")) > MOST_CLASSES:
        raise InvalidInput("num_classes", num_classes, "is too large for small examples", f"give <= {MOST_CLASSES}")
    classes = tuple(range(count))
    sizes = (count_range(min_clients, max_clients, "clients"), count_range(min_features, max_features, "features"))
    samples = count_range(min_samples, max_samples, "samples")
    span, ridges = NumberRange(min_value, max_value, exact), _ridges(ridge, exact)

    def build(draws: ByteDraws) -> fc.MultinomialLogistic:
        A, y, members = _samples(draws, span, sizes, samples, classes)
        weights = optional_weights(draws, members, sizes[0][1], positive=positive_weights, exact=exact)
        return fc.MultinomialLogistic(A, y, len(classes), draws.pick(ridges), weights)

    return from_bytes(build)


def _ridges(ridge: Any, exact: bool) -> list[Any]:
    if ridge is not None:
        return [non_negative(ridge, "ridge")]
    return [r if exact else float(r) for r in RIDGES]


def _samples(
    draws: ByteDraws,
    span: NumberRange,
    sizes: tuple[tuple[int, int], ...],
    samples: tuple[int, int],
    labels: tuple[int, ...],
) -> tuple[list[list[list[Any]]], list[list[int]], list[int]]:
    """A_k and y_k of every client, and which of the clients that there may be these are."""
    clients, features = sizes
    chosen, members, denominator = draws.some(*features), draws.some(*clients), span.denominator(draws)
    kept = [draws.some(*samples) for _ in range(clients[1])]
    A, y = [], []
    for places in kept:
        rows = [[span.number(draws, denominator) for _ in range(features[1])] for _ in range(samples[1])]
        targets = [draws.pick(labels) for _ in rows]
        A.append([[rows[i][j] for j in chosen] for i in places])
        y.append([targets[i] for i in places])
    return [A[k] for k in members], [y[k] for k in members], members
