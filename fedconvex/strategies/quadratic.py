"""Quadratic clients with curvatures in a given interval, by construction."""

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
from fedconvex.strategies.client_weights import shares
from fedconvex.strategies.numbers import Draw, NumberRange, counts, tidy

Matrix = list[list[Any]]
Making = tuple[list[st.SearchStrategy[Any]], Callable[[Sequence[Any]], Matrix]]  # what to draw, and what of

STEPS = 8  # into which [mu, L] is divided: curvatures lie on the ends or between
STRETCHES = (1, 10, 10_000)  # how far the curvatures go beyond mu where L is not given


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
    """`Quadratic` problems; all curvatures of all clients lie in [mu, L] where these are given.

    H_k = Q Λ Q with Λ diagonal, its entries in [mu, L], and Q = I − 2vvᵀ/‖v‖² for a small integer vector v: an
    orthogonal symmetric matrix of rationals, so that the entries of Λ are the eigenvalues of H_k, exactly. Both ends
    occur. For `exact=False` H_k is diagonal, its entries floats between mu and L: rounding can put nothing outside.

    Some of the problems have one minimiser common to all clients. Shrinks to one client, d = 1, small integers.

    Args:
        min_value, max_value: of the entries of c_k (where clients share a minimiser, of its entries), and of H_k where
            neither mu nor L is given: then H_k is any symmetric matrix, indefinite and singular ones included.
        mu: a lower bound of the curvatures; may be 0 or negative; default −L.
        L: an upper bound; default some number beyond mu, up to mu + 10,000.
        exact: entries are ints and Fractions; False: floats.
        min_clients, max_clients, min_dim, max_dim: sizes.
        positive_weights: no client has weight 0.

    Raises:
        InvalidInput: for ranges that contain nothing.
    """
    clients, dims = counts(min_clients, max_clients, "clients"), counts(min_dim, max_dim, "dim")
    span = NumberRange(min_value, max_value, exact)
    curvatures = _curvatures(mu, L)

    @cache  # building strategies takes longer than drawing from them
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
    def build(draw: Draw) -> fc.Quadratic:
        d, entry = draw(st.integers(*dims)), span.numbers(draw)
        open_ended = curvatures is not None and curvatures[1] is None
        stretch = draw(st.sampled_from(STRETCHES)) if open_ended else 1
        drawn = draw(several_clients(d, entry, stretch))
        H, c = [H_k for H_k, _ in drawn], [c_k for _, c_k in drawn]
        if draw(st.integers(0, 3)) == 3:  # one minimiser for all: that c_0 is now
            c = [tuple(sum(h * x for h, x in zip(row, c[0], strict=True)) for row in H_k) for H_k in H]
        return fc.Quadratic(H, c, shares(draw, len(H), positive=positive_weights, exact=exact))

    return build()


def _curvatures(mu: Any, L: Any) -> tuple[Fraction, Fraction | None] | None:
    """The interval that was asked for, checked."""
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


def _rotated(low: Fraction, high: Fraction, d: int) -> Making:
    """Q Λ Q as above; Λ has the ends of the interval on its diagonal, or some of STEPS parts of the way."""
    unit = STEPS * lcm(low.denominator, high.denominator)
    start, step = int(low * unit), int((high - low) * unit) // STEPS

    def make(drawn: Sequence[Any]) -> Matrix:
        steps = reversed(drawn[1:])  # a single step, drawn last, meets the mirrors of two unknowns: shrinks better
        return _reflected([start + step * taken for taken in steps], unit, drawn[0])

    return [st.sampled_from(_mirrors(d)), *[st.integers(0, STEPS)] * d], make


def _mirrors(d: int) -> list[tuple[int, ...]]:
    """Vectors v with few small entries, no two of which have the same Q; 0 first, for Q = I.

    Those of d − 1 unknowns come before the others, in the same order: so examples shrink to fewer unknowns.
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
    """Q Λ Q with Λ = eigenvalues/unit, calculated in integers: ‖v‖²Q is a matrix of integers."""
    d, norm = len(v), sum(x * x for x in v) or 1
    Q = [[norm * (i == j) - 2 * v[i] * v[j] for j in range(d)] for i in range(d)]
    denominator = unit * norm * norm
    H: Matrix = [[None] * d for _ in range(d)]
    for i in range(d):
        for j in range(i + 1):
            entry = sum(n * a * b for n, a, b in zip(eigenvalues, Q[i], Q[j], strict=True))
            H[i][j] = H[j][i] = tidy(Fraction(entry, denominator))
    return H


def _diagonal(low: Fraction, high: Fraction, d: int) -> Making:
    """Floats between the ends, which are certified by being compared."""

    def make(diagonal: Sequence[float]) -> Matrix:
        return [[value if i == j else 0.0 for j in range(d)] for i, value in enumerate(diagonal)]

    return [NumberRange(low, high, exact=False).floats] * d, make


def _symmetric(d: int) -> Callable[[Sequence[Any]], Matrix]:
    """The symmetric matrix of which the lower triangle is given, row by row."""

    def make(lower: Sequence[Any]) -> Matrix:
        return [[lower[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(d)] for i in range(d)]

    return make
