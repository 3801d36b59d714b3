"""One round of a method on a problem: the only place where method, local solver, problem and arithmetic meet.

`rounds_of` checks that the four fit together; `Rounds.advance` maps a state to the next one. The same code computes in
floats, rationals, balls and torch tensors, since methods use `+ − * /` and averages alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.compressors import Compressor
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver, SmoothSolver
from fedconvex.methods.base import Cohort, Method, State, only_in_runs
from fedconvex.once import Once
from fedconvex.parameters import in_arithmetic, in_rationals, in_round, is_scheduled
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.problems.composite import require_problem
from fedconvex.randomness import Purpose, stream
from fedconvex.regularizers import Regularizer


@dataclass(frozen=True, eq=False)
class RoundResult:
    """What one round computed: the next state, and the local problems and answers that led to it."""

    state: State
    clients: Clients  # the participants
    points: Array  # (K, d): the server's point before the round, once a participant
    subproblem: Subproblem
    answers: Answers
    average: Callable[[Array], Array]
    communicated: bool
    prox_stepsize: Callable[[], Scalar]  # of the server's proximal step for composite objectives
    undo: Callable[[], None]  # restores the memory of the state before the round, where it was overwritten in place
    compressed: int | None  # the numbers that the participants here send, where they compress


class Share(ABC):
    """The clients that one of several processes holds; all processes run the same rounds, each with its own clients."""

    members: np.ndarray  # client numbers, ascending

    @abstractmethod
    def total(self, part: Array) -> Array:
        """The sum of all processes' arrays, the same number in every process."""

    @abstractmethod
    def total_numbers(self, part: np.ndarray) -> np.ndarray:
        """The same for float64 numbers, whatever the arithmetic."""

    @abstractmethod
    def largest(self, number: float) -> float:
        """The largest of all processes' numbers."""

    def everyones(self, own: np.ndarray, members: np.ndarray, num_clients: int) -> np.ndarray:
        """One number a client, (m,), gathered from all processes: `own` for `members`; 0 for clients nobody names."""
        places = np.zeros(num_clients)
        places[members] = own
        return self.total_numbers(places)


