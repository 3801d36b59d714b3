"""The exact trajectory of a method on a scenario, from the package's own method code, and a tolerance for rounding.

**Tolerance.** The same rounds in ball arithmetic at the implementation's precision (53 bits for float64, 24 for
float32) have radii that bound the rounding errors of one order of operations. An implementation uses another order, so
its tolerance is `ROOM` times the sum of the largest radius so far and a unit in the last place of the largest number.
On cross-entropies simulated rounding errors take the place of radii: see `error_growth`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import original_method, updated_rows
from fedconvex.conformance.faults.memory import correction_in
from fedconvex.conformance.history import (
    ALL_ANSWERS,
    ALL_Z,
    LAST_ANSWER,
    LAST_MEAN,
    LAST_MEMORY,
    LAST_ROUND,
    NUMBER,
    PREVIOUS_POINT,
    ROUND,
    SAMPLES,
    WEIGHT,
)
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.problems.base import Subproblem

if TYPE_CHECKING:
    from fedconvex.conformance.scenarios import Scenario
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Literal

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import largest_radius
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import float_array, nearest_float
from fedconvex.conformance.batches import ChosenBatches, drawn
from fedconvex.conformance.classification import SoftmaxClients
from fedconvex.conformance.faults.base import AVERAGE
from fedconvex.conformance.faults.faulty_solvers import with_faults
from fedconvex.conformance.scenarios import Scenario
from fedconvex.conformance.setup import Setup
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.sgd import SGD
from fedconvex.parameters import in_arithmetic
from fedconvex.participation import Draw
from fedconvex.problems.quadratics import LeastSquares
from fedconvex.runs.rounds import Rounds


@dataclass(frozen=True, eq=False)
class FaultyMethod(Method):
    """The method `original` with the fault's subproblem and update.

    It also records in the state what faults need of earlier rounds: see `history`. Wrap it again to plant two faults.
    """

    original: Method
    fault: Fault
    scenario: "Scenario"
    outermost: bool = True  # of those planted in one method: it alone keeps the history

    def __post_init__(self) -> None:
        # a class variable in other methods; here it is the wrapped method's, which only the instance knows
        object.__setattr__(self, "plain", self.original.plain)

    @property
    def local_solver(self) -> LocalSolver:
        return self.original.local_solver

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        state = self.original.initial_state(self.fault.initial_point(server), repeat)
        if not self.outermost:
            return state
        one, m = 0 * server[:1] + 1, self.scenario.base.num_clients  # a one of the run's arithmetic
        weights = self.scenario.base.exact_weights
        rows = {
            NUMBER: [one * k for k in range(m)],
            WEIGHT: [one * weight.numerator / weight.denominator for weight in weights],
            SAMPLES: [one * size for size in self.scenario.sizes],
            LAST_ROUND: [-one] * m,
            LAST_ANSWER: [state.server] * m,
        }
        memory = {name: np.stack(values) for name, values in rows.items()}
        shared = {
            ROUND: 0 * one,
            PREVIOUS_POINT: state.server,
            ALL_ANSWERS: memory[LAST_ANSWER],
            WEIGHT: memory[WEIGHT],
            SAMPLES: memory[SAMPLES],
            LAST_MEAN: state.server,
            LAST_MEMORY: 0 * state.server,
        }
        # only this server averages the z_k of all clients: RegularizedFedSplit's, and FedSplit's with server="all"
        if "z" in state.memory and getattr(original_method(self.original), "server", "all") == "all":
            shared[ALL_Z] = state.memory["z"]
        return State(state.server, {**state.shared, **shared}, {**state.memory, **memory})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return self.fault.subproblem(self.original, state, cohort)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        new = self.fault.update(self.original, state, cohort, answers)
        if not self.outermost:
            return new
        memory = {name: state.memory[name] for name in (NUMBER, WEIGHT, SAMPLES)}
        round_rows = np.tile(state.shared[ROUND], (len(cohort.points), 1))
        memory.update({LAST_ROUND: round_rows, LAST_ANSWER: answers.points})
        shared = {
            ROUND: state.shared[ROUND] + 1,
            PREVIOUS_POINT: state.server,
            ALL_ANSWERS: updated_rows(state, ALL_ANSWERS, answers.points),
            WEIGHT: state.shared[WEIGHT],
            SAMPLES: state.shared[SAMPLES],
            LAST_MEAN: cohort.average(answers.points),
            LAST_MEMORY: state.shared[LAST_MEMORY],
        }
        for name in correction_in(new):
            shared[LAST_MEMORY] = new.memory[name][-1]
        if ALL_Z in state.shared:
            shared[ALL_Z] = updated_rows(state, ALL_Z, new.memory["z"])
        return State(new.server, {**new.shared, **shared}, {**new.memory, **memory})


Part = Literal["both", "clients", "server"]  # what of an implementation is checked; the kit plays the rest

ROOM = 64  # factor for another order of operations: six bits
MOST_EXACT_STEPS = 32  # local steps up to which rationals are used: their digits grow with every step
MOST_EXACT_FAULTY_STEPS = 8  # the same limit for runs with a fault, of which a diagnosis needs many
ENCLOSING_BITS = 512  # precision of the balls that replace rationals beyond the limit


@dataclass(frozen=True, eq=False)
class ModelsAfterRound:
    """The models after one round: the server's point (d,) and those of the active clients."""

    server: Array
    clients: dict[int, Array]


