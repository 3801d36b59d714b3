"""What a worst-case analysis knows of the clients' functions: evaluations at points, and inequalities between them.

A `Board` collects the points at which a method evaluates the clients' functions, with unknown gradients and values as
basic vectors and numbers. The interpolation conditions of the function class relate any two points, and are all that
the semidefinite program knows of the functions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.compressors import Compressor
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Subproblem
from fedconvex.proofs_checks.symbolic.random_vectors import require_no_draw
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    Family,
    Form,
    Mixture,
    Vectors,
    centred,
    family,
    inner,
    mean,
    of_group,
    square,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.compression import Compression
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    ClientGroups,
    Differentiable,
    FunctionClass,
    Seen,
)


@final
@dataclass(frozen=True)
class Evaluation:
    """The clients' functions at one point of each: points, gradients, and the name of the mean value."""

    point: Any  # Vectors
    gradient: Any
    value: str  # empty at the minimiser, where values are 0
    base: Form | None = None  # the part of the value that is known, where the named number is only the rest
    of_groups: tuple[str, ...] = ()  # the names of the mean values of each group's clients, where there are groups

    def value_of(self, group: int | None) -> str:
        """The name of the mean value of one group's clients; of all clients, where there are no groups."""
        return self.value if group is None else self.of_groups[group]


@final
@dataclass(frozen=True)
class Residual:
    """The subproblems' gradients at γ-inexact answers: at most gamma times as long as those at the start."""

    left: Any  # Vectors: the gradients ∇φ_k(θ_k) at the answers
    first: Any  # ∇φ_k(start_k)
    gamma: Any

    def inequality(self, group: int | None = None) -> Form:
        """γ²‖∇φ_k(start_k)‖² − ‖∇φ_k(θ_k)‖² >= 0, in the mean over the clients.

        It holds for every client. Using only the mean loses nothing: clients whose deviations have equal length and are
        orthogonal to the means satisfy the one where they satisfy the other.
        """
        form: Form = square(of_group(self.first, group)) * self.gamma**2 - square(of_group(self.left, group))
        return form


