"""What fault definitions are made of: predicates on setups, and ways to change one thing in a move."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.bookkeeping import EVERYONES_Z, NUMBER, SEEN, SENT
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.problems.base import Subproblem

Ask = Callable[[Method, State, Cohort], Subproblem]
Update = Callable[[Method, State, Cohort, Answers], State]
Applies = Callable[[Setup], bool]


def always(setup: Setup) -> bool:
    """Every method."""
    return True


def of_method(*kinds: type) -> Applies:
    """Methods of those classes."""
    return lambda setup: isinstance(setup.method, kinds)


def takes_steps(least: int = 1) -> Applies:
    """Local work is so many steps, or more."""
    return lambda setup: setup.path_length is not None and setup.effort is not None and setup.effort >= least


def both(*predicates: Applies) -> Applies:
    """All of the predicates."""
    return lambda setup: all(predicate(setup) for predicate in predicates)


def is_proximal(setup: Setup) -> bool:
    """The method has a proximal term."""
    return bool(setup.method.proximal_weight != 0)


def asking(change: Callable[[Subproblem, State], Subproblem]) -> Ask:
    """The clients are asked something else."""
    return lambda method, state, cohort: change(method.subproblem(state, cohort), state)


def remembering(change: Callable[[State, Cohort], dict[str, Array]]) -> Ask:
    """The clients work with another memory than they keep: `change` gives the entries that differ."""

    def ask(method: Method, state: State, cohort: Cohort) -> Subproblem:
        return method.subproblem(State(state.server, state.shared, {**state.memory, **change(state, cohort)}), cohort)

    return ask


def in_cohort(change: Callable[[State, Cohort], dict[str, Any]]) -> Update:
    """The server updates as if those who take part were others: `change` gives the cohort's fields that differ."""
    return lambda method, state, cohort, answers: method.update(
        state, replace(cohort, everyone=False, **change(state, cohort)), answers
    )


def turned(asked: Subproblem, state: State) -> Subproblem:
    """The linear term with the other sign."""
    return asked if asked.linear is None else replace(asked, linear=-asked.linear)


def own_last(asked: Subproblem, state: State) -> Array:
    """The last answers of the clients that have given one, else the server's point."""
    rows = 0 * asked.start + state.server
    for i, seen in enumerate(state.memory[SEEN]):
        if seen[0] >= 0:
            rows[i] = state.memory[SENT][i]
    return rows


def averaging(average: Callable[[Array, State, Cohort], Array]) -> Update:
    """The server averages otherwise."""

    def change(state: State, cohort: Cohort) -> dict[str, Any]:
        return {"average": lambda stack: average(stack, state, cohort), "everyone": cohort.everyone}

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        return method.update(state, replace(cohort, **change(state, cohort)), answers)

    return update


def then(change: Callable[[State, State, Cohort, Answers], State]) -> Update:
    """The right update, then `change(before, after, cohort, answers)`; server memory grows by increments."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        after = method.update(state, replace(cohort, everyone=False), answers)
        if EVERYONES_Z in state.shared and "z" in after.memory:  # FedSplit's server averages what all clients keep
            rows = updated_rows(state, EVERYONES_Z, after.memory["z"])
            after = with_server(after, rows.sum(0) / len(rows))
        return change(state, after, cohort, answers)

    return update


def with_memory(state: State, **entries: Array) -> State:
    """The state with other entries in its memory."""
    return State(state.server, state.shared, {**state.memory, **entries})


def with_shared(state: State, **entries: Array) -> State:
    """The state with other entries of the server's."""
    return State(state.server, {**state.shared, **entries}, state.memory)


def with_server(state: State, server: Array) -> State:
    """The state with another point."""
    return State(server, state.shared, state.memory)


def with_solver(change: Callable[[Any], LocalSolver]) -> Callable[[Setup], Setup]:
    """Clients work otherwise."""
    return lambda setup: Setup(setup.method, change(setup.solver))


def scaled(factor: Fraction, by_samples: int = 0) -> Callable[[int], Fraction]:
    """factor · n_k^by_samples."""
    return lambda samples: factor * Fraction(samples) ** by_samples


def updated_rows(state: State, name: str, rows: Array) -> Array:
    """A booked (m, d) array with the rows of those who take part replaced."""
    everyones = state.shared[name] + 0
    everyones[[number_of(row[0]) for row in state.memory[NUMBER]]] = rows
    return everyones


def number_of(entry: Any) -> int:
    """A booked number as an integer."""
    return round(float(entry))


def inmost(method: Method) -> Any:
    """The method itself, below the faults that are planted in it."""
    while hasattr(method, "original"):
        method = method.original
    return method
