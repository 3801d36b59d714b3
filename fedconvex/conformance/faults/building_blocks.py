"""Building blocks of fault definitions: predicates on setups, and changes of one thing in a step of a method."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Applies
from fedconvex.conformance.history import ALL_Z, LAST_ANSWER, LAST_ROUND, NUMBER, ROUND
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.problems.base import Subproblem

SubproblemRule = Callable[[Method, State, Cohort], Subproblem]
UpdateRule = Callable[[Method, State, Cohort, Answers], State]


def always(setup: Setup) -> bool:
    """True for every method."""
    return True


def of_method(*classes: type, **values: Any) -> Applies:
    """Whether the method is of one of these classes, and has these values of its parameters."""
    return lambda setup: (
        isinstance(setup.method, classes) and all(getattr(setup.method, n) == value for n, value in values.items())
    )


def other_than(**values: Any) -> Applies:
    """Whether the method has these parameters, none of them with this value."""
    return lambda setup: all(getattr(setup.method, name, value) != value for name, value in values.items())


def takes_steps(least: int = 1) -> Applies:
    """Whether clients take at least this many local steps."""
    return lambda setup: setup.path_length is not None and setup.effort is not None and setup.effort >= least


def steps_repeatedly(setup: Setup) -> bool:
    """Whether local work has more than one step: several steps or epochs, or several batches."""
    return setup.path_length is not None and setup.most_steps is not None and setup.most_steps > 1


def both(*predicates: Applies) -> Applies:
    """Whether all of the predicates hold."""
    return lambda setup: all(predicate(setup) for predicate in predicates)


def is_proximal(setup: Setup) -> bool:
    """Whether the method has a proximal term."""
    return bool(setup.method.proximal_weight != 0)


def with_subproblem(change: Callable[[Subproblem, State], Subproblem]) -> SubproblemRule:
    """The clients solve `change(correct subproblem, state)`."""
    return lambda method, state, cohort: change(method.subproblem(state, cohort), state)


def with_term(change: Callable[[Subproblem, State], Subproblem]) -> SubproblemRule:
    """The same for a change of the proximal term, which another fault of a pair may have left out."""
    return with_subproblem(lambda sub, state: sub if sub.center is None else change(sub, state))


def with_client_memory(change: Callable[[State, Cohort], dict[str, Array]]) -> SubproblemRule:
    """The clients' subproblem comes from another memory than the stored one: `change` gives the entries that differ."""

    def subproblem(method: Method, state: State, cohort: Cohort) -> Subproblem:
        return method.subproblem(State(state.server, state.shared, {**state.memory, **change(state, cohort)}), cohort)

    return subproblem


def with_cohort(change: Callable[[State, Cohort], dict[str, Any]]) -> UpdateRule:
    """The server updates with another cohort: `change` gives the fields of the cohort that differ."""
    # everyone=False here and below: with everyone=True `Cohort.updated_mean` computes the server's memory anew from
    # the clients', which repairs an error of an earlier round; implementations add changes, and carry the error on.
    return lambda method, state, cohort, answers: method.update(
        state, replace(cohort, everyone=False, **change(state, cohort)), answers
    )


def with_total(total: Callable[[Array, Cohort, State, Any], Array]) -> UpdateRule:
    """The server's memory grows by total(changes, cohort, state, method)/m, not by the sum of the clients' changes."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        own = original_method(method)
        changed = with_cohort(lambda *_: {"total": lambda changes: total(changes, cohort, state, own)})
        return changed(method, state, cohort, answers)

    return update


def with_parameters(**changed: Any) -> Callable[[Setup], Setup]:
    """The setup with these parameters of the method; a function gives the new value from the old one."""

    def change(setup: Setup) -> Setup:
        values = {n: new(getattr(setup.method, n)) if callable(new) else new for n, new in changed.items()}
        return Setup(replace(setup.method, **values), setup.given)  # type: ignore[type-var]

    return change


def in_first_round(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of a subproblem or an update in the first round, the method's own after it."""

    def changed(method: Method, state: State, *given: Any) -> Any:
        if state.shared[ROUND][0] == 0:
            return rule(method, state, *given)
        return method.subproblem(state, *given) if len(given) == 1 else method.update(state, *given)

    return changed


