"""How fast a method converges on quadratics, exactly: no Lyapunov function can prove a faster rate.

On quadratic clients the round is a linear map of the state's coordinates, here restricted to what runs from the
method's own start reach. Its spectral radius r bounds every contraction: along an eigenvector errors shrink by r a
round, for ever.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from typing import Any, final

import numpy as np
from flint import fmpq_mat

from fedconvex.arithmetic.linear_systems import Rows, echelon, invariant, kernel
from fedconvex.arithmetic.linear_systems import product as product_of
from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.problems.subproblem import Subproblem
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import (
    BETWEEN,
    SHARES,
    TILTS,
    AnyFederation,
    InAPlane,
    OnALine,
    QuadraticFederation,
    trial_federations,
)
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    Several,
    in_floats,
)
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes

DIGITS = 10**15  # of a spectral radius that is irrational
REFINEMENTS = 24  # of the direction in a plane
FINER_SHARES = 3  # halvings of the step between shares, which make more clients
ROUNDING = 1e-3  # what floats may say too little of a spectral radius, relatively; an eigenvalue may be a multiple one
FEW = 4  # federations of which exact numbers cost no more than floats of all at once


@final
@dataclass(frozen=True, eq=False)
class Attained:
    """A federation, its linear map of the coordinates, and the square of the spectral radius.

    `sign`: see `QuadraticAnswers`. `squared` is the number itself where it `is_exact`, else a rational number slightly
    below it. `root` is the eigenvalue of largest size where that
    is rational. Where the round is random, `matrix` is the map of one outcome, or of products, `squared` the factor of
    expected squares, and `vectors` are those coordinates whose products shrink no faster.
    `coordinates`: where the matrix maps other coordinates than the proof's.
    """

    federation: AnyFederation
    sign: int
    matrix: Rows
    squared: Fraction
    is_exact: bool
    root: Any
    vectors: Rows = field(default_factory=list)
    coordinates: Coordinates | None = None


@dataclass(eq=False)
class QuadraticAnswers(ABC):
    """Answers of clients whose gradients are linear, as of a `Board`.

    `sign`: γ-inexact answers leave sign·γ times the subproblem's gradient at the start.
    """

    sign: int

    @abstractmethod
    def times(self, point: Any) -> Any:
        """The Hessians times the points."""

    @abstractmethod
    def solved(self, weight: Any, right: Any) -> Any:
        """The points that the Hessians plus `weight` take to `right`."""

    def added(self) -> Any:
        """What is added to the gradients."""
        return Family()

    def gradient(self, point: Any) -> Any:
        return self.times(point) + self.added()

    def minimise(self, subproblem: Subproblem, left: Any = None) -> Any:
        right = subproblem.right_side(Family() if left is None else left) - self.added()
        return self.solved(to_fmpq(subproblem.weight), right)

    def minimise_inexactly(self, subproblem: Subproblem, gamma: Any) -> Any:
        first = subproblem.add_gradients(subproblem.start, self.gradient(subproblem.start))
        return self.minimise(subproblem, first * (gamma * self.sign))


@final
@dataclass(frozen=True, eq=False)
class AtOnce:
    """Several federations, of which a round is played in floats."""

    federations: tuple[QuadraticFederation, ...]

    @cached_property
    def action(self) -> Rows:
        """That of each."""
        each = [one.action for one in self.federations]
        return [[Several(np.array([in_floats(one[i][j]) for one in each])) for j in range(2)] for i in range(2)]


@lru_cache(16)  # searches for parameters ask of one class hundreds of times
def _trials(functions: FunctionClass, num_clients: int | str) -> AtOnce:
    return AtOnce(tuple(trial_federations(functions, num_clients)))


@final
@dataclass(eq=False)
class QuadraticBoard(QuadraticAnswers):
    """Of clients in a plane or on a line.

    A vector's parts are its two coordinates, each a linear combination of numbers with names. `pull` is added to the
    gradients.
    """

    federation: QuadraticFederation | AtOnce
    pull: Family = field(default_factory=Family)

    def times(self, point: Any) -> Family:
        return _times(self._action, point)

    def solved(self, weight: Any, right: Any) -> Family:
        (a, b), (c, d) = self._action
        a, d = a + weight, d + weight
        det = a * d - b * c
        return _times([[d / det, -b / det], [-c / det, a / det]], right)

    def added(self) -> Family:
        return self.pull

    @cached_property
    def _action(self) -> Rows:
        return [[x if isinstance(x, Several) else to_fmpq(x) for x in row] for row in self.federation.action]


def _times(matrix: Rows, u: Family) -> Family:
    """The matrix times the two coordinates of a vector."""
    found: dict[tuple[str, str], Any] = {}
    for (part, name), c in u.parts.items():
        for row, other in zip(matrix, (MEAN, DEVIATION), strict=True):
            found[other, name] = found.get((other, name), ZERO) + row[0 if part == MEAN else 1] * c
    return Family({key: c for key, c in found.items() if c})


def attained(found: Coordinates, solver: LocalSolver, federation: QuadraticFederation, sign: int = 0) -> Attained:
    """The linear map of the coordinates in one round, and its spectral radius.

    Where communication is skipped at random, the map of the expected products of coordinates is what counts, and its
    spectral radius that of squares.
    """
    chances, matrices = linear_maps(found, solver, federation, sign)
    n, mean = len(matrices[0]), len(found.mean.read)
    starts = [[*found.mean.start, *[ZERO] * (n - mean)], [*[ZERO] * mean, *found.deviation.start]]
    basis, _, maps = invariant(matrices, starts)  # of server and memories
    if len(maps) == 1:
        return Attained(federation, sign, matrices[0], *spectral_radius_squared(maps[0]))
    moments = _moments(chances, maps)
    size, exact = spectral_radius(moments)
    vectors = _spanned(moments, size, basis) if exact else []
    return Attained(federation, sign, matrices[0], size, exact, None, vectors)


def linear_maps(
    found: Coordinates, solver: LocalSolver, federation: QuadraticFederation | AtOnce, sign: int = 0
) -> tuple[list[Any], list[Rows]]:
    """The chance of every outcome of a round, and its map; numbers may be functions of parameters."""
    places = [(part.part, i) for part in found.parts for i in range(len(part.read))]
    values = {(part, i): Family({(part, f"{part} {i}"): ONE}) for part, i in places}
    board: Any = QuadraticBoard(sign, federation)
    chances, matrices = [], []
    for chance, state in outcomes(found.method, solver, board, found.state(values), found.period):
        after = found.of(state)
        chances.append(chance)
        matrices.append([[after[a].parts.get((a[0], f"{part} {i}"), ZERO) for part, i in places] for a in places])
    return chances, matrices


def _moments(chances: list[Any], maps: list[Rows]) -> Rows:
    """The expected products z_i z_j after the round, i <= j, as combinations of those before."""
    pairs = list(combinations_with_replacement(range(len(maps[0])), 2))

    def entry(M: Rows, i: int, j: int, k: int, n: int) -> Any:
        both = M[i][k] * M[j][n]
        return both if k == n else both + M[i][n] * M[j][k]

    return [
        [sum((c * entry(M, *row, *column) for c, M in zip(chances, maps, strict=True)), ZERO) for column in pairs]
        for row in pairs
    ]


def _spanned(moments: Rows, size: Fraction, basis: Rows) -> Rows:
    """Vectors that span the range of the second moments that shrink by just `size`, where there is one direction."""
    r = len(basis)
    pairs, root = list(combinations_with_replacement(range(r), 2)), to_fmpq(size)
    eigen = [[x - (root if i == j else ZERO) for j, x in enumerate(row)] for i, row in enumerate(moments)]
    found = kernel(eigen, len(pairs))
    if len(found) != 1:
        return []
    entries = {**dict(zip(pairs, found[0], strict=True))}
    square = [[entries[min(i, j), max(i, j)] for j in range(r)] for i in range(r)]
    return product_of(echelon(square, r)[0], basis, len(basis[0]))


def spectral_radius_squared(matrix: Rows) -> tuple[Fraction, bool, Any]:
    """The square of the spectral radius: a number, whether it is exact or slightly below, and the rational eigenvalue.

    From the irreducible factors of the characteristic polynomial: roots of linear ones are rational, and so is the
    square of the size of two conjugate roots; others are enclosed.
    """
    best: tuple[Fraction, bool, Any] = (Fraction(0), True, None)
    for factor in _factors(matrix):
        c = factor.coeffs()
        rational, exact = None, True
        if len(c) == 2:
            rational = -c[0] / c[1]
            size = to_fraction(rational * rational)
        elif len(c) == 3 and c[1] * c[1] < 4 * c[0] * c[2]:
            size = to_fraction(c[0] / c[2])
        else:
            exact = False
            roots: Any = factor.numer().complex_roots()
            size = max(_below(abs(root) ** 2) for root, _ in roots)
        if size > best[0] or (size == best[0] and best[2] is None):
            best = (size, exact, rational)
    return best


def spectral_radius(matrix: Rows) -> tuple[Fraction, bool]:
    """The spectral radius, and whether it is exact or slightly below."""
    best = (Fraction(0), True)
    for factor in _factors(matrix):
        c, roots = factor.coeffs(), factor.numer().complex_roots()
        linear = len(c) == 2
        size = abs(to_fraction(c[0] / c[1])) if linear else max(_below(abs(root)) for root, _ in roots)
        best = max(best, (size, linear))
    return best


def _factors(matrix: Rows) -> list[Any]:
    """The irreducible factors of the characteristic polynomial."""
    n = len(matrix)
    found: Any = fmpq_mat(n, n, [x for row in matrix for x in row]).charpoly().factor()[1]
    return [factor for factor, _ in found]


def _below(ball: Any) -> Fraction:
    """A short rational number that is not above the ball's numbers, nor negative."""
    mantissa, exponent = ball.lower().man_exp()
    exact = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return max(Fraction(int(exact * DIGITS), DIGITS), Fraction(0))  # int() rounds towards 0


