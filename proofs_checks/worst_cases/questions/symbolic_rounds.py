"""A method's rounds on unknown vectors: its own code runs with vectors of a board in the place of arrays.

So the analysed method is the simulated one. `answered` plays a round of everyone, or of those who take part, whose
vectors are then random (`symbolic.random_vectors`), and from which `settled_states` goes on; `drawn_round` one possible
draw on an `EnumeratedBoard`; `outcomes` a round with and without communication, or several. `histories` has all ways in
which rounds can go.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast, final

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.local_solvers.unequal_steps import UnequalSteps
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.parameters import in_round, is_scheduled
from fedconvex.participation import Draw
from fedconvex.problems.subproblem import Subproblem
from fedconvex.proofs_checks.symbolic.random_vectors import Random, averaged, require_no_draw, total
from fedconvex.proofs_checks.symbolic.random_vectors import replaced as replaced_if_drawn
from fedconvex.proofs_checks.symbolic.randomness import EVERYONE, Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    ONE,
    Family,
    GroupNumbers,
    Mixture,
    Vectors,
    mean,
    of_group,
    shared,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups
from fedconvex.proofs_checks.worst_cases.questions.noisy_gradients import NoisyBoard
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed

Round = tuple[Any, Any]  # the next state, and the average of the clients' answers


def of_round(method: Method, solver: LocalSolver, t: int) -> tuple[Method, LocalSolver]:
    """Method and local solver, with the round's numbers in the place of schedules."""
    if not (is_scheduled(method) or is_scheduled(solver)):
        return method, solver
    exact = arithmetics.get("exact")
    return in_round(method, t, exact), in_round(solver, t, exact)


def first_state(method: Method, server: Family) -> State:
    """The method's own first state, from the server's point."""
    return method.initial_state(server, lambda row: row)  # one vector stands for the rows of all clients


def own_start(method: Method) -> State:
    """The method's own first state, from any point of the server."""
    return first_state(method, shared("w"))


def any_state(method: Method, board: Board | EnumeratedBoard) -> State:
    """Any state with what all states of the method's runs have in common; a run need not reach all of them."""
    first = own_start(method)
    if not (first.memory or first.shared):
        return first
    kept = board.vectors("z" if isinstance(method, FedSplit) else "memories")
    if isinstance(method, DynamicRegularization):  # h is the mean of the memories
        return State(shared("server"), shared={"h": mean(kept)}, memory={"gradient": kept})
    if isinstance(method, FedSplit) and set(first.memory) == {"z"}:  # the server's point is the mean of the z_k
        return State(mean(kept), memory={"z": kept})
    raise NotPosed("method", type(method).__name__, "has states of which no invariants are known here",
                   "give a claim about a whole run, from the method's own start")  # fmt: skip


def solved(board: Any, solver: LocalSolver, subproblem: Any) -> Answers:
    """The clients' answers to their subproblems: exact, any that are γ-inexact, or those of the solver's own code.

    Numbers of steps that differ are those of the board's groups of clients. Code may ask for gradients, add points and
    multiply them by constants.

    Raises InvalidInput for solvers that do more, and for a start that the round does not know.
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
    if isinstance(solver, UnequalSteps):
        return _after_unequal_steps(board, solver, subproblem)
    if isinstance(solver, GradientDescent):
        for _ in range(solver.steps):
            theta = theta - solver.stepsize * subproblem.add_gradients(theta, board.gradient(theta))
        return Answers(theta, solver.stepsize * solver.steps)
    found = _played(board, solver, subproblem)
    noisy = getattr(board, "is_noisy", False)  # each gradient has noise of its own
    again = found if noisy else _played(board, solver, subproblem)
    if not isinstance(found.points, Vectors) or found.path_lengths is not None:
        raise _unknown(solver, "answers with more than points")
    if found.points.key != again.points.key:
        raise _unknown(solver, "gives another result when it is called again")
    return found


def _played(board: Any, solver: LocalSolver, subproblem: Any) -> Answers:
    """What the solver's code makes of gradients; randomness and all else that it asks for is refused."""
    asked: Any = _Asked(solver, {"gradients": board.gradient})
    try:
        return solver.solve(asked, subproblem, cast("Draw", _Asked(solver, {})))
    except (TypeError, ValueError, AttributeError) as error:  # what unknown vectors cannot do
        raise _unknown(solver, f"does more than to add points and multiply them by numbers ({error})") from error


