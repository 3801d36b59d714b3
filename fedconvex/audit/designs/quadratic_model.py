"""The quadratic model of a problem at its minimiser, and rounds on it for many states at once.

Client k's model is F_k(x* + u) = ½uᵀH_k u + g_kᵀu with H_k = ∇²f_k(x*) and g_k = ∇f_k(x*): the problem itself where the
clients are quadratic, and elsewhere what one round near the minimiser depends on. The methods' own code runs on it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.dense import one_by_one
from fedconvex.arithmetic.rationals import float_array
from fedconvex.audit.designs.spectral_clients import SpectralClients, spectral
from fedconvex.ground_truths import GroundTruth
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.parameters import in_arithmetic
from fedconvex.problems.base import Problem
from fedconvex.runs.rounds import Rounds


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """The clients' Hessians and gradients at the minimiser, with the displacement of the first point from it."""

    problem: Problem
    hessians: np.ndarray  # (m, d, d)
    gradients: np.ndarray  # (m, d), weighted mean 0
    start: np.ndarray  # (d,): x_0 − x*
    first_gap: float  # f(x_0) − f(x*) of the problem itself

    @staticmethod
    def of(problem: Problem, truth: GroundTruth, start: np.ndarray | None = None) -> "QuadraticModel":
        """The model at the minimiser, with runs that start at 0 or another point."""
        start = np.zeros(problem.dim) if start is None else start
        x, weights, clients = truth.point, problem.weights, problem.clients("float")
        with clients.arithmetic.context():
            gradients = np.asarray(clients.gradients(x))
            hessians = np.asarray(clients.hessians(clients.rows(x)))
            first = float(weights @ clients.differences(start, x))
        # what is left of the mean gradient at the rounded minimiser would displace the model's minimiser
        return QuadraticModel(problem, hessians, gradients - weights @ gradients, start - x, first)

    @cached_property
    def hessian(self) -> np.ndarray:
        """The objective's Hessian Σ_k weights_k H_k."""
        return np.asarray(np.tensordot(self.problem.weights, self.hessians, 1))

    @cached_property
    def curvatures(self) -> tuple[float, float]:
        """The least positive (up to rounding) and the largest eigenvalue of the objective's Hessian."""
        eigenvalues = np.linalg.eigvalsh(self.hessian)
        largest = float(eigenvalues[-1])
        return float(min(eigenvalues[eigenvalues > 1e-12 * largest], default=largest)), largest

    @cached_property
    def root(self) -> np.ndarray:
        """R with ½‖R u‖² = f(x* + u) − f(x*) on the model."""
        eigenvalues, vectors = np.linalg.eigh(self.hessian)
        return np.asarray(np.sqrt(np.maximum(eigenvalues, 0))[:, None] * vectors.T)

    @cached_property
    def spectra(self) -> tuple[np.ndarray, np.ndarray]:
        """The eigenvalues (m, d) and eigenvectors (m, d, d) of the clients' Hessians."""
        eigenvalues, vectors = one_by_one(np.linalg.eigh, self.hessians)
        return eigenvalues, vectors

    def gap(self, u: np.ndarray) -> float:
        """f(x* + u) − f(x*) on the model."""
        return float(self.gaps(u))

    def gaps(self, points: np.ndarray) -> np.ndarray:
        """`gap` of every row."""
        image = points @ self.root.T
        return np.asarray((image * image).sum(-1) / 2)

    def rounds(self, method: Method, solver: LocalSolver | None, driven: np.ndarray) -> Rounds:
        """The method's rounds on as many copies of the model as `driven` has entries.

        Args:
            driven: (B,) the factors of the g_k: 1 gives the affine round, 0 its linear part.
        """
        arithmetic = arithmetics.get("float")
        solver = in_arithmetic(method.local_solver if solver is None else solver, arithmetic)
        clients = self.clients(method, driven)
        return Rounds(in_arithmetic(method, arithmetic), spectral([solver]), self.problem, clients, arithmetic)

    def clients(self, method: Method, driven: np.ndarray) -> SpectralClients:
        """The model's clients, as the method scales them, at as many points as `driven` has entries."""
        factors, (eigenvalues, vectors) = method.scale(self.problem), self.spectra
        scale = np.ones((len(vectors), 1)) if factors is None else float_array(np.array(factors, dtype=object))[:, None]
        arithmetic = arithmetics.get("float")
        return SpectralClients(arithmetic, scale * eigenvalues, vectors, scale * self.gradients, driven)
