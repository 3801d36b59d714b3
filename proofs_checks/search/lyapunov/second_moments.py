"""Expected products of the vectors of a state, on quadratic clients in groups: linear in those before the round.

All clients of a group have one curvature. The vectors are the server's, every group's mean of a memory, and deviations
from these. Beside what the products before the round contribute there is what disturbs it: noise of gradients, or the
clients' gradients at the minimiser, where they do not cancel.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, final

from flint import fmpq, fmpq_mat

from fedconvex.arithmetic.linear_systems import Rows, invariant
from fedconvex.arithmetic.rationals import root_below, to_fmpq, to_fraction
from fedconvex.compressors import Compressor, Contractive
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import QuadraticAnswers
from fedconvex.proofs_checks.search.lyapunov.state_vectors import name_of_memory, state_of, vectors_of
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    Key,
    Mixture,
    Several,
    combination,
    family,
    inner,
    mean,
    of_group,
    shared,
)
from fedconvex.proofs_checks.worst_cases.questions.compression import Compression
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes, own_start

UNIT = Fraction(1, 10**12)  # of a square root
NOISE, PULL = "noise", "heterogeneity"  # what disturbs the round
Groups = Sequence[tuple[Any, int]]  # every group's curvature, and how many clients it has
Pair = tuple[Key, Key]


@final
@dataclass(frozen=True, eq=False)
class SecondMoments:
    """Every product after the round, as a combination of products before it and of disturbances.

    The starts are the method's own, whose combinations are all of them: a row for each product. `sizes`: the squares
    of disturbances, where the mean over the clients is 1.
    """

    products: Mapping[Pair, Mapping[Pair, Any]]
    starts: Rows
    sizes: Mapping[Pair, Any]

    @property
    def matrix(self) -> Rows:
        """The map of the products that nothing disturbs."""
        return [[row.get(key, ZERO) for key in self.products] for row in self.products.values()]

    @property
    def reached(self) -> tuple[Rows, list[int], Rows]:
        """The smallest space that contains the starts and their images: its basis, pivots, and the map on it."""
        basis, pivots, [inside] = invariant([self.matrix], [list(column) for column in zip(*self.starts, strict=True)])
        return basis, pivots, inside

    def stationary(self, measured: Mapping[str, Any]) -> Any:
        """The limit of the squared length of a combination of the means, from 0 on; None where there is none."""
        known = [key for key in self.products if key not in self.sizes]
        matrix = [[self.products[row].get(key, ZERO) for key in known] for row in known]
        added = [sum((c * self.sizes.get(key, ZERO) for key, c in self.products[row].items()), ZERO) for row in known]
        basis, pivots, [inside] = invariant([matrix], [added])
        n = len(pivots)
        if not n:
            return ZERO
        left = fmpq_mat([[(ONE if i == j else ZERO) - inside[i][j] for j in range(n)] for i in range(n)])
        try:
            found = left.solve(fmpq_mat([[added[place]] for place in pivots])).tolist()
        except ZeroDivisionError:  # errors that do not decrease
            return None
        total = ZERO
        for place, ((part, a), (_, b)) in enumerate(known):
            if part == MEAN and measured.get(a) and measured.get(b):
                size = sum((row[place] * x[0] for row, x in zip(basis, found, strict=True)), ZERO)
                total += measured[a] * measured[b] * size * (1 if a == b else 2)
        return total


def second_moments(
    method: Method, solver: LocalSolver, draws: Draws, groups: Groups, rest: Mapping[str, Any], sign: int = 0,
    disturbed: str = "",
) -> SecondMoments:  # fmt: skip
    """The products of a round; `rest`: what memories are at the minimiser, in units of the clients' gradients there."""
    each = [(c if isinstance(c, Several) else to_fmpq(c), count) for c, count in groups if count]
    board: Any = _Groups(sign, each, disturbed)
    errors = board.compression
    start = own_start(method)
    first, memories = vectors_of(start), [*map(name_of_memory, start.memory)]
    begun: dict[str, Any] = {name: shared(name) for name in first}
    for name in memories:
        begun[name] = board.mixture([board.vector(name, k) for k in range(len(each))])
    state = state_of(method, begun)
    chances, states = zip(*outcomes(method, solver, board, state, draws=draws), strict=True)
    afters = [vectors_of(after) for after in states]
    begins = {name: u.parts.get((MEAN, "w"), ZERO) for name, u in first.items()}
    # A vector after the round; at the start, per unit of the server's point, and of the gradients' difference.
    means: dict[str, Any] = {n: ([u[n] for u in afters], c, ZERO) for n, c in begins.items() if n not in memories}
    if disturbed == PULL and len(each) > 1:
        means[PULL] = [shared(PULL)] * len(afters), ZERO, ZERO
    parts: list[tuple[int, str, dict[str, Any]]] = [(0, MEAN, means)]
    for k, (_, count) in enumerate(each):
        deviations = {}
        for name in memories:
            rows = [of_group(u[name], k) for u in afters]
            pull = -rest.get(name, ZERO) * board.pulls[k] if len(each) > 1 else ZERO
            means[f"{name} {k}"] = [mean(u, k) for u in rows], begins[name], pull
            deviations[f"{name} {k}"] = rows, ZERO, rest.get(name, ZERO)
        if count > 1:
            parts.append((k, f"{DEVIATION} {k}", deviations))
    products, starts = {}, []
    for place, (group, part, vectors) in enumerate(parts):
        for a, b in combinations_with_replacement(sorted(vectors), 2):
            (us, *u), (vs, *v) = vectors[a], vectors[b]
            found = [(chance, inner(x, y, group)) for chance, x, y in zip(chances, us, vs, strict=True)]
            if part != MEAN:  # the mean square minus the square of the mean
                whole = zip(chances, means[a][0], means[b][0], strict=True)
                found += [(-chance, inner(x, y)) for chance, x, y in whole]
            products[(part, a), (part, b)] = errors.attained(combination(*found)).products
            of_means = [u[0] * v[0], u[1] * v[1], (u[0] + u[1]) * (v[0] + v[1])]
            of_groups = [u[1] * v[1] if place == other else ZERO for other in range(1, len(parts))]
            starts.append([*(of_means if part == MEAN else [ZERO] * 3), *of_groups])
    return SecondMoments(products, starts, board.sizes)


