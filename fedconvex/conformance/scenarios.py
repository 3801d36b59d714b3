"""The scenarios of a check: small problems with exact data, each with a schedule of active clients.

Least squares, or classification of the same points into three classes.

The data are multiples of small integers, which float32 represents exactly. They are scaled to the method: the clients'
curvature is about the inverse of their local path length, or twice the weight of the proximal term. With much less
curvature faults hardly change the numbers; with much more, runs diverge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, ldexp, sqrt
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import nearest_float
from fedconvex.conformance.batches import Batches, Work
from fedconvex.conformance.classification import CrossEntropy
from fedconvex.conformance.losses import CLASSES, CROSS_ENTROPY, factor_of, problem_of
from fedconvex.conformance.setup import LARGEST_CLIENT, Setup
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.problems.base import Problem
from fedconvex.problems.quadratics import LeastSquares

Rounds = tuple[tuple[int, ...], ...]

FIRST_POINT = (1.5, -1.0)
FIRST_WEIGHT = (0.5, -0.25, -0.75, 0.5, 0.25, 0.75)  # (3, 2) row by row, for features of size 1/2 to 1
FIRST_BIAS = (0.25, -0.5, 0.0)
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
CONFIRMING: Rounds = ((0, 2, 3), (1,), (0, 1, 2, 3), (2, 3))
FOUR_SIZES: tuple[Any, ...] = (
    ([[1, 2], [1, -1], [2, 0], [0, 1]], [1, -2, 3, 2]),
    ([[2, -1], [1, 1]], [3, 1]),
    ([[0, 2], [1, 0], [1, 1], [-1, 1], [2, 1]], [-1, 2, -4, 1, 2]),
    ([[1, 1], [0, 1], [2, -1]], [2, -3, 1]),
)
FLATTER = 0.75  # the confirming problem's features, relative to the others': its gradients have another length
FAR = 16  # a power of two: the data stay as short as they were


@dataclass(frozen=True, eq=False)
class Scenario:
    """A problem with the active clients of each round and, where it is about stragglers, each client's local work."""

    name: str
    problem: Problem  # passed to the implementation
    base: LeastSquares | CrossEntropy  # the same data with the loss ½Σr², or the mean cross-entropy …
    factors: tuple[Fraction, ...]  # … and each client's factor from that loss to the problem's
    start: tuple[float, ...]
    rounds: Rounds
    solver: LocalSolver
    efforts: Rounds | None = None  # each active client's local work; None: the full work
    visited: Callable[[Work], Batches] | None = None  # the batches of shuffled samples; None: those that SGD draws

    @property
    def sizes(self) -> tuple[int, ...]:
        """The clients' numbers of samples."""
        return tuple(len(targets) for targets in self.base.b)

    @property
    def dim(self) -> int:
        """The number of unknowns d."""
        return self.base.dim

    @property
    def is_rational(self) -> bool:
        """Whether rational arithmetic can compute the clients' gradients."""
        return isinstance(self.base, LeastSquares)

    @property
    def first_point(self) -> np.ndarray:
        """The initial point, a new array each time: an implementation may overwrite it."""
        return np.array(self.start)


def scenarios(
    setup: Setup, loss: str, weighted: bool, late_clients: bool, shuffled: bool = False
) -> tuple[Scenario, ...]:
    """The scenarios for a method.

    Args:
        weighted: clients have weights proportional to their numbers of samples; else equal ones.
        late_clients: add a scenario in which clients do part of the local work.
        shuffled: no client has more samples than a batch holds, so that their order does not matter.
    """

    def scenario(
        name: str, data: Sequence[Any], rounds: Rounds, efforts: Rounds | None = None, distance: int = 1
    ) -> Scenario:
        data = within_one_batch(setup, data) if shuffled else data
        return _scenario(setup, loss, weighted, name, data, rounds, efforts, distance)

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
        found.append(scenario("stragglers", OWN_SIZES, EVERYONE, late))
    if loss == CROSS_ENTROPY:  # far away its gradients shrink instead of growing
        found.append(scenario("twelve rounds", OWN_SIZES, LONG))
    else:
        found.append(scenario("twelve rounds from far away", OWN_SIZES, LONG, distance=FAR))
    return tuple(found)


