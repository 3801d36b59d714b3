"""Quadratic federations in plain Fractions, with their constants computed independently of the package."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from problem_makers import Terms, ends, entries, identity, inverse, signs, terms_of, weighted

import fedconvex as fc

Draw = Callable[[Any], Any]


def as_seen_by(method: Any, problem: Any) -> Terms:
    """The F_k of the method's paper: m·w_k·f_k with plain averages, or f_k with the problem's weights."""
    terms = terms_of(problem)
    return terms.as_a_sum() if method.plain else terms


def positive_semidefinite(M: np.ndarray) -> bool:
    return signs(M)[0] == 0


def smooth(H: np.ndarray, L: Fraction) -> bool:
    """−L·I ≼ H ≼ L·I."""
    return curved(-H, -L) and curved(H, -L)


def curved(H: np.ndarray, mu: Fraction) -> bool:
    """H ≽ mu·I."""
    return positive_semidefinite(H - mu * identity(len(H)))


def square(v: np.ndarray) -> Fraction:
    return sum((Fraction(x) ** 2 for x in v), Fraction(0))


def mean(rows: Any) -> Any:
    rows = list(rows)
    return sum(rows[1:], rows[0]) / Fraction(len(rows))


def gradients(terms: Terms, x: np.ndarray) -> list[np.ndarray]:
    return [H @ x - c for H, c in zip(terms.H, terms.c, strict=True)]


def value(terms: Terms, x: np.ndarray) -> Fraction:
    H, c = terms.summed()
    return x @ H @ x / 2 - c @ x


def gradient(terms: Terms, x: np.ndarray) -> np.ndarray:
    H, c = terms.summed()
    return H @ x - c


def minimiser(terms: Terms) -> np.ndarray:
    H, c = terms.summed()
    return inverse(H) @ c


def mean_square(terms: Terms, x: np.ndarray) -> Fraction:
    """E_k‖∇F_k(x)‖²."""
    return weighted(terms.w, [square(g) for g in gradients(terms, x)])


def least_eigenvalue(H: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(H.astype(float))[0])


def size_of(H: np.ndarray) -> float:
    """The largest absolute eigenvalue."""
    return float(abs(np.linalg.eigvalsh(H.astype(float))).max())


def lower(number: Any) -> Fraction:
    """The lower end of a ball."""
    return ends(number)[0]


def upper(number: Any) -> Fraction:
    """The upper end of a ball."""
    return ends(number)[1]


@st.composite
def strongly_convex(draw: Draw, most_clients: int = 3, most_unknowns: int = 2) -> fc.Quadratic:
    """H_k = MᵀM + δI with δ ≥ 1/2; equal, or unequal positive weights."""
    m, d = draw(st.integers(1, most_clients)), draw(st.integers(1, most_unknowns))
    delta = draw(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))
    roots = [draw(entries(d, d)) for _ in range(m)]
    c = [draw(entries(d)) for _ in range(m)]
    return fc.Quadratic([M.T @ M + delta * identity(d) for M in roots], c, draw(positive_weights(m)))


def positive_weights(m: int) -> st.SearchStrategy[Any]:
    some = st.lists(st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(5, 2)]), min_size=m, max_size=m)
    return st.none() | some


def starts(problem: Any) -> st.SearchStrategy[np.ndarray]:
    """Points (d,) of small rationals."""
    return entries(problem.dim)
