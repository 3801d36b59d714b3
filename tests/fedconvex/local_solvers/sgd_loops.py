"""Local SGD as loops over samples in plain Python, with faults to plant, and subproblems for it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest
from problem_makers import FLOATS, fractions

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.local_solvers.minibatches import draw_minibatches
from fedconvex.participation import Draw
from fedconvex.problems.base import Problem
from fedconvex.runs.rounds import RoundResult, rounds_of

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
    found = draw_minibatches(
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


def rounds_played(method: Any, kind: str, solver: fc.SGD, arithmetic: str, draws: Sequence[Draw]) -> list[RoundResult]:
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
    method: Any, kind: str, solver: fc.SGD, arithmetic: str, draw: Draw, played: RoundResult, *,
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
