"""The base class of methods: the clients' subproblem in a round, their memory, and the server's update.

A method uses only `+ − * /` and averages over the client axis of (K, d) arrays. The same lines therefore run on floats,
rationals, balls and torch tensors. If they are linear in the state, they also propagate derivatives: applied to a
perturbation of the state they give the perturbation of the next state (`Rounds.tangent` in `fedconvex.runs.rounds`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from inspect import isabstract
from typing import Any, ClassVar

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.compressors import Compressor
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.unequal_steps import gradient_steps
from fedconvex.parameters import ReadableParameters, number
from fedconvex.pickled import without_caches
from fedconvex.problems.base import Problem
from fedconvex.problems.subproblem import Subproblem
from fedconvex.step_numbers import NumberOfSteps, numbers_of_steps, require_one_per_client
from fedconvex.stepsizes import stepsize


@dataclass(frozen=True, eq=False)
class State:
    """Everything that a method keeps from one round to the next.

    `server` is the server's point (d,); `shared` are the server's other arrays; `memory` are the clients' arrays, with
    one row per client.
    """

    server: Array
    shared: Mapping[str, Array] = field(default_factory=dict)
    memory: Mapping[str, Array] = field(default_factory=dict)

    def flat(self) -> Array:
        """All arrays concatenated to one NumPy vector, for fixed-point equations."""
        parts: list[Array] = []
        self.mapped(lambda part: parts.append(part.ravel()))
        return np.concatenate(parts)

    def with_values(self, flat: Array) -> "State":
        """The state with the arrays' shapes of this one whose `flat()` is the given vector."""
        begin = 0

        def taken(part: Array) -> Array:
            nonlocal begin
            begin += part.size
            return flat[begin - part.size : begin].reshape(part.shape)

        return self.mapped(taken)

    def mapped(self, change: Callable[[Array], Any]) -> "State":
        """The state with what a function makes of every array, in the order of `flat`: by name in each dictionary."""
        server = change(self.server)
        return State(server, *({n: change(part[n]) for n in sorted(part)} for part in (self.shared, self.memory)))

    def of(self, members: Array | None) -> "State":
        """The state with only the rows of some clients in its memory; None: all clients."""
        if members is None:
            return self
        return State(self.server, self.shared, {name: rows[members] for name, rows in self.memory.items()})

    def replaced(self, members: Array | None, new: "State", in_place: bool) -> "State":
        """The whole state after a round of some clients with new rows in `new`; `in_place` overwrites the rows here."""
        if members is None:  # all clients took part: `new` is complete
            return new
        memory = {}
        for name, rows in self.memory.items():
            memory[name] = rows if in_place else rows + 0  # + 0 copies in every array library
            memory[name][members] = new.memory[name]
        return State(new.server, new.shared, memory)

    def put_back(self, members: Array | None, seen: "State") -> None:
        """Undoes `replaced` in place: restores the members' rows from `seen`, the result of `of` before the round."""
        if members is not None:
            for name, rows in seen.memory.items():
                self.memory[name][members] = rows


def only_in_runs(*_: Any) -> Any:
    """What a cohort has in runs alone."""
    raise NotImplementedError(
        "values, roots, signs, unequal work, compression and a second local problem are only in runs"
    )