@final
@dataclass(eq=False)
class _Groups(QuadraticAnswers):
    """Answers for groups of quadratics of one curvature each, as of a `Board`."""

    groups: list[tuple[Any, int]]
    disturbed: str
    sizes: dict[Pair, Any] = field(default_factory=dict)
    count: int = 0

    def __post_init__(self) -> None:
        self.compression = Compression(tuple(n for _, n in self.groups))

    def compressed(self, compressor: Compressor, vectors: Any) -> Any:
        """What clients send whose compressors attain what they promise: of contractive ones a multiple, by `sign`."""
        if isinstance(compressor, Contractive):
            return vectors * (1 + self.sign * root_below(1 - to_fraction(compressor.delta), UNIT))
        name = f"e{len(self.compression.errors) + 1} of C"
        new = self.mixture([self.vector(name, k) for k in range(len(self.groups))])
        return self.compression.compressed(compressor, vectors, new)

    @property
    def is_noisy(self) -> bool:
        return self.disturbed == NOISE

    @property
    def shares(self) -> tuple[Any, ...]:
        m = sum(n for _, n in self.groups)
        return tuple(fmpq(n, m) for _, n in self.groups)

    @property
    def pulls(self) -> list[Any]:
        """The groups' gradients at the minimiser, which have mean 0."""
        return [fmpq(1 - 2 * k, n) for k, (_, n) in enumerate(self.groups)]

    def vector(self, name: str, group: int) -> Family:
        """Unknown vectors of a group's clients."""
        return family(f"{name} {group}", min(self.groups[group][1], 2), f"{DEVIATION} {group}")

    def mixture(self, rows: list[Family]) -> Any:
        """The vectors of all groups."""
        return Mixture(self.shares, tuple(rows)) if len(rows) > 1 else rows[0]

    def _each(self, change: Callable[[Any, Family], Family], u: Any) -> Any:
        return self.mixture([change(curvature, of_group(u, k)) for k, (curvature, _) in enumerate(self.groups)])

    def times(self, point: Any) -> Any:
        return self._each(lambda curvature, u: u * curvature, point)

    def solved(self, weight: Any, right: Any) -> Any:
        return self._each(lambda curvature, u: u / (curvature + weight), right)

    def added(self) -> Any:
        """The disturbance, of mean square 1: new noise of every client, or the pull, which stays."""
        if not self.disturbed:
            return Family()
        if self.disturbed == PULL and len(self.groups) > 1:
            size = sum((share * c * c for share, c in zip(self.shares, self.pulls, strict=True)), ZERO)
            self.sizes[((MEAN, PULL),) * 2] = 1 / size
            return self.mixture([shared(PULL) * c for c in self.pulls])
        self.count += self.disturbed == NOISE
        name = f"{self.disturbed} {self.count}"
        rows = [self.vector(name, k) for k in range(len(self.groups))]
        for (_, n), u in zip(self.groups, rows, strict=True):
            for part, of in u.parts:
                in_mean = fmpq(1, n) if self.disturbed == NOISE else ZERO  # the pull has mean 0
                self.sizes[((part, of),) * 2] = in_mean if part == MEAN else 1 - in_mean
        return self.mixture([u if self.disturbed == NOISE else u - u.only(MEAN) for u in rows])
