"""The exact metric of a method on a federation of quadratics, simulated by the package's own rounds in rationals.

Whatever the search assumed, the result is a lower bound on the worst case: this module and `runs.rounds` decide.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.claims.on_runs.evaluation import StateOnPath
from fedconvex.claims.on_runs.paths import Player
from fedconvex.local_solvers.base import EVERYONE
from fedconvex.methods.base import State
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Subproblem
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.certificates.certificate import is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.instances.residuals import PrescribedResiduals
from fedconvex.proofs_checks.worst_cases.instances.term_values import values_of
from fedconvex.proofs_checks.worst_cases.questions.question import Question
from fedconvex.proofs_checks.worst_cases.questions.sampling import histories
from fedconvex.proofs_checks.worst_cases.questions.specification import AVERAGES, Specification
from fedconvex.runs.rounds import Rounds

LARGEST = 200  # clients of a federation in which some are drawn


Attained = tuple[Fraction | float | None, AttainingFederation | None]  # the ratio, and the instance that has it
Ways = list[tuple[Fraction, Draw]]  # probabilities and draws


def best_of(question: Question, instances: Iterable[AttainingFederation], best: Attained = (None, None)) -> Attained:
    """The instance with the largest ratio, among these and the best so far."""
    for instance in instances:
        ratio = attained_ratio(question, instance)
        if ratio is not None and (best[0] is None or ratio > best[0]):
            best = ratio, instance
    return best


def attained_ratio(question: Question, instance: AttainingFederation) -> Fraction | float | None:
    """The metric divided by its divisor; for "descent" minus the decrease. None: the instance is not admissible.

    Infinite where the divisor is 0 and the metric is not: the method leaves the minimiser at which it starts.
    """
    found = metric_and_divisor(question, instance)
    if found is None:
        return None
    metric, divisor = found
    if divisor == 0:
        return float("inf") if metric > 0 else None
    return metric / divisor


def metric_and_divisor(question: Question, instance: AttainingFederation) -> tuple[Fraction, Fraction] | None:
    """The metric and what it is divided by, exactly. None: the instance is not admissible for the question."""
    problem = federation(question, instance)
    if problem is None or not _is_admissible(question, problem, instance):
        return None
    spec, start = question.spec, instance.start
    run, ways = _rounds(spec, problem), _ways(question)
    if spec.ratio is not None:
        return _of_terms(question, run, ways, instance)
    divisor = _divisor(spec, problem, start)
    if divisor is None:
        return None
    # Exact arithmetic throughout: what comes out is a lower bound without any error analysis.
    with run.arithmetic.context():
        if spec.rounds > 1 and not (spec.draws.everyone or question.enumerated):
            return _expected_square(run, ways, spec.rounds, start[0]), divisor
        outcomes = _outcomes(question, run, ways, instance)
        return sum((chance * _metric(spec, problem, points) for chance, points in outcomes), Fraction(0)), divisor


def federation(question: Question, instance: AttainingFederation) -> Quadratic | None:
    """The instance's clients, as many of each as the question needs; None where that is not possible."""
    problem, which = instance.problem, copies(question)
    if which is None:
        return None
    if which == list(range(problem.num_clients)):
        return problem
    # An instance of one client stands for two equal ones.
    which = [min(k, problem.num_clients - 1) for k in which]
    return Quadratic([problem.H[k] for k in which], [problem.c[k] for k in which])


