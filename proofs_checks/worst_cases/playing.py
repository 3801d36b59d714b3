"""A method played on vectors that are not known yet: its own code, with basic vectors in the place of arrays."""

from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.proofs_checks.worst_cases.classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.forms import Family, Form, centred, family, inner, mean, square, value
from fedconvex.rationals import to_fraction


@final
@dataclass(frozen=True)
class Evaluation:
    """Where the clients' functions were looked at: point, gradient, and the name of the mean value there."""

    point: Family
    gradient: Family
    value: str


@final
@dataclass
class Board:
    """What is known of the clients' functions.

    With a minimiser this is the origin, where the gradients have mean 0 and the values are 0.
    """

    clients: int
    minimiser: bool = True
    evaluations: list[Evaluation] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.minimiser:
            self.evaluations.append(Evaluation(Family(), self.pulls, ""))

    @property
    def pulls(self) -> Family:
        """The clients' gradients at the minimiser."""
        return centred("g*", self.clients)

    def gradient(self, point: Family) -> Family:
        """The clients' gradients at a point: new basic vectors, unless they have been asked for there before."""
        return self.at(point).gradient

    def at(self, point: Family) -> Evaluation:
        """What the clients' functions are at a point."""
        for known in self.evaluations:
            if known.point.key == point.key:
                return known
        name = f"{len(self.evaluations)}"
        return self.found(point, family(f"g{name}", self.clients))

    def found(self, point: Family, gradient: Family) -> Evaluation:
        """A point whose gradient is known, since it solves a subproblem."""
        made = Evaluation(point, gradient, f"F{len(self.evaluations)}")
        self.evaluations.append(made)
        return made

    def inequalities(self, functions: FunctionClass) -> list[tuple[str, Form]]:
        """Between any two of the points, what holds for functions of the class; none is negative."""
        return [
            (f"{j} from {i}", interpolation(a, b, functions))
            for i, a in enumerate(self.evaluations)
            for j, b in enumerate(self.evaluations)
            if i != j
        ]


def interpolation(a: Evaluation, b: Evaluation, functions: FunctionClass) -> Form:
    """F(b) − F(a) − ⟨∇F(a), b − a⟩ − ‖∇F(b) − ∇F(a) − ℓ(b − a)‖²/(2(L − ℓ)) − (ℓ/2)‖b − a‖² >= 0.

    ℓ and L are the smallest and the largest curvature. For ℓ = L the square must vanish, and is left out.
    """
    low, high = functions.lowest, functions.highest
    step, change = b.point - a.point, b.gradient - a.gradient
    form = value(b.value) - value(a.value) - inner(a.gradient, step) - square(step) * (low / 2)
    return form if low == high else form - square(change - step * low) * (1 / (2 * (high - low)))


def solved(board: Board, solver: LocalSolver, subproblem: Any) -> Answers:
    """The clients' answers: exactly, or after gradient steps."""
    if isinstance(solver, Exact):
        weight = to_fraction(subproblem.weight)
        gradient = family(f"g{len(board.evaluations)}", board.clients)
        linear = Family() if subproblem.linear is None else subproblem.linear
        if not weight:
            raise InvalidInput("local_solver", solver, "has no proximal term here", "give GradientDescent(…)")
        point = subproblem.center - (gradient + linear) / weight
        board.found(point, gradient)
        return Answers(point)
    if isinstance(solver, GradientDescent):
        stepsize = to_fraction(solver.stepsize)
        theta = subproblem.start
        for _ in range(solver.steps):
            theta = theta - stepsize * subproblem.add_gradients(theta, board.gradient(theta))
        return Answers(theta, stepsize * solver.steps)
    raise InvalidInput("local_solver", solver, "is not analysed", "give Exact() or GradientDescent(…)")


def played(method: Method, solver: LocalSolver, board: Board, state: State) -> State:
    """The state after one round with everyone, by the method's own algebra."""
    points: Any = state.server
    cohort = Cohort(
        points=points,
        population=1,
        everyone=True,
        communicates=True,
        average=_mean,
        gradients=lambda: board.gradient(points),
        sampled_gradient=lambda: mean(board.gradient(points)),
        full_gradient=lambda: mean(board.gradient(points)),
        objective=_no_objective,
        total=_mean,
    )
    return method.update(state, cohort, solved(board, solver, method.subproblem(state, cohort)))


def first_state(method: Method, server: Family) -> State:
    """The method's own first state."""
    return method.initial_state(server, lambda row: row)


def _mean(stack: Any) -> Any:
    return mean(stack)


def _no_objective() -> Any:
    raise InvalidInput("method", "adaptive", "looks at values while it runs", "give a method with fixed parameters")
