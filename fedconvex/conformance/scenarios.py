"""What an implementation is run on: small least squares with exact data, each of which shows some properties.

The data are multiples of small integers, so that float32 holds them exactly, and scaled to the method under check: the
clients' curvature is about what their local work, or the proximal term, can move in one round. Too little of it and
faults hardly show; too much and runs diverge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, ldexp, sqrt
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import nearest_float
from fedconvex.conformance.losses import factor_of, problem_of
from fedconvex.conformance.setup import Setup
from fedconvex.problems.base import Problem
from fedconvex.problems.quadratics import LeastSquares

Rounds = tuple[tuple[int, ...], ...]

FIRST_POINT = (1.5, -1.0)
# designs (n_k, 2) of full rank, and targets, all clients with minimisers of their own
EQUAL_SIZES: tuple[Any, ...] = (
    ([[2, 0], [1, 1]], [2, 3]),
    ([[1, 1], [-1, 2]], [-3, 1]),
    ([[1, -1], [1, 2]], [1, -4]),
)
OWN_SIZES: tuple[Any, ...] = (
    ([[2, 1], [0, 1]], [4, -1]),
    ([[1, 0], [1, 1], [-1, 2]], [-2, 1, 2]),
    ([[1, 0], [0, 1], [1, 1], [1, -1], [2, 0]], [1, -3, -1, 2, 3]),
)
EVERYONE: Rounds = ((0, 1, 2),) * 4
SKIPPING: Rounds = ((0, 1), (2,), (0, 2), (1,), (0, 1, 2))


@dataclass(frozen=True, eq=False)
class Scenario:
    """One problem with who takes part in each of its rounds, and (where it is about that) how much work each does."""

    name: str
    problem: Problem  # as the implementation gets it
    squares: LeastSquares  # the same data with the package's own loss …
    factors: tuple[Fraction, ...]  # … and what to multiply it with, client by client
    rounds: Rounds
    effort: int | None  # the full work, in local steps or epochs; None where it cannot be counted
    efforts: Rounds | None = None  # the work of each client that takes part, where it is not the full one

    @property
    def sizes(self) -> tuple[int, ...]:
        """Samples of each client."""
        return tuple(len(targets) for targets in self.squares.b)

    @property
    def first_point(self) -> np.ndarray:
        """A fresh array: the implementation may spoil it."""
        return np.array(FIRST_POINT)


def scenarios(setup: Setup, loss: str, weighted: bool, late_clients: bool) -> tuple[Scenario, ...]:
    """Those that fit the method: weights follow the clients' samples where `weighted`; late clients where it can."""

    def scenario(name: str, data: Sequence[Any], rounds: Rounds, efforts: Rounds | None = None) -> Scenario:
        sizes = tuple(len(targets) for _, targets in data)
        weights = sizes if weighted else None
        A, b = scaled_to(setup, data, loss)
        factors = tuple(2 * factor_of(loss, size) for size in sizes)
        squares = LeastSquares(A=A, b=b, weights=weights)
        problem = squares if loss == "half_sum" else problem_of(loss, A, b, weights)
        return Scenario(name, problem, squares, factors, rounds, setup.effort, efforts)

    effort = setup.effort
    found = [
        scenario("one client", EQUAL_SIZES[:1], ((0,),) * 3),
        scenario("identical clients", EQUAL_SIZES[1:2] * 2, ((0, 1),) * 3),
        scenario("different clients", EQUAL_SIZES, EVERYONE),
        scenario("more or fewer samples", OWN_SIZES, EVERYONE),
        scenario("clients that skip rounds", EQUAL_SIZES, SKIPPING),
        scenario("clients that skip rounds, more or fewer samples", OWN_SIZES, SKIPPING),
    ]
    if late_clients and effort is not None and effort > 1:
        late = ((1, effort, (effort + 1) // 2), (effort, 1, 1)) * 2
        found.append(scenario("clients that come late", OWN_SIZES, EVERYONE, late))
    return tuple(found)


def scaled_to(setup: Setup, data: Sequence[Any], loss: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The data multiplied by the short number that makes the clients' largest curvature right."""
    largest = max(problem_of(loss, *_multiplied(data, 1.0)).L)
    return _multiplied(data, short(sqrt(curvature(setup) / largest)))


def curvature(setup: Setup) -> float:
    """L of the clients that makes a round visible: 5/4 over the path of the local steps, else twice the pull."""
    if setup.path_length is not None:
        return 1.25 / nearest_float(setup.path_length)
    weight = nearest_float(setup.method.proximal_weight)
    return 2 * weight if weight > 0 else 2.0


def short(value: float, bits: int = 5) -> float:
    """The nearest number with few significant bits, so that products with small integers are exact in float32."""
    mantissa, exponent = frexp(value)
    return ldexp(round(ldexp(mantissa, bits)), exponent - bits)


def _multiplied(data: Sequence[Any], factor: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return [factor * np.array(A, float) for A, _ in data], [factor * np.array(b, float) for _, b in data]
