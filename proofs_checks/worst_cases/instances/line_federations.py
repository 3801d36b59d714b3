"""Federations on a line: quadratics with curvatures at the ends of the class, and the worst that they make a method do.

Everything is exact. What a method does is linear in where it starts and in the clients' pulls, so that the metric is a
quadratic form in two numbers, whose largest ratio to what it is measured in is known.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import isqrt
from typing import Any, final

import numpy as np
from flint import fmpq

from fedconvex.arithmetic.rationals import fraction_array, to_fmpq
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.questions.board import Evaluation
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import Written
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import DEVIATION, MEAN, ONE, ZERO, Family, Form, Key
from fedconvex.proofs_checks.worst_cases.questions.question import LEAST, Question

BITS = 60
Numbers = tuple[Any, ...]  # one for each client, flint's rationals


@final
@dataclass(frozen=True, eq=False)
class Line:
    """F_k(x) = ½curvature_k·x² − pull_k·x, where the method starts, and what the program's basic vectors then are."""

    question: Question
    curvatures: Numbers
    pulls: Numbers
    starts: Numbers
    basic: dict[Key, Any]
    values: dict[str, Any]

    def at(self, form: Form) -> Any:
        """The value of a form."""
        total = ZERO
        for (a, b), c in form.products.items():
            total += c * self.basic[a] * self.basic[b]
        for name, c in form.values.items():
            total += c * self.values[name]
        return total

    @cached_property
    def measure(self) -> Any:
        """What the metric is divided by."""
        return self.at(self.question.program.measure)

    @cached_property
    def ratio(self) -> Any:
        """The metric divided by what it is measured in; None stands for infinity."""
        metric = -self.at(self.question.program.constant)
        if self.measure:
            return metric / self.measure
        return None if metric > 0 else ZERO

    @property
    def tells(self) -> bool:
        """Whether anything is measured: a method that stays where it is tells nothing."""
        return self.ratio is None or bool(self.measure)

    @cached_property
    def instance(self) -> AttainingFederation:
        """The same as a federation."""
        curvatures, pulls, starts = (fraction_array(numbers) for numbers in (self.curvatures, self.pulls, self.starts))
        few, residuals = len(curvatures), self.question.board.residuals
        left = tuple(fraction_array(_of_clients(r.left, self.basic, few))[:, None] for r in residuals)
        return AttainingFederation(
            Quadratic(list(curvatures[:, None, None]), list(pulls[:, None])), starts[:, None], left
        )

    @cached_property
    def vectors(self) -> list[list[Any]]:
        """The basic vectors in every block of the program, as coordinates on the line."""
        return self.question.program.coordinates(self.basic)


def lines(question: Question) -> list[Line]:
    """Federations on a line, those on which the method does most first; none for several kinds or written out."""
    if isinstance(question.clients, ClientGroups) or isinstance(question.board, Written):
        return []
    low, high = question.clients.lowest, question.clients.highest
    between = {low / 2} if low < 0 and question.metric != "descent" else set()  # some with a minimum of the mean
    ends = [to_fmpq(x) for x in sorted({low, high} | between)]
    found = []
    inexact = any(residual.gamma for residual in question.board.residuals)
    signs = list(product((ONE, -ONE), repeat=question.board.clients)) if inexact else [(ONE,) * question.board.clients]
    for curvatures in combinations_with_replacement(ends, question.board.clients):
        if question.spread is not None and not all(curvatures):
            continue  # without a stationary point of its own
        if sum(curvatures) > 0 or question.metric == "descent":
            found += [line for directions in signs for line in _of(question, curvatures, directions)]
    measured = [(line.ratio, line) for line in found if line.tells]
    return [line for _, line in sorted(measured, key=lambda pair: (pair[0] is not None, -(pair[0] or ZERO)))]


def _of(question: Question, curvatures: Numbers, signs: Numbers) -> Iterator[Line]:
    """The worst starts and pulls for these curvatures, and residuals with these signs."""
    few = len(curvatures)

    def line(pulls: Numbers, starts: Numbers) -> Line:
        return _line(question, curvatures, pulls, starts, signs)

    if question.metric == "lifted_distance":
        if few == 1 or curvatures[0] == curvatures[1]:  # clients of both curvatures do what lies between
            yield line((ZERO,) * few, (ONE,) * few)
            if few == 2:
                yield line((ZERO,) * few, (ONE, -ONE))
    elif question.dissimilarity is not None or question.metric == "descent":  # gradients 1 ± b at the start
        B = question.dissimilarity
        b = ZERO if few == 1 or B is None else _root(B**2 - 1)
        place = few / sum(curvatures) if question.board.minimiser else ZERO
        choices: set[Numbers] = {(ONE + b, ONE - b), (ONE - b, ONE + b)} if few == 2 else {(ONE,)}
        if few == 2 and B is None:
            choices.add((ONE, -ONE))  # a stationary point that the method may leave
        for gradients in choices:
            pulls = tuple(h * place - g for h, g in zip(curvatures, gradients, strict=True))
            yield line(pulls, (place,) * few)
    elif few == 1:
        yield line((ZERO,), (ONE,))
    else:
        three = [line((p, -p), (w, w)) for w, p in ((ONE, ZERO), (ZERO, ONE), (ONE, ONE))]
        program = question.program
        metric, measure = ([sign * at.at(form) for at in three]
                           for sign, form in ((-1, program.constant), (1, program.measure)))  # fmt: skip
        w, p = _worst(*metric, *measure)
        yield line((p, -p), (w, w))