@final
class _Asked:
    """Answers what is known of clients, or of a round, where only that is."""

    def __init__(self, solver: LocalSolver, known: dict[str, Any]) -> None:
        self._solver, self._known = solver, known

    def __getattr__(self, name: str) -> Any:
        if name not in self._known:
            raise _unknown(self._solver, f"asks for {name}, of which a class of functions says nothing")
        return self._known[name]


def _unknown(solver: LocalSolver, what: str) -> InvalidInput:
    return InvalidInput("local_solver", solver, what, "give Exact(), GradientDescent(…) or ToInexactness(gamma)")


def _after_unequal_steps(board: Any, solver: UnequalSteps, subproblem: Any) -> Answers:
    """Gradient steps of which every group of clients takes its own number; groups that are done keep their points.

    While others go on, these evaluate nothing new: a gradient that no step uses would be an unknown more.
    """
    functions = board.functions
    if not isinstance(functions, ClientGroups):  # `worst_case` and `lyapunov` make groups of the clients
        raise InvalidInput("local_steps", solver.steps, "differ between clients, which is not analysed here",
                           "give one number for all clients")  # fmt: skip
    shares = tuple(map(to_fmpq, functions.shares))
    theta, size = subproblem.start, to_fmpq(solver.stepsize)

    def chosen(moving: Vectors, done: Vectors, step: int) -> Mixture:
        return Mixture(shares, tuple(of_group(moving if step < n else done, k) for k, n in enumerate(solver.steps)))

    for step in range(max(solver.steps)):
        at = theta if step == 0 else chosen(theta, subproblem.start, step)
        moved = theta - subproblem.add_gradients(at, board.gradient(at)) * size
        theta = chosen(moved, theta, step)
    return Answers(theta, GroupNumbers(shares, tuple(size * n for n in solver.steps)))


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
    method: Method, solver: LocalSolver, board: Any, state: State, draws: Draws = EVERYONE,
    communicates: bool | None = None, noisy: NoisyBoard | None = None,
) -> tuple[State, Any]:  # fmt: skip
    """The state after one round, and the answers of all clients, whose local steps see the gradients of `noisy`.

    Of methods with random communication the caller says whether the round communicates. With draws, what depends on
    who takes part is a random vector (`symbolic.random_vectors`); clients who do not keep their memories.
    """
    if communicates is None and method.skip != 0:
        raise InvalidInput("method", method, "changes from round to round", "give one with fixed parameters, skip=0")
    [(_, after, points)] = played_rounds(method, solver, board, state, draws, [communicates is not False], noisy)
    return after, points


def outcomes(
    method: Method, solver: LocalSolver, board: Any, state: State, period: int = 1, draws: Draws = EVERYONE
) -> list[tuple[Any, State]]:
    """The states after so many rounds with their probabilities: with communication, and where it is skipped.

    Of a schedule the first rounds. Who takes part makes a state's vectors random, and not its outcomes more.
    """
    ways = [(ONE, state)]
    for t in range(period):
        of_t, skip = of_round(method, solver, t), to_fmpq(method.skip)
        tosses = {True: 1 - skip, False: skip} if skip else {True: ONE}
        ways = [
            (chance * tosses[sends], after)
            for chance, before in ways
            for sends, after, _ in played_rounds(*of_t, board, before, draws, [*tosses])
        ]
    return ways


def played_rounds(
    method: Method, solver: LocalSolver, board: Any, state: State, draws: Draws, communications: Sequence[bool],
    noisy: NoisyBoard | None = None,
) -> Iterator[tuple[bool, State, Any]]:  # fmt: skip
    """With and without communication: the state after the round, and the answers.

    Subproblems that are the same in both are solved once.
    """
    for u in () if draws.everyone else (state.server, *state.shared.values(), *state.memory.values()):
        require_no_draw(u)  # of another round
    cohorts = [_cohort(board, state.server, draws, sends) for sends in communications]
    posed = [method.subproblem(state, cohort) for cohort in cohorts]
    given = [solved(noisy or board, solver, posed[0])]
    given += [given[0] if _alike(posed[0], one) else solved(noisy or board, solver, one) for one in posed[1:]]
    for cohort, answers in zip(cohorts, given, strict=True):
        after = _proximal(board, method, cohort, answers, method.update(state, cohort, answers))
        memory = {name: replaced_if_drawn(state.memory[name], u, draws) for name, u in after.memory.items()}
        yield cohort.communicates, replace(after, memory=memory), answers.points


