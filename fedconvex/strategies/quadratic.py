"""Strategies for quadratic problems whose eigenvalues lie in a given interval by construction."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import gcd, lcm
from typing import Any

from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.strategies.client_weights import optional_weights
from fedconvex.strategies.numbers import NumberRange, count_range, tidy

Matrix = list[list[Any]]
Construction = tuple[
    list[st.SearchStrategy[Any]], Callable[[Sequence[Any]], Matrix]
]  # strategies of the parts; parts → H

STEPS = 8  # eigenvalues lie on the grid that divides [mu, L] into this many steps
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

    @cache  # creating strategies takes longer than drawing from them
    def several_clients(d: int, entry: st.SearchStrategy[Any], stretch: int) -> st.SearchStrategy[Any]:
        if curvatures is None:
            parts, make = [entry] * (d * (d + 1) // 2), _symmetric(d)
        else:
            low, high = curvatures
            bounds = (low, low + stretch if high is None else high)
            parts, make = _rotated(*bounds, d) if exact else _diagonal(*bounds, d)
        client = st.tuples(*parts, *[entry] * d).map(lambda drawn: (make(drawn[:-d]), drawn[-d:]))
        return st.lists(client, min_size=clients[0], max_size=clients[1])

    @st.composite
    def build(draw: st.DrawFn) -> fc.Quadratic:
        d, entry = draw(st.integers(*dims)), span.numbers(draw)
        open_ended = curvatures is not None and curvatures[1] is None
        stretch = draw(st.sampled_from(STRETCHES)) if open_ended else 1
        drawn = draw(several_clients(d, entry, stretch))
        H, c = [H_k for H_k, _ in drawn], [c_k for _, c_k in drawn]
        if draw(st.integers(0, 3)) == 3:  # a minimiser x = c_0 for all clients: c_k = H_k x
            c = [tuple(sum(h * x for h, x in zip(row, c[0], strict=True)) for row in H_k) for H_k in H]
        return fc.Quadratic(H, c, optional_weights(draw, len(H), positive=positive_weights, exact=exact))

    return build()


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
        raise InvalidInput("L", L, f"is smaller than mu = {mu}", "give L >= mu")
    return low, high


def _rotated(low: Fraction, high: Fraction, d: int) -> Construction:
    """H = Q Λ Q as `quadratic_problems` describes; the entries of Λ are low + (high − low)·j/STEPS, j = 0, …, STEPS."""
    unit = STEPS * lcm(low.denominator, high.denominator)
    start, step = int(low * unit), int((high - low) * unit) // STEPS

    def make(drawn: Sequence[Any]) -> Matrix:
        # Shrinking tends to leave one nonzero step, the last one drawn. Reversed, it belongs to the first unknown,
        # which the simplest reflections rotate: the example stays small.
        steps = reversed(drawn[1:])
        return _reflected([start + step * taken for taken in steps], unit, drawn[0])

    return [st.sampled_from(_reflection_vectors(d)), *[st.integers(0, STEPS)] * d], make


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


def _diagonal(low: Fraction, high: Fraction, d: int) -> Construction:
    """H = a diagonal matrix of floats in [low, high], whose eigenvalues are its entries without rounding."""

    def make(diagonal: Sequence[float]) -> Matrix:
        return [[value if i == j else 0.0 for j in range(d)] for i, value in enumerate(diagonal)]

    return [NumberRange(low, high, exact=False).floats] * d, make


def _symmetric(d: int) -> Callable[[Sequence[Any]], Matrix]:
    """Creates the symmetric matrix with this lower triangle, given row by row."""

    def make(lower: Sequence[Any]) -> Matrix:
        return [[lower[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(d)] for i in range(d)]

    return make