@final
@dataclass
class Board:
    """The evaluations of the clients' functions so far, and the inequalities between them.

    With a minimiser the origin is the minimiser of the mean: there the gradients have mean 0 and the values are 0.

    A `label` marks the board of a single client in an `EnumeratedBoard`; names end by it. Its unknowns are then the
    changes from the first point, with the tangent there subtracted from the values: points of many rounds lie close
    together, and a floating-point solver loses the small differences of large numbers.
    """

    clients: int
    functions: FunctionClass
    minimiser: bool = True
    evaluations: list[Evaluation] = field(default_factory=list)
    residuals: list[Residual] = field(default_factory=list)
    label: str = ""
    composite: bool = False  # whether the server takes proximal steps of a convex ψ, whose subgradient at 0 is 0
    proximal: list[tuple[Family, Family]] = field(default_factory=list)  # their points, and the subgradients there
    visited: list[Evaluation] = field(default_factory=list)  # in the order of visits, also where nothing was new
    compression: Compression | None = None  # of the vectors that clients send, where it is analysed

    def __post_init__(self) -> None:
        if self.minimiser:
            number = len(self.functions.groups) if type(self.functions) is ClientGroups else 0
            self.evaluations.append(Evaluation(Family(), self.minimiser_gradients, "", of_groups=("",) * number))

    @property
    def minimiser_gradients(self) -> Vectors:
        """The clients' gradients ∇F_k(x*) at the minimiser, with mean 0."""
        if type(self.functions) is not ClientGroups:
            return centred("g*", self.clients)
        free = self.vectors("g*")
        assert isinstance(free, Mixture)
        # All groups but the last have any mean; the last one's makes the weighted mean of all 0.
        *others, last = free.groups
        rest = sum((mean(u) * share for u, share in zip(others, free.shares, strict=False)), start=Family())
        return Mixture(free.shares, (*others, last - mean(last) - rest / free.shares[-1]))

    def vectors(self, name: str) -> Vectors:
        """A new unknown vector for every client."""
        made: Vectors = self._noted(self._vectors(name))
        return made

    def _noted(self, made: Any) -> Any:
        return made if self.compression is None else self.compression.note(made)

    def _vectors(self, name: str) -> Vectors:
        if type(self.functions) is not ClientGroups:
            return family(name + self.label, self.clients)
        return Mixture(
            tuple(map(to_fmpq, self.functions.shares)),
            tuple(
                family(f"{name}.{k}", 1 if group.clients == 1 else 2, f"{DEVIATION} {k}")
                for k, group in enumerate(self.functions.groups)
            ),
        )

    @property
    def common(self) -> list[tuple[int, Evaluation]]:
        """The evaluations at points that all clients share, with their numbers."""
        return [(n, e) for n, e in enumerate(self.evaluations) if e.point.key == mean(e.point).key]

    @property
    def representatives(self) -> list[tuple[int | None, int]]:
        """Clients that stand for all: the group, and the sign of the deviation from the mean."""
        if type(self.functions) is not ClientGroups:
            return [(None, sign) for sign in (1, -1)[: self.clients]]
        groups = enumerate(self.functions.groups)
        return [(k, sign) for k, group in groups for sign in ((1,) if group.clients == 1 else (1, -1))]

    def mean_value(self, evaluation: Evaluation, group: int | None = None) -> Form:
        """The mean of the values there, of all clients or of one group's."""
        if evaluation.base is not None:
            return value(evaluation.value) + evaluation.base
        if type(self.functions) is not ClientGroups:
            return value(evaluation.value)
        if group is not None:
            return value(evaluation.value_of(group))
        of_groups = (value(evaluation.value_of(k)) * share for k, share in enumerate(self.functions.shares))
        return sum(of_groups, start=Form())

    @property
    def curvature(self) -> Any:
        """The curvature of all functions where the class has a single one; then one gradient determines all others."""
        low, high = self.functions.lowest, self.functions.highest
        return to_fmpq(low) if low == high else None

    def gradient(self, point: Vectors) -> Any:
        """The clients' gradients at a point: unknown vectors, the same ones at the same point."""
        return self.at(point).gradient

    def at(self, point: Vectors) -> Evaluation:
        """The evaluation at a point: the recorded one, or a new one with unknown gradients."""
        found = self._at(point)
        self.visited.append(found)
        return found

    def _at(self, point: Vectors) -> Evaluation:
        require_no_draw(point)
        groups = range(len(self.functions.groups)) if type(self.functions) is ClientGroups else (None,)
        # Compared entry by entry: hashing rationals would take longer than all of that.
        keys = [of_group(point, k).parts for k in groups]
        before = [[of_group(e.point, k).parts for k in groups] for e in self.evaluations]
        if keys in before:
            return self.evaluations[before.index(keys)]
        if same := {k: n for n, known in enumerate(before) for k, key in enumerate(known) if key == keys[k]}:
            return self._partly_known(point, same)
        if self.curvature is not None and self.evaluations:
            first = self.evaluations[0]
            return self.record(point, first.gradient + (point - first.point) * self.curvature)
        return self.record(point, self.new_gradients())

    def _partly_known(self, point: Vectors, same: Mapping[int, int]) -> Evaluation:
        """Records an evaluation at which some groups' clients have been before, in the evaluations of these numbers."""
        made, new = self.record(point, self.new_gradients()), self.evaluations
        rows, names = list(made.gradient.groups), list(made.of_groups)
        for k, n in same.items():
            rows[k], names[k] = of_group(new[n].gradient, k), new[n].of_groups[k]
        gradient = Mixture(made.gradient.shares, tuple(rows))
        self.evaluations[-1] = replace(made, gradient=gradient, of_groups=tuple(names))
        return self.evaluations[-1]

    @property
    def reference(self) -> Evaluation | None:
        """With a label, the point from which changes are measured: the first one, after the minimiser if any."""
        if not self.label or not self.evaluations:
            return None
        return next((e for e in self.evaluations[:2] if e.value), self.evaluations[0])

    def new_gradients(self) -> Any:
        """Unknown gradients for the next evaluation."""
        new, first = self.vectors(f"g{len(self.evaluations)}"), self.reference
        return new if first is None else first.gradient + new

    def record(self, point: Vectors, gradient: Vectors) -> Evaluation:
        """Adds an evaluation with these gradients, as where the point solves a subproblem."""
        require_no_draw(point)
        first, base = self.reference, None
        if first is not None:
            base = inner(first.gradient, point - first.point)
            base = base + self.mean_value(first)
        number = len(self.functions.groups) if type(self.functions) is ClientGroups else 0
        name = f"F{len(self.evaluations)}{self.label}"
        made = Evaluation(point, gradient, name, base, tuple(f"{name}.{k}" for k in range(number)))
        self.evaluations.append(made)
        return made

    def minimise(self, subproblem: Subproblem, left: Any = None) -> Any:
        """The clients' points at which the subproblems' gradients vanish, or equal `left`.

        Strong convexity of the subproblem makes such a point its only minimiser. Raises InvalidInput without it.
        """
        weight = to_fmpq(subproblem.weight)
        any_curvature = type(self.functions) is Differentiable and weight
        if not any_curvature and not to_fmpq(self.functions.lowest) + weight > 0:
            least = f"clients of curvature {self.functions.lowest} and a proximal term of weight {weight}"
            raise InvalidInput("method", least, "have subproblems without, or with many, minimisers",
                               "give a larger weight, or strongly convex clients")  # fmt: skip
        right = subproblem.right_side(Family() if left is None else left)
        if self.curvature is not None and self.evaluations:  # gradient + weight · point = right
            first = self.evaluations[0]
            point = (right - first.gradient + first.point * self.curvature) / (weight + self.curvature)
            return self.at(point).point
        name = f"{len(self.evaluations)}"
        if weight:  # the gradient is the unknown, and determines the point: an implicit step
            gradient = self.new_gradients()
            self.visited.append(self.record((right - gradient) / weight, gradient))
        else:
            self.visited.append(self.record(self.vectors(f"x{name}"), right))
        return self.visited[-1].point

    def minimise_inexactly(self, subproblem: Subproblem, gamma: Any) -> Any:
        """Any points at which the subproblems' gradients are at most gamma times as long as at the start."""
        left = self.vectors(f"e{len(self.residuals) + 1}")
        first = subproblem.add_gradients(subproblem.start, self.gradient(subproblem.start))
        self.residuals.append(Residual(left, first, gamma))
        return self.minimise(subproblem, left)

    def compressed(self, compressor: Compressor, vectors: Any) -> Any:
        """What the clients send of these vectors. Raises InvalidInput where compression is not analysed."""
        if self.compression is None:
            raise InvalidInput("method", compressor, "compresses what clients send, which is not analysed here",
                               "use `lyapunov`, for the rate in expectation")  # fmt: skip
        error = self._vectors(f"e{len(self.compression.errors) + 1} of C")
        return self.compression.compressed(compressor, vectors, error)

    def prox(self, point: Family, stepsize: Any) -> Family:
        """prox_{stepsize·ψ}(point): the point minus stepsize times a subgradient of ψ there."""
        subgradient = self._noted(Family({(MEAN, f"q{len(self.proximal) + 1}{self.label}"): ONE}))
        found: Family = point - subgradient * stepsize
        self.proximal.append((found, subgradient))
        return found

    @property
    def monotone(self) -> list[tuple[str, Form]]:
        """⟨q_i − q_j, x_i − x_j⟩ >= 0 for the subgradients of ψ, one of which is 0 at 0."""
        known = [(Family(), Family()), *self.proximal]
        return [
            (f"subgradients {i} and {j}", inner(known[i][1] - known[j][1], known[i][0] - known[j][0]))
            for j in range(len(known)) for i in range(j)
        ]  # fmt: skip

    def inequalities(self, among: str = "all") -> list[tuple[str, Form]]:
        """Named forms that are nonnegative for all functions of the class: one for every ordered pair of points.

        Among "all" pairs, or "neighbours": consecutive points, and the minimiser with every point.
        """
        pairs = [
            (i, j)
            for i in range(len(self.evaluations))
            for j in range(len(self.evaluations))
            if i != j and (among == "all" or abs(i - j) == 1 or (self.minimiser and 0 in (i, j)))
        ]
        residuals = list(enumerate(self.residuals, 1))
        if type(self.functions) is not ClientGroups:
            seen = self._seen(None)
            found = [(f"{j} from {i}{self.label}", form) for (i, j), form in self.functions.between(seen, pairs)]
            found += self.functions.at_each(seen) if self.minimiser else []
            return found + [(f"inexactness {n}{self.label}", residual.inequality()) for n, residual in residuals]
        groups = list(enumerate(self.functions.groups))
        return [
            (f"{j} from {i} of group {k + 1}", form)
            for k, group in groups
            for (i, j), form in group.functions.between(self._seen(k), self._first(pairs, k))
        ] + [(f"inexactness {n} of group {k + 1}", r.inequality(k)) for k, _ in groups for n, r in residuals]

    def _seen(self, group: int | None) -> list[Seen]:
        """What is known at every point, of one group's clients or of all."""
        return [
            Seen(of_group(e.point, group), of_group(e.gradient, group), self.mean_value(e, group))
            for e in self.evaluations
        ]

    def interpolation(self, i: int, j: int, functions: FunctionClass, group: int | None = None) -> Form:
        """The inequality of a class from the point i to the point j."""
        [(_, found)] = functions.between(self._seen(group), [(i, j)])
        return found

    def _first(self, pairs: list[tuple[int, int]], group: int) -> list[tuple[int, int]]:
        """The pairs of evaluations at which the group's clients were for the first time."""
        names = [e.of_groups[group] for e in self.evaluations]
        first = {n for n, name in enumerate(names) if names.index(name) == n}
        return [pair for pair in pairs if first.issuperset(pair)]
