"""What a method does on an instance: played by the core in exact arithmetic, whatever the search has thought."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.methods.base import State
from fedconvex.proofs_checks.worst_cases.attaining import Instance
from fedconvex.proofs_checks.worst_cases.worst_case import Question
from fedconvex.rationals import to_fraction
from fedconvex.rounds import rounds_of


def measured(question: Question, instance: Instance) -> Fraction | None:
    """The metric divided by what it is measured in; for "descent" minus the decrease. None: not admissible."""
    problem, start = instance.problem, instance.start
    run = rounds_of(question.method, problem, "exact", question.solver)
    with run.arithmetic.context():
        if question.metric == "lifted_distance":
            return _lifted(question, instance, run)
        state = run.start(run.arithmetic.array(start[0]))
        for _ in range(question.rounds):
            state = run.advance(state)
        last = run.arithmetic.publish(state.server)
    first = start[0]
    if question.dissimilarity is not None and not _is_dissimilar(problem, first, question.dissimilarity):
        return None
    gradient = problem.gradient(first)
    if question.metric == "descent":
        size = _square(gradient)
        return None if size == 0 else Fraction(problem.value(last) - problem.value(first)) / size
    pulls = problem.client_gradients(0 * first)
    size = _square(first) + question.heterogeneity * sum(map(_square, pulls)) / len(pulls)
    if size == 0 or any(problem.gradient(0 * first)):
        return None
    match question.metric:
        case "distance":
            return _square(last) / size
        case "gap":
            return Fraction(problem.value(last) - problem.value(0 * last)) / size
    return _square(problem.gradient(last)) / size


def _lifted(question: Question, instance: Instance, run: Any) -> Fraction | None:
    z, problem = instance.start, instance.problem
    fixed = -to_fraction(question.method.stepsize) * problem.client_gradients(0 * z[0])  # type: ignore[attr-defined]
    array = run.arithmetic.array
    following = run.advance(State(array(z.sum(0) / Fraction(len(z))), memory={"z": array(z)}))
    before = sum(map(_square, z - fixed))
    after = run.arithmetic.publish(following.memory["z"])
    return None if before == 0 else sum(map(_square, after - fixed)) / before


def _is_dissimilar(problem: Any, point: np.ndarray, B: Fraction) -> bool:
    gradients = problem.client_gradients(point)
    return bool(
        sum(map(_square, gradients)) <= B**2 * len(gradients) * _square(gradients.sum(0) / Fraction(len(gradients)))
    )


def _square(vector: np.ndarray) -> Fraction:
    return sum((Fraction(x) ** 2 for x in vector), Fraction(0))
