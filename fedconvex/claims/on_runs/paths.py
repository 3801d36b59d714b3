"""The paths of a run: every sequence of draws, played by the method's own code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array, to_fmpq
from fedconvex.claims.on_runs.draws import Outcomes
from fedconvex.claims.on_runs.evaluation import NotOnThisRun, Path, RoundOnPath, StateOnPath
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import State
from fedconvex.once import Once
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Subproblem
from fedconvex.runs.rounds import RoundResult, Rounds

Deviating = Callable[[Clients, Subproblem, int], Array]  # all clients' answers to their subproblems in round t


@final
@dataclass(frozen=True, eq=False)
class Player:
    """Plays rounds from a moment, for one draw or for all of them. `deviating` replaces the local solver's answers."""

    rounds: Rounds
    deviating: Deviating | None = None

    def __post_init__(self) -> None:
        if self.rounds.method.gradients_from == "sample":
            self._refuse()

    def _refuse(self) -> None:
        name = type(self.rounds.method).__name__
        raise InvalidInput("method", name, "draws more than the participants", "give a method that does not")

    def paths(self, start: StateOnPath, outcomes: Callable[[int], Outcomes], first: int, number: int) -> list[Path]:
        """All paths of that many rounds from the moment before round `first`."""
        found = [Path(Fraction(1), (start,), ())]
        for t in range(first, first + number):
            found = [longer for path in found for longer in self._longer(path, outcomes(t), t)]
        scalar = self.rounds.arithmetic.scalar
        return [Path(scalar(path.probability), path.moments, path.rounds) for path in found]

    def _longer(self, path: Path, outcomes: Outcomes, t: int) -> list[Path]:
        if self.rounds.method.skip != 0 and any(draw.communicates is None for _, draw in outcomes):
            self._refuse()
        before = path.moments[-1]
        everyone = Once(lambda: self._everyone(before.state, outcomes[0][1], t))
        longer = []
        for probability, draw in outcomes:
            after, result = self.after(before, draw, t, everyone)
            happened = RoundOnPath(
                answers=lambda: everyone()[2],
                solutions=lambda: _solutions(*everyone()),
                residuals=lambda: _residuals(*everyone()),
                local_gradients=lambda: _local_gradients(self.rounds.solver, *everyone()[:2]),
                before_last_step=lambda: _before_last_step(self.rounds.solver, *everyone()[:2]),
                local_step=lambda rows: _local_step(self.rounds.solver, *everyone()[:2], rows),
                drawn=_average(result, draw),
            )
            longer.append(Path(path.probability * probability, (*path.moments, after), (*path.rounds, happened)))
        return longer

    def after(
        self, before: StateOnPath, draw: Draw, t: int, everyone: "Once[tuple[Clients, Subproblem, Array]] | None" = None
    ) -> tuple[StateOnPath, RoundResult | None]:
        """The moment after round t with this draw."""
        members = slice(None) if draw.members is None else draw.members
        answers = None
        if self.deviating is not None:
            rows = self._everyone(before.state, draw, t)[2] if everyone is None else everyone()[2]
            answers = Answers(rows[members])
        try:
            result = self.rounds.play(before.state, draw, answers=answers)
        except Exception as error:  # a user's own code divides by 0, or takes a root, as flint says it
            of_numbers = isinstance(error, ArithmeticError | ValueError) or type(error).__name__ == "DomainError"
            if isinstance(error, FedconvexError) or not of_numbers:
                raise
            words = f"has code that fails on {self.rounds.arithmetic.name} numbers here ({error})"
            raise NotOnThisRun("method", self.rounds.method, words, "give another start or other parameters") from error
        if result is None:
            return before, None
        last = before.last_answers
        if last is not None:
            last = last + 0  # a copy, in every array library
            last[members] = result.answers.points
        return StateOnPath(result.state, last), result

    def _everyone(self, state: State, draw: Draw, t: int) -> tuple[Clients, Subproblem, Array]:
        """All clients' subproblems and answers, also of those that are not drawn."""
        result = self.rounds.play(state, Draw(round=draw.round, seed=draw.seed))
        assert result is not None
        if self.deviating is None:
            return result.clients, result.subproblem, result.answers.points
        return result.clients, result.subproblem, self.deviating(result.clients, result.subproblem, t)


