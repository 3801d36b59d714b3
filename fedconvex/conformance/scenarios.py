"""The scenarios of a check: small least-squares problems with exact data, each with a schedule of active clients.

The data are multiples of small integers, which float32 represents exactly. They are scaled to the method: the clients'
curvature is about the inverse of their local path length, or twice the weight of the proximal term. With much less
curvature faults hardly change the numbers; with much more, runs diverge.
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
# designs (n_k, 2) of full rank and targets; every client has its own minimiser
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
# Schedulers that begin to work after ten rounds show in a run of twelve, whose clients change in every round: the
# server's model keeps moving. Starting far away makes gradients long, so that limits of their length show.
LONG: Rounds = (*SKIPPING, *SKIPPING, (0, 2), (1, 2))
FAR = 16  # a power of two: the data stay as short as they were


@dataclass(frozen=True, eq=False)
class Scenario:
    """A problem with the active clients of each round and, where it is about stragglers, each client's local work."""

    name: str
    problem: Problem  # passed to the implementation
    squares: LeastSquares  # the same data with the loss ½Σr² …
    factors: tuple[Fraction, ...]  # … and each client's factor from that loss to the problem's
    rounds: Rounds
    effort: int | None  # the full work, in local steps or epochs; None where it cannot be counted
    efforts: Rounds | None = None  # each active client's local work; None: the full work
    distance: int = 1  # factor of the initial point and of the targets

    @property
    def sizes(self) -> tuple[int, ...]:
        """The clients' numbers of samples."""
        return tuple(len(targets) for targets in self.squares.b)

    @property
    def first_point(self) -> np.ndarray:
        """The initial point, a new array each time: an implementation may overwrite it."""
        return self.distance * np.array(FIRST_POINT)


def scenarios(setup: Setup, loss: str, weighted: bool, late_clients: bool) -> tuple[Scenario, ...]:
    """The scenarios for a method.

    Args:
        weighted: clients have weights proportional to their numbers of samples; else equal ones.
        late_clients: add a scenario in which clients do part of the local work.
    """

    def scenario(
        name: str, data: Sequence[Any], rounds: Rounds, efforts: Rounds | None = None, distance: int = 1
    ) -> Scenario:
        sizes = tuple(len(targets) for _, targets in data)
        weights = sizes if weighted else None
        A, b = scaled_to(setup, data, loss)
        b = [distance * targets for targets in b]
        factors = tuple(2 * factor_of(loss, size) for size in sizes)
        squares = LeastSquares(A=A, b=b, weights=weights)
        problem = squares if loss == "half_sum" else problem_of(loss, A, b, weights)
        return Scenario(name, problem, squares, factors, rounds, setup.effort, efforts, distance)

    effort = setup.effort
    # From simple to complex: the first scenario that deviates tells where to look. One client shows local work alone;
    # identical clients, memory without averaging; different ones, the average; unequal sizes, its weights; skipped
    # rounds, what happens to the memory of inactive clients.
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
    found.append(scenario("twelve rounds from far away", OWN_SIZES, LONG, distance=FAR))
    return tuple(found)


def scaled_to(setup: Setup, data: Sequence[Any], loss: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The data times a number of few bits, such that the clients' largest curvature is about `curvature(setup)`."""
    largest = max(problem_of(loss, *_multiplied(data, 1.0)).L)
    return _multiplied(data, short(sqrt(curvature(setup) / largest)))


def curvature(setup: Setup) -> float:
    """The clients' smoothness L at which one round moves models visibly and runs stay stable.

    5/4 over the path length of the local steps; for exact local solutions, twice the proximal weight.
    """
    if setup.path_length is not None:
        return 1.25 / nearest_float(setup.path_length)
    weight = nearest_float(setup.method.proximal_weight)
    return 2 * weight if weight > 0 else 2.0


def short(value: float, bits: int = 5) -> float:
    """The nearest number with few significant bits: its products with small integers are exact in float32."""
    mantissa, exponent = frexp(value)
    return ldexp(round(ldexp(mantissa, bits)), exponent - bits)


def _multiplied(data: Sequence[Any], factor: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return [factor * np.array(A, float) for A, _ in data], [factor * np.array(b, float) for _, b in data]
