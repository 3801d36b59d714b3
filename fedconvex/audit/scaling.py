"""Whether a problem's condition number comes from the scales of its features: κ as it is, and after standardising."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.dense import in_one_thread
from fedconvex.data.table import standardized
from fedconvex.errors import InvalidInput
from fedconvex.memory import NUMBER, fits
from fedconvex.problems.base import Problem
from fedconvex.problems.logistic import Logistic, MultinomialLogistic
from fedconvex.problems.quadratics import LeastSquares
from fedconvex.sparse import is_sparse

FACTOR = 10.0  # scaling is said to matter where standardising divides κ by this at least
MUCH = 100.0  # … and a run is refused where it divides a κ that hides all progress by this
LEAST_ROUNDS = 100  # fewer are a try of the command, which is not refused
LARGEST = 2**37  # multiplications of singular value decompositions that an audit may spend on this
STANDARD = 2.0  # standard deviations up to this factor from 1, and means as near to 0, are standardised already

DataProblem = LeastSquares | Logistic | MultinomialLogistic


@final
@dataclass(frozen=True)
class Scaling:
    """κ of a problem, and of the same model on standardised features, both in floats (NUMERIC).

    kappa, standardized: max_k L_k / min_k mu_k over the clients; where a client has too few samples for a curvature in
        all directions, λ_max/λ_min of the objective's Hessian, at 0 for logistic losses (`of_objective`).
    narrowest, widest: the features with the least and the largest standard deviation, by name, with these.
    offset: the feature whose mean is most standard deviations away from 0, with that number.
    """

    kappa: float
    standardized: float
    of_objective: bool
    narrowest: tuple[str, float]
    widest: tuple[str, float]
    offset: tuple[str, float]

    def __str__(self) -> str:
        (narrow, least), (wide, most), (far, distance) = self.narrowest, self.widest, self.offset
        away = f", and {far} has a mean of {distance:.2g} of them" if distance > STANDARD else ""
        kappa = "the objective's κ" if self.of_objective else "κ"
        return (
            f"{kappa} = {self.kappa:.2g} comes from the features' scales: their standard deviations range from "
            f"{least:.2g} ({narrow}) to {most:.2g} ({wide}){away}; --standardize makes it {self.standardized:.2g}"
        )

    def hides_progress(self, rounds: int) -> bool:
        """Whether no method gets far in so many rounds on these features, and standardising changes that.

        The fastest methods that an audit compares by default contract by 1 − 1/√κ per round.
        """
        return self.kappa > max(rounds, LEAST_ROUNDS) ** 2 and self.kappa > MUCH * self.standardized


@in_one_thread
def scaling_of(problem: Problem, names: Sequence[str] | None = None) -> Scaling | None:
    """How the features' scales determine κ; None where they do not, by a factor of 10, or the problem has no features.

    names: the features' names, without that of an appended column of ones; default: feature 1, feature 2, ….
    """
    if not isinstance(problem, DataProblem) or any(map(is_sparse, problem.A)):
        return None
    samples, features = sum(len(A) for A in problem.A), int(problem.A[0].shape[1])
    if samples * features**2 > LARGEST or not fits(4 * samples * features * NUMBER):
        return None
    pooled = np.concatenate([np.asarray(A, dtype=np.float64) for A in problem.A])
    with np.errstate(over="ignore", invalid="ignore"):
        means, deviations = pooled.mean(axis=0), pooled.std(axis=0)
    varying = np.flatnonzero((pooled.min(axis=0) < pooled.max(axis=0)) & (deviations > 0))
    if varying.size == 0 or not np.isfinite(deviations).all():
        return None
    spread, distance = deviations[varying], np.abs(means[varying]) / deviations[varying]
    if spread.max() <= STANDARD and spread.min() >= 1 / STANDARD and distance.max() <= 1 / STANDARD:
        return None
    scaled = pooled.copy()
    scaled[:, varying] = standardized(pooled[:, varying])
    ends = np.cumsum([len(A) for A in problem.A])[:-1]
    before, after = (_of_clients(problem, np.split(matrix, ends)) for matrix in (pooled, scaled))
    of_objective = not np.isfinite(after)
    if of_objective:
        after, rank = _of_objective(problem, scaled)
        before, _ = _of_objective(problem, pooled, rank)
    if not before > FACTOR * after:
        return None
    named = [f"feature {j + 1}" for j in range(features)] if names is None else [repr(name) for name in names]

    def entry(values: np.ndarray, index: Any) -> tuple[str, float]:
        j = int(varying[index])
        return (named[j] if j < len(named) else f"feature {j + 1}", float(values[index]))

    ends_of_spread = entry(spread, np.argmin(spread)), entry(spread, np.argmax(spread))
    return Scaling(before, after, of_objective, *ends_of_spread, entry(distance, np.argmax(distance)))


def require_comparable_scales(problem: Problem, rounds: int, names: Sequence[str] | None = None) -> None:
    """Raises InvalidInput where the features' scales keep every method from getting anywhere in so many rounds."""
    scaling = scaling_of(problem, names)
    if scaling is not None and scaling.hides_progress(rounds):
        reason = f"{scaling}; unscaled, no method makes much progress in {rounds} rounds"
        cure = "give --no-standardize to audit them nevertheless, or give --standardize"
        raise InvalidInput("data", problem, reason, cure)


def _of_clients(problem: DataProblem, designs: Sequence[np.ndarray]) -> float:
    """max_k L_k / min_k mu_k of the problem with these features, inf where some mu_k is 0 up to rounding."""
    squares = [_squares(A) for A in designs]
    if isinstance(problem, LeastSquares):
        return _quotient(max(s[0] for s in squares), min(s[-1] for s in squares))
    ridge, bound = float(problem.ridge), float(problem.curvature_bound)
    return _quotient(max(bound * s[0] / len(A) for s, A in zip(squares, designs, strict=True)) + ridge, ridge)


def _of_objective(problem: DataProblem, features: np.ndarray, rank: int | None = None) -> tuple[float, int]:
    """λ_max/λ_min of the objective's Hessian at 0 with these features (n, d), over its `rank` largest eigenvalues.

    Called without a ridge: then neither the loss's curvature at 0 nor the number of classes matters to the quotient.
    """
    sizes = np.array([len(A) for A in problem.A])
    each = problem.weights if isinstance(problem, LeastSquares) else problem.weights / sizes
    squares = _squares(np.sqrt(np.repeat(each, sizes))[:, None] * features)
    rank = max(1, int(np.count_nonzero(squares))) if rank is None else rank
    return _quotient(squares[0], squares[rank - 1]), rank


def _squares(A: np.ndarray) -> np.ndarray:
    """The d eigenvalues of AᵀA (n, d) in descending order, 0 where rounding decides."""
    values = np.linalg.svd(A, compute_uv=False)
    values = np.where(values > values[0] * max(A.shape) * np.finfo(np.float64).eps, values, 0.0)
    return np.append(values**2, np.zeros(A.shape[1] - len(values)))


def _quotient(largest: float, smallest: float) -> float:
    return float(largest / smallest) if smallest > 0 else np.inf
