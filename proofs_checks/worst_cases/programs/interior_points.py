"""Semidefinite programs of few unknowns and any matrices: proposals, of which nothing is trusted.

    min c·x  over  A x = b  such that all matrices  S(x) = G − Σ x_i F_i  are positive semidefinite

Clarabel factorises a system with a row for every entry of the matrices. Where these are large, the system here is that
of the unknowns: a predictor and a corrector in the direction of Helmberg, Rendl, Vanderbei, Wolkowicz, Kojima, Shindoh,
Hara and Monteiro. With two matrices of 65 rows and 260 unknowns a step takes 0.03 s instead of 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.dense import in_one_thread
from fedconvex.proofs_checks.worst_cases.programs.solver import Constraints

LARGE = 16  # rows of the largest matrix from which the steps here are faster
GAP = 1e-10  # the relative distance of the bounds from which nothing is to be gained
FEASIBLE = 1e-9  # the largest violation of an answer
MOST_STEPS = 100
BACK = 0.95  # of the way to the boundary
PATIENCE, GAIN = 5, 1e-4  # steps without such a relative gain, after which rounding prevents more
INDEPENDENT = 1e-10  # relative size of the singular values of equations that count
NEARLY_ZERO = (1e-15, 1e-12)  # added to the system's unit diagonal
REFINED = 3  # solutions of the system, each of what the ones before leave
START = 10  # the first matrices, in multiples of the identity and of the largest number

Stack = np.ndarray  # (q, N, N): q symmetric matrices


@final
@dataclass(frozen=True, eq=False)
class Cone:
    """S(x) = G − Σ x_i F_i: q matrices of N rows, or with N = 1 numbers. F: (unknowns, q, N, N)."""

    F: np.ndarray
    G: Stack

    def at(self, x: np.ndarray) -> Stack:
        """S(x)."""
        found: Stack = self.G - np.tensordot(x, self.F, 1)
        return found

    def products(self, Z: Stack) -> np.ndarray:
        """⟨F_i, Z⟩ for all i."""
        found: np.ndarray = np.tensordot(self.F, Z, 3)
        return found

    def among(self, x: np.ndarray, basis: np.ndarray) -> "Cone":
        """The cone for the coefficients of the basis, columns that are added to x."""
        return Cone(np.tensordot(basis.T, self.F, 1), self.at(x))


@in_one_thread
def least(objective: np.ndarray, equations: tuple[np.ndarray, np.ndarray], cones: Sequence[Cone]) -> np.ndarray | None:
    """The best x that was found, with all S(x) positive; None where the equations, or the cones, leave none.

    The matrices must be positive definite at some x: directions in which they cannot be are left to the equations.
    """
    point, basis = solutions(*equations)
    if point is None:
        return None
    if not basis.shape[1]:
        return point
    inside = [cone.among(point, basis) for cone in cones if cone.G.size]
    large = max(cone.G.shape[-1] for cone in inside) >= LARGE
    found = (_least if large else _by_clarabel)(basis.T @ objective, inside)
    return None if found is None else point + basis @ found


def solutions(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """The shortest solution of A x = b, None without one, and orthonormal columns that span what A maps to 0."""
    sizes = np.abs(A).max(1, initial=0.0)
    kept = sizes > 0
    if b[~kept].any():
        return None, np.eye(A.shape[1])
    left, values, right = np.linalg.svd(A[kept] / sizes[kept, None])
    rank = int((values > INDEPENDENT * values.max(initial=0.0)).sum())
    scaled = b[kept] / sizes[kept]
    coefficients = left.T @ scaled
    if np.abs(coefficients[rank:]).max(initial=0.0) > FEASIBLE * max(1.0, np.abs(scaled).max(initial=0.0)):
        return None, right[rank:].T
    return right[:rank].T @ (coefficients[:rank] / values[:rank]), right[rank:].T


def _by_clarabel(c: np.ndarray, cones: Sequence[Cone]) -> np.ndarray | None:
    """Clarabel's answer: for small matrices it is ten times as fast as steps in Python."""
    problem = Constraints()
    for cone in cones:
        if cone.G.shape[-1] == 1:
            problem.at_most(cone.F[:, :, 0, 0].T, cone.G[:, 0, 0])
            continue
        for place, G in enumerate(cone.G):
            problem.positive(cone.F[:, place], G)
    found, _, status = problem.least(c)
    return found if np.isfinite(found).all() and status != "PrimalInfeasible" else None


def _least(c: np.ndarray, cones: Sequence[Cone]) -> np.ndarray | None:
    """The best feasible point of the steps, without equations."""
    x, rows = np.zeros(len(c)), sum(cone.G.shape[0] * cone.G.shape[1] for cone in cones)
    first = START * max(1.0, *(np.abs(cone.G).max(initial=0.0) for cone in cones))
    S, Z = ([size * _identities(cone.G) for cone in cones] for size in (first, START * max(1.0, np.abs(c).max())))
    best, value, waited = None, float("inf"), 0
    for _ in range(MOST_STEPS):
        primal = [cone.at(x) - s for cone, s in zip(cones, S, strict=True)]
        dual = -c - sum(cone.products(z) for cone, z in zip(cones, Z, strict=True))
        mu = _inner(S, Z) / rows
        if max(np.abs(r).max(initial=0.0) for r in primal) <= FEASIBLE:
            waited = 0 if c @ x < value - GAIN * abs(value) else waited + 1
            if c @ x < value:
                best, value = x, float(c @ x)
            if waited > PATIENCE or (np.abs(dual).max() <= FEASIBLE and mu * rows <= GAP * max(GAP, abs(value))):
                break
        try:
            with np.errstate(all="ignore"):
                x, S, Z, moved = _step(c, cones, (x, S, Z), (primal, dual, mu))
        except np.linalg.LinAlgError:  # rounding: some matrix is no longer positive
            break
        if not GAIN**2 < moved <= 1 or not np.isfinite(x).all():
            break
    return best