def negated_linear_term(subproblem: Subproblem, state: State) -> Subproblem:
    """The subproblem with the sign of its linear term flipped."""
    return subproblem if subproblem.linear is None else replace(subproblem, linear=-subproblem.linear)


def by_last_round(state: State, fits: Callable[[Any], bool], rows: Array, others: Array) -> Array:
    """The rows of clients whose last round's number, −1 before the first, fits; `others` of the rest."""
    rounds = [fits(last[0]) for last in state.memory[LAST_ROUND]]
    return np.stack([row if fit else other for fit, row, other in zip(rounds, rows, others, strict=True)])


def returning(state: State, rows: Array, newcomers: Array) -> Array:
    """The rows of clients that have taken part before; `newcomers` of the others."""
    return by_last_round(state, lambda last: last >= 0, rows, newcomers)


def last_own_answers(subproblem: Subproblem, state: State) -> Array:
    """The active clients' last answers (K, d); the server's point for those that have not taken part yet."""
    return returning(state, state.memory[LAST_ANSWER], 0 * subproblem.start + state.server)


def with_average(average: Callable[[Array, State, Cohort], Array]) -> UpdateRule:
    """The server updates with `average` in place of its weighted or plain mean."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        return method.update(state, replace(cohort, average=lambda stack: average(stack, state, cohort)), answers)

    return update


def after_update(change: Callable[[State, State, Cohort, Answers], State]) -> UpdateRule:
    """The correct update followed by `change(before, after, cohort, answers)`.

    The correct update adds the active clients' changes to the server's memory, also where all clients take part.
    """

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        after = method.update(state, replace(cohort, everyone=False), answers)
        # FedSplit's server moves by the mean change of the z_k. After a fault in an earlier round its point need not
        # be their mean any more; implementations compute the mean anew, so the faulty run does, too.
        if ALL_Z in state.shared and "z" in after.memory:
            rows = updated_rows(state, ALL_Z, after.memory["z"])
            after = with_server(after, rows.sum(0) / len(rows))
        return change(state, after, cohort, answers)

    return update


def server_to(point: Callable[[Any, State, State, Cohort, Answers], Array]) -> UpdateRule:
    """The correct update with the server at point(method, before, after, cohort, answers)."""

    def update(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
        own = original_method(method)
        moved = after_update(lambda before, after, *given: with_server(after, point(own, before, after, *given)))
        return moved(method, state, cohort, answers)

    return update


def with_memory(state: State, **entries: Array) -> State:
    """The state with these entries replaced in the clients' memory."""
    return State(state.server, state.shared, {**state.memory, **entries})


def with_shared(state: State, **entries: Array) -> State:
    """The state with these entries replaced in the server's memory."""
    return State(state.server, {**state.shared, **entries}, state.memory)


def with_server(state: State, server: Array) -> State:
    """The state with another server's point."""
    return State(server, state.shared, state.memory)


def with_solver(change: Callable[[Any], LocalSolver]) -> Callable[[Setup], Setup]:
    """The setup with the local solver `change(solver)`."""
    return lambda setup: Setup(setup.method, change(setup.solver))


def scaled(factor: Fraction, power: int = 0) -> Callable[[int], Fraction]:
    """n_k ↦ factor · n_k^power, n_k being a client's number of samples."""
    return lambda samples: factor * Fraction(samples) ** power


def updated_rows(state: State, name: str, rows: Array) -> Array:
    """An (m, d) entry of the history with the rows of the active clients replaced."""
    replaced = state.shared[name] + 0  # a copy in any arithmetic
    replaced[[client_number(row[0]) for row in state.memory[NUMBER]]] = rows
    return replaced


def client_number(entry: Any) -> int:
    """A client's number as an integer: the history holds it in the run's arithmetic."""
    return round(float(entry))


def original_method(method: Method) -> Any:
    """The method itself, below the faults that wrap it."""
    while hasattr(method, "original"):
        method = method.original
    return method