def copies(question: Question) -> list[int] | None:
    """For every client the representative of which it is a copy; None where no federation is analysed exactly.

    Of m clients from which some are drawn, half are copies of each of the two representatives.
    """
    spec, draws = question.spec, question.spec.draws
    by_moments = draws.replaced and (spec.metric == "distance" or draws.clients % 2 == 0)
    if question.enumerated or draws.everyone or by_moments:
        return list(range(question.board.clients))
    if draws.clients % 2 or draws.clients > LARGEST:  # values at random points depend on more than two moments
        return None
    return [k for k in (0, 1) for _ in range(draws.clients // 2)]


def _is_admissible(question: Question, problem: Quadratic, instance: AttainingFederation) -> bool:
    """Whether 0 is the minimiser, the gradients are dissimilar at most by B, and inexact answers can be replayed."""
    if question.board.minimiser and any(_gradients_at_zero(problem).sum(0)):
        return False
    spec, B = question.spec, question.spec.dissimilarity
    if B is not None:
        gradients = problem.client_gradients(instance.start[0])
        if not sum(map(_square, gradients)) <= B**2 * len(gradients) * _square(_mean(gradients)):
            return False
    drawn_again = spec.rounds > 1 and not spec.draws.everyone
    return not (drawn_again and instance.residuals)  # residuals are those of one round


def _divisor(spec: Specification, problem: Quadratic, start: np.ndarray) -> Fraction | None:
    """What the metric is divided by; None where the objective has no minimum, or a client no stationary point."""
    first, G = start[0], spec.heterogeneity
    if spec.metric == "lifted_distance":
        return sum(map(_square, start - _fixed_point(spec, problem)), Fraction(0))
    if spec.metric == "descent":
        return _square(problem.gradient(first))
    if spec.metric != "mean_gradient_norm":
        return _square(first) + G * _mean_square(_gradients_at_zero(problem))
    lowest = _lowest(problem)
    if lowest is None:
        return None
    gap = problem.value(first) - problem.value(lowest)
    divisor = gap + G * _mean_square(problem.client_gradients(first))
    if spec.spread is None:
        return Fraction(divisor)
    own = [_stationary(H, c) for H, c in zip(problem.H, problem.c, strict=True)]
    if any(point is None for point in own):
        return None
    return Fraction(divisor + spec.spread * _mean_square([point - first for point in own]))


def _metric(spec: Specification, problem: Quadratic, points: list[np.ndarray]) -> Fraction:
    """The metric of the first and the last point, or of the points γ^0, γ^1, … that it averages."""
    first, last = points[0], points[-1]

    def gap(point: np.ndarray) -> Fraction:
        return Fraction(problem.value(point) - problem.value(0 * point))

    match spec.metric:
        case "lifted_distance":
            return sum(map(_square, last - _fixed_point(spec, problem)), Fraction(0))
        case "descent":
            return Fraction(problem.value(last) - problem.value(first))
        case "distance":
            return _square(last)
        case "gap":
            return gap(last)
        case "average_gap":
            return gap(np.asarray(sum(a * x for a, x in zip(spec.weights, points, strict=True))))
        case "mean_gap":
            return sum((a * gap(x) for a, x in zip(spec.weights, points, strict=True)), Fraction(0))
        case "mean_gradient_norm":
            slopes = (a * _square(problem.gradient(x)) for a, x in zip(spec.weights, points, strict=True))
            return sum(slopes, Fraction(0))
    return _square(problem.gradient(last))


def _rounds(spec: Specification, problem: Quadratic) -> Rounds:
    """As `rounds_of`, without checking again that subproblems have one solution: `pose` did."""
    exact = arithmetics.get("exact")
    with exact.context():
        clients = problem.clients(exact, spec.method.scale(problem))
        return Rounds(spec.method, spec.solver, problem, clients, exact)  # their numbers are rationals


def _ways(question: Question) -> Ways:
    """The draws of a round, with their probabilities; halves of the clients are alike where not all are enumerated."""
    draws = question.spec.draws
    if draws.everyone:
        return [(Fraction(1), EVERYONE)]
    return list(draws.every()) if question.enumerated else draws.from_two_halves()


def _outcomes(
    question: Question, run: Rounds, ways: Ways, instance: AttainingFederation
) -> Iterator[tuple[Fraction, list[np.ndarray]]]:
    """The points that the metric refers to, with their probability: start and end, or γ^0, γ^1, …"""
    spec, publish = question.spec, run.arithmetic.publish
    rounds = _with_residuals(question, run, instance)

    def play(before: tuple[int, State], draw: Draw) -> tuple[tuple[int, State], np.ndarray]:
        place, state = before
        # Without residuals there is one `Rounds` for all rounds.
        following, average = _play(rounds[place % len(rounds)], state, draw)
        return (place + 1, following), publish(average)

    averaged, first = spec.metric in AVERAGES, (0, _start(spec, run, instance.start))
    for chance, averages, (_, last) in histories(play, ways, spec.rounds - averaged, first):
        end = publish(last.memory["z"] if spec.is_lifted else last.server)
        yield chance, [instance.start[0], *(averages if averaged else [end])]


def _start(spec: Specification, run: Rounds, starts: np.ndarray) -> State:
    """The first state: from the server's point, which is every row; or from FedSplit's z_k, with their mean."""
    points = run.arithmetic.array(starts)
    state = run.start(points[0])
    if not spec.is_lifted:
        return state
    return State(points.sum(0) / len(points), memory={**state.memory, "z": points})


def _play(run: Rounds, state: State, draw: Draw) -> tuple[State, Any]:
    """The next state, and the average of the answers."""
    played = run.play(state, draw)
    assert played is not None
    return played.state, played.average(played.answers.points)


def _of_terms(
    question: Question, run: Rounds, ways: Ways, instance: AttainingFederation
) -> tuple[Fraction, Fraction] | None:
    """The sides of a ratio of terms, evaluated as claims are on runs. None where there is no minimum to refer to."""
    spec, problem = question.spec, run.problem
    assert isinstance(problem, Quadratic)
    own = [x for H, c in zip(problem.H, problem.c, strict=True) if (x := _stationary(H, c)) is not None]
    lowest = 0 * instance.start[0] if question.board.minimiser else _lowest(problem)
    assert spec.ratio is not None
    uses_models = spec.ratio.speaks_of("last answers")
    if (uses_models and len(own) < problem.num_clients) or (lowest is None and spec.ratio.speaks_of("infimum")):
        return None
    rounds = _with_residuals(question, run, instance)

    def answered(clients: Clients, subproblem: Subproblem, t: int) -> Any:
        return rounds[t % len(rounds)].solver.solve(clients, subproblem).points

    models = run.arithmetic.array(np.stack(own)) if uses_models else None
    with run.arithmetic.context():
        return values_of(
            spec.ratio, spec.rounds, Player(run, answered if len(rounds) > 1 or instance.residuals else None), ways,
            StateOnPath(_start(spec, run, instance.start), models), lambda: run.arithmetic.array(lowest),
        )  # fmt: skip


def _lowest(problem: Quadratic) -> np.ndarray | None:
    """The minimiser of the objective; None for means that are flat, though these may have a minimum, too."""
    lowest = _stationary(_mean(problem.H), _mean(problem.c))
    return lowest if is_positive_semidefinite(_mean(problem.H).tolist()) else None


def _with_residuals(question: Question, run: Rounds, instance: AttainingFederation) -> list[Rounds]:
    """The rounds in turn, whose inexact answers leave the instance's residuals; exact ones after the last of these."""
    known = question.board.residuals
    if not known:
        return [run]
    which, found = copies(question) or [], []
    for place in range(question.spec.rounds):
        rows = instance.residuals[place] if place < len(instance.residuals) else 0 * instance.start
        left = rows[[min(k, len(rows) - 1) for k in which]]
        found.append(replace(run, solver=PrescribedResiduals(left, known[min(place, len(known) - 1)].gamma)))
    return found


def _expected_square(run: Rounds, ways: Ways, rounds: int, first: np.ndarray) -> Fraction:
    """E‖w_T‖² by the first two moments of w: with each draw, a round of a method without memory is an affine map.

    Enumerating all histories of draws would take exponentially many rounds.
    """
    maps, size = [], len(first)
    starts = run.arithmetic.array(np.vstack([0 * first, np.eye(size, dtype=int)]))
    for chance, draw in ways:
        ends = [_play(run, run.start(x), draw)[0].server for x in starts]
        shift, *images = map(run.arithmetic.publish, ends)
        maps.append((chance, np.column_stack([image - shift for image in images]), shift))
    mean, second = first, np.outer(first, first)
    for _ in range(rounds):
        # E[w⁺w⁺ᵀ] = E[M E[wwᵀ] Mᵀ + M E[w]cᵀ + c E[w]ᵀMᵀ + ccᵀ] for w⁺ = Mw + c, (M, c) independent of w.
        across = [chance * np.outer(M @ mean, c) for chance, M, c in maps]
        kept = [chance * (M @ second @ M.T + np.outer(c, c)) for chance, M, c in maps]
        mean = sum((chance * (M @ mean + c) for chance, M, c in maps), start=0 * first)
        second = sum(across, start=sum((part.T for part in across), start=sum(kept, start=0 * second)))
    return Fraction(second.trace())


def _fixed_point(spec: Specification, problem: Quadratic) -> np.ndarray:
    """FedSplit's z_k* = −s∇F_k(x*) for all clients, (m, d); the minimiser x* is 0."""
    stepsize = to_fraction(spec.method.stepsize)  # type: ignore[attr-defined]
    return np.asarray(stepsize * -_gradients_at_zero(problem))


def _gradients_at_zero(problem: Quadratic) -> np.ndarray:
    return -np.asarray(problem.c)


def _stationary(H: np.ndarray, c: np.ndarray) -> np.ndarray | None:
    """The solution of Hx = c; None where there is not exactly one."""
    exact = arithmetics.get("exact")
    try:
        return np.asarray(exact.publish(exact.solve(exact.matrix(H), exact.array(c))))
    except ZeroDivisionError:
        return None


def _mean(arrays: Any) -> np.ndarray:
    return np.asarray(sum(arrays[1:], start=arrays[0]) / Fraction(len(arrays)))


def _mean_square(vectors: Any) -> Fraction:
    return sum(map(_square, vectors), Fraction(0)) / len(vectors)


def _square(vector: np.ndarray) -> Fraction:
    return sum((Fraction(x) ** 2 for x in vector), Fraction(0))