def arithmetic_for(setup: Setup, scenario: Scenario) -> Arithmetic:
    """Rationals for few local steps; else balls so narrow that their midpoints round to the correct float64."""
    few = is_exact(setup, scenario, MOST_EXACT_STEPS)
    return arithmetics.get("exact") if few else arithmetics.get("ball", precision=ENCLOSING_BITS)


def arithmetic_for_faults(setup: Setup, scenario: Scenario, faults: Sequence[Fault] = ()) -> Arithmetic:
    """Rationals for few local steps; else float64, whose rounding errors are small compared with any fault."""
    few = is_exact(setup, scenario, MOST_EXACT_FAULTY_STEPS)
    return arithmetics.get("exact" if few and all(f.rational and f.family is None for f in faults) else "float")


def is_exact(setup: Setup, scenario: Scenario, most_steps: int) -> bool:
    """Whether rationals can compute the scenario, in so many local steps at most."""
    few = setup.most_steps is None or setup.most_steps <= most_steps
    return scenario.is_rational and not setup.method.takes_square_roots and few


def play(
    setup: Setup,
    scenario: Scenario,
    numbers: Arithmetic,
    faults: Sequence[Fault] = (),
    part: Part = "both",
) -> Iterator[ModelsAfterRound]:
    """The models after each round of the method with these faults, lazily.

    `part`: "clients" where the faults change the clients alone, and a correct server averages what they return: the
    situation of a `client` or `local_update`, whose server is the kit's. "server" where correct clients reply to a
    faulty server: the situation of a `server`.
    """
    with numbers.context():
        faulty = rounds_with(setup, scenario, numbers, faults)
        state = faulty.start(numbers.array(scenario.first_point))
        correct = rounds_with(setup, scenario, numbers, ()) if part != "both" and faults else None
        correct_state = None if correct is None else correct.start(numbers.array(scenario.first_point))
    # The context is entered anew in every round: this is a generator, and the caller's arithmetic runs in between.
    for t, active in enumerate(scenario.rounds):
        with numbers.context():
            draw = prescribed_draw(scenario, t)
            faulty_draw = draw
            for fault in faults:
                changed = fault.draw(faulty_draw, setup.effort, scenario.base.num_clients)
                # with a correct server the faults cannot change who takes part, and with correct clients not who works
                faulty_draw = faulty_draw if _beyond(part, changed, draw) else changed
            answers = None
            if correct is not None and correct_state is not None and part == "clients":
                # clients see the correct server's memory, and keep their own
                state = State(correct_state.server, {**state.shared, **correct_state.shared}, state.memory)
            elif correct is not None and correct_state is not None:
                # clients see this server's model and memory, and keep theirs correctly
                shared = {name: state.shared[name] for name in correct_state.shared}
                replied = correct.play(State(state.server, shared, correct_state.memory), draw)
                assert replied is not None
                correct_state, answers = replied.state, replied.answers.of(_kept(draw, faulty_draw))
            played = faulty.play(state, faulty_draw, answers=answers)
            if played is None:
                yield ModelsAfterRound(state.server, {})
                continue
            state = played.state
            server = state.server
            if correct_state is not None and part == "server":
                state = State(server, state.shared, {**state.memory, **correct_state.memory})
            elif correct is not None and correct_state is not None:
                played_correctly = correct.play(correct_state, draw)
                assert played_correctly is not None
                # the server divides by the path lengths that it ordered, not by those that faulty clients took
                answers = Answers(played.answers.points, played_correctly.answers.path_lengths)
                played_correctly = correct.play(correct_state, draw, answers=answers)
                assert played_correctly is not None
                correct_state, server = played_correctly.state, played_correctly.state.server
            members = active if faulty_draw.members is None else faulty_draw.members.tolist()
            personal = setup.method.personal
            models = played.answers.points if personal is None else state.memory[personal][members]
            moment = ModelsAfterRound(server, dict(zip(members, models, strict=True)))
        yield moment


