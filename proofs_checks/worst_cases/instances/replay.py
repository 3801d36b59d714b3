"""What a method does on an instance: played by the core in exact arithmetic, whatever the search has thought."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import fraction_array, to_fmpq, to_fraction
from fedconvex.methods.base import State
from fedconvex.parameters import in_arithmetic
from fedconvex.participation import Draw
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.certificates.search import is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.instances.residuals import Leaving
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import Written, histories
from fedconvex.proofs_checks.worst_cases.questions.question import AVERAGES, Question
from fedconvex.runs.rounds import Rounds

LARGEST = 200  # clients of a federation that is played with drawn clients


def measured(question: Question, instance: AttainingFederation) -> Fraction | float | None:
    """The metric divided by what it is measured in; for "descent" minus the decrease. None: not admissible.

    Infinite where the method leaves what it is measured from, having started there.
    """
    if question.metric == "lifted_distance":
        problem = federation(question, instance)
        return None if problem is None else _lifted(question, problem, instance.start, _run(question, problem))
    found = measures(question, instance)
    if found is None:
        return None
    metric, size = found
    if size == 0:
        return float("inf") if metric > 0 else None
    return metric / size


def measures(question: Question, instance: AttainingFederation) -> tuple[Fraction, Fraction] | None:
    """The metric, and what it is measured in. None: not admissible."""
    problem, first = federation(question, instance), instance.start[0]
    if problem is None:
        return None
    run = _run(question, problem)
    pulls = _pulls(problem)
    if question.board.minimiser and any(pulls.sum(0)):
        return None
    if question.dissimilarity is not None and not _is_dissimilar(problem, first, question.dissimilarity):
        return None
    with run.arithmetic.context():
        drawn_again = question.rounds > 1 and not question.draws.everyone
        if drawn_again and instance.residuals:
            return None
        if drawn_again and isinstance(question.board, Board):
            metric = _expected_square(question, run, first)
        else:
            played = _runs(question, run, instance)
            metric = sum((chance * _metric(question, problem, points) for chance, points in played), Fraction(0))
    size = _size(question, problem, first)
    return None if size is None else (metric, size)


def _size(question: Question, problem: Quadratic, first: np.ndarray) -> Fraction | None:
    """What the metric is measured in; None where the objective has no minimum, or a client no stationary point."""
    G = question.heterogeneity
    if question.metric == "descent":
        return _square(problem.gradient(first))
    if question.metric != "mean_gradient_norm":
        pulls = _pulls(problem)
        return _square(first) + G * sum(map(_square, pulls)) / len(pulls)
    lowest = _stationary(_mean(problem.H), _mean(problem.c))
    if lowest is None or not is_positive_semidefinite(_mean(problem.H).tolist()):
        return None
    gradients = problem.client_gradients(first)
    size = problem.value(first) - problem.value(lowest) + G * sum(map(_square, gradients)) / len(gradients)
    if question.spread is None:
        return Fraction(size)
    own = [_stationary(H, c) for H, c in zip(problem.H, problem.c, strict=True)]
    if any(point is None for point in own):
        return None
    return Fraction(size + question.spread * sum(_square(point - first) for point in own) / len(own))


def _pulls(problem: Quadratic) -> np.ndarray:
    """The clients' gradients at 0."""
    return -np.array(problem.c)


def _stationary(H: np.ndarray, c: np.ndarray) -> np.ndarray | None:
    """The solution of Hx = c, where there is just one."""
    from flint import fmpq_mat

    n = len(c)
    matrix = fmpq_mat(n, n, [to_fmpq(x) for row in H for x in row])
    if matrix.det() == 0:
        return None
    solution = matrix.solve(fmpq_mat(n, 1, [to_fmpq(x) for x in c]))
    return fraction_array([solution[i, 0] for i in range(n)])


def _mean(arrays: Any) -> np.ndarray:
    return np.asarray(sum(arrays[1:], start=arrays[0]) / Fraction(len(arrays)))


def _run(question: Question, problem: Quadratic) -> Rounds:
    """As `rounds_of`, without asking again whether subproblems have one solution: else there is no question."""
    exact = arithmetics.get("exact")
    scale = question.method.scale(problem)
    with exact.context():
        clients = problem.clients(exact, scale)
        return Rounds(
            in_arithmetic(question.method, exact), in_arithmetic(question.solver, exact), problem, clients, exact
        )


