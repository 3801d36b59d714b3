"""Strategies for quadratics: least squares of any rank, and matrices whose eigenvalues lie in a given interval."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import gcd, lcm
from typing import Any

from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput, short_text
from fedconvex.strategies.byte_draws import ByteDraws, from_bytes
from fedconvex.strategies.client_weights import optional_weights
from fedconvex.strategies.numbers import NumberRange, count_range, tidy
from fedconvex.validation import truth_value

Matrix = list[list[Any]]

STEPS = 8  # eigenvalues lie on the denominator that divides [mu, L] into this many steps
STEPS_DRAWN = (*range(STEPS + 1), *(STEPS, 0) * 3, STEPS)  # both ends more often
STRETCHES = (1, 10, 10_000)  # if L is not given, the largest eigenvalue is at most mu plus one of these


def quadratic_problems(
    min_value: Any = -3,
    max_value: Any = 3,
    *,
    mu: Any = None,
    L: Any = None,
    exact: bool = True,
    min_clients: int = 1,
    max_clients: int = 3,
    min_dim: int = 1,
    max_dim: int = 3,
    positive_weights: bool = False,
) -> st.SearchStrategy[fc.Quadratic]:
    """A strategy for `Quadratic` problems; the eigenvalues of every H_k lie in [mu, L] if these are given.

    Use it for properties that hold on a class of L-smooth, mu-strongly (or weakly) convex functions, checked exactly.

    H_k = Q Λ Q with Λ diagonal, its entries in [mu, L], and Q = I − 2vvᵀ/‖v‖² for a small integer vector v: an
    orthogonal symmetric matrix of rationals, so that the entries of Λ are the eigenvalues of H_k, exactly. Both mu and
    L occur. With `exact=False` H_k is diagonal with floats in [mu, L], so that rounding cannot leave the interval.

    In some of the problems all clients share a minimiser. Shrinks to one client, d = 1, small integers.

    Args:
        min_value, max_value: the range of the entries of c_k (if clients share a minimiser, of its entries), and of H_k
            if neither mu nor L is given: then H_k is any symmetric matrix, also indefinite or singular.
        mu: a lower bound of the eigenvalues; may be 0 or negative; default −L.
        L: an upper bound; default a number above mu, up to mu + 10,000.
        exact: entries are ints and Fractions; False: floats.
        min_clients, max_clients, min_dim, max_dim: the ranges of m and d.
        positive_weights: no client has weight 0.

    Raises:
        InvalidInput: an empty range.
    """
    clients, dims = count_range(min_clients, max_clients, "clients"), count_range(min_dim, max_dim, "dim")
    span = NumberRange(min_value, max_value, exact)
    curvatures = _curvatures(mu, L)

    def build(draws: ByteDraws) -> fc.Quadratic:
        unknowns, members, denominator = draws.some(*dims), draws.some(*clients), span.denominator(draws)
        stretch, shared = draws.pick(STRETCHES), draws.below(4) == 3
        weights = optional_weights(draws, members, clients[1], positive=positive_weights, exact=exact)
        drawn = []
        for _ in range(clients[1]):
            if curvatures is None:
                H = _symmetric(draws, span, denominator, dims[1])
            else:
                low, high = curvatures
                bounds = (low, low + stretch if high is None else high)
                H = _rotated(draws, *bounds, unknowns, dims[1]) if exact else _diagonal(draws, *bounds, dims[1])
            c = [span.number(draws, denominator) for _ in range(dims[1])]
            drawn.append(([[H[i][j] for j in unknowns] for i in unknowns], [c[i] for i in unknowns]))
        H, c = [drawn[k][0] for k in members], [drawn[k][1] for k in members]
        if shared:  # a minimiser x = c_0 for all clients: c_k = H_k x
            c = [[sum(h * x for h, x in zip(row, c[0], strict=True)) for row in H_k] for H_k in H]
        return fc.Quadratic(H, c, weights)

    return from_bytes(build)


def _curvatures(mu: Any, L: Any) -> tuple[Fraction, Fraction | None] | None:
    """The interval of the eigenvalues, validated; None if neither mu nor L is given, (mu, None) without L."""
    if mu is None and L is None:
        return None
    high = None if L is None else to_fraction(L, "L")
    if mu is None:
        assert high is not None
        if high < 0:
            raise InvalidInput("L", L, "must not be negative where mu is not given", "give L >= 0")
        return -high, high
    low = to_fraction(mu, "mu")
    if high is not None and high < low:
        raise InvalidInput("L", L, f"is smaller than mu = {short_text(mu)}", "give L >= mu")
    return low, high


def _rotated(draws: ByteDraws, low: Fraction, high: Fraction, unknowns: Sequence[int], width: int) -> Matrix:
    """H = Q Λ Q as `quadratic_problems` describes; the entries of Λ are low + (high − low)·j/STEPS, j = 0, …, STEPS.

    Q rotates the unknowns of the problem among themselves, so that H is block diagonal and their part of it has
    eigenvalues of H.
    """
    unit = STEPS * lcm(low.denominator, high.denominator)
    start, step = int(low * unit), int((high - low) * unit) // STEPS
    v = [entry if i in unknowns else 0 for i, entry in enumerate(draws.pick(_reflection_vectors(width)))]
    return _reflected([start + step * draws.pick(STEPS_DRAWN) for _ in range(width)], unit, v)


@cache
def _reflection_vectors(d: int) -> list[tuple[int, ...]]:
    """Integer vectors v with few small entries, each giving another Q = I − 2vvᵀ/‖v‖²; first 0, for Q = I.

    Vectors that involve only the first unknowns come first, so that examples shrink to fewer unknowns.
    """
    found = {(0,) * d}
    most = 3 if d <= 6 else 2
    for places in combinations(range(d), min(most, d)) if d > 1 else ():
        for entries in product(range(-2, 3), repeat=len(places)):
            v = [0] * d
            for place, entry in zip(places, entries, strict=True):
                v[place] = entry
            leading = next((entry for entry in v if entry), 0)
            if leading > 0 and gcd(*v) == 1 and sum(map(bool, v)) > 1:
                found.add(tuple(v))

    def simplicity(v: tuple[int, ...]) -> tuple[Any, ...]:
        last = max((place for place, entry in enumerate(v) if entry), default=0)
        return last, sum(x * x for x in v), v

    return sorted(found, key=simplicity)


def _reflected(eigenvalues: Sequence[int], unit: int, v: Sequence[int]) -> Matrix:
    """Q Λ Q with Λ = eigenvalues/unit, computed in integers, which is fast: ‖v‖²Q has integer entries."""
    d, norm = len(v), sum(x * x for x in v) or 1
    Q = [[norm * (i == j) - 2 * v[i] * v[j] for j in range(d)] for i in range(d)]
    denominator = unit * norm * norm
    H: Matrix = [[None] * d for _ in range(d)]
    for i in range(d):
        for j in range(i + 1):
            entry = sum(n * a * b for n, a, b in zip(eigenvalues, Q[i], Q[j], strict=True))
            H[i][j] = H[j][i] = tidy(Fraction(entry, denominator))
    return H


def _diagonal(draws: ByteDraws, low: Fraction, high: Fraction, width: int) -> Matrix:
    """H = a diagonal matrix of floats in [low, high], whose eigenvalues are its entries without rounding."""
    first, last = NumberRange(low, high, exact=False).float_bounds
    diagonal = []
    for _ in range(width):
        step, further, between = draws.pick(STEPS_DRAWN), draws.below(2**16) / 2**16, draws.below(2)
        share = min((step + further * between) / STEPS, 1.0)
        diagonal.append(last if share == 1 else min(first + (last - first) * share, last))
    return [[value if i == j else 0.0 for j in range(width)] for i, value in enumerate(diagonal)]


def _symmetric(draws: ByteDraws, span: NumberRange, denominator: int, width: int) -> Matrix:
    """A symmetric matrix with these entries."""
    lower = [[span.number(draws, denominator) for _ in range(i + 1)] for i in range(width)]
    return [[lower[max(i, j)][min(i, j)] for j in range(width)] for i in range(width)]


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
