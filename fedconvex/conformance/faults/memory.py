"""Faults of the clients' memory, and of the server's: SCAFFOLD's c_k, FedDyn's g_k, FedPD's and FedADMM's λ_k."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import CORRECTION, MEMORY, MEMORY_RULE, SERVER_MEMORY, Rule
from fedconvex.conformance.faults.building_blocks import (
    after_update,
    by_last_round,
    negated_linear_term,
    of_method,
    original_method,
    with_client_memory,
    with_cohort,
    with_memory,
    with_parameters,
    with_server,
    with_subproblem,
    with_total,
)
from fedconvex.conformance.faults.faulty_solvers import SharedMemory
from fedconvex.conformance.history import LAST_MEMORY, ROUND
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.scaffold import Scaffold

# the entry of the clients' memory that is in the subproblem's linear term
NAMES = {Scaffold: "c", DynamicRegularization: "gradient", FedPD: "dual", FedADMM: "dual"}


def keeps_server_memory(setup: Setup) -> bool:
    """Whether the server adds up the changes of the clients' memory, over m."""
    return of_method(Scaffold, DynamicRegularization)(setup) or of_method(FedSplit, server="all")(setup)


def correction_in(state: State) -> list[str]:
    """The name of that entry in a list, which is empty for methods without it."""
    return [name for name in dict.fromkeys(NAMES.values()) if name in state.memory]


def of_vectors(change: Callable[[Array, State], Array]) -> Callable[[State], dict[str, Array]]:
    """The memory whose entry for the correction is change(rows, state)."""
    return lambda state: {name: change(state.memory[name], state) for name in correction_in(state)}


def forgotten(rows: Array, state: State) -> Array:
    """The vectors, 0 for a client that was inactive in the last round."""
    return by_last_round(state, lambda last: last == state.shared[ROUND][0] - 1, rows, 0 * rows)


def update_from_forgotten(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update of the forgetful memory; the server's own memory still contains the forgotten vectors."""
    lost = of_vectors(forgotten)(state)
    return method.update(with_memory(state, **lost), replace(cohort, everyone=False), answers)


def with_wrong_sign(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update that subtracts the change of the clients' vectors; FedPD's and FedADMM's servers use them."""
    after, own = method.update(state, replace(cohort, everyone=False), answers), original_method(method)
    (name,) = correction_in(state)
    wrong = 2 * state.memory[name] - after.memory[name]
    if isinstance(own, FedPD):
        after = with_server(after, cohort.average(answers.points + own.eta * wrong))
    if isinstance(own, FedADMM):
        after = with_server(after, after.server - 2 * own.moved(cohort, answers.points - cohort.points))
    return with_memory(after, **{name: wrong})


# the memory in which every client has what the last one left
from_last = of_vectors(lambda rows, state: 0 * rows + state.shared[LAST_MEMORY])


def update_one_by_one(method: Method, state: State, cohort: Cohort, answers: Answers) -> State:
    """The update in which each client's memory grows from what the client before it left."""
    (name,), together = correction_in(state), replace(cohort, everyone=False)
    shared = from_last(state)
    steps = method.update(with_memory(state, **shared), together, answers).memory[name] - shared[name]
    begun = np.concatenate([shared[name][:1], shared[name][:1] + np.cumsum(steps, axis=0)[:-1]])
    return method.update(with_memory(state, **{name: begun}), together, answers)


CORRECTED = Rule(CORRECTION, of_method(*NAMES))
KEPT = Rule(MEMORY, of_method(*NAMES))
UPDATED = Rule(
    MEMORY_RULE,
    of_method(*NAMES),
    "SCAFFOLD: c_k − c + (w − y_k)/(Ks); FedDyn: g_k − alpha(θ_k − w); FedPD: λ_k + (θ_k − w)/eta",
)
EARLIER = "correct the local steps with the values that the client had at the beginning of the round"
SERVER = Rule(SERVER_MEMORY, keeps_server_memory, "add (1/m)·Σ of the clients' changes, m counting all clients")
gradients_first = with_client_memory(lambda state, cohort: {"c": cohort.gradients()})

FAULTS = (
    CORRECTED.broken(
        "the correction of the local gradient has the wrong sign",
        "SCAFFOLD: gradient − c_k + c; FedDyn: gradient − g_k; FedPD: gradient + λ_k",
        subproblem=with_subproblem(negated_linear_term),
    ),
    CORRECTED.broken(
        "the correction of the local gradient is left out",
        "add the linear term where gradients flow: of the parameters, not of detached copies (.data)",
        subproblem=with_subproblem(lambda subproblem, state: replace(subproblem, linear=None)),
    ),
    KEPT.broken(
        "the clients' memory is never stored",
        "write the new value back to where the next round reads it",
        update=after_update(lambda before, after, *_: with_memory(after, **of_vectors(lambda c, _: c)(before))),
    ),
    KEPT.broken(
        "clients share one memory: each goes on with what the one before it left",
        "keep a vector for each client, by its number: one trainer that plays all of them has only one",
        where=of_method(DynamicRegularization, FedPD, FedADMM),
        subproblem=with_client_memory(lambda state, cohort: from_last(state)),
        update=update_one_by_one,
        solver=SharedMemory,
    ),
    KEPT.broken(
        "the clients' memory is lost in rounds that they skip",
        "keep the memory of every client for the whole run, whoever takes part",
        subproblem=with_client_memory(lambda state, cohort: of_vectors(forgotten)(state)),
        update=update_from_forgotten,
    ),
    SERVER.broken(
        "server memory is divided by |P_t| instead of m",
        update=with_cohort(lambda state, cohort: {"population": len(cohort.points)}),
    ),
    SERVER.broken(
        "server memory is summed, not divided by m",
        where=of_method(Scaffold, DynamicRegularization),
        update=with_cohort(lambda state, cohort: {"population": 1}),
    ),
    SERVER.broken(
        "only the last client's change reaches the server's memory",
        where=of_method(Scaffold, DynamicRegularization),
        update=with_total(lambda changes, *_: changes[-1]),
    ),
    UPDATED.broken("the clients' memory is updated with the wrong sign", update=with_wrong_sign),
    UPDATED.broken(
        "control variates are updated before they are used, and by another rule after it",
        EARLIER,
        where=of_method(Scaffold, option=2),
        subproblem=gradients_first,
    ),
    UPDATED.broken(
        "control variates are updated before they are used",
        EARLIER,
        where=of_method(Scaffold),
        parameters=with_parameters(option=1),
        subproblem=gradients_first,
    ),
)