def federation(question: Question, instance: AttainingFederation) -> Quadratic | None:
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
    if isinstance(question.board, Written):
        return list(range(question.board.clients))
    if draws.everyone or (draws.replaced and (question.metric == "distance" or draws.clients % 2 == 0)):
        return list(range(question.board.clients))
    if draws.clients % 2 or draws.clients > LARGEST:  # values at random points depend on more than two moments
        return None
    return [k for k in (0, 1) for _ in range(draws.clients // 2)]


def _runs(question: Question, run: Rounds, instance: AttainingFederation) -> Any:
    """The points that the metric sees, with their probability: start and end, or γ^0, γ^1, …"""
    first = instance.start[0]
    state, points, publish = run.start(run.arithmetic.array(first)), [first], run.arithmetic.publish
    averaged = question.metric in AVERAGES
    if isinstance(question.board, Written):
        once = _inexact(question, run, instance, 0)

        def play(before: State, draw: Draw) -> tuple[State, np.ndarray]:
            played = once.play(before, draw)
            assert played is not None
            return played.state, publish(played.average(played.answers.points))

        ways = list(question.draws.every())
        for chance, averages, last in histories(play, ways, question.rounds - averaged, state):
            yield chance, [first, *averages] if averaged else [first, publish(last.server)]
        return
    if not question.draws.everyone:
        for chance, draw in question.draws.of_two_kinds():
            yield chance, [first, publish(_inexact(question, run, instance, 0).advance(state, draw).server)]
        return
    for place in range(question.rounds - averaged):
        played = _inexact(question, run, instance, place).play(state)
        assert played is not None
        state = played.state
        points.append(publish(played.average(played.answers.points)))
    yield Fraction(1), points if averaged else [first, publish(state.server)]


def _expected_square(question: Question, run: Rounds, first: np.ndarray) -> Fraction:
    """E‖w_T‖² by the moments of w: for every draw a round of a method without memory is an affine map."""
    publish, array = run.arithmetic.publish, run.arithmetic.array

    def after(point: np.ndarray, draw: Any) -> np.ndarray:
        return np.asarray(publish(run.advance(run.start(array(point)), draw).server))

    maps = []
    for chance, draw in question.draws.of_two_kinds():
        shift = after(0 * first, draw)
        units = np.eye(len(first), dtype=int).astype(object)
        maps.append((chance, np.array([after(unit, draw) - shift for unit in units]).T, shift))
    mean, second = first, np.outer(first, first)
    for _ in range(question.rounds):
        across = [chance * np.outer(M @ mean, c) for chance, M, c in maps]
        kept = [chance * (M @ second @ M.T + np.outer(c, c)) for chance, M, c in maps]
        mean = sum((chance * (M @ mean + c) for chance, M, c in maps), start=0 * first)
        second = sum(across, start=sum((part.T for part in across), start=sum(kept, start=0 * second)))
    return Fraction(second.trace())


def _inexact(question: Question, run: Rounds, instance: AttainingFederation, place: int) -> Rounds:
    """The round of that number, where its answers are inexact with the residuals of the instance; exact after these."""
    if not question.board.residuals:
        return run
    which = kinds(question) or []
    rows = instance.residuals[place] if place < len(instance.residuals) else 0 * instance.start
    left = rows[[min(k, len(rows) - 1) for k in which]]
    return replace(run, solver=Leaving(left, question.board.residuals[place].gamma))


def _metric(question: Question, problem: Quadratic, points: list[np.ndarray]) -> Fraction:
    first, last = points[0], points[-1]
    match question.metric:
        case "descent":
            return Fraction(problem.value(last) - problem.value(first))
        case "distance":
            return _square(last)
        case "gap":
            return _gap(problem, last)
        case "average_gap":
            return _gap(problem, np.asarray(sum(a * x for a, x in zip(question.weights, points, strict=True))))
        case "mean_gap":
            return sum((a * _gap(problem, x) for a, x in zip(question.weights, points, strict=True)), Fraction(0))
        case "mean_gradient_norm":
            slopes = (a * _square(problem.gradient(x)) for a, x in zip(question.weights, points, strict=True))
            return sum(slopes, Fraction(0))
    return _square(problem.gradient(last))


def _gap(problem: Quadratic, point: np.ndarray) -> Fraction:
    return Fraction(problem.value(point) - problem.value(0 * point))


def _lifted(question: Question, problem: Quadratic, start: np.ndarray, run: Rounds) -> Fraction | None:
    with run.arithmetic.context():
        array = run.arithmetic.array
        z, c = array(start), array(problem.c)
        if any(c.sum(0)):
            return None
        fixed = question.method.stepsize * c  # type: ignore[attr-defined]
        state = State(z.sum(0) / len(z), memory={**run.start(z[0]).memory, "z": z})
        for _ in range(question.rounds):
            state = run.advance(state)
        before, after = ((change * change).sum() for change in (z - fixed, state.memory["z"] - fixed))
        return None if before == 0 else to_fraction(after / before)


def _is_dissimilar(problem: Quadratic, point: np.ndarray, B: Fraction) -> bool:
    gradients = problem.client_gradients(point)
    mean = gradients.sum(0) / Fraction(len(gradients))
    return bool(sum(map(_square, gradients)) <= B**2 * len(gradients) * _square(mean))


def _square(vector: np.ndarray) -> Fraction:
    return sum((Fraction(x) ** 2 for x in vector), Fraction(0))
