"""Faults of FedSplit: in the point of the proximal step, in the update of z_k, and in the server's mean."""

from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    after_update,
    of_method,
    with_cohort,
    with_memory,
    with_server,
    with_subproblem,
)
from fedconvex.conformance.faults.properties import MEMORY, MEMORY_RULE, REFLECTION, SERVER_MEMORY, SERVER_STEP
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, State
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.regularized_fedsplit import RegularizedFedSplit
from fedconvex.problems.base import Subproblem

is_fedsplit = of_method(FedSplit, RegularizedFedSplit)
RULE = "z_k ← z_k + 2(prox(2x − z_k) − x)"


def with_z(after: State, before: State, cohort: Cohort, z: Array) -> State:
    """The state with these z_k of the active clients, and the server's point as the mean over all clients."""
    return with_server(with_memory(after, z=z), cohort.updated_mean(before.server, before.memory["z"], z))


def without_factor_two(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
    """The update with z_k ← z_k + (θ_k − x)."""
    z = before.memory["z"]
    return with_z(after, before, replace(cohort, everyone=False), z + (after.memory["z"] - z) / 2)


def with_wrong_sign(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
    """The update with z_k ← z_k − 2(θ_k − x)."""
    return with_z(after, before, replace(cohort, everyone=False), 2 * before.memory["z"] - after.memory["z"])


def reset(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
    """The update with z_k ← x⁺: clients forget their z_k."""
    return with_memory(after, z=0 * after.memory["z"] + after.server)


def around(what: Any) -> Any:
    """The proximal step around the point `what(state)` instead of 2x − z_k."""

    def change(subproblem: Subproblem, state: State) -> Subproblem:
        if subproblem.center is None:  # another fault of a pair has left the term out
            return subproblem
        reflected = 2 * state.server - state.memory["z"]
        shift = 0 * subproblem.start + what(state) - reflected
        # the start moves along where local work starts at the centre
        start = subproblem.start + shift if (subproblem.start == reflected).all() else subproblem.start
        return replace(subproblem, center=subproblem.center + shift, start=start)

    return with_subproblem(change)


def server_of(which: str) -> Any:
    """Whether the method is FedSplit with this rule for its server's mean."""
    return lambda setup: isinstance(setup.method, FedSplit) and setup.method.server == which


def with_server_of(which: Any) -> Any:
    """The setup with this rule for the server's mean."""

    def change(setup: Setup) -> Setup:
        assert isinstance(setup.method, FedSplit)
        return Setup(replace(setup.method, server=which), setup.given)

    return change


FAULTS = (
    Fault(
        name="the reflection has no factor 2",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=is_fedsplit,
        update=after_update(without_factor_two),
    ),
    Fault(
        name="the reflection goes the wrong way",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=is_fedsplit,
        update=after_update(with_wrong_sign),
    ),
    Fault(
        name="the proximal step is taken around x instead of 2x − z_k",
        cure=RULE,
        breaks=REFLECTION,
        applies=is_fedsplit,
        subproblem=around(lambda state: state.server),
    ),
    Fault(
        name="the proximal step is taken around z_k instead of 2x − z_k",
        cure=RULE,
        breaks=REFLECTION,
        applies=is_fedsplit,
        subproblem=around(lambda state: state.memory["z"]),
    ),
    Fault(
        name="the clients' z_k is reset to the server's model",
        cure="keep every client's z_k for the whole run",
        breaks=MEMORY,
        applies=is_fedsplit,
        update=after_update(reset),
    ),
    Fault(
        name="the clients' z_k is never stored",
        cure="write the new z_k back to where the next round reads it",
        breaks=MEMORY,
        applies=is_fedsplit,
        update=after_update(lambda before, after, *_: with_memory(after, z=before.memory["z"])),
    ),
    Fault(
        name="the server averages the proximal points instead of the z_k",
        cure="x ← mean of the z_k after their reflection",
        breaks=SERVER_STEP,
        applies=is_fedsplit,
        update=after_update(
            lambda before, after, cohort, answers: with_server(after, answers.points.sum(0) / len(answers.points))
        ),
    ),
    Fault(
        name="only the z_k of those who take part are averaged",
        cure="average all m clients' z_k, or state FedSplit(server='active')",
        breaks=SERVER_MEMORY,
        applies=server_of("all"),
        parameters=with_server_of("active"),
    ),
    Fault(
        name="the z_k of all clients are averaged",
        cure="average those of the clients that take part, or state FedSplit(server='all')",
        breaks=SERVER_MEMORY,
        applies=server_of("active"),
        parameters=with_server_of("all"),
    ),
    Fault(
        name="server memory is divided by |P_t| instead of m",
        cure="x ← the mean of all m clients' z_k: it changes by (1/m)·Σ(z_k⁺ − z_k)",
        breaks=SERVER_MEMORY,
        applies=server_of("all"),
        update=with_cohort(lambda state, cohort: {"population": len(cohort.points)}),
    ),
)
