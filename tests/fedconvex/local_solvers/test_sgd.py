"""Local SGD against loops over samples in plain Python, on the same mini-batches, in all arithmetics."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import ball_contains, entries, few, fractions

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.minibatches import deal
from fedconvex.parameters import in_arithmetic
from fedconvex.participation import Draw, Stragglers
from fedconvex.problems.base import Problem, Subproblem
from fedconvex.rationals import to_fraction
from fedconvex.rounds import Played, rounds_of

FLOATS = ["float", *(["torch"] if importlib.util.find_spec("torch") else [])]
COUNTS, D, CLASSES = (5, 3, 1, 4), 2, 3
TOTAL = sum(COUNTS)
generator = np.random.default_rng(7)
NUMBERS = generator.integers(-8, 9, (TOTAL, D))
ROWS = [range(end - n, end) for n, end in zip(COUNTS, np.cumsum(COUNTS), strict=True)]
A = [fractions(NUMBERS[rows]) / 4 for rows in ROWS]
B = [fractions(generator.integers(-8, 9, n)) / 4 for n in COUNTS]
SIGNS = [generator.choice([-1, 1], n) for n in COUNTS]
LABELS = [generator.integers(0, CLASSES, n) for n in COUNTS]
WEIGHTS, RIDGE, S = [1, 2, 3, 2], Fraction(1, 4), Fraction(1, 32)
PROBLEMS: dict[str, Problem] = {
    "squares": fc.LeastSquares(A, B, WEIGHTS),
    "logistic": fc.Logistic(A, SIGNS, RIDGE, WEIGHTS),
    "softmax": fc.MultinomialLogistic(A, LABELS, CLASSES, RIDGE, WEIGHTS),
}
EVERYWHERE = [("squares", "exact"), *((kind, arithmetic) for arithmetic in FLOATS for kind in PROBLEMS)]
KINDS = pytest.mark.parametrize(("kind", "arithmetic"), EVERYWHERE)
EPOCHS = fc.SGD(epochs=2, batch_size=2, stepsize=S)
MODES = {
    "epochs": EPOCHS,
    "steps": fc.SGD(steps=5, batch_size=2, stepsize=S),
    "one sample": fc.SGD(epochs=1, batch_size=1, stepsize=S),
    "all samples": fc.SGD(epochs=3, batch_size=None, stepsize=S),
    "more than all samples": fc.SGD(steps=4, batch_size=50, stepsize=S),
    "decay": fc.SGD(epochs=1, batch_size=3, stepsize=S, decay=Fraction(1, 2)),
    "weight decay": fc.SGD(epochs=2, batch_size=2, stepsize=S, weight_decay=Fraction(3, 2)),
    "momentum": fc.SGD(epochs=2, batch_size=2, stepsize=S, momentum=Fraction(3, 4)),
    "momentum and weight decay": fc.SGD(
        steps=5, batch_size=2, stepsize=S, momentum=Fraction(1, 2), weight_decay=Fraction(3, 2), decay=Fraction(1, 2)
    ),
}
METHODS = [
    fc.FedGD(stepsize=1), fc.FedProx(mu=Fraction(3, 2)), fc.FedDyn(alpha=2), fc.FedDANE(mu=Fraction(1, 2)),
    fc.Scaffold(stepsize=1), fc.Scaffold(stepsize=1, option=1), fc.FedSplit(stepsize=Fraction(1, 2)),
]  # fmt: skip


@dataclass(frozen=True)
class Task:
    """What one client is asked, in Fractions or floats; the faults are planted."""

    kind: str
    k: int
    factor: Any  # F_k = factor · f_k
    start: list[Any]
    linear: list[Any]
    weight: Any
    center: list[Any]
    sum_not_mean: bool = False
    sign_of_linear: int = 1
    decay_is_clipped: bool = False
    only_loss_is_clipped: bool = False
    dampening: bool = False
    nesterov: bool = False


def derivatives(kind: str, scores: list[Any], y: Any) -> list[Any]:
    """∂loss/∂scores of one sample."""
    if kind == "squares":
        return [scores[0] - y]
    if kind == "logistic":
        return [-float(y) / (1 + exp(float(y) * scores[0]))]
    powers = [exp(score) for score in scores]
    return [power / sum(powers) - int(c == y) for c, power in enumerate(powers)]


def batch_gradient(task: Task, theta: list[Any], batch: Sequence[int]) -> list[Any]:
    """g_B at theta: mean over B, n_k times that for sums over samples, plus the ridge."""
    problem: Any = PROBLEMS[task.kind]
    exact = isinstance(theta[0], Fraction)
    design = [[v if exact else float(v) for v in row] for row in fractions(problem.A[task.k])]
    targets = B[task.k] if task.kind == "squares" else problem.y[task.k]
    n, p = len(design), len(design[0])
    total = [0 * v for v in theta]
    for i in batch:
        scores = [sum(theta[c + j] * design[i][j] for j in range(p)) for c in range(0, len(theta), p)]
        y = targets[i] if exact else float(targets[i])
        for c, slope in enumerate(derivatives(task.kind, scores, y)):
            for j in range(p):
                total[c * p + j] += slope * design[i][j]
    size = 1 if task.sum_not_mean else len(batch)
    if task.kind == "squares":
        return [task.factor * n * t / size for t in total]
    ridge = float(RIDGE)
    return [task.factor * (t / size + ridge * v) for t, v in zip(total, theta, strict=True)]


def cut(g: list[Any], clip: Any) -> list[Any]:
    """To length clip where longer."""
    length = sqrt(sum(v * v for v in g)) if clip is not None else 0
    return [float(clip) / length * v for v in g] if clip is not None and length > clip else g


def plain_sgd(
    task: Task, batches: Sequence[Sequence[int]], stepsize: Any, weight_decay: Any, clip: Any, momentum: Any,
    velocity: list[Any],
) -> list[Any]:  # fmt: skip
    """v ← momentum·v + clip(g_B(θ) + linear + weight(θ − center)) + weight_decay·θ; θ ← θ − s v; batch after batch."""
    theta = list(task.start)
    for batch in batches:
        g, rest = batch_gradient(task, theta, batch), []
        for v, slope, c in zip(theta, task.linear, task.center, strict=True):
            rest.append(task.sign_of_linear * slope + task.weight * (v - c))
        if task.decay_is_clipped:
            rest = [r + weight_decay * v for r, v in zip(rest, theta, strict=True)]
        if task.only_loss_is_clipped:
            g, whole = cut(g, clip), rest
            g = [a + b for a, b in zip(g, whole, strict=True)]
        else:
            g = cut([a + b for a, b in zip(g, rest, strict=True)], clip)
        after = 0 if task.decay_is_clipped else weight_decay
        g = [a + after * x for x, a in zip(theta, g, strict=True)]
        share = 1 - momentum if task.dampening else 1
        velocity[:] = [momentum * b + share * a for b, a in zip(velocity, g, strict=True)]
        moved = [momentum * b + a for b, a in zip(velocity, g, strict=True)] if task.nesterov else velocity
        theta = [x - stepsize * b for x, b in zip(theta, moved, strict=True)]
    return theta


def dealt(solver: fc.SGD, members: Sequence[int], draw: Draw) -> list[list[list[int]]]:
    """Every client's batches, as lists of its own samples' numbers."""
    amounts = np.full(len(members), solver.effort) if draw.efforts is None else draw.efforts
    found = deal(
        np.zeros(len(members), dtype=int), np.array([COUNTS[k] for k in members]), solver.batch_size,
        amounts if solver.steps is None else None, amounts if solver.steps is not None else None,
        np.array(members), draw.seed, draw.round,
    )  # fmt: skip
    batches = [found.order[a:b].tolist() for a, b in zip(found.bounds, found.bounds[1:], strict=False)]
    return [batches[a:b] for a, b in zip(found.client_batches, found.client_batches[1:], strict=False)]


def numbers(values: Any, arithmetic: str) -> Any:
    """Lists of Fractions, or of floats."""
    if hasattr(values, "numpy"):
        values = values.numpy()
    if isinstance(values, np.ndarray):
        return [numbers(value, arithmetic) for value in values]
    return to_fraction(values) if arithmetic == "exact" else float(values)


def rounds_played(method: Any, kind: str, solver: fc.SGD, arithmetic: str, draws: Sequence[Draw]) -> list[Played]:
    """From (1, −1/2, …)."""
    problem = PROBLEMS[kind]
    rounds = rounds_of(method, problem, arithmetic, solver)
    x0 = fractions([Fraction((-1) ** i, i + 1) for i in range(problem.dim)])
    found: list[Any] = []
    with rounds.arithmetic.context():
        state = rounds.start(rounds.arithmetic.array(x0))
        for draw in draws:
            found.append(rounds.play(state, draw))
            state = found[-1].state
    return found


def expected(
    method: Any, kind: str, solver: fc.SGD, arithmetic: str, draw: Draw, played: Played, *,
    last_batch: bool = True, reseeded: int = 0, decay: bool = True, velocities: Any = None, shared: bool = False,
    **faults: Any,
) -> list[list[Any]]:  # fmt: skip
    """The answers of one round, client by client; what is planted stands in the keywords.

    velocities: those of the rounds before, by client (0 for all where they are shared).
    """
    velocities = {} if velocities is None else velocities
    problem, asked = PROBLEMS[kind], played.subproblem
    members = range(len(COUNTS)) if draw.members is None else draw.members.tolist()
    answers = []
    for row, (k, batches) in enumerate(
        zip(members, dealt(solver, members, replace(draw, seed=draw.seed + reseeded)), strict=True)
    ):
        none = [Fraction(0)] * problem.dim
        convert = to_fraction if arithmetic == "exact" else float
        linear, center = (
            none if part is None else numbers(part[row], arithmetic) for part in (asked.linear, asked.center)
        )
        factor, start = (method.scale(problem) or [Fraction(1)] * 4)[k], numbers(asked.start[row], arithmetic)
        weight = convert(to_fraction(asked.weight))
        task = Task(kind, k, convert(factor), start, linear, weight, center, **faults)
        stepsize = solver.stepsize * solver.decay ** (draw.round if decay else 0)
        kept = batches if last_batch else [b for b in batches if len(b) == max(map(len, batches))]
        numbers_of_step = (convert(stepsize), convert(solver.weight_decay), solver.clip, convert(solver.momentum))
        velocity = velocities.setdefault(0 if shared else k, [0 * v for v in start])
        answers.append(plain_sgd(task, kept, *numbers_of_step, velocity))
    return answers


def same(found: Any, expected: Any, arithmetic: str) -> bool:
    """Equal rationals, or floats to 1e-12."""
    found = numbers(found, arithmetic)
    if arithmetic == "exact":
        return bool(found == expected)
    return bool(np.abs(np.array(found) - np.array(expected, dtype=float)).max() <= 1e-12 * np.abs(found).max())


def agree(
    method: Any, kind: str, solver: fc.SGD, arithmetic: str, draws: Sequence[Draw], kept: bool = False, **faults: Any
) -> bool:
    """Whether all answers are those of the loops; kept: velocities are not 0 when a round begins."""
    found, velocities = rounds_played(method, kind, solver, arithmetic, draws), {} if kept else None
    faults["velocities"] = velocities
    return all(
        same(round.answers.points, expected(method, kind, solver, arithmetic, draw, round, **faults), arithmetic)
        for draw, round in zip(draws, found, strict=True)
    )


THREE = [Draw(round=0, seed=5), Draw(np.array([0, 2, 3]), round=1, seed=5), Draw(np.array([1, 3]), round=2, seed=5)]


class TestAgainstLoops:
    @KINDS
    @pytest.mark.parametrize("mode", MODES)
    def test_modes(self, kind, arithmetic, mode) -> None:
        assert agree(fc.FedProx(mu=Fraction(3, 2)), kind, MODES[mode], arithmetic, THREE)

    @KINDS
    @pytest.mark.parametrize("method", METHODS, ids=repr)
    def test_terms(self, kind, arithmetic, method) -> None:
        """Those of methods with and without memory, whose factors are 4·weights[k] or 1."""
        assert agree(method, kind, EPOCHS, arithmetic, THREE)

    @pytest.mark.parametrize("arithmetic", FLOATS)
    @pytest.mark.parametrize("kind", PROBLEMS)
    @pytest.mark.parametrize("clip", [0.25, 2, Fraction(1, 3), 1e6])
    def test_clipping(self, kind, arithmetic, clip) -> None:
        """Some gradients are cut, some are not; weight decay is added afterwards."""
        solver = replace(EPOCHS, clip=clip, weight_decay=Fraction(3, 2))
        for method in (fc.FedProx(mu=1), fc.FedDyn(alpha=2), fc.Scaffold(stepsize=1)):
            assert agree(method, kind, solver, arithmetic, THREE)
            assert agree(method, kind, replace(solver, momentum=Fraction(1, 2)), arithmetic, THREE)
        if clip < 1:
            assert not agree(fc.FedProx(mu=1), kind, solver, arithmetic, THREE, decay_is_clipped=True)
            assert not agree(fc.FedDyn(alpha=2), kind, solver, arithmetic, THREE, only_loss_is_clipped=True)

    @KINDS
    @pytest.mark.parametrize(
        "fault",
        [{"sum_not_mean": True}, {"last_batch": False}, {"sign_of_linear": -1}, {"reseeded": 1}, {"decay": False}],
        ids=repr,
    )
    def test_faults_are_told_apart(self, kind, arithmetic, fault) -> None:
        solver = replace(EPOCHS, decay=Fraction(1, 2))
        assert agree(fc.FedDyn(alpha=2), kind, solver, arithmetic, THREE)
        assert not agree(fc.FedDyn(alpha=2), kind, solver, arithmetic, THREE, **fault)

    @KINDS
    @pytest.mark.parametrize(
        "fault", [{"shared": True}, {"kept": True}, {"dampening": True}, {"nesterov": True}], ids=repr
    )
    def test_faults_of_momentum_are_told_apart(self, kind, arithmetic, fault) -> None:
        solver = MODES["momentum"]
        assert agree(fc.FedDyn(alpha=2), kind, solver, arithmetic, THREE)
        assert not agree(fc.FedDyn(alpha=2), kind, solver, arithmetic, THREE, **fault)

    @few
    @given(
        size=st.none() | st.integers(1, 6),
        work=st.builds(lambda kind, number: {kind: number}, st.sampled_from(["epochs", "steps"]), st.integers(1, 4)),
        members=st.sets(st.integers(0, 3), min_size=1),
        seed=st.integers(0, 2**40),
        round=st.integers(0, 3),
        decay=st.sampled_from([Fraction(1), Fraction(1, 3)]),
        weight_decay=st.sampled_from([0, Fraction(2, 3)]),
        momentum=st.sampled_from([0, Fraction(2, 3)]),
        method=st.sampled_from(METHODS),
    )
    def test_any_batches(self, size, work, members, seed, round, decay, weight_decay, momentum, method) -> None:
        """Everything in rationals, and compiled."""
        solver = fc.SGD(**work, batch_size=size, stepsize=S, decay=decay, weight_decay=weight_decay, momentum=momentum)
        draws = [Draw(np.array(sorted(members)), round=round, seed=seed), Draw(round=round + 1, seed=seed)]
        assert agree(method, "squares", solver, "exact", draws)
        for kind in PROBLEMS:
            assert agree(method, kind, solver, "float", draws)

    def test_in_balls(self) -> None:
        """Which contain the rational answers."""
        for mode in MODES.values():
            balls, exact = (
                rounds_played(fc.FedDyn(alpha=2), "squares", mode, arithmetic, THREE)
                for arithmetic in ("ball", "exact")
            )
            for ball, round in zip(balls, exact, strict=True):
                for enclosure, value in zip(ball.answers.points.ravel(), round.answers.points.ravel(), strict=True):
                    assert ball_contains(enclosure, to_fraction(value))
                    assert not ball_contains(enclosure, to_fraction(value) + Fraction(1, 10**25))
                assert round.answers.path_lengths.ravel().tolist() == ball.answers.path_lengths.ravel().tolist()

    @pytest.mark.parametrize("arithmetic", ["exact", "ball"])
    def test_lengths_of_gradients_are_no_rationals(self, arithmetic) -> None:
        with pytest.raises(InvalidInput, match="clip"):
            fc.simulate(fc.FedAvg(stepsize=S, clip=Fraction(1, 4)), PROBLEMS["squares"], 1, arithmetic=arithmetic)

    @pytest.mark.parametrize("third", [[], [[[Fraction(1, 3)]]]], ids=["floats", "floats and Fractions"])
    def test_rationals_stay_as_they_were_given(self, third) -> None:
        """An integer that is no float, beside another client's floats."""
        large = 2**53 + 1
        problem = fc.LeastSquares([[[large]], [[0.5]], *third], [[1], [1.5], *([[2]] if third else [])])
        gradients = [large * (large - 1), (Fraction(1, 2) - Fraction(3, 2)) / 2]
        gradients += [(Fraction(1, 3) - 2) / 3] if third else []
        expected = 1 - S * sum(gradients) / Fraction(len(gradients))
        for size in (None, 1):
            method = fc.FedSGD(stepsize=S, batch_size=size)
            assert fc.simulate(method, problem, 1, x0=[1], arithmetic="exact").points[1][0] == expected