def extremes(found: Coordinates, solver: LocalSolver, functions: FunctionClass) -> list[Attained]:
    """Clients that all have the smallest or the largest curvature: those with the larger spectral radius, or both."""
    curvatures = dict.fromkeys(functions.ends)
    return _largest([attained(found, solver, OnALine(a, a, Fraction(1))) for a in curvatures])


def _largest(tried: list[Attained]) -> list[Attained]:
    most = max(one.squared for one in tried)
    return [one for one in tried if one.squared == most]


def slowest(
    found: Coordinates, solver: LocalSolver, functions: FunctionClass, num_clients: int | str, inexact: bool
) -> list[Attained]:
    """The trial federations with the largest spectral radius: all that share it."""
    trials = _trials(functions, num_clients)
    signs = (-1, 0, 1) if inexact else (0,)
    bounds = [bound for sign in signs for bound in _at_most(found, solver, trials, sign)]
    every = [(one, sign) for sign in signs for one in trials.federations]
    tried: dict[int, Attained] = {}
    for n in sorted(range(len(every)), key=bounds.__getitem__, reverse=True):
        if tried and bounds[n] < max(one.squared for one in tried.values()):
            break
        tried[n] = attained(found, solver, *every[n])
    return _largest([tried[n] for n in sorted(tried)])


