"""Faults of SCAFFOLD: in the control variates c_k and c, options I and II, and the server's stepsize."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.faults.base import CORRECTION, MEMORY_RULE, SERVER_MEMORY, SERVER_STEP, Rule
from fedconvex.conformance.faults.building_blocks import (
    UpdateRule,
    after_update,
    of_method,
    original_method,
    other_than,
    takes_steps,
    with_memory,
    with_parameters,
    with_shared,
    with_subproblem,
)
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, State
from fedconvex.methods.scaffold import Scaffold

is_scaffold = of_method(Scaffold)
CORRECTED = Rule(CORRECTION, is_scaffold, "correct every local step with − c_k + c")
C = Rule(SERVER_MEMORY, is_scaffold)
OPTION_I = Rule(MEMORY_RULE, of_method(Scaffold, option=1))
OPTION_II = Rule(
    MEMORY_RULE,
    of_method(Scaffold, option=2),
    "use c_k − c + (w − y_k)/(K·s): K local steps of size s, w and c as they were when the round began",
)
STEP = Rule(SERVER_STEP, of_method(Scaffold), "w ← w + server_stepsize · mean(y_k − w)")


def own_solver(setup: Setup) -> bool:
    """Whether K and s of the local work are the method's own."""
    return setup.given is None


def with_divisor(path: Callable[[Array, Any], Array]) -> UpdateRule:
    """The update with `path(ℓ_k, method)` in place of the path length ℓ_k = K·s in option II."""

    def change(method: Any, state: State, cohort: Cohort, answers: Answers) -> State:
        changed = replace(answers, path_lengths=path(answers.path_lengths, original_method(method)))
        after: State = method.update(state, replace(cohort, everyone=False), changed)
        return after

    return change


def with_stored(rule: Callable[[State, Array, Array], Array]) -> UpdateRule:
    """The update with c_k⁺ = rule(state, right c_k⁺, (w⁺ − w)/ℓ_k); the server's c changes by their mean."""

    def change(before: State, after: State, cohort: Cohort, answers: Answers) -> State:
        assert answers.path_lengths is not None
        own = rule(before, after.memory["c"], (after.server - before.server) / answers.path_lengths)
        # c is the mean over all m clients of the c_k: it must follow what the faulty clients store
        c = before.shared["c"] + cohort.population_mean(own - before.memory["c"])
        return with_shared(with_memory(after, c=own), c=c)

    return after_update(change)


FAULTS = (
    *CORRECTED.each(
        "subproblem",
        lambda linear: with_subproblem(lambda sub, state: replace(sub, linear=linear(sub, state))),
        {
            "the server's control variate is left out of the correction": lambda sub, state: -state.memory["c"],
            "the client's control variate is left out of the correction": lambda sub, state: (
                0 * sub.start + state.shared["c"]
            ),
        },
    ),
    C.broken(
        "the server's control variate is never updated",
        "add the mean over all m clients of the changes c_k⁺ − c_k to c, in every round",
        update=after_update(lambda before, after, *_: with_shared(after, c=before.shared["c"])),
    ),
    C.broken(
        "the server's control variate is the mean of those who took part",
        "add the changes to the old c: the others' control variates stay in the mean",
        update=after_update(
            lambda before, after, *_: with_shared(after, c=after.memory["c"].sum(0) / len(after.memory["c"]))
        ),
    ),
    OPTION_II.broken(
        "option I is used instead of option II",
        "II takes c_k⁺ from the path of the local steps, I from the gradient at the server's model",
        parameters=with_parameters(option=1),
    ),
    OPTION_I.broken(
        "option II is used instead of option I",
        "I takes c_k⁺ from the gradient at the server's model, II from the path of the local steps",
        where=takes_steps(1),
        parameters=with_parameters(option=2),
    ),
    *OPTION_II.each(
        "update",
        with_stored,
        {
            "option II does not subtract c": lambda before, new, path: new + before.shared["c"],
            "option II adds c instead of subtracting it": lambda before, new, path: new + 2 * before.shared["c"],
            "option II forgets the old c_k": lambda before, new, path: new - before.memory["c"],
        },
    ),
    OPTION_II.broken("option II takes the path with the wrong sign", update=with_divisor(lambda path, method: -path)),
    *OPTION_II.each(
        "update",
        with_divisor,
        {
            "option II does not divide by the stepsize": lambda path, method: path / method.stepsize,
            "option II does not divide by the local steps": lambda path, method: 0 * path + method.stepsize,
            "option II divides by one local step too many": lambda path, method: path + method.stepsize,
        },
        where=own_solver,
    ),
    OPTION_II.broken(
        "option II divides by the full number of local steps for stragglers, too",
        "K is the number of steps that the client took",
        where=lambda setup: own_solver(setup) and takes_steps(2)(setup),
        update=with_divisor(lambda path, method: 0 * path + method.stepsize * method.local_steps),
    ),
    OPTION_II.broken(
        "option II measures the path from the server's new model",
        update=with_stored(lambda before, new, path: new + path),
    ),
    STEP.broken(
        "the server's stepsize is ignored",
        where=other_than(server_stepsize=1),
        parameters=with_parameters(server_stepsize=1),
    ),
)
