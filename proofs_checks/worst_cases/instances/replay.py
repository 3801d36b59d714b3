"""The exact metric of a method on a federation of quadratics, simulated by the package's own rounds in rationals.

Whatever the search assumed, the result is a lower bound on the worst case: this module and `runs.rounds` decide.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import Array, to_fraction
from fedconvex.claims.on_runs.draw_dependence import DrawDependence
from fedconvex.claims.on_runs.draws import Outcomes
from fedconvex.claims.on_runs.evaluation import Path, StateOnPath, Values
from fedconvex.claims.on_runs.paths import Player, everywhere
from fedconvex.methods.base import State
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.certificates.certificate import is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.instances.equal_curvatures import have_one_curvature, moments_on
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.instances.residuals import PrescribedResiduals
from fedconvex.proofs_checks.worst_cases.instances.resting_federations import is_of_class, resting_ratio
from fedconvex.proofs_checks.worst_cases.questions.histories import communications
from fedconvex.proofs_checks.worst_cases.questions.question import Question
from fedconvex.proofs_checks.worst_cases.questions.specification import AVERAGES, Specification
from fedconvex.runs.rounds import Rounds

MOST_RUNS = 128  # sequences of draws, up to exchanges of equal clients, that are simulated
Attained = tuple[Fraction | float | None, AttainingFederation | None]  # the ratio, and the instance that has it


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
    if problem is None or not is_of_class(question, problem):
        return None
    if question.spec.rests:
        return resting_ratio(question, instance)
    if not _is_admissible(question, problem, instance):
        return None
    spec, exact = question.spec, arithmetics.get("exact")
    noisy = spec.noise is not None
    if noisy or (question.settled is not None and number_of_runs(question, problem) > MOST_RUNS):
        by_moments = spec.minimiser and not spec.stationary_models and have_one_curvature(problem)
        return moments_on(question, problem, instance.start[0], instance.variance) if by_moments else None
    # Exact arithmetic throughout: what comes out is a lower bound without any error analysis.
    with exact.context():
        # As `rounds_of`, without checking again that subproblems have one solution: `pose` did.
        run = Rounds(spec.method, spec.solver, problem, problem.clients(exact, spec.method.scale(problem)), exact)
        start = _start(spec, run, instance.start)
        if start is None:
            return None
        lowest = 0 * start.state.server if question.board.minimiser or not spec.infimum else _lowest(problem)
        if lowest is None:
            return None
        paths, metric = _played(question, run, instance, start)
        parameters = {name: exact.scalar(x) for name, x in spec.parameters.items()}
        values = Values(
            paths, run.clients, run.weights, exact, parameters, lambda: lowest, {},
            DrawDependence(of_run=spec.rounds > 1),
        )  # fmt: skip
        numerator, denominator = spec.sides
        if metric is None:
            assert numerator is not None
            metric = to_fraction(values.expected(numerator))
        return metric, to_fraction(values.expected(denominator))


def _played(
    question: Question, run: Rounds, instance: AttainingFederation, start: StateOnPath
) -> tuple[list[Path], Fraction | None]:
    """The paths on which the sides of the ratio are evaluated; and the metric, where it is not one of the sides."""
    spec, rounds = question.spec, _with_residuals(question, run, instance)
    if question.settled is not None:
        return _played_by_kinds(question, run, start)
    drawn = spec.draws.outcomes(None if question.enumerated else question.copies)
    ways = [(chance * likely, replace(draw, communicates=yes))
            for (chance, draw), (likely, yes) in product(drawn, communications(spec.method))]  # fmt: skip
    if spec.ratio is not None:

        def answered(clients: Clients, subproblem: Subproblem, t: int) -> Any:
            return rounds[t % len(rounds)].solver.solve(clients, subproblem).points

        player = Player(run, answered if len(rounds) > 1 or instance.residuals else None)
        found = player.paths(start, everywhere(ways), 0, spec.needed_rounds)
        return [_over_rounds(path, spec.rounds) if spec.ratio.sums else _ends(path) for path in found], None
    begun = [Path(run.arithmetic.scalar(1), (start,), ())]
    if spec.rounds > 1 and not (spec.draws.everyone or question.enumerated):
        return begun, _expected_square(run, ways, spec.rounds, instance.start[0])
    histories = _histories(rounds, ways, spec.needed_rounds, start.state)
    if spec.metric not in AVERAGES:
        chances = ((run.arithmetic.scalar(chance), last) for chance, _, last in histories)
        return [Path(chance, (start, StateOnPath(last)), ()) for chance, last in chances], None
    averages = ((chance, [instance.start[0], *(point() for point in points)]) for chance, points, _ in histories)
    return begun, sum((chance * _average(spec, run.problem, points) for chance, points in averages), Fraction(0))


def number_of_runs(question: Question, problem: Quadratic) -> int:
    """How many sequences of draws differ by more than exchanges of equal clients; at most MOST_RUNS + 1 are counted."""
    return sum(1 for _ in islice(_runs(question, problem), MOST_RUNS + 1))


def _runs(question: Question, problem: Quadratic) -> Iterator[tuple[Fraction, list[Draw]]]:
    """These sequences, with and without communication in every round, and their probabilities."""
    spec, kinds = question.spec, [(str(H), str(c)) for H, c in zip(problem.H, problem.c, strict=True)]
    for chance, draws in spec.draws.runs_of(kinds, spec.needed_rounds):
        for tossed in product(communications(spec.method), repeat=len(draws)):
            each = zip(draws, tossed, strict=True)
            found = [replace(draw, round=t, communicates=yes) for t, (draw, (_, yes)) in enumerate(each)]
            yield chance * prod(likely for likely, _ in tossed), found


def _played_by_kinds(question: Question, run: Rounds, start: StateOnPath) -> tuple[list[Path], Fraction | None]:
    """As `_played`, over all draws up to exchanges of clients with equal functions."""
    spec, problem = question.spec, run.problem
    assert isinstance(problem, Quadratic)
    found, metric = [], Fraction(0)
    for chance, draws in _runs(question, problem):
        if spec.ratio is not None:
            of_round: list[Outcomes] = [[(Fraction(1), draw)] for draw in draws]
            (path,) = Player(run).paths(start, of_round.__getitem__, 0, len(draws))
            path = _over_rounds(path, spec.rounds) if spec.ratio.sums else _ends(path)
            found.append(replace(path, probability=path.probability * run.arithmetic.scalar(chance)))
            continue
        state, averages = start.state, []
        for draw in draws:
            state, average = _play(run, state, draw)
            averages.append(average)
        if spec.metric in AVERAGES:
            points = [run.arithmetic.publish(start.state.server), *(average() for average in averages)]
            metric += chance * _average(spec, problem, points)
        else:
            found.append(Path(run.arithmetic.scalar(chance), (start, StateOnPath(state)), ()))
    if spec.metric in AVERAGES:
        return [Path(run.arithmetic.scalar(1), (start,), ())], metric
    return found, None


def federation(question: Question, instance: AttainingFederation) -> Quadratic | None:
    """The instance's clients, as many of each as the question needs; None where that is not possible."""
    problem, which = instance.problem, question.copies
    if question.spec.rests:
        return problem
    if which is None:
        return None
    if which == list(range(problem.num_clients)):
        return problem
    # An instance of one client stands for two equal ones.
    which = [min(k, problem.num_clients - 1) for k in which]
    return Quadratic([problem.H[k] for k in which], [problem.c[k] for k in which])


