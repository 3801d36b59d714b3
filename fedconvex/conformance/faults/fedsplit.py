"""Faults of FedSplit: in the point of the proximal step, in the update of z_k, and in the server's mean."""

from collections.abc import Callable
from dataclasses import replace

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import MEMORY, MEMORY_RULE, REFLECTION, SERVER_MEMORY, SERVER_STEP, Rule
from fedconvex.conformance.faults.building_blocks import (
    SubproblemRule,
    UpdateRule,
    after_update,
    of_method,
    server_to,
    with_memory,
    with_parameters,
    with_server,
    with_term,
)
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, State
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.problems.base import Subproblem

is_fedsplit = of_method(FedSplit, RegularizedFedSplit)
STEP = "z_k ← z_k + 2(prox(2x − z_k) − x)"
UPDATED, REFLECTED = Rule(MEMORY_RULE, is_fedsplit, STEP), Rule(REFLECTION, is_fedsplit, STEP)
KEPT = Rule(MEMORY, is_fedsplit)


def with_step(factor: Callable[[Array], Array]) -> UpdateRule:
    """The update with z_k ← z_k + factor(2(θ_k − x)), and the server's point as the mean over all clients."""

    def change(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
        z = before.memory["z"] + factor(after.memory["z"] - before.memory["z"])
        mean = replace(cohort, everyone=False).updated_mean(before.server, before.memory["z"], z)
        return with_server(with_memory(after, z=z), mean)

    return after_update(change)


def around(what: Callable[[State], Array]) -> SubproblemRule:
    """The proximal step around the point `what(state)` instead of 2x − z_k."""

    def change(subproblem: Subproblem, state: State) -> Subproblem:
        reflected = 2 * state.server - state.memory["z"]
        shift = 0 * subproblem.start + what(state) - reflected
        # the start moves along where local work starts at the centre
        start = subproblem.start + shift if (subproblem.start == reflected).all() else subproblem.start
        return replace(subproblem, center=subproblem.center + shift, start=start)

    return with_term(change)


FAULTS = (
    UPDATED.broken("the reflection has no factor 2", update=with_step(lambda step: step / 2)),
    UPDATED.broken("the reflection goes the wrong way", update=with_step(lambda step: -step)),
    *REFLECTED.each(
        "subproblem",
        around,
        {
            "the proximal step is taken around x instead of 2x − z_k": lambda state: state.server,
            "the proximal step is taken around z_k instead of 2x − z_k": lambda state: state.memory["z"],
        },
    ),
    KEPT.broken(
        "the clients' z_k is reset to the server's model",
        "keep every client's z_k for the whole run",
        update=after_update(
            lambda before, after, *_: with_memory(after, z=0 * after.memory["z"] + after.server),
        ),
    ),
    KEPT.broken(
        "the clients' z_k is never stored",
        "write the new z_k back to where the next round reads it",
        update=after_update(lambda before, after, *_: with_memory(after, z=before.memory["z"])),
    ),
    Rule(SERVER_STEP, is_fedsplit).broken(
        "the server averages the proximal points instead of the z_k",
        "x ← mean of the z_k after their reflection",
        update=server_to(lambda method, before, after, cohort, answers: answers.points.sum(0) / len(answers.points)),
    ),
    Rule(SERVER_MEMORY, of_method(FedSplit, server="all")).broken(
        "only the z_k of those who take part are averaged",
        "average all m clients' z_k, or state FedSplit(server='active')",
        parameters=with_parameters(server="active"),
    ),
    Rule(SERVER_MEMORY, of_method(FedSplit, server="active")).broken(
        "the z_k of all clients are averaged",
        "average those of the clients that take part, or state FedSplit(server='all')",
        parameters=with_parameters(server="all"),
    ),
)
