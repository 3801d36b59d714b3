"""Faults of the server's step, of the model that it sends, and of the initial point."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.conformance.faults.base import FIRST_POINT, SERVER_STEP, START, Rule
from fedconvex.conformance.faults.building_blocks import (
    always,
    in_first_round,
    of_method,
    other_than,
    server_to,
)
from fedconvex.conformance.history import PREVIOUS_POINT
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.methods.fedsplit import FedSplit, RegularizedFedSplit
from fedconvex.methods.scaffold import Scaffold
from fedconvex.problems.base import Subproblem


def from_previous_point(method: Method, state: State, cohort: Cohort) -> Subproblem:
    """The subproblem at the server's point of one round ago."""
    before = state.shared[PREVIOUS_POINT]
    there = replace(cohort, points=0 * cohort.points + before)
    return method.subproblem(State(before, state.shared, state.memory), there)


def scalar_like(number: Fraction, like: Array) -> Scalar:
    """The number in the arithmetic of the array."""
    if isinstance(like[0], float):
        return float(number)
    return (0 * like[0] + number.numerator) / number.denominator


def server_moved(move: Callable[[Array, Array, Array, Scalar], Array]) -> Callable[[Fraction], dict[str, Any]]:
    """The fields of a fault whose server goes to move(before, after, before that, number)."""

    def changes(number: Fraction) -> dict[str, Any]:
        def point(method: Any, before: State, after: State, cohort: Cohort, answers: Answers) -> Array:
            factor = scalar_like(number, after.server)
            return move(before.server, after.server, before.shared[PREVIOUS_POINT], factor)

        return {"update": server_to(point)}

    return changes


def steps_from_answers(setup: Setup) -> bool:
    """Whether the server's new model is not a mean of memory, which a fault of the step would not last in."""
    return not isinstance(setup.method, FedSplit | RegularizedFedSplit)


STEP = Rule(SERVER_STEP, always)
unchanged = server_to(lambda method, before, after, *_: before.server)

FAMILIES = (
    STEP.broken_by(
        "the server's step is multiplied by {}",
        "go to the average itself, or state the server's stepsize",
        where=steps_from_answers,
        changes=server_moved(lambda before, after, _, factor: before + factor * (after - before)),
        starts=(1.1, 0.5, 0.1),
        neutral=1.0,
    ),
    STEP.broken_by(
        "the server's new model is multiplied by {}",
        "a stepsize of the server multiplies the average of the steps y_k − w, not that of the models y_k",
        changes=server_moved(lambda before, after, _, factor: factor * after),
        starts=(0.9, 0.5),
        neutral=1.0,
    ),
    STEP.broken_by(
        "the server's step has a momentum of {}",
        "go to the average itself: FedAvgM's momentum is another method",
        where=of_method(Averaging),
        changes=server_moved(lambda before, after, earlier, factor: after + factor * (before - earlier)),
        starts=(0.9, 0.5),
        neutral=0.0,
        high=1.0,
        first_round=1,
    ),
)

FAULTS = (
    Rule(SERVER_STEP, of_method(Scaffold)).broken(
        "the server's stepsize multiplies the average of the models, not of their steps",
        "w ← w + server_stepsize · mean(y_k − w), or the same with models: (1 − stepsize)·w + stepsize·mean(y_k)",
        where=other_than(server_stepsize=1),
        update=server_to(
            lambda method, before, after, cohort, answers: method.server_stepsize * cohort.average(answers.points)
        ),
    ),
    STEP.broken(
        "the server's model does not change in the first round",
        "subtract a copy of the server's model: in the first round the clients train the live one",
        where=steps_from_answers,
        update=in_first_round(unchanged),
    ),
    STEP.broken(
        "the server's step is taken twice",
        "apply the averaged update once",
        update=server_to(lambda method, before, after, *_: 2 * after.server - before.server),
    ),
    STEP.broken(
        "the server's model never changes",
        "store the average as the server's model",
        update=unchanged,
    ),
    Rule(START, always).broken(
        "clients get the server's model of the round before",
        "send the model after the last round's average",
        subproblem=from_previous_point,
    ),
    Rule(FIRST_POINT, always).broken(
        "the run starts at zero instead of x0",
        "load x0 into the server's model",
        initial_point=lambda point: 0 * point,
    ),
)