def _is_admissible(question: Question, problem: Quadratic, instance: AttainingFederation) -> bool:
    """Whether 0 is the minimiser, the gradients are dissimilar at most by B, and inexact answers can be replayed."""
    if question.board.minimiser and any(map(sum, zip(*(c.tolist() for c in problem.c), strict=True))):
        return False
    spec, B = question.spec, question.spec.dissimilarity
    if B is not None:
        gradients = problem.client_gradients(instance.start[0])
        if not sum(map(_square, gradients)) <= B**2 * len(gradients) * _square(_mean(gradients)):
            return False
    drawn_again = (spec.rounds > 1 or question.settled is not None) and not spec.draws.everyone
    return not (drawn_again and instance.residuals)  # residuals are those of one round


def _start(spec: Specification, run: Rounds, starts: np.ndarray) -> StateOnPath | None:
    """The first state: from the server's point, which is every row; or from FedSplit's z_k, with their mean.

    None where the metric refers to stationary points of the clients, and one has none.
    """
    points, models = run.arithmetic.array(starts), None
    state = run.start(points[0])
    if spec.is_lifted:
        state = State(points.sum(0) / len(points), memory={**state.memory, "z": points})
    if spec.stationary_models:
        assert isinstance(run.problem, Quadratic)
        problem = run.problem
        own = [x for H, c in zip(problem.H, problem.c, strict=True) if (x := _stationary(H, c)) is not None]
        if len(own) < problem.num_clients:
            return None
        models = np.stack(own)
    return StateOnPath(state, models)