def draw_of(round: int, active: Sequence[int], local_steps: Sequence[int] | None) -> tuple[list[int], Draw]:
    """The active clients in ascending order, and a round's draw of them; local_steps[i] is the work of active[i]."""
    members = sorted(active)
    steps = None if local_steps is None else dict(zip(active, local_steps, strict=True))
    efforts = None if steps is None else np.array([steps[k] for k in members], dtype=np.int64)
    return members, Draw(np.array(members, dtype=np.int64), efforts=efforts, round=round)


def prescribed_draw(scenario: Scenario, t: int) -> Draw:
    """The draw of round t of the scenario."""
    return draw_of(t, scenario.rounds[t], None if scenario.efforts is None else scenario.efforts[t])[1]


def _beyond(part: Part, changed: Draw, draw: Draw) -> bool:
    """Whether a change of the draw is beyond that part of an implementation."""
    if part == "clients":
        return _other_members(changed, draw)
    return part == "server" and not np.isin(_members(changed), _members(draw)).all()


def _kept(draw: Draw, faulty_draw: Draw) -> np.ndarray:
    """The places of the faulty draw's members among those of the draw."""
    return np.searchsorted(_members(draw), _members(faulty_draw))


def _members(draw: Draw) -> np.ndarray:
    assert draw.members is not None  # scenarios list their active clients, and faults change that list
    return draw.members


def _other_members(one: Draw, other: Draw) -> bool:
    return not np.array_equal(np.asarray(one.members), np.asarray(other.members))


def rounds_with(setup: Setup, scenario: Scenario, numbers: Arithmetic, faults: Sequence[Fault] = ()) -> Rounds:
    """The method's rounds on a scenario's problem, with these faults planted."""
    scale = list(scenario.factors)
    for fault in faults:
        setup = fault.parameters(setup)
        scale = [factor * fault.scale(size) for factor, size in zip(scale, scenario.sizes, strict=True)]
    base = scenario.base
    for change in (fault.targets for fault in faults if fault.targets is not None):
        if isinstance(base, LeastSquares):  # labels are integers
            base = LeastSquares(A=base.A, b=[change(b) for b in base.b], weights=base.exact_weights)
    factors = setup.method.scale(base)
    if factors is not None:
        scale = [own * factor for own, factor in zip(scale, factors, strict=True)]
    method: Method = in_arithmetic(setup.method, numbers)
    solver: LocalSolver = in_arithmetic(setup.solver, numbers)
    if scenario.visited is not None:
        assert isinstance(solver, SGD)
        solver = ChosenBatches(solver, scenario.visited)
    elif isinstance(solver, SGD) and not faults:
        # the same batches, but no machine code: loading it takes longer than these runs
        solver = ChosenBatches(solver, partial(drawn, solver))
    solver = with_faults(solver) if faults else solver
    # a fault of the average is outermost: the others average as it says; and what is lost of the memory is lost before
    # the others read it
    ordered = sorted(faults, key=lambda fault: 2 * (fault.breaks == AVERAGE) + fault.loses_memory)
    for fault in ordered:
        method = FaultyMethod(method, fault, scenario, outermost=fault is ordered[-1])
        solver = fault.solver(solver)
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
        state = rounds.start(scenario.first_point)
        for draw in draws:
            played = rounds.play(state, draw)
            assert played is not None
            state = played.state
            yield np.vstack([state.server[None], played.answers.points])
