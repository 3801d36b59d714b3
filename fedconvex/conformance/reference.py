"""The exact trajectory of a method on a scenario, from the package's own method code, and a tolerance for rounding.

**Tolerance.** The same rounds in ball arithmetic at the implementation's precision (53 bits for float64, 24 for
float32) have radii that bound the rounding errors of one order of operations. An implementation uses another order, so
its tolerance is `ROOM` times the sum of the largest radius so far and a unit in the last place of the largest number.
On cross-entropies simulated rounding errors take the place of radii: see `error_growth`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import largest_radius
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, float_array, nearest_float
from fedconvex.conformance.batches import ChosenBatches, drawn
from fedconvex.conformance.classification import SoftmaxClients
from fedconvex.conformance.scenarios import Scenario
from fedconvex.conformance.setup import Setup
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.parameters import in_arithmetic
from fedconvex.participation import Draw
from fedconvex.problems.base import Subproblem
from fedconvex.runs.rounds import Rounds

Part = Literal["both", "clients", "server"]  # what of an implementation is checked; the kit plays the rest

ROOM = 64  # factor for another order of operations: six bits
MOST_EXACT_STEPS = 32  # local steps up to which rationals are used: their digits grow with every step
ENCLOSING_BITS = 512  # precision of the balls that replace rationals beyond the limit
SHARE = "share"  # memory (m, 1) of `SampleWeighted`: m times the client's weight


@dataclass(frozen=True, eq=False)
class SampleWeighted(Method):
    """A method whose paper has plain means, with every mean over clients weighted by samples instead.

    The average over participants has weights n_k/Σn over these, as FedAvg's; a mean over all m clients becomes
    Σ_k p_k with p_k = n_k/Σn over all. Clients' functions are then f_k itself.
    """

    original: Method

    def __post_init__(self) -> None:
        # class variables in other methods; here they are the wrapped method's, which only the instance knows
        object.__setattr__(self, "plain", False)
        object.__setattr__(self, "personal", self.original.personal)

    @property
    def local_solver(self) -> LocalSolver:
        return self.original.local_solver

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        raise NotImplementedError("`started` knows the weights")

    def started(self, state: State, shares: Array) -> State:
        """The method's own first state, with every client's share, (m, 1)."""
        return State(state.server, state.shared, {**state.memory, SHARE: shares})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return self.original.subproblem(state, cohort)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        shares = state.memory[SHARE]
        weighted = replace(cohort, everyone=False, total=lambda stack: (shares * stack).sum(0))
        new = self.original.update(state, weighted, answers)
        return State(new.server, new.shared, {**new.memory, SHARE: shares})


@dataclass(frozen=True, eq=False)
class ModelsAfterRound:
    """The models after one round: the server's point (d,) and those of the active clients."""

    server: Array
    clients: dict[int, Array]


def arithmetic_for(setup: Setup, scenario: Scenario) -> Arithmetic:
    """Rationals for few local steps; else balls so narrow that their midpoints round to the correct float64."""
    few = setup.most_steps is None or setup.most_steps <= MOST_EXACT_STEPS
    exact = scenario.is_rational and not setup.method.takes_square_roots and few
    return arithmetics.get("exact") if exact else arithmetics.get("ball", precision=ENCLOSING_BITS)


def play(setup: Setup, scenario: Scenario, numbers: Arithmetic) -> Iterator[ModelsAfterRound]:
    """The models after each round of the method, lazily."""
    with numbers.context():
        rounds = rounds_with(setup, scenario, numbers)
        state = started(rounds, numbers.array(scenario.first_point))
    # The context is entered anew in every round: this is a generator, and the caller's arithmetic runs in between.
    for t, active in enumerate(scenario.rounds):
        with numbers.context():
            played = rounds.play(state, prescribed_draw(scenario, t))
            assert played is not None
            state, members = played.state, sorted(active)
            personal = setup.method.personal
            models = played.answers.points if personal is None else state.memory[personal][members]
            moment = ModelsAfterRound(state.server, dict(zip(members, models, strict=True)))
        yield moment


def started(rounds: Rounds, x0: Array) -> State:
    """The state before the first round."""
    if not isinstance(rounds.method, SampleWeighted):
        return rounds.start(x0)
    m, numbers = rounds.problem.num_clients, rounds.arithmetic
    shares = numbers.array([m * weight for weight in rounds.problem.exact_weights])[:, None]
    return rounds.method.started(replace(rounds, method=rounds.method.original).start(x0), shares)


def draw_of(round: int, active: Sequence[int], local_steps: Sequence[int] | None) -> tuple[list[int], Draw]:
    """The active clients in ascending order, and a round's draw of them; local_steps[i] is the work of active[i]."""
    members = sorted(active)
    steps = None if local_steps is None else dict(zip(active, local_steps, strict=True))
    efforts = None if steps is None else np.array([steps[k] for k in members], dtype=np.int64)
    return members, Draw(np.array(members, dtype=np.int64), efforts=efforts, round=round)


def prescribed_draw(scenario: Scenario, t: int) -> Draw:
    """The draw of round t of the scenario."""
    return draw_of(t, scenario.rounds[t], None if scenario.efforts is None else scenario.efforts[t])[1]


