"""Faults of SCAFFOLD: in the control variates c_k and c, options I and II, and the server's stepsize."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import (
    UpdateRule,
    after_update,
    both,
    of_method,
    original_method,
    takes_steps,
    with_cohort,
    with_memory,
    with_server,
    with_shared,
    with_subproblem,
)
from fedconvex.conformance.faults.properties import CORRECTION, MEMORY_RULE, SERVER_MEMORY, SERVER_STEP
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, State
from fedconvex.methods.scaffold import Scaffold

is_scaffold = of_method(Scaffold)
RULE = "use c_k − c + (w − y_k)/(K·s): K local steps of size s, w and c as they were when the round began"


def option(number: int) -> Callable[[Setup], bool]:
    """Whether the method is SCAFFOLD with this option."""
    return lambda setup: isinstance(setup.method, Scaffold) and setup.method.option == number


def own_solver(setup: Setup) -> bool:
    """Whether K and s of the local work are the method's own."""
    return setup.given is None


def with_option(number: Any) -> Callable[[Setup], Setup]:
    """The setup with this option."""

    def change(setup: Setup) -> Setup:
        assert isinstance(setup.method, Scaffold)
        return Setup(replace(setup.method, option=number), setup.given)

    return change


def with_divisor(path: Callable[[Array, Any], Array]) -> UpdateRule:
    """The update with `path(ℓ_k, method)` in place of the path length ℓ_k = K·s in option II."""

    def change(method: Any, state: State, cohort: Cohort, answers: Answers) -> State:
        changed = replace(answers, path_lengths=path(answers.path_lengths, original_method(method)))
        after: State = method.update(state, replace(cohort, everyone=False), changed)
        return after

    return change


def with_stored(rule: Callable[[State, State, Answers], Array]) -> UpdateRule:
    """The update with c_k⁺ = rule(before, after, answers); the server's c changes by their mean."""

    def change(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
        own = rule(before, after, answers)
        # c is the mean over all m clients of the c_k: it must follow what the faulty clients store
        c = before.shared["c"] + cohort.population_mean(own - before.memory["c"])
        return with_shared(with_memory(after, c=own), c=c)

    return after_update(change)


FAULTS = (
    Fault(
        name="the server's control variate is left out of the correction",
        cure="correct every local step with − c_k + c",
        breaks=CORRECTION,
        applies=is_scaffold,
        subproblem=with_subproblem(lambda sub, state: replace(sub, linear=-state.memory["c"])),
    ),
    Fault(
        name="the client's control variate is left out of the correction",
        cure="correct every local step with − c_k + c",
        breaks=CORRECTION,
        applies=is_scaffold,
        subproblem=with_subproblem(lambda sub, state: replace(sub, linear=0 * sub.start + state.shared["c"])),
    ),
    Fault(
        name="the server's control variate is never updated",
        cure="add the mean over all m clients of the changes c_k⁺ − c_k to c, in every round",
        breaks=SERVER_MEMORY,
        applies=is_scaffold,
        update=after_update(lambda before, after, *_: with_shared(after, c=before.shared["c"])),
    ),
    Fault(
        name="server memory is divided by |P_t| instead of m",
        cure="scale it: c ← c + (|P_t|/m)·mean of the changes = (1/m)·their sum",
        breaks=SERVER_MEMORY,
        applies=is_scaffold,
        update=with_cohort(lambda state, cohort: {"population": len(cohort.points)}),
    ),
    Fault(
        name="server memory is summed, not divided by m",
        cure="scale it: c ← c + (1/m)·sum of the changes",
        breaks=SERVER_MEMORY,
        applies=is_scaffold,
        update=with_cohort(lambda state, cohort: {"population": 1}),
    ),
    Fault(
        name="the server's control variate is the mean of those who took part",
        cure="add the changes to the old c: the others' control variates stay in the mean",
        breaks=SERVER_MEMORY,
        applies=is_scaffold,
        update=after_update(
            lambda before, after, *_: with_shared(after, c=after.memory["c"].sum(0) / len(after.memory["c"]))
        ),
    ),
    Fault(
        name="option I is used instead of option II",
        cure="II takes c_k⁺ from the path of the local steps, I from the gradient at the server's model",
        breaks=MEMORY_RULE,
        applies=option(2),
        parameters=with_option(1),
    ),
    Fault(
        name="option II is used instead of option I",
        cure="I takes c_k⁺ from the gradient at the server's model, II from the path of the local steps",
        breaks=MEMORY_RULE,
        applies=both(option(1), takes_steps(1)),
        parameters=with_option(2),
    ),
    Fault(
        name="option II does not subtract c",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=option(2),
        update=with_stored(lambda before, after, answers: after.memory["c"] + before.shared["c"]),
    ),
    Fault(
        name="option II adds c instead of subtracting it",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=option(2),
        update=with_stored(lambda before, after, answers: after.memory["c"] + 2 * before.shared["c"]),
    ),
    Fault(
        name="option II forgets the old c_k",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=option(2),
        update=with_stored(lambda before, after, answers: after.memory["c"] - before.memory["c"]),
    ),
    Fault(
        name="option II takes the path with the wrong sign",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=option(2),
        update=with_divisor(lambda path, method: -path),
    ),
    Fault(
        name="option II does not divide by the stepsize",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=both(option(2), own_solver),
        update=with_divisor(lambda path, method: path / method.stepsize),
    ),
    Fault(
        name="option II does not divide by the local steps",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=both(option(2), own_solver),
        update=with_divisor(lambda path, method: 0 * path + method.stepsize),
    ),
    Fault(
        name="option II divides by one local step too many",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=both(option(2), own_solver),
        update=with_divisor(lambda path, method: path + method.stepsize),
    ),
    Fault(
        name="option II divides by the full number of local steps for stragglers, too",
        cure="K is the number of steps that the client took",
        breaks=MEMORY_RULE,
        applies=both(option(2), own_solver, takes_steps(2)),
        update=with_divisor(lambda path, method: 0 * path + method.stepsize * method.local_steps),
    ),
    Fault(
        name="option II measures the path from the server's new model",
        cure=RULE,
        breaks=MEMORY_RULE,
        applies=option(2),
        update=with_stored(
            lambda before, after, answers: after.memory["c"] + (after.server - before.server) / answers.path_lengths
        ),
    ),
    Fault(
        name="the server's stepsize is ignored",
        cure="w ← w + server_stepsize · mean(y_k − w)",
        breaks=SERVER_STEP,
        applies=lambda setup: isinstance(setup.method, Scaffold) and setup.method.server_stepsize != 1,
        update=lambda method, state, cohort, answers: with_server(
            method.update(state, cohort, answers),
            state.server + cohort.average(answers.points - cohort.points),
        ),
    ),
)