@dataclass(frozen=True, eq=False)
class Rounds:
    """The rounds of one method: `start` gives the first state, `advance` the next one.

    Call them inside `arithmetic.context()`, which sets the precision of balls. To run many rounds with participation
    schemes, stragglers and measurements, use `simulate`.
    """

    method: Method
    solver: LocalSolver
    problem: Problem
    clients: Clients
    arithmetic: Arithmetic
    share: Share | None = None  # with several processes: the clients that this one holds
    regularizer: Regularizer | None = None  # of a composite objective: the server takes its proximal steps

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickles: the problem builds its clients again."""
        return _rounds_again, (self.method, self.solver, self.problem, self.arithmetic, self.regularizer)

    def start(self, x0: Array) -> State:
        """The state before round 0, from the server's first point (d,)."""
        return self.method.initial_state(x0, partial(self.arithmetic.repeat, times=self.clients.num_clients))

    def advance(
        self, state: State, draw: Draw = EVERYONE, gradient_draw: Draw | None = None, in_place: bool = False
    ) -> State:
        """The state after one round; see `play`."""
        played = self.play(state, draw, gradient_draw, in_place)
        return state if played is None else played.state

    def play(
        self,
        state: State,
        draw: Draw = EVERYONE,
        gradient_draw: Draw | None = None,
        in_place: bool = False,
        answers: Answers | None = None,
    ) -> RoundResult | None:
        """One round: the method's questions, the local solver's answers, the server's update.

        Returns None where no participant has a positive weight: then nothing changes.

        Args:
            draw: the participants, and how much local work each does.
            gradient_draw: the clients whose gradients the server averages first (FedDANE); default the participants.
            in_place: overwrite the participants' rows of the memory instead of copying the memory of all clients.
            answers: the participants' answers, where they are known already; default: solve the local problems.
        """
        gradient_draw = draw if gradient_draw is None else gradient_draw
        if not (self._can_average(draw) and self._can_average(gradient_draw)):
            return None
        method, solver = self._of_round(draw.round)
        here = self.here(draw)
        places = self.places(here)
        clients, average = self._taking_part(places), self._average(draw)
        points = clients.rows(state.server)
        population = self.problem.num_clients
        compression = _Compression(here, clients.num_clients, self.arithmetic)
        cohort = Cohort(
            points=points,
            population=population,
            everyone=draw.members is None or len(draw.members) == population,
            communicates=self._communicates(draw),
            average=average,
            gradients=Once(lambda: clients.gradients(points)),
            sampled_gradient=Once(lambda: self._gradient(state.server, gradient_draw)),
            full_gradient=Once(lambda: self._gradient(state.server, EVERYONE)),
            objective=Once(lambda: self.objective(state.server)),
            total=lambda stack: self._total(stack.sum(0)),
            square_root=self.arithmetic.square_root,
            sign=self.arithmetic.sign,
            where=lambda mask, chosen, other: self.arithmetic.where(_rows(mask, here.members), chosen, other),
            solve=lambda further: _solved(solver, clients, further, here).points,
            compress=compression if method.compresses else self._undeclared,
        )
        seen = state.of(places)
        subproblem = method.subproblem(seen, cohort)
        if method.adapts_proximal_weight:  # it may have changed since `rounds_of` checked it
            exact = self.arithmetic.certainty is Certainty.EXACT
            weight = subproblem.weight if exact else nearest_float(subproblem.weight)
            solver.require(self.problem, method.scale(self.problem), weight)
        if answers is None:
            answers = _solved(solver, clients, subproblem, here)
        following = self._in_floats(method.update(seen, cohort, answers))
        prox_stepsize = partial(method.prox_stepsize, cohort, answers)
        if self.regularizer is not None and cohort.communicates:
            point = self.regularizer.prox(following.server, prox_stepsize(), self.arithmetic)
            following = State(point, following.shared, following.memory)
        undo = partial(state.put_back, places, seen) if in_place else _nothing
        try:
            whole = state.replaced(places, following, in_place)
        except BaseException:  # memory may run out after some parts were overwritten: restore them, then raise
            undo()
            raise
        return RoundResult(
            whole,
            clients,
            points,
            subproblem,
            answers,
            average,
            cohort.communicates,
            prox_stepsize,
            undo,
            sum(compression.sent) if compression.sent else None,
        )

    def tangent(self, state: State) -> Callable[[State], State]:
        """The derivative of a full-participation round at `state`, as a linear map on perturbations of the state.

        The method's own code, whose formulas must be affine (`fixed_points.formulas`), maps perturbations, too; only
        the local solver and the clients' gradients are replaced by their derivatives. For quadratic clients and fixed
        local work the round is affine, and this is its linear part.
        """
        assert isinstance(self.solver, SmoothSolver)
        solver, clients, average = self.solver, self.clients, self._average(EVERYONE)
        points = clients.rows(state.server)
        further: list[Callable[[Subproblem], Array]] = []  # the derivatives of further local work, in its order

        def solved(subproblem: Subproblem) -> Array:
            found = solver.solve(clients, subproblem).points
            further.append(solver.tangent(clients, subproblem, found))
            return found

        def cohort(
            rows: Array, gradients: Callable[[], Array], solve: Callable[[Subproblem], Array] = solved
        ) -> Cohort:
            def mean() -> Array:
                return average(gradients())

            everyone = Cohort(rows, clients.num_clients, True, True, average, gradients, mean, mean, only_in_runs)
            return replace(everyone, where=self.arithmetic.where, solve=solve)

        here = cohort(points, lambda: clients.gradients(points))
        subproblem = self.method.subproblem(state, here)
        answers = solver.solve(clients, subproblem)
        derivative = solver.tangent(clients, subproblem, answers.points)
        gradient_change = Once(lambda: clients.hessian_map(points))  # few methods need it
        if self.method.personal is not None:
            self.method.update(state, here, answers)

        def image(change: State) -> Array:
            moved, derivatives = clients.rows(change.server), iter(further)
            there = cohort(moved, lambda: gradient_change()(moved), lambda changed: next(derivatives)(changed))
            response = derivative(self.method.subproblem(change, there))
            return self._in_floats(self.method.update(change, there, Answers(response, answers.path_lengths))).flat()

        constant = Once(lambda: image(state.with_values(0 * state.flat())))
        return lambda change: change.with_values(image(change) - constant())

    def drift(self, state: State) -> Callable[[Array], Array]:
        """v ↦ v − T'v on `flat` changes of the state, T' the `tangent`: by how much a round moves less than v."""
        derivative = self.tangent(state)
        return lambda v: v - derivative(state.with_values(v)).flat()

    def _in_floats(self, state: State) -> State:
        """In float arithmetic, a state with the floats that Fractions in a method's code have made objects."""
        parts = state.server, *state.shared.values(), *state.memory.values()
        if self.arithmetic.name != "float" or all(getattr(part, "dtype", None) != np.object_ for part in parts):
            return state
        return state.mapped(lambda part: np.asarray(part, dtype=np.float64))

    def _of_round(self, t: int) -> tuple[Method, LocalSolver]:
        """Method and local solver, with the round's numbers in the place of schedules."""
        if not self._is_scheduled:
            return self.method, self.solver
        return in_round(self.method, t, self.arithmetic), in_round(self.solver, t, self.arithmetic)

    @cached_property
    def _is_scheduled(self) -> bool:
        return is_scheduled(self.method) or is_scheduled(self.solver)

    @cached_property
    def weights(self) -> Array:
        """The weights of the server's average over all clients, (m,)."""
        return self.arithmetic.array(list(self.method.average_weights(self.problem)))

    def objective(self, point: Array) -> Scalar:
        """f at a (d,) point, with the problem's weights even where the method averages plainly."""
        return self._average(EVERYONE)(self.clients.values(point))

    @property
    def needs_everyone(self) -> bool:
        """Whether every client must take part in every round."""
        return self.method.needs_everyone or (self.regularizer is not None and self.method.prox_needs_everyone)

    def _undeclared(self, *_: Any) -> Any:
        raise InvalidInput("method", self.method, "compresses what clients send, and does not declare it",
                           "set `compresses: ClassVar[bool] = True` in the class")  # fmt: skip

    def _communicates(self, draw: Draw) -> bool:
        if draw.communicates is not None:
            return draw.communicates
        skip = nearest_float(self.method.skip)
        return skip == 0 or stream(draw.seed, Purpose.COMMUNICATION, draw.round).random() >= skip

    def _gradient(self, point: Array, draw: Draw) -> Array:
        return self._average(draw)(self._taking_part(self.places(self.here(draw))).gradients(point))

    def here(self, draw: Draw) -> Draw:
        """The part of the draw whose clients this process holds."""
        if self.share is None:
            return draw
        members = np.arange(self.problem.num_clients) if draw.members is None else draw.members
        return replace(draw, members=members).kept(np.isin(members, self.share.members))

    def places(self, here: Draw) -> np.ndarray | None:
        """The participants' rows of the clients' memory; None: all."""
        if self.share is None or here.members is None:
            return here.members
        return np.searchsorted(self.share.members, here.members)

    def _total(self, part: Array) -> Array:
        return part if self.share is None else self.share.total(part)

    def _taking_part(self, places: np.ndarray | None) -> Clients:
        if places is None:
            return self.clients
        kept = self._last_subset.get("members")
        if kept is None or not np.array_equal(kept, places):
            self._last_subset.update(members=places.copy(), clients=self.clients.subset(places))
        subset: Clients = self._last_subset["clients"]
        return subset

    def _average(self, draw: Draw) -> Callable[[Array], Array]:
        weights = self._weights_of(draw)
        if self.share is None:
            return partial(self.arithmetic.average, weights)
        members = np.arange(self.problem.num_clients) if draw.members is None else draw.members
        own = weights[np.isin(members, self.share.members)]
        return lambda stack: self._total(self.arithmetic.average(own, stack))

    def _weights_of(self, draw: Draw) -> Array:
        if draw.members is None:
            return self.weights
        size = len(draw.members)
        if draw.shares is not None and (draw.shares != draw.shares[0]).any():  # convert each of few values once
            values, places = np.unique(draw.shares, return_inverse=True)
            total = int(draw.shares.sum())
            return self.arithmetic.array([Fraction(int(value), total) for value in values])[places]
        if draw.shares is not None or self.method.plain or self.problem.is_equally_weighted:
            if size not in self._equal_weights:
                self._equal_weights[size] = self.arithmetic.array([Fraction(1, size)])[np.zeros(size, dtype=np.int64)]
            return self._equal_weights[size]
        shares = [self.problem.exact_weights[k] for k in draw.members]
        total_share = sum(shares)
        return self.arithmetic.array([share / total_share for share in shares])

    def _can_average(self, draw: Draw) -> bool:
        if draw.members is None:
            return True
        if draw.shares is not None or self.method.plain or self.problem.is_equally_weighted:
            return len(draw.members) > 0
        return any(self.problem.exact_weights[k] > 0 for k in draw.members)

    @cached_property
    def _equal_weights(self) -> dict[int, Array]:
        """The weights 1/K of K participants, by K."""
        return {}

    @cached_property
    def _last_subset(self) -> dict[str, Any]:
        """The last subset of clients that was made: a schedule often draws the same participants again."""
        return {}