def rounds_with(setup: Setup, scenario: Scenario, numbers: Arithmetic) -> Rounds:
    """The method's rounds on a scenario's problem."""
    base, scale = scenario.base, list(scenario.factors)
    factors = None if setup.weighted else setup.method.scale(base)
    if factors is not None:
        scale = [own * factor for own, factor in zip(scale, factors, strict=True)]
    method: Method = in_arithmetic(setup.method, numbers)
    solver: LocalSolver = in_arithmetic(setup.solver, numbers)
    if isinstance(solver, SGD):
        # the same batches as the solver's own, but no machine code: loading it takes longer than these runs
        solver = ChosenBatches(solver, scenario.visited or partial(drawn, solver))
    if setup.weighted:
        method = SampleWeighted(method)
    return Rounds(method, solver, base, base.clients(numbers, tuple(scale)), numbers)


@dataclass(frozen=True, eq=False)
class Reference:
    """The correct run of one scenario, each number rounded to the nearest float64."""

    setup: Setup
    scenario: Scenario

    @cached_property
    def moments(self) -> list[ModelsAfterRound]:
        """The models after each round."""
        return [
            ModelsAfterRound(float_array(m.server), {k: float_array(x) for k, x in m.clients.items()})
            for m in play(self.setup, self.scenario, arithmetic_for(self.setup, self.scenario))
        ]

    @cached_property
    def points(self) -> np.ndarray:
        """The server's points (T + 1, d), with the initial point first."""
        return np.stack([self.scenario.first_point, *(moment.server for moment in self.moments)])

    def tolerances(self, bits: int) -> np.ndarray:
        """The largest admissible error in any entry of `points`, (T + 1,), for an implementation of this precision."""
        if bits not in self._tolerances:
            radii = self._radii(bits) if self.scenario.is_rational else self._error_growth * 2.0**-bits
            size = [float(np.abs(self.points[0]).max())]
            size += [max(float(np.abs(x).max()) for x in (m.server, *m.clients.values())) for m in self.moments]
            units = np.maximum.accumulate(np.array(size)) * 2.0**-bits
            found = ROOM * (np.maximum.accumulate(np.array(radii)) + units)
            if not np.isfinite(found).all():
                raise InvalidInput("method", self.setup.method, "leaves the range of numbers", "give other parameters")
            self._tolerances[bits] = found
        return self._tolerances[bits]

    def _radii(self, bits: int) -> list[float]:
        """The largest radius of any model after every round in balls of this precision."""
        radii = [0.0]
        for moment in play(self.setup, self.scenario, arithmetics.get("ball", precision=bits)):
            parts = [moment.server, *moment.clients.values()]
            radii.append(largest_radius(entry for part in parts for entry in part))
        return radii

    @cached_property
    def _error_growth(self) -> np.ndarray:
        """What takes the place of radii on cross-entropies, in units of the last place."""
        scenario = self.scenario
        draws = [prescribed_draw(scenario, t) for t in range(len(scenario.rounds))]
        return error_growth(self.setup, scenario, rounds_with(self.setup, scenario, arithmetics.get("float")), draws)

    @cached_property
    def _tolerances(self) -> dict[int, np.ndarray]:
        return {}


def rounds_on(setup: Setup, references: Sequence[Reference], problem: object) -> tuple[Rounds, np.ndarray]:
    """The rounds in floats of the half that the kit plays, on the scenario that has this problem; its first point."""
    scenario = next(r.scenario for r in references if r.scenario.problem is problem)
    return rounds_with(setup, scenario, arithmetics.get("float")), scenario.first_point


UNIT = 2.0**-30  # the relative size of a disturbance
RUNS = 8


def error_growth(setup: Setup, scenario: Scenario, rounds: Rounds, draws: list[Draw]) -> np.ndarray:
    """The largest change of any model after every round, (T + 1,), in units of the relative size of the disturbance.

    Balls overestimate by a factor in every step how errors grow through a softmax, and after a few rounds say nothing.
    Runs whose every gradient is disturbed at random, by about what rounding a step and its gradient would change, show
    how far errors carry. The disturbance is much larger than float64's own rounding and much smaller than any
    nonlinearity.
    """
    stepsize = nearest_float(setup.solver.stepsize)  # type: ignore[attr-defined] # gradient steps, as was required
    largest_feature = max(1.0, *(float(np.abs(A).max()) for A in scenario.problem.A))  # type: ignore[attr-defined]
    undisturbed = list(_models(rounds, scenario, draws))
    growth = np.zeros(len(draws) + 1)
    for seed in range(RUNS):
        generator = np.random.default_rng(seed)

        def disturb(X: Array, gradients: Array, generator: np.random.Generator = generator) -> Array:
            # rounding θ by one unit is as much as changing the gradient by that unit over the stepsize
            size = largest_feature + np.abs(X).max(1, keepdims=True) / stepsize
            return gradients + UNIT * size * generator.uniform(-1, 1, gradients.shape)

        assert isinstance(rounds.clients, SoftmaxClients)
        disturbed = replace(rounds, clients=rounds.clients.disturbed(disturb))
        for t, (models, others) in enumerate(zip(undisturbed, _models(disturbed, scenario, draws), strict=True)):
            growth[t + 1] = max(growth[t + 1], float(np.abs(models - others).max()) / UNIT)
    return np.maximum.accumulate(growth)


def _models(rounds: Rounds, scenario: Scenario, draws: list[Draw]) -> Iterator[np.ndarray]:
    """The server's and the active clients' models after every round, (1 + K, d)."""
    with arithmetics.get("float").context(), np.errstate(all="ignore"):
        state = started(rounds, scenario.first_point)
        for draw in draws:
            played = rounds.play(state, draw)
            assert played is not None
            state = played.state
            yield np.vstack([state.server[None], played.answers.points])
