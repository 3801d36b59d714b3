"""Strategies for least-squares problems, of any rank or of full column rank."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.strategies.byte_draws import ByteDraws, from_bytes
from fedconvex.strategies.client_weights import optional_weights
from fedconvex.strategies.numbers import NumberRange, count_range, tidy
from fedconvex.validation import truth_value

SHRUNK = 128  # occasionally one column of all A_k is divided by it, so that A_kᵀA_k is ill-conditioned


def least_squares_problems(
    min_value: Any = -3,
    max_value: Any = 3,
    *,
    full_rank: bool = False,
    ill_conditioned: bool = True,
    exact: bool = True,
    min_clients: int = 1,
    max_clients: int = 3,
    min_dim: int = 1,
    max_dim: int = 3,
    min_samples: int = 1,
    max_samples: int = 4,
    positive_weights: bool = False,
) -> st.SearchStrategy[fc.LeastSquares]:
    """A strategy for `LeastSquares` problems of full and deficient rank, some ill-conditioned.

    Use it for properties of convex quadratics, which can be checked exactly. In some of the problems all clients share
    a minimiser (b_k = A_k x), in some all clients are equal. Shrinks to one client with one sample, d = 1, small
    integers.

    Args:
        min_value, max_value: the range of the entries of A_k and b_k (if clients share a minimiser: of A_k and of it).
        full_rank: every A_k has full column rank: its first d rows are triangular, with a nonzero diagonal.
        ill_conditioned: sometimes divide a column of all A_k by 128 (if 0 is in the range); False: never.
        exact: entries are ints and Fractions; False: floats.
        min_clients, max_clients, min_dim, max_dim: the ranges of m and d.
        min_samples, max_samples: the range of every client's n_k (raised to d with `full_rank`).
        positive_weights: no client has weight 0.

    Raises:
        InvalidInput: an empty range; `full_rank` if 0 is the only number in the range.
    """
    for name, flag in (("full_rank", full_rank), ("ill_conditioned", ill_conditioned)):
        truth_value(flag, name)
    clients, dims = count_range(min_clients, max_clients, "clients"), count_range(min_dim, max_dim, "dim")
    samples = count_range(min_samples, max_samples, "samples")
    span = NumberRange(min_value, max_value, exact)
    low, high = to_fraction(min_value), to_fraction(max_value)
    if full_rank and low == high == 0:
        raise InvalidInput("max_value", max_value, "leaves only zeros, which have no full rank", "give max_value > 0")
    # the entry that replaces a 0 on the diagonal: 1 if possible, since examples then stay simple
    pivot = (1 if low <= 1 <= high else max_value) if high > 0 else min_value

    def build(draws: ByteDraws) -> fc.LeastSquares:
        unknowns, members, denominator = draws.some(*dims), draws.some(*clients), span.denominator(draws)
        kind = draws.pick(["any", "any", "any", "one minimiser", "equal clients"])
        ill, column = draws.below(6) == 5, draws.below(dims[1]) % len(unknowns)
        weights = optional_weights(draws, members, clients[1], positive=positive_weights, exact=exact)
        counts = (max(samples[0], len(unknowns)), max(samples[1], dims[1])) if full_rank else samples
        kept = [draws.some(*counts) for _ in range(clients[1])]
        drawn = [_samples(draws, span, denominator, unknowns, dims[1], counts[1], rows) for rows in kept]
        chosen = [drawn[members[0] if kind == "equal clients" else k] for k in members]
        A, b = [[row for row, _ in rows] for rows in chosen], [[target for _, target in rows] for rows in chosen]
        if full_rank:
            A = [_triangular(rows, len(unknowns), pivot) for rows in A]
        if ill_conditioned and low <= 0 <= high and ill:
            A = [[_shrunk(row, column, exact) for row in rows] for rows in A]
        if kind == "one minimiser":
            x = A[0][0]  # any vector of the right length: shrinks together with A
            b = [[sum(a * x_j for a, x_j in zip(row, x, strict=True)) for row in rows] for rows in A]
        return fc.LeastSquares(A, b, weights)

    return from_bytes(build)


def _samples(
    draws: ByteDraws,
    span: NumberRange,
    denominator: int,
    unknowns: Sequence[int],
    width: int,
    most: int,
    kept: Sequence[int],
) -> list[tuple[list[Any], Any]]:
    """A client's samples (features, target): the kept ones of so many, with the unknowns among `width` features."""
    rows = [[span.number(draws, denominator) for _ in range(width + 1)] for _ in range(most)]
    return [([rows[i][j] for j in unknowns], rows[i][width]) for i in kept]


def _triangular(rows: Sequence[Sequence[Any]], d: int, pivot: Any) -> list[list[Any]]:
    """The rows with the first d made upper triangular with a nonzero diagonal, which gives full column rank."""
    made = [list(row) for row in rows]
    for i in range(d):
        made[i][:i] = [0 * pivot] * i
        made[i][i] = made[i][i] or pivot
    return made


def _shrunk(row: Sequence[Any], column: int, exact: bool) -> list[Any]:
    """The row with one entry divided by SHRUNK."""
    small = tidy(Fraction(row[column]) / SHRUNK) if exact else row[column] / SHRUNK
    return [*row[:column], small, *row[column + 1 :]]