def _solutions(clients: Clients, subproblem: Subproblem, answers: Array) -> Array:
    return clients.minimise(subproblem)


def _residuals(clients: Clients, subproblem: Subproblem, answers: Array) -> Array:
    return subproblem.add_gradients(answers, clients.gradients(answers))


def _local_gradients(solver: LocalSolver, clients: Clients, subproblem: Subproblem) -> Array:
    """The sum of each client's gradients over its local gradient steps."""
    solver = _gradient_descent("local gradients", solver)
    theta, total = subproblem.start, 0 * subproblem.start
    for _ in range(int(solver.steps)):
        gradients = clients.gradients(theta)
        total = total + gradients
        theta = theta - solver.stepsize * subproblem.add_gradients(theta, gradients)
    return total


def _before_last_step(solver: LocalSolver, clients: Clients, subproblem: Subproblem) -> Array:
    """The points from which the clients take the last of their local gradient steps."""
    theta = subproblem.start
    for _ in range(int(_gradient_descent("before last step", solver).steps) - 1):
        theta = _local_step(solver, clients, subproblem, theta)
    return theta


def _local_step(solver: LocalSolver, clients: Clients, subproblem: Subproblem, rows: Array) -> Array:
    """One gradient step of each client on its subproblem, from its row."""
    stepsize = _gradient_descent("local step", solver).stepsize
    return rows - stepsize * subproblem.add_gradients(rows, clients.gradients(rows))


def _gradient_descent(term: str, solver: LocalSolver) -> GradientDescent:
    if not isinstance(solver, GradientDescent):
        raise NotOnThisRun(term, solver, "takes no gradient steps", "give gradient descent")
    return solver


def _average(result: RoundResult | None, draw: Draw) -> Callable[[Array], Array]:
    def drawn(rows: Array) -> Array:
        if result is None:
            raise NotOnThisRun("drawn", draw, "has nobody of positive weight", "give other weights")
        return result.average(rows if draw.members is None else rows[draw.members])

    return drawn


def everywhere(outcomes: Sequence[tuple[Fraction, Draw]]) -> Callable[[int], Outcomes]:
    """The same draws in every round."""
    return lambda t: [(p, replace(draw, round=t)) for p, draw in outcomes]


def minimiser_of(rounds: Rounds, weight: Any = 0, center: Any = None) -> Array:
    """A point where the gradient of a quadratic objective vanishes; of several, one. Raises NotOnThisRun.

    With a weight, of the objective plus (weight/2)‖· − center‖².
    """
    from fedconvex.problems.quadratics import QuadraticProblem

    if not isinstance(rounds.problem, QuadraticProblem):
        raise NotOnThisRun(
            "minimiser", type(rounds.problem).__name__, "has no computed one", "give a quadratic problem"
        )
    from fedconvex import arithmetic as arithmetics

    matrix, right = rounds.problem.weighted_hessian("exact"), rounds.problem.weighted_linear_term("exact")
    d = rounds.problem.dim
    if type(weight).__name__ == "arb":
        raise NotOnThisRun("proximal", weight, "has an irrational weight", "give other parameters")
    pull = [to_fmpq(0)] * d if center is None else [to_fmpq(weight) * to_fmpq(x) for x in center]
    rows = [[matrix[i, j] + (to_fmpq(weight) if i == j else 0) for j in range(d)] for i in range(d)]
    point = stationary_point(rows, [right[i] + pull[i] for i in range(d)])
    if point is None:
        raise NotOnThisRun("minimiser", None, "does not exist: the objective's gradient never vanishes",
                           "give a problem with a minimiser")  # fmt: skip
    if rounds.arithmetic is arithmetics.get("exact"):
        return point
    return rounds.arithmetic.array(arithmetics.get("exact").publish(point))


def stationary_point(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> Array | None:
    """An exact solution of Hx = c; of several, one; None where there is none."""
    from fedconvex.arithmetic.linear_systems import solution

    point = solution(matrix, right, len(right))
    return None if point is None else np.array(point, dtype=object)
