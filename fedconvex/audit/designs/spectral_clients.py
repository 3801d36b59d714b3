"""Quadratic clients in the eigenvectors of their Hessians, at B points at once: of many states, or many parameters.

Whatever a local solver does on a quadratic is a function of the Hessian. In its eigenvectors that is a factor for each
eigenvalue, so that no parameter needs a matrix of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem

EQUAL = 1e-13  # relative to the largest eigenvalue
SMALL = 0.5  # stepsize · curvature, below which 1 − (1 − s a)^e would cancel


@dataclass(eq=False)
class SpectralClients(Clients):
    """The clients' models at B points each: a point has d·B numbers, those of its first unknown first."""

    arithmetic: Arithmetic
    eigenvalues: np.ndarray  # (m, d), ascending
    vectors: np.ndarray  # (m, d, d), eigenvectors in the columns
    g: np.ndarray  # (m, d)
    driven: np.ndarray  # (B,) the factors of the g_k: 1 gives the affine round, 0 its linear part
    _factors: dict[bytes, np.ndarray] = field(default_factory=dict)  # by the weights of the proximal terms

    def __post_init__(self) -> None:
        self.columns = len(self.driven)
        self.num_clients, self.dim = len(self.g), self.g.shape[1] * self.columns

    def gradients(self, X: Array) -> Array:
        return self.times(self.eigenvalues[:, :, None], self.rows(X)) + self._pushed

    def minimise(self, subproblem: Subproblem) -> Array:
        right = subproblem.right_side(-self._pushed)
        return self.times(self.factors(subproblem.weight, lambda a: 1 / a), right)

    def factors(self, weight: Scalar, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """A function of the eigenvalues of H_k + weight·I, (m, d, B), or (m, d, 1): the same in every round."""
        shift = np.asarray(weight, dtype=np.float64).reshape(-1)[: self.columns]
        key = shift.tobytes()  # a run has one local solver, hence one function
        if key not in self._factors:
            self._factors[key] = function(self.eigenvalues[:, :, None] + shift)
        return self._factors[key]

    def times(self, factors: np.ndarray, X: np.ndarray) -> np.ndarray:
        """V_k diag(factors_k) V_kᵀ of every client, applied to its B points."""
        # points in rows: products of few columns with large matrices take twice as long
        points = X.reshape(len(X), -1, self.columns).transpose(0, 2, 1)
        rows, vectors = factors.transpose(0, 2, 1), self.vectors
        if not self._equal:
            result = np.matmul(np.matmul(points, vectors) * rows, vectors.transpose(0, 2, 1))
        else:  # where eigenvalues are equal, so are their factors c: V diag(f) Vᵀ = c·I + V diag(f − c) Vᵀ
            common, vectors = rows[..., :1], vectors[..., self._equal :]
            inner = np.matmul(points, vectors) * (rows[..., self._equal :] - common)
            result = np.matmul(inner, vectors.transpose(0, 2, 1)) + common * points
        return np.asarray(result.transpose(0, 2, 1).reshape(X.shape))

    def hessians(self, X: Array) -> Batch:
        return np.matmul(self.vectors * self.eigenvalues[:, None], self.vectors.transpose(0, 2, 1))

    def hessian_products(self, X: Array, V: Array) -> Array:
        return self.times(self.eigenvalues[:, :, None], self.rows(V))

    def subset(self, members: np.ndarray) -> "SpectralClients":
        kept = {key: factors[members] for key, factors in self._factors.items()}
        return SpectralClients(
            self.arithmetic, self.eigenvalues[members], self.vectors[members], self.g[members], self.driven, kept
        )

    def values(self, X: Array) -> Array:
        X = self.rows(X)
        return np.asarray((X * (self.hessian_products(X, X) / 2 + self._pushed)).sum(-1))

    def differences(self, X: Array, reference: Array) -> Array:
        return self.values(X) - self.values(reference)

    @cached_property
    def _equal(self) -> int:
        """How many of every client's least eigenvalues are equal, up to rounding, as on unknowns without data."""
        least, largest = self.eigenvalues[:, :1], self.eigenvalues[:, -1:]
        return int((self.eigenvalues <= least + EQUAL * abs(largest)).sum(1).min()) - 1

    @cached_property
    def _pushed(self) -> np.ndarray:
        return np.asarray((self.g[:, :, None] * self.driven).reshape(len(self.g), -1))


@final
@dataclass(frozen=True, eq=False)
class SpectralSteps(LocalSolver):
    """The answers of steps_b gradient steps of size stepsizes_b, for each of the B parameters, or all alike."""

    steps: np.ndarray  # (B,) or (1,)
    stepsizes: np.ndarray  # (B,) or (1,)

    has_path_lengths: ClassVar[bool] = True

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        assert isinstance(clients, SpectralClients)
        gradients = subproblem.add_gradients(subproblem.start, clients.gradients(subproblem.start))
        sums = clients.factors(subproblem.weight, lambda a: _step_sums(a, self.steps, self.stepsizes))
        lengths = np.broadcast_to(
            self.steps * self.stepsizes, (*gradients.shape[:1], clients.g.shape[1], clients.columns)
        )
        return Answers(subproblem.start - clients.times(sums, gradients), lengths.reshape(gradients.shape))

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Accepts every problem, as `GradientDescent` does."""


def spectral(solvers: Sequence[LocalSolver]) -> LocalSolver:
    """The local solver of one parameter each, or of all, on spectral clients: gradient steps are one factor."""
    steps = [solver for solver in solvers if isinstance(solver, GradientDescent)]
    numbers, sizes = np.array([one.steps for one in steps]), np.array([float(one.stepsize) for one in steps])
    return SpectralSteps(numbers, sizes) if steps else solvers[0]


def _step_sums(curvatures: np.ndarray, steps: np.ndarray, stepsizes: np.ndarray) -> np.ndarray:
    """s Σ_{j<e} (1 − s a)^j = (1 − (1 − s a)^e)/a, and s e where a = 0."""
    moved = stepsizes * curvatures
    small = abs(moved) < SMALL
    with np.errstate(over="ignore", invalid="ignore"):
        lost = np.where(small, -np.expm1(steps * np.log1p(-np.where(small, moved, 0))), 1 - (1 - moved) ** steps)
        flat = curvatures == 0
        return np.asarray(np.where(flat, steps * stepsizes, lost / np.where(flat, 1, curvatures)))
