"""Small random problems; the papers' formulas and pseudo-code in plain Fractions, which share nothing with the package.

Matrices and vectors are NumPy object arrays of `fractions.Fraction`; `Terms` are the H_k, c_k and weights of a problem.
"""

import importlib.util
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import flint
import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from mpmath import libmp, mpf
from rational_draws import simplest_first

import fedconvex as fc
from fedconvex import strategies

FLOATS = ["float", *(["torch"] if importlib.util.find_spec("torch") else [])]  # what rounds
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Draw = Callable[[Any], Any]


SMALL = simplest_first(Fraction(p, q) for p in range(-3, 4) for q in (1, 2, 3))
ENTRIES = st.sampled_from(SMALL)
POSITIVE = st.sampled_from(simplest_first(Fraction(p, q) for p in range(1, 13) for q in range(1, 13)))

RIDGES = [Fraction(1, 10), 1]


@cache  # Hypothesis looks at each new strategy from all sides before it draws
def entries(*shape: int) -> st.SearchStrategy[np.ndarray]:
    """Object arrays of small rationals; a byte is drawn for each, since Hypothesis takes long to draw lists."""
    size = int(np.prod(shape))
    return st.binary(min_size=size, max_size=size).map(
        lambda codes: np.array([SMALL[code % len(SMALL)] for code in codes], dtype=object).reshape(shape)
    )


@cache
def least_squares(full_rank: bool = False) -> st.SearchStrategy[fc.LeastSquares]:
    """Up to three clients with 1 to 3 samples each in 1 to 3 dimensions: often rank-deficient; sometimes identical."""
    return strategies.least_squares_problems(full_rank=full_rank, ill_conditioned=False, max_samples=3)


@cache
def quadratics() -> st.SearchStrategy[fc.Quadratic]:
    """Up to three clients in 1 or 2 dimensions with any symmetric H_k: indefinite, singular, zero."""
    return strategies.quadratic_problems(max_dim=2)


@cache
def logistics() -> st.SearchStrategy[fc.Logistic]:
    """Two or three small clients in two dimensions, with a ridge."""
    return st.one_of(strategies.logistic_problems(ridge=ridge, min_clients=2, min_dim=2) for ridge in RIDGES)


@cache
def multinomials() -> st.SearchStrategy[fc.MultinomialLogistic]:
    """Two small clients, one feature, three classes (six unknowns), with a ridge."""
    return st.one_of(
        strategies.multinomial_problems(ridge=ridge, min_clients=2, max_clients=2, max_features=1) for ridge in RIDGES
    )


class Terms(NamedTuple):
    """f_k(x) = ½xᵀH_k x − c_kᵀx with weights w_k that sum to 1."""

    H: list[np.ndarray]
    c: list[np.ndarray]
    w: list[Fraction]

    def summed(self) -> tuple[np.ndarray, np.ndarray]:
        """H and c of the objective."""
        return weighted(self.w, self.H), weighted(self.w, self.c)

    def as_a_sum(self) -> "Terms":
        """The clients m·w_k·f_k with equal weights: what the FedSplit paper's method is run on."""
        m = len(self.w)
        return Terms(
            [m * w * H for w, H in zip(self.w, self.H, strict=True)],
            [m * w * c for w, c in zip(self.w, self.c, strict=True)],
            [Fraction(1, m)] * m,
        )


def terms_of(problem: Any) -> Terms:
    """H_k, c_k and weights from the data that the problem was given."""
    if isinstance(problem, fc.LeastSquares):
        A, b = [fractions(A) for A in problem.A], [fractions(b) for b in problem.b]
        H, c = [A_k.T @ A_k for A_k in A], [A_k.T @ b_k for A_k, b_k in zip(A, b, strict=True)]
    else:
        H, c = [fractions(H) for H in problem.H], [fractions(c) for c in problem.c]
    return Terms(H, c, list(problem.exact_weights))


def fractions(values: Any) -> np.ndarray:
    """Integers, floats and Fractions as an object array of Fractions."""
    values = np.asarray(values, dtype=object)
    return np.array([Fraction(v) for v in values.ravel()], dtype=object).reshape(values.shape)


def rationals(values: Any) -> np.ndarray:
    """A state's array of exact numbers as Fractions."""
    values = np.asarray(values, dtype=object)
    flat = [Fraction(int(v.p), int(v.q)) for v in values.ravel()]
    return np.array(flat, dtype=object).reshape(values.shape)


def floats(values: Any) -> np.ndarray:
    """The float64 array nearest to Fractions."""
    return np.asarray(values, dtype=object).astype(np.float64)


def identity(d: int) -> np.ndarray:
    """The unit matrix of Fractions."""
    return fractions(np.eye(d, dtype=int))


def weighted(w: list[Fraction], values: list[np.ndarray]) -> np.ndarray:
    """Σ_k w_k values_k."""
    return sum((w_k * value for w_k, value in zip(w, values, strict=True)), 0 * values[0])