def _at_most(found: Coordinates, solver: LocalSolver, trials: AtOnce, sign: int) -> list[float]:
    """More than what each attains, in floats: what runs reach is a part of all states, on which this radius is."""
    count = len(trials.federations)
    if count <= FEW:
        return [np.inf] * count
    with np.errstate(all="ignore"):
        chances, maps = linear_maps(found, solver, trials, sign)
        outcomes_of = [matrices(M, count) for M in maps]
        if len(maps) == 1:
            return [x * x for x in radii(outcomes_of[0], ROUNDING)]
        n = len(maps[0])
        products = [float(c) * np.einsum("fij,fab->fiajb", M, M) for c, M in zip(chances, outcomes_of, strict=True)]
        return radii(sum(products).reshape(count, n * n, n * n), ROUNDING)


def matrices(rows: Rows, count: int) -> Any:
    """The matrix of each of so many federations, in floats."""
    return np.moveaxis(np.array([[in_floats(x) + np.zeros(count) for x in row] for row in rows]), -1, 0)


def radii(of: Any, more: float = 0.0) -> list[float]:
    """The spectral radii of matrices, in floats; with what rounding may take of them where `more` is its part."""
    sizes = np.linalg.norm(of, axis=(1, 2))
    finite, found = np.isfinite(sizes), np.full(len(sizes), np.inf)
    largest = abs(np.linalg.eigvals(of[finite])).max(axis=1, initial=0.0)
    found[finite] = largest * (1 + more) + more**3 * sizes[finite]
    return found.tolist()


def refined(
    found: Coordinates, solver: LocalSolver, best: Attained, functions: FunctionClass, num_clients: int | str
) -> Attained:
    """A federation beside the best one that is slower still: in another direction of the plane, or with other shares.

    Where all clients are alike, with another curvature; the given one where their number leaves no choice.
    """
    around, (low, high) = best.federation, functions.ends
    if isinstance(around, InAPlane):
        step, times = Fraction(1, TILTS), REFINEMENTS
    elif isinstance(around, OnALine) and around.first != around.second and num_clients == "any":
        step, times = Fraction(1, SHARES), FINER_SHARES
    elif isinstance(around, OnALine) and around.first == around.second and low < around.first < high:
        step, times = (high - low) / (BETWEEN + 1), REFINEMENTS
    else:
        return best
    for _ in range(times):
        step, around = step / 2, best.federation
        if isinstance(around, InAPlane):
            beside: list[Any] = [replace(around, tilt=t) for t in (around.tilt - step, around.tilt + step) if 0 < t < 1]
        elif isinstance(around, OnALine) and around.first == around.second:
            curvatures = [a for a in (around.first - step, around.first + step) if low <= a <= high]
            beside = [replace(around, first=a, second=a) for a in curvatures]
        else:
            assert isinstance(around, OnALine)
            beside = [replace(around, share=p) for p in (around.share - step, around.share + step) if 0 < p < 1]
        best = max(best, *(attained(found, solver, one, best.sign) for one in beside), key=lambda one: one.squared)
    return best