def confirming_scenario(
    setup: Setup, loss: str, weighted: bool, late_clients: bool, shuffled: bool, longer: bool
) -> Scenario:
    """The scenario in which a diagnosis must hold, too: other data, curvatures, participants, numbers of local steps.

    A flatter function is, for gradient steps, a smaller stepsize. `longer`: clients may take more steps than usual,
    which the kit's own clients never do.
    """
    data = within_one_batch(setup, FOUR_SIZES) if shuffled else FOUR_SIZES
    effort, efforts = setup.effort, None
    if late_clients and effort is not None and effort > 1:
        more = effort + longer
        efforts = ((more, effort, effort - 1), (more,), (effort, 1, more, effort), (2, more))
    return _scenario(setup, loss, weighted, "other data", data, CONFIRMING, efforts, flatter=FLATTER)


def shuffled_scenarios(setup: Setup, loss: str, weighted: bool, rounds: int) -> tuple[Scenario, ...]:
    """The scenarios for code that shuffles: every client has one sample more than a batch holds; see `shuffling`."""
    size = getattr(setup.solver, "batch_size", None)
    if size is None:  # no batches: the order does not matter
        return ()
    data = [_samples(size + 1, first) for first in (0, 7)]
    return (
        _scenario(setup, loss, weighted, "shuffled batches of one client", data[:1], ((0,),) * rounds, None),
        _scenario(setup, loss, weighted, "shuffled batches of two clients", data, ((0, 1),) * rounds, None),
    )


def _scenario(
    setup: Setup,
    loss: str,
    weighted: bool,
    name: str,
    data: Sequence[Any],
    rounds: Rounds,
    efforts: Rounds | None,
    distance: int = 1,
    flatter: float = 1.0,
) -> Scenario:
    """`distance`: a factor of the initial point and of the targets of least squares; `flatter`: of their features."""
    sizes = tuple(len(targets) for _, targets in data)
    weights = sizes if weighted else None
    if loss == CROSS_ENTROPY:
        classified, start = classification_of(setup, data, weights)
        return Scenario(name, classified, classified, (Fraction(1),) * len(data), start, rounds, setup.solver, efforts)
    A, b = scaled_to(setup, data, loss)
    A = [flatter * features for features in A]
    b, start = [distance * targets for targets in b], tuple(distance * value for value in FIRST_POINT)
    factors = tuple(2 * factor_of(loss, size) for size in sizes)
    squares = LeastSquares(A=A, b=b, weights=weights)
    problem = squares if loss == "half_sum" else problem_of(loss, A, b, weights)
    return Scenario(name, problem, squares, factors, start, rounds, setup.solver, efforts)


def within_one_batch(setup: Setup, data: Sequence[Any]) -> list[Any]:
    """The clients' first samples, of different numbers where there is room, and no more than a batch holds."""
    if setup.most_batches == 1:
        return list(data)
    size: int = setup.solver.batch_size  # type: ignore[attr-defined] # SGD, whose batches are fewer than the samples
    sizes = [len(targets) for _, targets in data]
    alike = len(set(sizes)) == 1
    kept = [min(n, size) if alike else min(n, -(-n * size // LARGEST_CLIENT)) for n in sizes]
    return [(A[:count], targets[:count]) for (A, targets), count in zip(data, kept, strict=True)]


def _samples(count: int, first: int) -> Any:
    """So many samples, two of which differ in each nine of a row."""
    numbers = range(first, first + count)
    return [[i % 3 - 1, 1 + i % 2] for i in numbers], [(5 * i) % 9 - 4 for i in numbers]


def classification_of(
    setup: Setup, data: Sequence[Any], weights: Sequence[int] | None
) -> tuple[CrossEntropy, tuple[float, ...]]:
    """The same points with the targets' remainders as labels, and the server's first model.

    The features are scaled so that the curvature along the weight is about `curvature(setup)`; the biases' curvature is
    at most 1/2 whatever the scale. The first weights shrink as the features grow: scores of moderate size have
    probabilities that steps change visibly.
    """
    features = [np.array(A, float) for A, _ in data]
    labels = [[target % CLASSES for target in targets] for _, targets in data]
    largest = max(float(np.linalg.norm(A, 2)) ** 2 / (2 * len(A)) for A in features)
    factor = short(sqrt(curvature(setup) / largest))
    _, exponent = frexp(factor)
    start = (*(ldexp(value, -exponent) for value in FIRST_WEIGHT), *FIRST_BIAS)
    return CrossEntropy([factor * A for A in features], labels, CLASSES, weights), start


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
