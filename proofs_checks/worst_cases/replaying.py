"""What a method does on an instance: played by the core in exact arithmetic, whatever the search has thought."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.methods.base import State
from fedconvex.parameters import in_arithmetic
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.attaining import Instance
from fedconvex.proofs_checks.worst_cases.questions import Question
from fedconvex.rationals import to_fraction
from fedconvex.rounds import Rounds

LARGEST = 200  # clients of a federation that is played with drawn clients


def measured(question: Question, instance: Instance) -> Fraction | float | None:
    """The metric divided by what it is measured in; for "descent" minus the decrease. None: not admissible.

    Infinite where the method leaves what it is measured from, having started there.
    """
    problem = federation(question, instance)
    if problem is None:
        return None
    run = _run(question, problem)
    if question.metric == "lifted_distance":
        return _lifted(question, problem, instance.start, run)
    first = instance.start[0]
    pulls = problem.client_gradients(0 * first)
    if question.board.minimiser and any(pulls.sum(0)):
        return None
    if question.dissimilarity is not None and not _is_dissimilar(problem, first, question.dissimilarity):
        return None
    with run.arithmetic.context():
        metric = sum(
            (chance * _metric(question, problem, first, last) for chance, last in _endings(question, run, first)),
            Fraction(0),
        )
    if question.metric == "descent":
        size = _square(problem.gradient(first))
    else:
        size = _square(first) + question.heterogeneity * sum(map(_square, pulls)) / len(pulls)
    if size == 0:
        return float("inf") if metric > 0 else None
    return metric / size


def _run(question: Question, problem: Quadratic) -> Rounds:
    """As `rounds_of`, without asking again whether subproblems have one solution: else there is no question."""
    exact = arithmetics.get("exact")
    scale = question.method.scale(problem)
    with exact.context():
        clients = problem.clients(exact, scale)
        return Rounds(
            in_arithmetic(question.method, exact), in_arithmetic(question.solver, exact), problem, clients, exact
        )


def federation(question: Question, instance: Instance) -> Quadratic | None:
    """The instance's clients, as often as the question needs them; None where that is not possible."""
    problem, which = instance.problem, kinds(question)
    if which is None:
        return None
    if which == list(range(problem.num_clients)):
        return problem
    which = [min(k, problem.num_clients - 1) for k in which]
    return Quadratic([problem.H[k] for k in which], [problem.c[k] for k in which])


def kinds(question: Question) -> list[int] | None:
    """Which of two clients every client is: of m clients from which some are drawn, half are of each kind."""
    draws = question.draws
    if draws.everyone or (draws.replaced and (question.metric == "distance" or draws.clients % 2 == 0)):
        return list(range(question.board.clients))
    if draws.clients % 2 or draws.clients > LARGEST:  # values at random points depend on more than two moments
        return None
    return [k for k in (0, 1) for _ in range(draws.clients // 2)]


def _endings(question: Question, run: Rounds, first: np.ndarray) -> Any:
    """The server's last point, with its probability."""
    state = run.start(run.arithmetic.array(first))
    if not question.draws.everyone:
        for chance, draw in question.draws.of_two_kinds():
            yield chance, run.arithmetic.publish(run.advance(state, draw).server)
        return
    for _ in range(question.rounds):
        state = run.advance(state)
    yield Fraction(1), run.arithmetic.publish(state.server)


def _metric(question: Question, problem: Quadratic, first: np.ndarray, last: np.ndarray) -> Fraction:
    match question.metric:
        case "descent":
            return Fraction(problem.value(last) - problem.value(first))
        case "distance":
            return _square(last)
        case "gap":
            return Fraction(problem.value(last) - problem.value(0 * last))
    return _square(problem.gradient(last))


def _lifted(question: Question, problem: Quadratic, z: np.ndarray, run: Rounds) -> Fraction | None:
    pulls = problem.client_gradients(0 * z[0])
    if any(pulls.sum(0)):
        return None
    fixed = -to_fraction(question.method.stepsize) * pulls  # type: ignore[attr-defined]
    with run.arithmetic.context():
        array = run.arithmetic.array
        state = State(array(z.sum(0) / Fraction(len(z))), memory={**run.start(array(z[0])).memory, "z": array(z)})
        for _ in range(question.rounds):
            state = run.advance(state)
        after = run.arithmetic.publish(state.memory["z"])
    before = sum(map(_square, z - fixed))
    return None if before == 0 else sum(map(_square, after - fixed)) / before


def _is_dissimilar(problem: Quadratic, point: np.ndarray, B: Fraction) -> bool:
    gradients = problem.client_gradients(point)
    mean = gradients.sum(0) / Fraction(len(gradients))
    return bool(sum(map(_square, gradients)) <= B**2 * len(gradients) * _square(mean))


def _square(vector: np.ndarray) -> Fraction:
    return sum((Fraction(x) ** 2 for x in vector), Fraction(0))