def _with_residuals(question: Question, run: Rounds, instance: AttainingFederation) -> list[Rounds]:
    """The rounds in turn, whose inexact answers leave the instance's residuals; exact ones after the last of these."""
    known = question.board.residuals
    if not known:
        return [run]
    which, found = question.copies or [], []
    for place in range(question.spec.rounds):
        rows = instance.residuals[place] if place < len(instance.residuals) else 0 * instance.start
        left = rows[[min(k, len(rows) - 1) for k in which]]
        found.append(replace(run, solver=PrescribedResiduals(left, known[min(place, len(known) - 1)].gamma)))
    return found


def _histories(
    rounds: Sequence[Rounds], ways: Outcomes, number: int, state: State
) -> Iterator[tuple[Fraction, list[Callable[[], np.ndarray]], State]]:
    """Every sequence of draws: its probability, the averages of the answers in its rounds, and its last state.

    Depth first. The stack is a list, since there may be more rounds than Python allows nested calls.
    """
    pending: list[tuple[Fraction, list[Callable[[], np.ndarray]], State, Draw | None]] = [
        (Fraction(1), [], state, None)
    ]
    while pending:
        chance, averages, reached, draw = pending.pop()
        if draw is not None:
            # Without residuals there is one `Rounds` for all rounds.
            run = rounds[len(averages) % len(rounds)]
            round_ = len(averages)
            reached, average = _play(run, reached, draw if draw.round == round_ else replace(draw, round=round_))
            averages = [*averages, average]
        if len(averages) == number:
            yield chance, averages, reached
        else:
            pending += [(chance * share, averages, reached, way) for share, way in reversed(ways)]


def _ends(path: Path) -> Path:
    """Time 1 is after the last round."""
    if len(path.rounds) < 2:
        return path
    return replace(path, moments=(path.moments[0], path.moments[-1]), rounds=())


def _over_rounds(path: Path, rounds: int) -> Path:
    """Sums have as many addends as there are rounds, also where the last round does not matter to them."""
    return replace(path, rounds=path.rounds + path.rounds[-1:] * (rounds - len(path.rounds))) if path.rounds else (
        replace(path, rounds=(None,) * rounds)  # type: ignore[arg-type]
    )  # fmt: skip


def _play(run: Rounds, state: State, draw: Draw) -> tuple[State, Callable[[], np.ndarray]]:
    """The next state, and the average of the answers, of which few metrics want to know."""
    played = run.play(state, draw)
    assert played is not None
    return played.state, lambda: run.arithmetic.publish(played.average(played.answers.points))


def _average(spec: Specification, problem: Problem, points: list[np.ndarray]) -> Fraction:
    """The metric of the points γ^0, γ^1, … that it averages."""

    def gap(point: np.ndarray) -> Fraction:
        return Fraction(problem.value(point) - problem.value(0 * point))

    weighted = list(zip(spec.weights, points, strict=True))
    if spec.metric == "average_gap":
        return gap(np.asarray(sum(a * x for a, x in weighted)))
    sizes = (a * (gap(x) if spec.metric == "mean_gap" else _square(problem.gradient(x))) for a, x in weighted)
    return sum(sizes, Fraction(0))


def _expected_square(run: Rounds, ways: Outcomes, rounds: int, first: np.ndarray) -> Fraction:
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


def _lowest(problem: Quadratic) -> Array | None:
    """The minimiser of the objective; None for means that are flat, though these may have a minimum, too."""
    H, c = _mean(problem.H), _mean(problem.c)
    return _stationary(H, c) if is_positive_semidefinite(H.tolist()) else None


def _stationary(H: np.ndarray, c: np.ndarray) -> Array | None:
    """The solution of Hx = c; None where there is not exactly one."""
    exact = arithmetics.get("exact")
    try:
        return exact.solve(exact.matrix(H), exact.array(c))
    except ZeroDivisionError:
        return None


def _mean(arrays: Any) -> np.ndarray:
    return np.asarray(sum(arrays[1:], start=arrays[0]) / Fraction(len(arrays)))


def _square(vector: np.ndarray) -> Fraction:
    return sum((Fraction(x) ** 2 for x in vector), Fraction(0))
