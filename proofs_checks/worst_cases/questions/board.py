"""A method played on vectors that are not known yet: its own code, with basic vectors in the place of arrays."""

from dataclasses import dataclass, field
from typing import Any, TypeVar, final

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.parameters import in_arithmetic
from fedconvex.problems.base import Subproblem
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups, FunctionClass, NotSmooth
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import (
    DEVIATION,
    Family,
    Form,
    Mixture,
    Vectors,
    centred,
    combination,
    drawn,
    family,
    inner,
    mean,
    of_kind,
    square,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.sampling import EVERYONE, Draws

T = TypeVar("T")


@final
@dataclass(frozen=True)
class Evaluation:
    """Where the clients' functions were looked at: point, gradient, and the name of the mean value there."""

    point: Any  # Vectors
    gradient: Any
    value: str
    base: Form | None = None  # what the value is measured from, where that is not 0

    def value_of(self, kind: int | None) -> str:
        """The name of the mean value of one kind's clients; of all, where there are no kinds."""
        return self.value if kind is None or not self.value else f"{self.value}.{kind}"


@final
@dataclass(frozen=True)
class Residual:
    """What inexact answers leave of their subproblems' gradients: at most gamma times the gradients at the start."""

    left: Any  # Vectors
    first: Any  # the subproblems' gradients at the start
    gamma: Any

    def inequality(self, kind: int | None = None) -> Form:
        """γ²‖∇φ_k(start_k)‖² − ‖∇φ_k(θ_k)‖² >= 0, in the mean over the clients.

        That holds of every client. Clients whose deviations are equally long show that no more follows from it.
        """
        form: Form = square(of_kind(self.first, kind)) * self.gamma**2 - square(of_kind(self.left, kind))
        return form


@final
@dataclass
class Board:
    """What is known of the clients' functions.

    With a minimiser this is the origin, where the gradients have mean 0 and the values are 0.

    With a `label`, by which names end, the unknown numbers are what changes from the first point, its tangent taken
    away from the values: rounds often move little, and differences of what is nearly equal are lost in rounding.
    """

    clients: int
    functions: FunctionClass
    minimiser: bool = True
    evaluations: list[Evaluation] = field(default_factory=list)
    residuals: list[Residual] = field(default_factory=list)
    label: str = ""

    def __post_init__(self) -> None:
        if self.minimiser:
            self.evaluations.append(Evaluation(Family(), self.pulls, ""))

    @property
    def pulls(self) -> Vectors:
        """The clients' gradients at the minimiser."""
        if type(self.functions) is not ClientGroups:
            return centred("g*", self.clients)
        free = self.vectors("g*")
        assert isinstance(free, Mixture)
        *others, last = free.kinds
        rest = sum((mean(u) * share for u, share in zip(others, free.shares, strict=False)), start=Family())
        return Mixture(free.shares, (*others, last - mean(last) - rest / free.shares[-1]))

    def vectors(self, name: str) -> Vectors:
        """A vector for every client that is not known."""
        if type(self.functions) is not ClientGroups:
            return family(name + self.label, self.clients)
        return Mixture(
            tuple(map(to_fmpq, self.functions.shares)),
            tuple(
                family(f"{name}.{k}", 1 if kind.clients == 1 else 2, f"{DEVIATION} {k}")
                for k, kind in enumerate(self.functions.kinds)
            ),
        )

    @property
    def common(self) -> list[tuple[int, Evaluation]]:
        """The points that all clients share, with their numbers."""
        return [(n, e) for n, e in enumerate(self.evaluations) if e.point.key == mean(e.point).key]

    @property
    def members(self) -> list[tuple[int | None, int]]:
        """Of clients that can stand for all: the kind, and the sign of the deviation."""
        if type(self.functions) is not ClientGroups:
            return [(None, sign) for sign in (1, -1)[: self.clients]]
        of_kinds = enumerate(self.functions.kinds)
        return [(k, sign) for k, kind in of_kinds for sign in ((1,) if kind.clients == 1 else (1, -1))]

    def height(self, evaluation: Evaluation, kind: int | None = None) -> Form:
        """The mean of the values there, of all clients or of one kind's."""
        if evaluation.base is not None:
            return value(evaluation.value) + evaluation.base
        if not evaluation.value or type(self.functions) is not ClientGroups:
            return value(evaluation.value)
        if kind is not None:
            return value(evaluation.value_of(kind))
        of_kinds = (value(evaluation.value_of(k)) * share for k, share in enumerate(self.functions.shares))
        return sum(of_kinds, start=Form())

    @property
    def curvature(self) -> Any:
        """Where it is the only one of the class, so that one gradient tells all others."""
        low, high = self.functions.lowest, self.functions.highest
        return to_fmpq(low) if low == high else None

    def gradient(self, point: Vectors) -> Any:
        """The clients' gradients at a point: new basic vectors, unless they have been asked for there before."""
        return self.at(point).gradient

    def at(self, point: Vectors) -> Evaluation:
        """What the clients' functions are at a point."""
        mean(point)  # no function is looked at where the draw decides
        for known in self.evaluations:
            if known.point.key == point.key:
                return known
        if self.curvature is not None and self.evaluations:
            first = self.evaluations[0]
            return self.found(point, first.gradient + (point - first.point) * self.curvature)
        return self.found(point, self.unknown())

    @property
    def reference(self) -> Evaluation | None:
        """With a label: the first point that is not the minimiser, else that."""
        if not self.label or not self.evaluations:
            return None
        return next((e for e in self.evaluations[:2] if e.value), self.evaluations[0])

    def unknown(self) -> Any:
        """The gradients at the next point."""
        new, first = self.vectors(f"g{len(self.evaluations)}"), self.reference
        return new if first is None else first.gradient + new

    def found(self, point: Vectors, gradient: Vectors) -> Evaluation:
        """A point whose gradient is known, since it solves a subproblem."""
        first, base = self.reference, None
        if first is not None:
            base = inner(first.gradient, point - first.point)
            base = base + self.height(first)
        made = Evaluation(point, gradient, f"F{len(self.evaluations)}{self.label}", base)
        self.evaluations.append(made)
        return made

    def minimised(self, subproblem: Subproblem, left: Any = None) -> Any:
        """Where the subproblem's gradient vanishes; strong convexity makes that its minimiser, and the only one.

        With vectors that are `left`, where the gradient is that.
        """
        weight = to_fmpq(subproblem.weight)
        if not to_fmpq(self.functions.lowest) + weight > 0:
            least = f"clients of curvature {self.functions.lowest} and a proximal term of weight {weight}"
            raise InvalidInput("method", least, "have subproblems without, or with many, minimisers",
                               "give a larger weight, or strongly convex clients")  # fmt: skip
        right = Family() if subproblem.linear is None else -subproblem.linear
        if weight:
            right = right + subproblem.center * weight
        if left is not None:
            right = right + left
        if self.curvature is not None and self.evaluations:  # gradient + weight · point = right
            first = self.evaluations[0]
            point = (right - first.gradient + first.point * self.curvature) / (weight + self.curvature)
            return self.at(point).point
        name = f"{len(self.evaluations)}"
        if weight:
            gradient = self.unknown()
            return self.found((right - gradient) / weight, gradient).point
        return self.found(self.vectors(f"x{name}"), right).point

    def inexactly(self, subproblem: Subproblem, gamma: Any) -> Any:
        """Any answer at which the subproblem's gradient is at most gamma times as long as at the start."""
        left = self.vectors(f"e{len(self.residuals) + 1}")
        first = subproblem.add_gradients(subproblem.start, self.gradient(subproblem.start))
        self.residuals.append(Residual(left, first, gamma))
        return self.minimised(subproblem, left)

    def inequalities(self, among: str = "all") -> list[tuple[str, Form]]:
        """What holds between two of the points for functions of the class; none is negative.

        Among "all", or "neighbours": points that follow one another, and the minimiser and every point.
        """
        pairs = [
            (i, j)
            for i in range(len(self.evaluations))
            for j in range(len(self.evaluations))
            if i != j and (among == "all" or abs(i - j) == 1 or (self.minimiser and 0 in (i, j)))
        ]
        left = list(enumerate(self.residuals, 1))
        if type(self.functions) is not ClientGroups:
            interpolated = [(f"{j} from {i}{self.label}", self.interpolation(i, j, self.functions)) for i, j in pairs]
            return interpolated + [(f"inexactness {n}{self.label}", residual.inequality()) for n, residual in left]
        kinds = list(enumerate(self.functions.kinds))
        return [
            (f"{j} from {i} of kind {k + 1}", self.interpolation(i, j, kind.functions, k))
            for k, kind in kinds
            for i, j in pairs
        ] + [(f"inexactness {n} of kind {k + 1}", residual.inequality(k)) for k, _ in kinds for n, residual in left]

    def interpolation(self, i: int, j: int, functions: FunctionClass, kind: int | None = None) -> Form:
        """F(b) − F(a) − ⟨∇F(a), b − a⟩ − ‖∇F(b) − ∇F(a) − ℓ(b − a)‖²/(2(L − ℓ)) − (ℓ/2)‖b − a‖² >= 0.

        a and b are the points i and j, ℓ and L the smallest and the largest curvature. For ℓ = L the square vanishes:
        the gradients see to it. So does its factor where the functions need not be smooth.
        """
        a, b = self.evaluations[i], self.evaluations[j]
        low = to_fmpq(functions.lowest)
        high = low if type(functions) is NotSmooth else to_fmpq(functions.highest)
        step, before = of_kind(b.point - a.point, kind), of_kind(a.gradient, kind)
        change = of_kind(b.gradient, kind) - before
        terms = [(1, self.height(b, kind)), (-1, self.height(a, kind)), (-1, inner(before, step))]
        if low:
            terms.append((-low / 2, square(step)))
        if low != high:
            terms.append((1 / (2 * (low - high)), square(change - step * low)))
        return combination(*terms)


def solved(board: Any, solver: LocalSolver, subproblem: Any) -> Answers:
    """The clients' answers: exactly, after gradient steps, or all that are exact enough."""
    gamma = _gamma(solver)
    if gamma == 0:
        return Answers(board.minimised(subproblem))
    theta = subproblem.start
    if theta is None:
        raise InvalidInput("method", "start='warm'", "begins where the last round ended, which is not known here",
                           "give another start, or Exact()")  # fmt: skip
    if gamma is not None:
        return Answers(board.inexactly(subproblem, gamma))
    if isinstance(solver, GradientDescent):
        for _ in range(solver.steps):
            theta = theta - solver.stepsize * subproblem.add_gradients(theta, board.gradient(theta))
        return Answers(theta, solver.stepsize * solver.steps)
    cure = "give Exact(), GradientDescent(…) or ToInexactness(gamma)"
    raise InvalidInput("local_solver", solver, "is not analysed", cure)


def _gamma(solver: LocalSolver) -> Any:
    """How exact the answers are, where the solver says so: 0 is exactly."""
    if isinstance(solver, Exact):
        return to_fmpq(0)
    if not isinstance(solver, ToInexactness):
        return None
    if isinstance(solver.gamma, tuple):
        raise InvalidInput("local_solver", solver, "has a gamma for every client", "give one, the largest")
    return to_fmpq(solver.gamma, "gamma")


def played(method: Method, solver: LocalSolver, board: Board, state: State, draws: Draws = EVERYONE) -> State:
    """The state after one round, by the method's own algebra."""
    return answered(method, solver, board, state, draws)[0]


def answered(
    method: Method, solver: LocalSolver, board: Board, state: State, draws: Draws = EVERYONE
) -> tuple[State, Any]:
    """The state after one round, and the clients' answers."""
    points: Any = state.server

    def average(stack: Any) -> Any:
        return _mean(stack) if draws.everyone else _drawn(stack)

    def total(stack: Any) -> Any:
        return average(stack) * draws.share_of_everyone

    def sampled_gradient() -> Any:
        return average(board.gradient(points))

    cohort = Cohort(
        points=points,
        population=1,
        everyone=draws.everyone,
        communicates=True,
        average=average,
        gradients=lambda: board.gradient(points),
        sampled_gradient=sampled_gradient,
        full_gradient=lambda: mean(board.gradient(points)),
        objective=no_objective,
        total=total,
    )
    answers = solved(board, solver, method.subproblem(state, cohort))
    return method.update(state, cohort, answers), answers.points


def first_state(method: Method, server: Family) -> State:
    """The method's own first state."""
    return method.initial_state(server, lambda row: row)


def in_rationals(parameters: T) -> T:
    """The same method or solver with its numbers as flint's rationals: 1/stepsize is then not rounded."""
    return in_arithmetic(parameters, arithmetics.get("exact"))


def _mean(stack: Any) -> Any:
    return mean(stack) if isinstance(stack, Vectors) else stack  # numbers are the same for all


def _drawn(stack: Any) -> Any:
    return drawn(stack) if isinstance(stack, Family) else stack


def no_objective() -> Any:
    """The objective is not known; no method whose rounds are alike asks for it. Raises InvalidInput."""
    raise InvalidInput("method", "adaptive", "looks at values while it runs", "give a method with fixed parameters")
