"""Faults of the clients' memory where they have one: SCAFFOLD's c_k, FedDyn's g_k, FedPD's and FedADMM's λ_k."""

from dataclasses import replace

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    after_update,
    negated_linear_term,
    of_method,
    original_method,
    with_client_memory,
    with_cohort,
    with_memory,
    with_server,
    with_subproblem,
)
from fedconvex.conformance.faults.faulty_solvers import SharedMemory
from fedconvex.conformance.faults.properties import CORRECTION, MEMORY, MEMORY_RULE, SERVER_MEMORY
from fedconvex.conformance.history import LAST_MEMORY, LAST_ROUND, ROUND
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.base import Subproblem

# the entry of the clients' memory that is in the subproblem's linear term
NAMES = {Scaffold: "c", DynamicRegularization: "gradient", FedPD: "dual", FedADMM: "dual"}


def keeps_correction(setup: Setup) -> bool:
    """Whether clients keep a vector that corrects their local gradients."""
    return isinstance(setup.method, tuple(NAMES))


def name_in(state: State) -> str:
    """The name of that vector in this state's memory."""
    return correction_in(state)[0]


def correction_in(state: State) -> list[str]:
    """The same in a list, which is empty for methods without such a vector."""
    return [name for name in dict.fromkeys(NAMES.values()) if name in state.memory]


def forgotten(state: State) -> dict[str, Array]:
    """The memory in which a client that was inactive in the last round has the vector 0."""
    name = name_in(state)
    rows = state.memory[name] + 0
    for i, last in enumerate(state.memory[LAST_ROUND]):
        if last[0] != state.shared[ROUND][0] - 1:
            rows[i] = 0 * rows[i]
    return {name: rows}


def subproblem_from_forgotten(method: Method, state: State, cohort: Cohort) -> Subproblem:
    """The subproblem from the forgetful memory."""
    return method.subproblem(with_memory(state, **forgotten(state)), cohort)


def update_from_forgotten(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update of the forgetful memory; the server's own memory still contains the forgotten vectors."""
    return method.update(with_memory(state, **forgotten(state)), replace(cohort, everyone=False), answers)


def without_storing(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
    """The update without storing the clients' new vectors."""
    name = name_in(before)
    return with_memory(after, **{name: before.memory[name]})


def with_wrong_sign(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update that subtracts the change of the clients' vectors; FedPD's and FedADMM's servers use them."""
    after, name = method.update(state, replace(cohort, everyone=False), answers), name_in(state)
    wrong = 2 * state.memory[name] - after.memory[name]
    own = original_method(method)
    if isinstance(own, FedPD):
        after = with_server(after, cohort.average(answers.points + own.eta * wrong))
    if isinstance(own, FedADMM):
        after = with_server(after, after.server - 2 * own.moved(cohort, answers.points - cohort.points))
    return with_memory(after, **{name: wrong})


def with_option_one(setup: Setup) -> Setup:
    """The setup of SCAFFOLD with option I."""
    assert isinstance(setup.method, Scaffold)
    return Setup(replace(setup.method, option=1), setup.given)


def subproblem_from_shared(method: Method, state: State, cohort: Cohort) -> Subproblem:
    """The subproblem from the memory that the last client left."""
    return method.subproblem(with_memory(state, **shared_by_all(state)), cohort)


def shared_by_all(state: State) -> dict[str, Array]:
    """The memory in which every client has what the last one left."""
    name = name_in(state)
    return {name: 0 * state.memory[name] + state.shared[LAST_MEMORY]}


def update_one_by_one(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update in which each client's memory grows from what the client before it left."""
    name, together = name_in(state), replace(cohort, everyone=False)
    shared = shared_by_all(state)
    steps = method.update(with_memory(state, **shared), together, answers).memory[name] - shared[name]
    begun = [shared[name][0]]
    for step in steps[:-1]:
        begun.append(begun[-1] + step)
    return method.update(with_memory(state, **{name: np.stack(begun)}), together, answers)


FAULTS = (
    Fault(
        name="the correction of the local gradient has the wrong sign",
        cure="SCAFFOLD: gradient − c_k + c; FedDyn: gradient − g_k; FedPD: gradient + λ_k",
        breaks=CORRECTION,
        applies=keeps_correction,
        subproblem=with_subproblem(negated_linear_term),
    ),
    Fault(
        name="the correction of the local gradient is left out",
        cure="add the linear term where gradients flow: of the parameters, not of detached copies (.data)",
        breaks=CORRECTION,
        applies=keeps_correction,
        subproblem=with_subproblem(lambda subproblem, state: replace(subproblem, linear=None)),
    ),
    Fault(
        name="the clients' memory is never stored",
        cure="write the new value back to where the next round reads it",
        breaks=MEMORY,
        applies=keeps_correction,
        update=after_update(without_storing),
    ),
    Fault(
        name="clients share one memory: each goes on with what the one before it left",
        cure="keep a vector for each client, by its number: one trainer that plays all of them has only one",
        breaks=MEMORY,
        applies=of_method(DynamicRegularization, FedPD, FedADMM),
        subproblem=subproblem_from_shared,
        update=update_one_by_one,
        solver=SharedMemory,
    ),
    Fault(
        name="only the last client's change reaches the server's memory",
        cure="add up the changes of all who take part, and divide by m",
        breaks=SERVER_MEMORY,
        applies=of_method(Scaffold, DynamicRegularization),
        update=with_cohort(lambda state, cohort: {"total": lambda stack: stack[-1]}),
    ),
    Fault(
        name="the clients' memory is lost in rounds that they skip",
        cure="keep the memory of every client for the whole run, whoever takes part",
        breaks=MEMORY,
        applies=keeps_correction,
        subproblem=subproblem_from_forgotten,
        update=update_from_forgotten,
    ),
    Fault(
        name="the clients' memory is updated with the wrong sign",
        cure="SCAFFOLD: c_k − c + (w − y_k)/(Ks); FedDyn: g_k − alpha(θ_k − w); FedPD: λ_k + (θ_k − w)/eta",
        breaks=MEMORY_RULE,
        applies=keeps_correction,
        update=with_wrong_sign,
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
        parameters=with_option_one,
        subproblem=with_client_memory(lambda state, cohort: {name_in(state): cohort.gradients()}),
    ),
)
