"""Composite objectives f + ψ: the clients' functions, and a convex term that the server handles."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.names import CheckedKeywords
from fedconvex.pickled import without_caches
from fedconvex.problems.base import Problem
from fedconvex.regularizers import Regularizer

__all__ = ["CompositeProblem"]  # for users; the package calls the others, too


@final
@dataclass(frozen=True, eq=False)
class CompositeProblem(CheckedKeywords):
    """Minimise f(x) + ψ(x), with f = Σ_k weights_k f_k of a problem and ψ from `fedconvex.regularizers`.

    Use it for sparse models (ℓ1, group lasso) and constraints (a box): `simulate`, `sweep`, `fixed_point` and
    `ground_truth` take it in the place of a problem. Clients work on their f_k as before; after a round with
    communication the server takes a proximal step, w ← prox_{τψ}(w), whose τ is the length of the method's own step:

    * FedSplit (τ = s), FedDyn, FedDynOneGD (1/α), FedPD (η): splitting methods, whose fixed points are the minimisers
      of f + ψ (consensus with regularisation, Boyd et al. 2011, section 7.1.1);
    * FedGD, FedAvg, FedSGD, FedNova: τ is the mean sum of the clients' local stepsizes. With one local step this is the
      proximal gradient method; with several the clients drift, as they do without ψ;
    * FedProx (1/μ): the proximal gradient method for the mean of the clients' Moreau envelopes, plus ψ.

    Other methods refuse ψ, with the reason. It is no `Problem`: what does not know of ψ (audits, theorems, worst cases)
    refuses it.

    Args:
        problem: the clients' functions f_k.
        regularizer: ψ, such as `regularizers.L1(0.1)`.

    Raises:
        InvalidInput: something that is no problem or no regulariser, or a term that does not fit the dimension.
    """

    problem: Problem
    regularizer: Regularizer

    def __post_init__(self) -> None:
        if isinstance(self.problem, CompositeProblem):
            cure = "give the problem without its term: a sum of two terms has no proximal operator in closed form"
            raise InvalidInput("problem", self.problem, "has a regulariser already", cure)
        if not isinstance(self.problem, Problem):
            cure = "give for example fedconvex.LeastSquares(A=…, b=…)"
            raise InvalidInput("problem", self.problem, "is not a problem", cure)
        if not isinstance(self.regularizer, Regularizer):
            cure = "give for example fedconvex.regularizers.L1(0.1)"
            raise InvalidInput("regularizer", self.regularizer, "is not a regulariser", cure)
        self.regularizer.require(self.problem.dim)

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)

    @property
    def dim(self) -> int:
        """The number of unknowns d."""
        return self.problem.dim

    @property
    def num_clients(self) -> int:
        """The number of clients m."""
        return self.problem.num_clients

    def value(self, x: Array) -> Scalar:
        """f(x) + ψ(x) at a (d,) point, in the arithmetic of x; inf outside the domain of ψ.

        Raises InvalidInput for a group lasso in Fractions, whose norms are not rational.
        """
        clients, X, weights = self.problem.at(x, one_point=True)
        numbers = clients.arithmetic
        with numbers.context():
            term = self.regularizer.values(X[None], numbers)[0]
            return numbers.publish_scalar(numbers.average(weights, clients.values(X)) + term)

    @cached_property
    def known_ground_truths(self) -> dict[str, Any]:
        """A cache of the minimisers that `ground_truth` computed, by solver; it lives as long as the problem."""
        return {}

    def shortest_subgradient(self, points: np.ndarray, gradients: np.ndarray) -> np.ndarray:
        """The length of the shortest element of ∇f(x) + ∂ψ(x) at T float64 points, (T,); inf where ψ is infinite."""
        floats = arithmetics.get("float")
        inside = np.isfinite(self.regularizer.values(points, floats))
        found = np.full(len(points), np.inf)
        for i in np.flatnonzero(inside & np.isfinite(points).all(-1)):
            found[i] = np.linalg.norm(
                self.regularizer.shortest(gradients[i], self.regularizer.snapped(points[i]), floats)
            )
        return found


def parts_of(problem: Problem | CompositeProblem) -> tuple[Problem, Regularizer | None]:
    """f and ψ; None where there is no ψ."""
    if isinstance(problem, CompositeProblem):
        return problem.problem, problem.regularizer
    return problem, None


def require_problem(problem: Any, argument: str = "problem") -> None:
    """Raises InvalidInput for what is no `Problem`; for a composite one it says what can be given in its place."""
    if isinstance(problem, CompositeProblem):
        without_term(problem)
    if not isinstance(problem, Problem):
        cure = "give for example fedconvex.LeastSquares(A=…, b=…)"
        if hasattr(problem, "columns") or isinstance(problem, dict):
            shape = getattr(problem, "shape", None)
            problem = problem if shape is None else f"a table of shape {shape}"
            cure = "give fedconvex.data.from_frame(table, client=…, target=…)"
        raise InvalidInput(argument, problem, "is not a problem", cure)


def without_term(problem: Problem | CompositeProblem) -> Problem:
    """The problem, for what is known of smooth objectives alone: raises InvalidInput for a composite one."""
    if isinstance(problem, CompositeProblem):
        cure = "give its .problem, for f alone; simulate, sweep, fixed_point and ground_truth take the whole"
        raise InvalidInput("problem", problem, "has a regulariser ψ, and only f alone is analysed here", cure)
    return problem
