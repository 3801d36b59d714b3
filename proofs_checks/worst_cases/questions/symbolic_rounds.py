"""A method's rounds on unknown vectors: its own code runs with vectors of a board in the place of arrays.

So the analysed method is the simulated one. `histories` plays rounds in every way that a board distinguishes:
`answered` a round of everyone, or of drawn clients of whom two moments are known; `drawn_round` one possible draw on an
`EnumeratedBoard`.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.participation import Draw
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    ONE,
    Family,
    Mixture,
    Vectors,
    drawn,
    mean,
    of_group,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.sampling import EVERYONE, Draws

Round = tuple[Any, Any]  # the next state, and the average of the clients' answers


def first_state(method: Method, server: Family) -> State:
    """The method's own first state, from the server's point."""
    return method.initial_state(server, lambda row: row)  # one vector stands for the rows of all clients


def solved(board: Any, solver: LocalSolver, subproblem: Any) -> Answers:
    """The clients' answers to their subproblems: exact, after gradient steps, or any that are γ-inexact.

    Raises InvalidInput for other local solvers, and for a start that the round does not know.
    """
    gamma = _gamma(solver)
    if gamma == 0:  # exact answers need no start, and have no residual
        return Answers(board.minimise(subproblem))
    theta = subproblem.start
    if theta is None:
        raise InvalidInput("method", "start='warm'", "begins where the last round ended, which is not known here",
                           "give another start, or Exact()")  # fmt: skip
    if gamma is not None:
        return Answers(board.minimise_inexactly(subproblem, gamma))
    if isinstance(solver, GradientDescent):
        for _ in range(solver.steps):
            theta = theta - solver.stepsize * subproblem.add_gradients(theta, board.gradient(theta))
        return Answers(theta, solver.stepsize * solver.steps)
    cure = "give Exact(), GradientDescent(…) or ToInexactness(gamma)"
    raise InvalidInput("local_solver", solver, "is not analysed", cure)


def _gamma(solver: LocalSolver) -> Any:
    """The inexactness that the solver allows; 0 for an exact one, None for one that makes steps."""
    if isinstance(solver, Exact):
        return to_fmpq(0)
    if not isinstance(solver, ToInexactness):
        return None
    if isinstance(solver.gamma, tuple):
        raise InvalidInput("local_solver", solver, "has a gamma for every client", "give one, the largest")
    return to_fmpq(solver.gamma, "gamma")


def answered(
    method: Method, solver: LocalSolver, board: Board | EnumeratedBoard, state: State, draws: Draws = EVERYONE
) -> tuple[State, Any]:
    """The state after one round, and the answers of all clients.

    With draws, averages over the drawn clients are their mean plus a random vector (`quadratic_forms.drawn`).
    """
    points: Any = state.server

    def average(stack: Any) -> Any:
        if not isinstance(stack, Vectors):  # numbers are the same for all clients
            return stack
        return mean(stack) if draws.everyone or not isinstance(stack, Family) else drawn(stack)

    cohort = Cohort(
        points=points,
        population=1,  # `total` below is divided by the number of clients already
        everyone=draws.everyone,
        communicates=True,
        average=average,
        gradients=lambda: board.gradient(points),
        sampled_gradient=lambda: average(board.gradient(points)),
        full_gradient=lambda: mean(board.gradient(points)),
        objective=_unknown_objective,
        total=lambda stack: average(stack) * draws.share_of_everyone,
    )
    answers = solved(board, solver, method.subproblem(state, cohort))
    return method.update(state, cohort, answers), answers.points


def drawn_round(method: Method, solver: LocalSolver, board: EnumeratedBoard, state: State, draw: Draw) -> Round:
    """One round of the drawn clients, as `Rounds.play` on unknown vectors: the next state, the average answer."""
    assert draw.members is not None
    assert draw.shares is not None
    members, points = draw.members.tolist(), state.server
    some = board.some(members)
    # With replacement a client may be drawn several times, and then weighs that much in averages.
    times = [to_fmpq(Fraction(int(n), int(draw.shares.sum()))) for n in draw.shares]

    def weighted(stack: Any, weights: Sequence[Any]) -> Any:
        if not isinstance(stack, Vectors):  # numbers are the same for all clients
            return stack * sum(weights)
        return sum((of_group(stack, place) * c for place, c in enumerate(weights)), start=Family())

    def average(stack: Any) -> Any:
        return weighted(stack, times)

    cohort = Cohort(
        points=points, population=board.clients, everyone=len(members) == board.clients, communicates=True,
        average=average, gradients=lambda: some.gradient(points),
        sampled_gradient=lambda: average(some.gradient(points)),
        full_gradient=lambda: mean(board.gradient(points)), objective=_unknown_objective,
        total=lambda stack: weighted(stack, [ONE] * len(members)),
    )  # fmt: skip
    # The method sees the memory of the drawn clients only; the others keep theirs.
    seen = replace(state, memory={name: rows(u, members) for name, u in state.memory.items()})
    answers = solved(some, solver, method.subproblem(seen, cohort))
    following = method.update(seen, cohort, answers)
    memory = {name: replaced(u, members, following.memory[name], board.clients) for name, u in state.memory.items()}
    return replace(following, memory=memory), average(answers.points)


def rows(stack: Vectors, members: Sequence[int]) -> Vectors:
    """The vectors of some clients."""
    if not isinstance(stack, Mixture):
        return stack
    return Mixture(tuple(stack.shares[k] for k in members), tuple(stack.groups[k] for k in members))


def replaced(stack: Vectors, members: Sequence[int], new: Vectors, clients: int) -> Mixture:
    """The vectors of all clients, with those of some replaced."""
    whole = [of_group(stack, k) for k in range(clients)]
    for place, k in enumerate(members):
        whole[k] = of_group(new, place)
    return Mixture((to_fmpq(Fraction(1, clients)),) * clients, tuple(whole))


def _unknown_objective() -> Any:
    """Raises InvalidInput: the objective's value is unknown; only methods that change from round to round use it."""
    raise InvalidInput("method", "adaptive", "looks at values while it runs", "give a method with fixed parameters")