@dataclass(frozen=True, eq=False)
class Cohort:
    """What a method can use in a round in which K of m clients take part: the server's point, averages, gradients.

    The callables without arguments evaluate the clients' functions at the server's point, and are called only by
    methods that need them: their cost is that of an additional communication.
    """

    points: Array  # (K, d): the server's point in every row
    population: int  # m
    everyone: bool  # whether all m clients take part
    communicates: bool  # False: the round is local and nothing is sent (only in methods with `skip` > 0)
    average: Callable[[Array], Array]  # (K, d) -> (d,): the server's average over the participants
    gradients: Callable[[], Array]  # (K, d): the participants' ∇F_k
    sampled_gradient: Callable[[], Array]  # (d,): the average ∇F_k of a second, independent sample of clients
    full_gradient: Callable[[], Array]  # (d,): the weighted average ∇F_k of all clients
    objective: Callable[[], Scalar]  # f, over all clients
    total: Callable[[Array], Array] = lambda stack: stack.sum(0)
    # entry by entry, for methods with `takes_square_roots` alone
    square_root: Callable[[Array], Array] = only_in_runs
    sign: Callable[[Array], Array] = only_in_runs
    # (K, d): rows of the first array for clients that a mask (m,) over all clients names, of the second for others
    where: Callable[[np.ndarray, Array, Array], Array] = only_in_runs
    # (K, d): the answers to another local problem, in methods with `personal` models alone
    solve: Callable[[Subproblem], Array] = only_in_runs
    # (K, d): what the participants send of their rows, each with randomness of its own; in methods with `compresses`
    compress: Callable[[Compressor, Array], Array] = only_in_runs

    def population_mean(self, stack: Array) -> Array:
        """(1/m) Σ_k stack_k over the participants, divided by the number m of all clients."""
        return self.total(stack) / self.population

    def updated_mean(self, mean: Array, old: Array, new: Array) -> Array:
        """The plain mean of all m clients' rows after the participants' rows changed from `old` to `new`.

        `mean` is the mean before. The cost is proportional to the number of participants, not of all clients.
        """
        # with all clients directly: the difference would let rounding errors accumulate over the rounds
        return self.population_mean(new) if self.everyone else mean + self.population_mean(new - old)