def _step(
    c: np.ndarray,
    cones: Sequence[Cone],
    at: tuple[np.ndarray, list[Stack], list[Stack]],
    missing: tuple[Any, Any, float],
) -> tuple[np.ndarray, list[Stack], list[Stack], float]:
    """The next point, and the larger one of the two lengths of the step."""
    (x, S, Z), (primal, dual, mu) = at, missing
    roots = [[np.linalg.cholesky(s) for s in these] for these in (S, Z)]
    factors = [[np.linalg.inv(root) for root in these] for these in roots]
    inverse = [np.swapaxes(f, -1, -2) @ f for f in factors[0]]
    system = np.zeros((len(c), len(c)))
    for cone, inverted, root in zip(cones, factors[0], roots[1], strict=True):
        seen = _between(cone.F, inverted, root)
        system += seen @ seen.T
    units = 1 / np.sqrt(np.maximum(np.diag(system), np.finfo(float).tiny))
    scaled = _symmetric(system * np.multiply.outer(units, units))
    half = _inverse_factor(scaled)

    def solved(right: np.ndarray) -> np.ndarray:
        y = np.zeros(len(c))
        for _ in range(REFINED):
            y += half.T @ (half @ (units * right - scaled @ y))
        return units * y

    def direction(target: float, curved: Sequence[Any]) -> tuple[np.ndarray, list[Stack], list[Stack]]:
        # S Z = target, linearised; `curved` is the part of second order
        def of_dual(change: Sequence[Stack]) -> list[Stack]:
            return [
                _symmetric(target * s - z - (z @ d + second) @ s)
                for s, z, d, second in zip(inverse, Z, change, curved, strict=True)
            ]

        known = sum(cone.products(z) for cone, z in zip(cones, of_dual(primal), strict=True))
        dx = solved(dual - known)
        dS = [r - np.tensordot(dx, cone.F, 1) for r, cone in zip(primal, cones, strict=True)]
        return dx, dS, of_dual(dS)

    dx, dS, dZ = direction(0.0, [0.0] * len(cones))
    a, b = (_length(f, d) for f, d in zip(factors, (dS, dZ), strict=True))
    predicted = _inner(_moved(S, dS, a), _moved(Z, dZ, b)) / (mu * sum(s.shape[0] * s.shape[1] for s in S))
    centred = min(1.0, max(1e-4, predicted**3))
    dx, dS, dZ = direction(centred * mu, [dz @ ds for ds, dz in zip(dS, dZ, strict=True)])
    a, b = (_length(f, d, BACK) for f, d in zip(factors, (dS, dZ), strict=True))
    return x + a * dx, _moved(S, dS, a), _moved(Z, dZ, b), max(a, b)


def _inverse_factor(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a Cholesky factor, of nearly this matrix where rounding made it singular."""
    for more in NEARLY_ZERO:
        try:
            found: np.ndarray = np.linalg.inv(np.linalg.cholesky(matrix + more * np.eye(len(matrix))))
            return found
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("the system of the unknowns is singular")


def _between(F: np.ndarray, inverted: Stack, root: Stack) -> np.ndarray:
    """Rows of which inner products are ⟨F_i, Z F_j S⁻¹⟩, with Z = root · rootᵀ and S⁻¹ = invertedᵀ · inverted."""
    unknowns, q, n, _ = F.shape
    if q > 1:
        products: np.ndarray = inverted @ F @ root
        return products.reshape(unknowns, -1)
    half = (F.reshape(-1, n) @ root[0]).reshape(unknowns, n, n)  # large products instead of many small ones
    found: np.ndarray = (np.swapaxes(half, 1, 2).reshape(-1, n) @ inverted[0].T).reshape(unknowns, -1)
    return found


def _length(factors: Sequence[Stack], changes: Sequence[Stack], part: float = 1.0) -> float:
    """This part of the way to where some matrix is singular, at most 1; `factors`: inverse Cholesky factors."""
    lowest = min(
        np.linalg.eigvalsh(_symmetric(f @ d @ np.swapaxes(f, -1, -2))).min()
        for f, d in zip(factors, changes, strict=True)
    )
    return min(1.0, -part / lowest) if lowest < 0 else 1.0


def _moved(these: Sequence[Stack], changes: Sequence[Stack], length: float) -> list[Stack]:
    return [_symmetric(one + length * d) for one, d in zip(these, changes, strict=True)]


def _inner(these: Sequence[Stack], others: Sequence[Stack]) -> float:
    return float(sum((a * b).sum() for a, b in zip(these, others, strict=True)))


def _symmetric(matrices: Stack) -> Stack:
    found: Stack = (matrices + np.swapaxes(matrices, -1, -2)) / 2
    return found


def _identities(like: Stack) -> Stack:
    found: Stack = np.broadcast_to(np.eye(like.shape[-1]), like.shape).copy()
    return found