def _worst(a: Any, c: Any, both: Any, A: Any, C: Any, together: Any) -> tuple[Any, Any]:
    """Where (a·w² + 2b·wp + c·p²)/(A·w² + 2B·wp + C·p²) is largest, or nearly so; given at (1, 0), (0, 1), (1, 1)."""
    b, B = (both - a - c) / 2, (together - A - C) / 2
    if A * C == B * B:  # the lower form vanishes somewhere
        w, p = (ZERO, ONE) if not C else (C, -B)
        free = a * w * w + 2 * b * w * p + c * p * p
        return (w, p) if free > 0 else (ONE, ZERO) if A else (ZERO, ONE)
    if a * c == b * b:
        w, p = (a, b) if a else (b, c)
        return (C * w - B * p, A * p - B * w) if a or c else (ONE, ZERO)
    root = np.linalg.cholesky([[float(A), float(B)], [float(B), float(C)]])
    inverse = np.linalg.inv(root)
    _, vectors = np.linalg.eigh(inverse @ np.array([[float(a), float(b)], [float(b), float(c)]]) @ inverse.T)
    w, p = (Fraction(float(x)).limit_denominator(10**6) for x in inverse.T @ vectors[:, -1])
    return to_fmpq(w), to_fmpq(p)


def _line(question: Question, curvatures: Numbers, pulls: Numbers, starts: Numbers, signs: Numbers) -> Line:
    """Every evaluation in turn: the new basic vector in it is what makes its gradient that of the quadratic there.

    Residuals are as long as they may be, with these signs.
    """
    few = len(curvatures)
    basic: dict[Key, Any] = {}
    name = "z" if question.metric == "lifted_distance" else "w"
    _set(basic, name, starts)
    _set(basic, "g*", tuple(-pull for pull in pulls))
    values = {}
    for evaluation in question.board.evaluations:
        for number, residual in enumerate(question.board.residuals, 1):
            if (MEAN, f"e{number}") not in basic and all(key in basic for key in residual.first.parts):
                first = _of_clients(residual.first, basic, few)
                left = tuple(g * residual.gamma * sign for g, sign in zip(first, signs, strict=True))
                _set(basic, f"e{number}", left)
        new = next(
            (key[1] for u in (evaluation.gradient, evaluation.point) for key in u.parts if key not in basic), None
        )
        if new is not None:
            _set(basic, new, _solution(evaluation, new, basic, curvatures, pulls))
        if not evaluation.value:
            continue  # at the minimiser, where values are 0
        points = _of_clients(evaluation.point, basic, few)
        values[evaluation.value] = _mean(
            [(h * x / 2 - p) * x for h, x, p in zip(curvatures, points, pulls, strict=True)]
        )
    if not question.board.minimiser and sum(curvatures) > 0:
        values[LEAST] = -(sum(pulls) ** 2) / (2 * len(pulls) * sum(curvatures))
    return Line(question, curvatures, pulls, starts, basic, values)


def _solution(evaluation: Evaluation, new: str, basic: dict[Key, Any], curvatures: Numbers, pulls: Numbers) -> Numbers:
    """u with gradient(u) = curvature · point(u) − pull, for every client."""
    point, gradient = evaluation.point, evaluation.gradient
    slope_p, slope_g = point.parts.get((MEAN, new), ZERO), gradient.parts.get((MEAN, new), ZERO)
    known = zip(_of_clients(point, basic, len(pulls)), _of_clients(gradient, basic, len(pulls)), strict=True)
    return tuple(
        (h * p - pull - g) / (slope_g - h * slope_p) for h, pull, (p, g) in zip(curvatures, pulls, known, strict=True)
    )


def _of_clients(u: Family, basic: dict[Key, Any], clients: int) -> Numbers:
    """What is known of the clients' vectors; the second of two clients has the opposite deviation."""
    mean = deviation = ZERO
    for key, c in u.parts.items():
        if key in basic:
            if key[0] == DEVIATION:
                deviation += c * basic[key]
            else:
                mean += c * basic[key]
    return (mean + deviation, mean - deviation)[:clients]


def _set(basic: dict[Key, Any], name: str, numbers: Numbers) -> None:
    basic[MEAN, name] = _mean(numbers)
    basic[DEVIATION, name] = (numbers[0] - numbers[-1]) / 2


def _mean(numbers: Sequence[Any]) -> Any:
    return sum(numbers, ZERO) / len(numbers)


def _root(square: Fraction) -> Any:
    """A square root, exact where it is rational, else a little smaller."""
    numerator, denominator = isqrt(square.numerator), isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        return fmpq(numerator, denominator)
    return fmpq(isqrt(square.numerator * 4**BITS // square.denominator), 2**BITS)