def _proximal(board: Any, method: Method, cohort: Cohort, answers: Answers, after: State) -> State:
    """The state after the server's proximal step, where the objective is composite."""
    if not (getattr(board, "composite", False) and cohort.communicates):
        return after
    lengths = None if answers.path_lengths is None else [answers.path_lengths]  # one row for all clients
    stepsize = method.prox_stepsize(cohort, replace(answers, path_lengths=lengths))
    return replace(after, server=board.prox(after.server, to_fmpq(stepsize)))


def _alike(one: Subproblem, other: Subproblem) -> bool:
    """Whether two subproblems are the same, with the same start."""

    def key(u: Any) -> Any:
        return u.key if isinstance(u, Vectors) else u

    return one.weight == other.weight and all(
        key(getattr(one, name)) == key(getattr(other, name)) for name in ("start", "center", "linear")
    )


def _cohort(board: Any, points: Any, draws: Draws, communicates: bool) -> Cohort:
    """What a method can use in a round of everyone, or of those who take part."""

    def average(stack: Any) -> Any:
        if isinstance(stack, GroupNumbers):
            return stack.mean
        if not isinstance(stack, Vectors | Random):  # numbers are the same for all clients
            return stack
        return averaged(stack, draws)

    def summed(stack: Any) -> Any:
        if draws.everyone:
            return average(stack)
        if not isinstance(stack, Vectors | Random):
            return stack * draws.K if draws.fixed_size else _undecided("sums numbers over those who take part")
        return total(stack, draws)

    kind = Cohort if draws.fixed_size else _RandomCohort
    return kind(
        points=points,
        # of everyone, and for any number of clients, `total` is divided by it already
        population=1 if draws.everyone else draws.clients or 1,
        everyone=draws.everyone,
        communicates=communicates,
        average=average,
        gradients=lambda: board.gradient(points),
        sampled_gradient=lambda: mean(board.gradient(points)) if draws.everyone else _drawn_twice(),
        full_gradient=lambda: mean(board.gradient(points)),
        objective=_unknown_objective,
        total=summed,
        compress=getattr(board, "compressed", _unknown_compression),
    )


@dataclass(frozen=True, eq=False)
class _RandomCohort(Cohort):
    """Where chance decides how many clients take part, whether it is everyone cannot be asked."""

    def __getattribute__(self, name: str) -> Any:
        return _undecided("asks whether everyone takes part") if name == "everyone" else super().__getattribute__(name)

    def updated_mean(self, mean: Any, old: Any, new: Any) -> Any:
        """The same as for everyone, where `mean` is the mean of the old ones."""
        return mean + self.population_mean(new - old)


def _undecided(what: str) -> Any:
    raise InvalidInput("method", what, "is decided by chance in every round", "give Uniform(K), or Full()")


def drawn_round(
    method: Method, solver: LocalSolver, board: EnumeratedBoard, state: State, draw: Draw, communicates: bool = True
) -> Round:
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
        points=points, population=board.clients, everyone=len(members) == board.clients, communicates=communicates,
        average=average, gradients=lambda: some.gradient(points),
        sampled_gradient=lambda: average(some.gradient(points)),
        full_gradient=lambda: mean(board.gradient(points)), objective=_unknown_objective,
        total=lambda stack: weighted(stack, [ONE] * len(members)), compress=_unknown_compression,
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


def _drawn_twice() -> Any:
    raise InvalidInput("participation", "drawn clients", "are drawn a second time in the round, for a gradient",
                       "use full participation, or few clients and rounds, whose draws are enumerated")  # fmt: skip


def _unknown_compression(*_: Any) -> Any:
    raise InvalidInput("method", "compressed vectors", "are errors of every round, which are not analysed here",
                       "use `lyapunov`, for the rate in expectation")  # fmt: skip


def _unknown_objective() -> Any:
    """Raises InvalidInput: the objective's value is unknown; only methods that change from round to round use it."""
    raise InvalidInput(
        "method", "adaptive", "depends on function values during the run", "give a method with fixed parameters"
    )
