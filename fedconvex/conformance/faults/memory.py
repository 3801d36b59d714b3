"""Faults of what clients keep, for all methods that have it: SCAFFOLD's c_k, FedDyn's gradient, FedPD's dual."""

from dataclasses import replace

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    after_update,
    negated_linear_term,
    of_method,
    original_method,
    with_client_memory,
    with_memory,
    with_server,
    with_subproblem,
)
from fedconvex.conformance.faults.properties import CORRECTION, MEMORY, MEMORY_RULE
from fedconvex.conformance.history import LAST_ROUND, ROUND
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.base import Subproblem

NAMES = {Scaffold: "c", DynamicRegularization: "gradient", FedPD: "dual"}  # of the memory that tilts the function


def tilts(setup: Setup) -> bool:
    """Clients keep a vector that tilts their function."""
    return isinstance(setup.method, tuple(NAMES))


def name_in(state: State) -> str:
    """The name of that vector in the state's memory."""
    return next(name for name in NAMES.values() if name in state.memory)


def forgotten(state: State) -> dict[str, Array]:
    """The vector of those who took no part in the round before: zero."""
    name = name_in(state)
    rows = state.memory[name] + 0
    for i, seen in enumerate(state.memory[LAST_ROUND]):
        if seen[0] != state.shared[ROUND][0] - 1:
            rows[i] = 0 * rows[i]
    return {name: rows}


def ask_forgetful(method: Method, state: State, cohort: Cohort) -> Subproblem:
    """Asked with what is left."""
    return method.subproblem(with_memory(state, **forgotten(state)), cohort)


def update_forgetful(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """Updated from what is left; the server's mean, which it keeps itself, still has the old one in it."""
    return method.update(with_memory(state, **forgotten(state)), replace(cohort, everyone=False), answers)


def kept(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
    """The clients' vector as it was."""
    name = name_in(before)
    return with_memory(after, **{name: before.memory[name]})


def turn(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The clients' vector changed the other way; FedPD's server gets it."""
    after, name = method.update(state, replace(cohort, everyone=False), answers), name_in(state)
    wrong = 2 * state.memory[name] - after.memory[name]
    if name == NAMES[FedPD]:
        after = with_server(after, cohort.average(answers.points + original_method(method).eta * wrong))
    return with_memory(after, **{name: wrong})


def by_gradients(setup: Setup) -> Setup:
    """SCAFFOLD with option I."""
    assert isinstance(setup.method, Scaffold)
    return Setup(replace(setup.method, option=1), setup.given)


FAULTS = (
    Fault(
        name="the correction of the local gradient has the wrong sign",
        cure="SCAFFOLD: gradient − c_k + c; FedDyn: gradient − g_k; FedPD: gradient + λ_k",
        breaks=CORRECTION,
        applies=tilts,
        subproblem=with_subproblem(negated_linear_term),
    ),
    Fault(
        name="the correction of the local gradient is left out",
        cure="add the linear term where gradients flow: of the parameters, not of detached copies (.data)",
        breaks=CORRECTION,
        applies=tilts,
        subproblem=with_subproblem(lambda asked, state: replace(asked, linear=None)),
    ),
    Fault(
        name="the clients' memory is never stored",
        cure="write the new value back to where the next round reads it",
        breaks=MEMORY,
        applies=tilts,
        update=after_update(kept),
    ),
    Fault(
        name="the clients' memory is lost in rounds that they skip",
        cure="keep the memory of every client for the whole run, whoever takes part",
        breaks=MEMORY,
        applies=tilts,
        subproblem=ask_forgetful,
        update=update_forgetful,
    ),
    Fault(
        name="the clients' memory is updated with the wrong sign",
        cure="SCAFFOLD: c_k − c + (w − y_k)/(Ks); FedDyn: g_k − alpha(θ_k − w); FedPD: λ_k + (θ_k − w)/eta",
        breaks=MEMORY_RULE,
        applies=tilts,
        update=turn,
    ),
    Fault(
        name="control variates are updated before they are used, and by another rule after it",
        cure="correct the local steps with the values that the client had at the beginning of the round",
        breaks=MEMORY_RULE,
        applies=lambda setup: isinstance(setup.method, Scaffold) and setup.method.option == 2,
        subproblem=with_client_memory(lambda state, cohort: {name_in(state): cohort.gradients()}),
    ),
    Fault(
        name="control variates are updated before they are used",
        cure="correct the local steps with the values that the client had at the beginning of the round",
        breaks=MEMORY_RULE,
        applies=of_method(Scaffold),
        parameters=by_gradients,
        subproblem=with_client_memory(lambda state, cohort: {name_in(state): cohort.gradients()}),
    ),
)
