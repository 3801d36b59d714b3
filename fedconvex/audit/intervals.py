"""Numbers with their certainty, the arithmetic that computes them, and suboptimality gaps."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedconvex.arithmetic.balls import lower_float, upper_float
from fedconvex.arithmetic.decimals import at_most
from fedconvex.certainty import Certainty
from fedconvex.methods.base import Method
from fedconvex.pickled import without_caches
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.quadratics import QuadraticProblem

BALL_DIMENSION = 300  # fixed points on quadratics are enclosed up to this dimension, beyond it computed in floats
BALL_SAMPLES = 200_000  # the same limit for logistic losses, of samples · local steps


@dataclass(frozen=True)
class Interval:
    """A number with its certainty: unless that is NUMERIC, the exact value is proved to lie in [lower, upper]."""

    value: float
    lower: float
    upper: float
    certainty: Certainty


def interval(number: Any, certainty: Certainty) -> Interval:
    """The number, a ball or a float, as an `Interval`."""
    if certainty is Certainty.ENCLOSED:
        return Interval(float(number.mid()), lower_float(number), upper_float(number), certainty)
    return Interval(float(number), float(number), float(number), certainty)


def arithmetic_for(method: Method, problem: Problem) -> str:
    """Balls where they take seconds, else floats."""
    if isinstance(problem, QuadraticProblem):
        return "ball" if problem.dim <= BALL_DIMENSION else "float"
    samples = sum(len(y) for y in getattr(problem, "y", ()))
    return "ball" if samples * int(np.max(getattr(method, "local_steps", 1))) <= BALL_SAMPLES else "float"


def gap(problem: Problem, x: np.ndarray, minimizer: np.ndarray) -> float:
    """The suboptimality f(x) − f(minimizer) in floats; the clients compute differences without cancellation."""
    return gaps_to(problem, minimizer)(x)


def gaps_to(problem: Problem, minimizer: np.ndarray) -> "GapsTo":
    """The function x ↦ `gap(problem, x, minimizer)`, for many x: looking the clients up takes longer than the gap."""
    return GapsTo(problem, minimizer)


@dataclass(frozen=True, eq=False)
class GapsTo:
    """The suboptimality as a function of the point, which can be pickled."""

    problem: Problem
    minimizer: np.ndarray

    def __call__(self, x: np.ndarray) -> float:
        weights, clients = self._weights_and_clients
        return float(weights @ clients.differences(x, self.minimizer))

    @cached_property
    def _weights_and_clients(self) -> tuple[np.ndarray, Clients]:
        return self.problem.weights, self.problem.clients("float")

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)


def magnitude(number: Interval) -> str:
    """The value; of an enclosure that contains 0, its upper bound."""
    if number.certainty is Certainty.ENCLOSED and number.lower <= 0:
        return at_most(max(number.upper, 0.0), 1)
    return f"{number.value:.4g}"