class TestBatches:
    def test_an_epoch_visits_everything_once(self) -> None:
        for solver in (fc.SGD(epochs=3, batch_size=2, stepsize=S), fc.SGD(steps=3, batch_size=2, stepsize=S)):
            for k, batches in enumerate(dealt(solver, range(4), Draw(seed=1, round=6))):
                n, per_epoch = COUNTS[k], -(-COUNTS[k] // 2)
                assert len(batches) == (3 if solver.steps else 3 * per_epoch)
                for begin in range(0, len(batches) - per_epoch + 1, per_epoch):
                    epoch = batches[begin : begin + per_epoch]
                    assert sorted(i for batch in epoch for i in batch) == list(range(n))
                    assert [len(batch) for batch in epoch] == [min(2, n - 2 * i) for i in range(per_epoch)]
        orders = {str(batches) for t in range(30) for batches in dealt(EPOCHS, [0], Draw(seed=1, round=t))}
        assert len(orders) > 25

    @KINDS
    @pytest.mark.parametrize("scaled", [False, True])
    def test_batches_are_unbiased(self, kind, arithmetic, scaled) -> None:
        """The mean over an epoch, each batch counted with its size, is the full gradient; over all batches of a size,
        plainly so.
        """
        problem = PROBLEMS[kind]
        clients = problem.clients(arithmetic, [4 * w for w in problem.exact_weights] if scaled else None)
        array, samples = clients.arithmetic.array, clients.samples()
        X = array(fractions(np.arange(4 * problem.dim).reshape(4, -1) % 5 - 2))
        full = clients.gradients(X)

        def gradient(k: int, batch: Sequence[int], mean: bool = True) -> Any:
            share = Fraction(1, len(batch)) if mean else Fraction(1)
            rows, shares = samples.first[[k]][:, None] + np.array([batch]), array([[share] * len(batch)])
            return samples.gradients(np.array([k]), X[[k]], rows, shares)[0]

        def is_full(k: int, found: Any) -> bool:
            return same(found, numbers(full[k], arithmetic), arithmetic)

        for k, batches in enumerate(dealt(fc.SGD(epochs=1, batch_size=2, stepsize=S), range(4), Draw())):
            n, parts = COUNTS[k], [gradient(k, batch) for batch in batches]
            shares = array([Fraction(len(batch), n) for batch in batches])
            assert is_full(k, sum(w * part for w, part in zip(shares, parts, strict=True)))
            assert is_full(k, sum(parts) / len(parts)) == (n % 2 == 0 or n == 1)  # else sizes differ: biased
            if n > 1:
                assert not is_full(k, sum(gradient(k, batch, mean=False) for batch in batches))
            for size in range(1, n + 1):
                every = [gradient(k, batch) for batch in combinations(range(n), size)]
                assert is_full(k, sum(every) / len(every))

    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_an_average_over_first_steps_is_a_gradient_step(self, arithmetic) -> None:
        """One batch of one sample from each of many seeds: shares of samples tell what the average must be."""
        solver, method, rounds = fc.SGD(steps=1, batch_size=1, stepsize=S), fc.FedGD(stepsize=1), 24
        answers, visits = [], np.zeros(5, dtype=int)
        for seed in range(rounds):
            draw = Draw(np.array([0]), seed=seed)
            answers.append(rounds_played(method, "squares", solver, arithmetic, [draw])[0].answers.points[0])
            visits[dealt(solver, [0], draw)[0][0][0]] += 1
        x0 = fractions([1, Fraction(-1, 2)])
        mean = sum(
            (Fraction(int(v), rounds) * 5 * a * (a @ x0 - b) for v, a, b in zip(visits, A[0], B[0], strict=True))
        )
        assert same(sum(answers) / rounds, numbers(x0 - S * mean, arithmetic), arithmetic)
        assert visits.min() > 0


def reach(steps: int, momentum: Any) -> Any:
    """How far unit steps go along a gradient of length 1 that stays as it is: FedNova paper, ‖a‖₁ in its section 4."""
    return Fraction(steps - momentum * (1 - momentum**steps) / (1 - momentum)) / (1 - momentum)


class TestLengthsOfPaths:
    @KINDS
    @pytest.mark.parametrize("mode", MODES)
    def test_are_stepsizes_times_steps(self, kind, arithmetic, mode) -> None:
        solver = MODES[mode]
        for draw, round in zip(
            THREE, rounds_played(fc.FedNova(stepsize=1), kind, solver, arithmetic, THREE), strict=True
        ):
            members = range(4) if draw.members is None else draw.members.tolist()
            per_epoch = [-(-COUNTS[k] // (solver.batch_size or COUNTS[k])) for k in members]
            steps = [solver.steps or solver.epochs * n for n in per_epoch]
            exact = [solver.stepsize * solver.decay**draw.round * reach(n, solver.momentum) for n in steps]
            assert same(round.answers.path_lengths.reshape(-1), exact, arithmetic)
            assert tuple(round.answers.path_lengths.shape) == (len(steps), 1)

    @KINDS
    @pytest.mark.parametrize("solver", [replace(EPOCHS, epochs=5), MODES["steps"]], ids=["epochs", "steps"])
    def test_of_late_clients(self, kind, arithmetic, solver) -> None:
        """Work and lengths of x of E epochs or steps; those on time do all."""
        late = Stragglers(Fraction(1, 2), "use")
        draws = [late.slow(Draw(round=t, seed=3), 4, solver.effort) for t in range(3)]
        assert any(set(draw.efforts.tolist()) - {5} for draw in draws)
        method = fc.FedProx(mu=1)
        found = rounds_played(method, kind, solver, arithmetic, draws)
        for draw, round in zip(draws, found, strict=True):
            assert same(round.answers.points, expected(method, kind, solver, arithmetic, draw, round), arithmetic)
            batches = [len(part) for part in dealt(solver, range(4), draw)]
            assert same(round.answers.path_lengths.reshape(-1), [S * n for n in batches], arithmetic)
        punctual = [replace(draw, efforts=None) for draw in draws]
        assert not all(
            same(round.answers.points, expected(method, kind, solver, arithmetic, draw, round), arithmetic)
            for draw, round in zip(punctual, found, strict=True)
        )  # rejected: everyone does everything

    def test_what_depends_on_them(self) -> None:
        """FedNova by hand: clients with more samples take more steps, and are divided by as many."""
        draw, solver = Draw(seed=8), replace(EPOCHS, stepsize=S)
        (round,) = rounds_played(fc.FedNova(stepsize=1), "squares", solver, "exact", [draw])
        steps = [len(part) for part in dealt(solver, range(4), draw)]
        assert len(set(steps)) > 1
        x0, w = fractions([1, Fraction(-1, 2)]), PROBLEMS["squares"].exact_weights
        answers = fractions(numbers(round.answers.points, "exact"))
        moved = sum(w[k] * (answers[k] - x0) / steps[k] for k in range(4)) * sum(w[k] * steps[k] for k in range(4))
        assert numbers(round.state.server, "exact") == (x0 + moved).tolist()
        assert numbers(round.state.server, "exact") != sum(w[k] * answers[k] for k in range(4)).tolist()


class TestThroughASimulation:
    @pytest.mark.parametrize("arithmetic", [*FLOATS, "exact"])
    def test_fedavg_by_hand(self, arithmetic) -> None:
        """Four rounds from (1, −1/2), with everyone, stepsizes that halve and weight decay."""
        method = fc.FedAvg(epochs=2, batch_size=2, stepsize=S, decay=Fraction(1, 2), weight_decay=Fraction(1, 5))
        problem, x = PROBLEMS["squares"], fractions([1, Fraction(-1, 2)])
        found = fc.simulate(method, problem, 4, x0=x, seed=9, arithmetic=arithmetic).points
        for t in range(4):
            answers = []
            for k, batches in enumerate(dealt(method.local_solver, range(4), Draw(seed=9, round=t))):
                theta = x
                for batch in batches:
                    residual = A[k][batch] @ theta - B[k][batch]
                    g = Fraction(COUNTS[k], len(batch)) * A[k][batch].T @ residual
                    theta = theta - S / 2**t * (g + Fraction(1, 5) * theta)
                answers.append(theta)
            x = sum(w * answer for w, answer in zip(problem.exact_weights, answers, strict=True))
            assert same(found[t + 1], numbers(x, arithmetic), arithmetic)

    @few
    @given(x0=entries(2), seed=st.integers(0, 2**60))
    def test_compiled_tensors_and_rationals_are_one(self, x0, seed) -> None:
        method = fc.FedAvg(epochs=1, batch_size=2, stepsize=S)
        exact, *others = (
            np.asarray(fc.simulate(method, PROBLEMS["squares"], 2, x0=x0, seed=seed, arithmetic=arithmetic).points)
            for arithmetic in ["exact", *FLOATS]
        )
        for points in others:
            assert np.abs(points - exact.astype(float)).max() <= 1e-12 * (1 + np.abs(points).max())


def test_subproblems_are_left_as_they_were() -> None:
    """A solver steps on a copy."""
    for kind, arithmetic in EVERYWHERE:
        clients = PROBLEMS[kind].clients(arithmetic)
        points = clients.arithmetic.array(np.ones((4, clients.dim)))
        for clip in [None, 0.5] if arithmetic in FLOATS else [None]:
            solver = in_arithmetic(replace(EPOCHS, clip=clip), clients.arithmetic)
            answers = solver.solve(clients, Subproblem(points, linear=points, weight=points[0, 0], center=points))
            assert bool((points == 1).all())
            assert not bool((answers.points == 1).any())