class Method(ReadableParameters, ABC):
    """A federated method. Subclasses are frozen dataclasses of its parameters, one file per method or family.

    The class attributes declare properties of the method. Runs, fixed points and reports rely on them, so that a new
    method states only those that are proved.
    """

    floats_are_real_parameters: ClassVar[bool] = True  # in fields without `number()`, too: see `in_arithmetic`
    # How the paper combines the clients. False: F_k = f_k, and the server averages with the problem's weights.
    # True: the paper minimises a plain sum or mean; then F_k = num_clients · weights[k] · f_k, and averages are plain.
    plain: ClassVar[bool] = False
    # Which clients send gradients ∇F_k(w) before the local work of a round: "nobody", "sample" (an independent second
    # draw) or "everyone".
    gradients_from: ClassVar[str] = "nobody"
    # How many vectors of d numbers the server sends to, and receives from, each participant in a round.
    vectors_down: ClassVar[int] = 1
    vectors_up: ClassVar[int] = 1
    # Whether `update` takes square roots (`Cohort.square_root`): then it runs in floats and balls, not in rationals.
    takes_square_roots: ClassVar[bool] = False
    # Whether what clients send is compressed (`Cohort.compress`), so that rounds are random.
    compresses: ClassVar[bool] = False
    # Whether the proximal term's weight changes during a run: the local solver is asked in every round whether it fits.
    adapts_proximal_weight: ClassVar[bool] = False
    # The name in `State.memory` of the clients' personal models, if the method has such: they are its client models.
    personal: ClassVar[str | None] = None
    # Why the server's step cannot be followed by a proximal step of a composite objective f + ψ; "" where it can, and
    # `prox_stepsize` says with which stepsize.
    no_prox: ClassVar[str] = "it is not known which proximal step would lead to the minimisers of f + ψ"
    # Whether it can only where all clients take part.
    prox_needs_everyone: ClassVar[bool] = False
    # The name in `State.memory` of the clients' estimates of ∇F_k at the minimiser, if the method keeps such.
    control_variate: ClassVar[str | None] = None

    @staticmethod
    def named(name: str) -> "type[Method] | None":
        """The class of that name: the package's, else the one in an imported module of the user's; None without one.

        A class that was defined again, as in a notebook, is the latest. Raises InvalidInput where two modules have one.
        """
        from fedconvex.methods import METHODS

        if name in METHODS:
            return METHODS[name]
        found: dict[str, type[Method]] = {}
        kinds = Method.__subclasses__()
        for kind in kinds:  # which grows
            kinds += kind.__subclasses__()
            if kind.__name__ == name and "__dataclass_fields__" in vars(kind) and not isabstract(kind):
                found[kind.__module__] = kind
        if len(found) > 1:
            raise InvalidInput("method", name, f"is defined in {' and in '.join(sorted(found))}", "rename one of them")
        return next(iter(found.values()), None)

    @staticmethod
    def parameters_of(name: str) -> "tuple[Field[Any], ...]":
        """The dataclass fields of the class of that name; none of a method that there is not."""
        return fields(kind) if (kind := Method.named(name)) else ()  # type: ignore[arg-type]

    @property
    @abstractmethod
    def local_solver(self) -> LocalSolver:
        """The local solver of the method's paper, which a run uses unless it is given another one."""

    @abstractmethod
    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        """The state before the first round; `server` is the starting point (d,), `repeat` makes it m equal rows."""

    @abstractmethod
    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        """The participants' subproblems of a round; `state.memory` has the participants' rows only."""

    @abstractmethod
    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        """The state after the round, given the answers; its memory has the participants' rows only."""

    def prox_stepsize(self, cohort: Cohort, answers: Answers) -> Scalar:
        """τ of the server's step w ← prox_{τψ}(w) after `update`, for composite objectives; where `no_prox` is ""."""
        raise NotImplementedError

    def require_prox(self, local_solver: LocalSolver) -> None:
        """Raises InvalidInput if the server cannot take the proximal step of a composite objective."""
        if self.no_prox:
            cure = (
                "give FedSplit or FedDyn, whose fixed points are the minimisers of f + ψ, or FedGD with one local step"
            )
            raise InvalidInput("method", self, f"takes no composite objective: {self.no_prox}", cure)

    @property
    def proximal_weight(self) -> Scalar:
        """The weight of the subproblem's proximal term; 0 without one."""
        return 0

    @cached_property
    def formulas(self) -> dict[Any, Any]:
        """Its rounds on unknown vectors (`fixed_points.formulas`), which live as long as the method."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)

    @property
    def is_stateless(self) -> bool:
        """Whether rounds keep nothing but the server's point."""
        state = self.initial_state(np.zeros(1), lambda server: server[None])
        return not (state.shared or state.memory)

    @property
    def skip(self) -> Scalar:
        """The probability that a round is local: the clients work on without communication."""
        return 0

    @property
    def needs_everyone(self) -> bool:
        """Whether the method is defined for full participation only."""
        return False

    @property
    def needs_path_lengths(self) -> bool:
        """Whether the update uses the sum of every client's local stepsizes (`Answers.path_lengths`)."""
        return False

    def require(self, problem: Problem) -> None:
        """Raises InvalidInput if the parameters do not fit the problem."""
        require_one_per_client(getattr(self, "local_steps", 1), problem.num_clients, "local_steps")

    def scale(self, problem: Problem) -> tuple[Fraction, ...] | None:
        """The factors scale_k in F_k = scale_k · f_k; None if all are 1."""
        if not self.plain or problem.is_equally_weighted:
            return None
        return tuple(problem.num_clients * weight for weight in problem.exact_weights)

    def average_weights(self, problem: Problem) -> tuple[Fraction, ...]:
        """The weights of the server's average over all clients."""
        if self.plain:
            return (Fraction(1, problem.num_clients),) * problem.num_clients
        return problem.exact_weights


class SolvesExactly(Method):
    """The methods whose papers have the clients solve their subproblems exactly."""

    @property
    def local_solver(self) -> LocalSolver:
        return Exact()


@dataclass(frozen=True, kw_only=True)
class TakesLocalSteps(Method):
    """The methods whose clients take `local_steps` gradient steps of length `stepsize`."""

    stepsize: Scalar = number()
    local_steps: NumberOfSteps = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        object.__setattr__(self, "local_steps", numbers_of_steps(self.local_steps, "local_steps"))

    @property
    def local_solver(self) -> LocalSolver:
        return gradient_steps(self.local_steps, self.stepsize)
