"""A method with one fault planted in it: its runs are what an implementation with that fault computes."""

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