def echelon(M: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The reduced row echelon form by Gaussian elimination, and its pivot columns."""
    M, pivots = fractions(M).copy(), []
    for column in range(M.shape[1]):
        row = len(pivots)
        below = [i for i in range(row, len(M)) if M[i, column] != 0]
        if not below:
            continue
        M[[row, below[0]]] = M[[below[0], row]]
        M[row] = M[row] / M[row, column]
        for i in range(len(M)):
            if i != row and M[i, column]:
                M[i] = M[i] - M[i, column] * M[row]
        pivots.append(column)
    return M, pivots


def rank(M: np.ndarray) -> int:
    """The rank of a matrix."""
    return len(echelon(M)[1])


def inverse(M: np.ndarray) -> np.ndarray:
    """M⁻¹; a singular matrix fails."""
    reduced, pivots = echelon(np.hstack([M, identity(len(M))]))
    assert pivots == list(range(len(M))), "singular"
    return reduced[:, len(M) :]


def signs(matrix: Any) -> tuple[int, int, int]:
    """(negative, zero, positive) eigenvalues, by congruence transformations to a diagonal (Sylvester)."""
    M, found = fractions(matrix), []
    while len(M):
        n = len(M)
        if not any(M[i, i] for i in range(n)):
            pairs = [(i, j) for i in range(n) for j in range(i) if M[i, j]]
            if not pairs:
                found += [Fraction(0)] * n
                break
            i, j = pairs[0]
            M[i] = M[i] + M[j]
            M[:, i] = M[:, i] + M[:, j]
        i = next(i for i in range(n) if M[i, i])
        rest = [j for j in range(n) if j != i]
        found.append(M[i, i])
        M = M[np.ix_(rest, rest)] - np.outer(M[rest, i], M[i, rest]) / M[i, i]
    return sum(v < 0 for v in found), sum(v == 0 for v in found), sum(v > 0 for v in found)


def kernel(M: np.ndarray) -> list[np.ndarray]:
    """A basis of {v : Mv = 0}."""
    reduced, pivots = echelon(M)
    basis = []
    for free in set(range(M.shape[1])) - set(pivots):
        v = identity(M.shape[1])[free]
        for i, pivot in enumerate(pivots):
            v[pivot] = -reduced[i, free]
        basis.append(v)
    return basis


def least_norm(M: np.ndarray, q: np.ndarray) -> np.ndarray | None:
    """The least-norm x with Mx = q; None where there is none."""
    reduced, pivots = echelon(np.hstack([M, q[:, None]]))
    d = M.shape[1]
    if d in pivots:
        return None
    x = 0 * identity(d)[0]
    for i, pivot in enumerate(pivots):
        x[pivot] = reduced[i, d]
    if not (basis := kernel(M)):
        return x
    N = np.stack(basis, axis=1)
    return x - N @ inverse(N.T @ N) @ N.T @ x


def fedgd_equation(terms: Terms, s: Fraction, e: int) -> tuple[np.ndarray, np.ndarray]:
    """The FedSplit paper's (10): matrix and right-hand side, with weights, both times s."""
    d = len(terms.c[0])
    sums = []
    for H in terms.H:
        power, total = identity(d), 0 * identity(d)
        for _ in range(e):
            total, power = total + power, power @ (identity(d) - s * H)
        sums.append(s * total)
    left = [H @ S for H, S in zip(terms.H, sums, strict=True)]
    right = [S @ c for c, S in zip(terms.c, sums, strict=True)]
    return weighted(terms.w, left), weighted(terms.w, right)


def fedprox_equation(terms: Terms, mu: Fraction) -> tuple[np.ndarray, np.ndarray]:
    """The display after the FedSplit paper's (9), with weights; s = 1/mu."""
    I, s = identity(len(terms.c[0])), 1 / Fraction(mu)
    left = [I - inverse(I + s * H) for H in terms.H]
    right = [inverse(H + (1 / s) * I) @ c for H, c in zip(terms.H, terms.c, strict=True)]
    return weighted(terms.w, left), weighted(terms.w, right)


def prox(H: np.ndarray, c: np.ndarray, s: Fraction, z: np.ndarray) -> np.ndarray:
    """argmin ½xᵀHx − cᵀx + (1/2s)‖z − x‖²."""
    return inverse(H + identity(len(c)) / Fraction(s)) @ (c + z / Fraction(s))


def lifted_matrix(terms: Terms, s: Fraction) -> np.ndarray:
    """The linear part of FedSplit's z ↦ z + 2(prox(2·mean z − z) − mean z), Algorithm 1."""
    parts, d, m = terms.as_a_sum(), len(terms.c[0]), len(terms.w)
    columns = []
    for unit in identity(m * d):
        z = unit.reshape(m, d)
        x = z.sum(0) / Fraction(m)
        columns.append([v + 2 * (prox(H, 0 * x, s, 2 * x - v) - x) for H, v in zip(parts.H, z, strict=True)])
    return np.array(columns, dtype=object).reshape(m * d, m * d).T


def proximal_weight_suffices(terms: Terms, weight: Fraction) -> bool:
    """Whether every H_k + weight·I is safely positive definite (numerically: with a margin)."""
    return all(np.linalg.eigvalsh(floats(H))[0] + weight > 1e-3 for H in terms.H)


def fraction(number: Any) -> Fraction:
    """The rational that a number is: a ball of radius 0 or a number of mpmath's, too."""
    if isinstance(number, flint.arb):
        mantissa, exponent = map(int, number.man_exp())
        return mantissa * Fraction(2) ** exponent
    return Fraction(*libmp.to_rational(number._mpf_)) if isinstance(number, mpf) else Fraction(number)


def real(number: Any) -> Any:
    """A rational or a float as a number of mpmath's, of its working precision."""
    exact = Fraction(number)
    return mpf(exact.numerator) / exact.denominator


def ends(number: Any) -> tuple[Fraction, Fraction]:
    """The lower and the upper end of a ball, exactly; a rational is both."""
    if not isinstance(number, flint.arb):
        return Fraction(number), Fraction(number)
    middle, radius = fraction(number.mid()), fraction(number.rad())
    return middle - radius, middle + radius


def ball_contains(ball: Any, exact: Fraction) -> bool:
    """Whether a flint ball contains a rational: asked with enough bits that the conversion loses nothing."""
    with flint.ctx.workprec(4000):
        return bool(ball.contains(flint.fmpq(exact.numerator, exact.denominator)))