def rounds_of(
    method: Method,
    problem: Problem,
    arithmetic: "str | Arithmetic" = "float",
    local_solver: LocalSolver | None = None,
    share: Share | None = None,
    regularizer: Regularizer | None = None,
) -> Rounds:
    """The rounds of a method on a problem, after checking that every client's local problem has exactly one solution.

    Args:
        arithmetic: "float", "exact", "ball", "torch", or an arithmetic object.
        local_solver: default the method's own.
        share: with several processes, the clients that this one holds.
        regularizer: of a composite objective, whose proximal step the server takes after each communication.

    Raises:
        InvalidInput: a local problem that is unbounded below or has many minimisers, a logistic loss or a method with
            square roots in exact arithmetic, a local solver without step sizes for a method that divides by them
            (SCAFFOLD, FedNova), a regulariser that the method or the arithmetic does not take.
    """
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "is not a method", "give for example fedconvex.FedProx(mu=1)")
    require_problem(problem)
    arithmetic = arithmetics.get(arithmetic)
    solver = local_solver if local_solver is not None else method.local_solver
    if not isinstance(solver, LocalSolver):
        raise InvalidInput("local_solver", solver, "is not a local solver", "give for example fedconvex.Exact()")
    if method.needs_path_lengths and not solver.has_path_lengths:
        raise InvalidInput(
            "local_solver",
            solver,
            f"takes no steps of known size, which {type(method).__name__} divides by",
            "give fedconvex.GradientDescent(…) or fedconvex.SGD(…)",
        )
    if method.takes_square_roots and arithmetic.certainty is Certainty.EXACT:
        problem_text = f"has no square roots, which {type(method).__name__} takes"
        raise InvalidInput("arithmetic", arithmetic.name, problem_text, "use 'ball', which encloses them, or 'float'")
    method.require(problem)
    if regularizer is not None:
        method.require_prox(solver)
        if not regularizer.is_rational and arithmetic.certainty is Certainty.EXACT:
            problem_text = f"has no square roots, which {type(regularizer).__name__} takes"
            raise InvalidInput(
                "arithmetic", arithmetic.name, problem_text, "use 'ball', which encloses them, or 'float'"
            )
    exact = in_rationals(method)
    solver.require_arithmetic(arithmetic)
    scale = method.scale(problem)
    solver.require(problem, scale, exact.proximal_weight)
    with arithmetic.context():
        return Rounds(
            method=in_arithmetic(method, arithmetic),
            solver=in_arithmetic(solver, arithmetic),
            problem=problem,
            clients=problem.clients(arithmetic, scale),
            arithmetic=arithmetic,
            share=share,
            regularizer=regularizer,
        )


