"""Bounds on the curvature of the clients' functions and of the objective, each constant bounded from both sides.

Theorems need an upper bound of the smoothness constant L and a lower bound of the strong convexity constant mu; the
bounds from the other side show that an assumption is violated. All are proved:
attained_smoothness <= L <= smoothness and strong_convexity <= mu <= attained_convexity.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.balls import highest_end, lowest_end
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.definiteness import is_positive_semidefinite
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.problems.base import Problem
from fedconvex.problems.quadratics import QuadraticProblem

MatrixIn = Callable[[Any], Matrix]


@final
class ClientCurvatures:
    """Bounds on the largest L_k and the least mu_k of the clients' functions scale_k · f_k."""

    def __init__(self, problem: Problem, scale: Sequence[Fraction] | None, balls: Arithmetic) -> None:
        self.problem, self.balls = problem, balls
        self.scale = scale if scale is not None else (Fraction(1),) * problem.num_clients

    @cached_property
    def smoothness(self) -> Any:
        """An upper bound of the largest L_k."""
        return highest_end(self._scaled(self.problem.smoothness_bound(k) for k in range(self.problem.num_clients)))

    @cached_property
    def strong_convexity(self) -> Any:
        """A lower bound of the least curvature of all clients; negative where one is not convex."""
        return lowest_end(self._scaled(self.problem.strong_convexity_bound(k) for k in range(self.problem.num_clients)))

    @cached_property
    def attained_smoothness(self) -> Any:
        """A lower bound of the largest L_k; 0 where only an upper bound is known."""
        if not isinstance(self.problem, QuadraticProblem):
            return self.balls.scalar(0)
        # any client gives a lower bound of the maximum; floats may choose which
        return attained(self._hessian(int(np.argmax(self._floats * self.problem.L))), self.balls)[1]

    @cached_property
    def attained_convexity(self) -> Any:
        """An upper bound of the least curvature of all clients."""
        if not isinstance(self.problem, QuadraticProblem):
            return self.smoothness
        return attained(self._hessian(int(np.argmin(self._floats * self.problem.mu))), self.balls)[0]

    def lie_between(self, low: Any, high: Any) -> bool | None:
        """Whether low·I ≼ ∇²F_k ≼ high·I for every k, decided exactly; None where the problem is not quadratic.

        Use it where enclosures of the extreme eigenvalues are too wide to compare with a bound, or equal to it.

        Args:
            low, high: exact numbers, or None for no bound.
        """
        if not isinstance(self.problem, QuadraticProblem) or any(type(v).__name__ == "arb" for v in (low, high)):
            return None
        for hessian in map(self._hessian, range(self.problem.num_clients)):
            for sign, bound in ((1, low), (-1, high)):
                # H − low·I and high·I − H must be positive semidefinite
                if bound is not None and not is_positive_semidefinite(_shifted(hessian, sign, to_fmpq(bound))):
                    return False
        return True

    @property
    def _floats(self) -> np.ndarray:
        return np.array([float(factor) for factor in self.scale])

    def _hessian(self, k: int) -> MatrixIn:
        assert isinstance(self.problem, QuadraticProblem)
        problem = self.problem
        return lambda numbers: problem.client_terms(k, numbers)[0] * numbers.scalar(self.scale[k])

    def _scaled(self, bounds: Iterable[Any]) -> list[Any]:
        with self.balls.context():
            return [ball * self.balls.scalar(factor) for ball, factor in zip(bounds, self.scale, strict=True)]


@final
class ObjectiveCurvatures:
    """Bounds on L and mu of the objective Σ_k weights_k f_k."""

    def __init__(self, problem: Problem, balls: Arithmetic) -> None:
        self.problem, self.balls = problem, balls

    @cached_property
    def smoothness(self) -> Any:
        """An upper bound of L: Σ_k weights_k L_k."""
        return self._average(self.problem.smoothness_bound).upper()

    @cached_property
    def strong_convexity(self) -> Any:
        """A lower bound of mu: Σ_k weights_k mu_k."""
        return self._average(self.problem.strong_convexity_bound).lower()

    @cached_property
    def attained_smoothness(self) -> Any:
        """A lower bound of L; 0 where only an upper bound is known."""
        return self._attained[1] if self._attained is not None else self.balls.scalar(0)

    @cached_property
    def attained_convexity(self) -> Any:
        """An upper bound of mu."""
        return self._attained[0] if self._attained is not None else self.smoothness

    @cached_property
    def _attained(self) -> tuple[Any, Any] | None:
        if not isinstance(self.problem, QuadraticProblem):
            return None
        return attained(self.problem.weighted_hessian, self.balls)

    def _average(self, bound: Callable[[int], Any]) -> Any:
        with self.balls.context():
            weights = self.balls.array(self.problem.exact_weights_array)
            return sum(w * bound(k) for k, w in enumerate(weights))


def attained(hessian: MatrixIn, balls: Arithmetic) -> tuple[Any, Any]:
    """(An upper bound of the least eigenvalue, a lower bound of the largest absolute one) of a symmetric matrix.

    These are Rayleigh quotients vᵀHv/vᵀv, enclosed in balls. They are bounds for every vector v, so that v may be an
    eigenvector computed in floats.
    """
    from fedconvex import arithmetic as arithmetics

    floats = arithmetics.get("float")
    with floats.context():
        matrix = np.asarray(hessian(floats))
    eigenvalues, vectors = np.linalg.eigh(matrix)
    with balls.context():
        exact = hessian(balls)
        least, extreme = (_rayleigh(exact, vectors[:, i], balls) for i in (0, int(np.argmax(abs(eigenvalues)))))
        return least.upper(), abs(extreme).lower()


def _rayleigh(matrix: Matrix, vector: np.ndarray, balls: Arithmetic) -> Any:
    v = balls.array(vector)
    return (v * balls.apply(matrix, v)).sum() / (v * v).sum()


def _shifted(hessian: MatrixIn, sign: int, bound: Any) -> MatrixIn:
    """sign·(H − bound·I)."""

    def build(numbers: Any) -> Matrix:
        matrix = hessian(numbers)
        return (matrix - numbers.identity(numbers.size(matrix)) * numbers.scalar(bound)) * numbers.scalar(sign)

    return build