def _rounds_again(
    method: Method, solver: LocalSolver, problem: Problem, arithmetic: Arithmetic, regularizer: Regularizer | None
) -> Rounds:
    with arithmetic.context():
        clients = problem.clients(arithmetic, method.scale(problem))
        return Rounds(method, solver, problem, clients, arithmetic, regularizer=regularizer)


def _solved(solver: LocalSolver, clients: Clients, subproblem: Subproblem, here: Draw) -> Answers:
    if clients.num_clients == 0:  # all participants are in other processes
        return Answers(subproblem.start, subproblem.start[:, :1])
    return solver.solve(clients, subproblem, here)


@final
class _Compression:
    """What the participants of a round send, each by generators of its own for everything that it compresses."""

    def __init__(self, here: Draw, num_clients: int, arithmetic: Arithmetic) -> None:
        self._here, self._arithmetic = here, arithmetic
        self._members = range(num_clients) if here.members is None else here.members.tolist()
        self.sent: list[int] = []  # how many numbers, each time

    def __call__(self, compressor: Compressor, rows: Array) -> Array:
        place = self._here.seed, Purpose.COMPRESSION, self._here.round, len(self.sent)
        found, numbers = compressor.compress(rows, [stream(*place, k) for k in self._members], self._arithmetic)
        self.sent.append(numbers)
        return found


def _nothing() -> None:
    pass


def _rows(mask: np.ndarray, members: np.ndarray | None) -> np.ndarray:
    return mask if members is None else mask[members]
