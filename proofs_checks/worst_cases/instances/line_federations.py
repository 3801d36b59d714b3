"""One-dimensional federations of quadratics with extreme curvatures, on which many methods attain their worst case.

Clients are F_k(x) = ½h_k x² − p_k x with h_k at an end of the class's curvature range. What a method does on them is
linear in the start and in the gradients p_k, so metric and divisor are quadratic forms in these few numbers, and the
worst ones maximise their quotient. `extreme_federations` gives the exact instance for two representatives of any
number of clients; `worst_case.trial_federations` has others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import Any, final

import numpy as np
from flint import fmpq

from fedconvex.arithmetic.rationals import fraction_array, root_below, to_fmpq, to_fraction
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.certificates.search import Target
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, MEAN, ONE, ZERO, Family, Form, Key
from fedconvex.proofs_checks.worst_cases.questions.board import Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups, SimilarClients
from fedconvex.proofs_checks.worst_cases.questions.question import Question
from fedconvex.proofs_checks.worst_cases.questions.similarity import SplitFunctions, parts_at
from fedconvex.proofs_checks.worst_cases.questions.terms import LEAST

ROOT_UNIT = Fraction(1, 2**60)  # of a square root that is irrational
DIGITS = 10**6  # largest denominator of a maximiser that is an eigenvector
TRIED = 2  # choices of curvatures whose worst enumerated federations are simulated
HALF = fmpq(1, 2)
Numbers = tuple[Any, ...]  # one for each client, flint's rationals


@final
@dataclass(frozen=True, eq=False)
class LineFederation:
    """F_k(x) = ½curvature_k·x² − slope_k·x with starts, and the values of the program's unknowns on it."""

    question: Question
    curvatures: Numbers
    slopes: Numbers
    starts: Numbers
    basic: dict[Key, Any]

    @cached_property
    def values(self) -> dict[str, Any]:
        """The unknown function values, by their names; many questions look at none."""
        return _values(self.question, self.basic, self.curvatures, self.slopes)

    def at(self, form: Form) -> Any:
        """The value of a form."""
        total, basic = ZERO, self.basic
        for (a, b), c in form.products.items():
            if (first := basic[a]) and (second := basic[b]):  # most are 0
                total += c * first * second
        for name, c in form.values.items():
            total += c * self.values[name]
        return total

    @cached_property
    def divisor(self) -> Any:
        """What the metric is divided by."""
        return self.at(self.question.program.divisor)

    @cached_property
    def ratio(self) -> Any:
        """The metric divided by its divisor; None stands for infinity."""
        metric = -self.at(self.question.program.constant)
        if self.divisor:
            return metric / self.divisor
        return None if metric > 0 else ZERO

    @property
    def is_informative(self) -> bool:
        """Whether the ratio is not 0/0."""
        return self.ratio is None or bool(self.divisor)

    @cached_property
    def instance(self) -> AttainingFederation:
        """The federation, for simulation."""
        few, residuals = len(self.curvatures), self.question.board.residuals
        left = tuple(fraction_array(_of_clients(r.left, self.basic, few))[:, None] for r in residuals)
        problem = Quadratic([[[h]] for h in self.curvatures], [[p] for p in self.slopes])
        return AttainingFederation(problem, fraction_array(self.starts)[:, None], left)

    def vectors(self) -> list[list[Any]]:
        """The basic vectors of every block of the program, as coordinates on the line."""
        return self.question.program.coordinates(self.basic)


def extreme_federations(question: Question) -> list[LineFederation]:
    """Federations of extreme curvatures, the largest ratio first; none for groups, enumerated draws, and bias."""
    if isinstance(question.spec.clients, ClientGroups) or question.enumerated or question.spec.rests:
        return []
    if question.settled is not None or question.spec.noise is not None:  # no points of two representatives
        return []
    board, found = question.board, []
    inexact = any(residual.gamma for residual in board.residuals)
    signs = list(product((ONE, -ONE), repeat=board.clients)) if inexact else [(ONE,) * board.clients]
    for curvatures in combinations_with_replacement(map(to_fmpq, extreme_curvatures(question)), board.clients):
        if _is_possible(question, curvatures) and (
            question.spec.metric == "descent" or has_minimum(question, curvatures)
        ):
            found += [made for directions in signs for made in _worst_starts(question, curvatures, directions)]
    ranked = [(made.ratio, made) for made in found if made.is_informative]
    return [made for _, made in sorted(ranked, key=lambda pair: (pair[0] is not None, -(pair[0] or ZERO)))]


def target(federations: Sequence[LineFederation]) -> Target | None:
    """The largest ratio and the vectors of all federations that attain it; None where it is infinite, or there is none.

    With client draws the ratio of the program may exceed what a simulation attains, but no proof is below it.
    """
    if not federations or federations[0].ratio is None:
        return None
    t = federations[0].ratio
    return Target(t, [made.vectors for made in federations if made.ratio == t])


def extreme_curvatures(question: Question) -> list[Fraction]:
    """The smallest and the largest curvature, and those between them that a metric or a class needs."""
    low, high = question.spec.clients.ends
    # Where functions may be concave, a curvature between the ends: some means with a minimum need it.
    middle = {low / 2} if low < 0 and question.spec.metric != "descent" else set()
    if isinstance(clients := question.spec.clients, SimilarClients):
        delta = to_fraction(clients.delta)
        middle |= {x for x in (low + delta, low + 2 * delta, high - delta, high - 2 * delta) if low < x < high}
    return sorted({low, high} | middle) if middle else [low, high] if low < high else [low]


def _is_possible(question: Question, curvatures: tuple[Any, ...]) -> bool:
    """Whether clients with these curvatures are of the class."""
    hessians = [[[to_fraction(h)]] for h in curvatures]
    return question.spec.clients.contains(Quadratic(hessians, [[0]] * len(hessians)))


def has_minimum(question: Question, curvatures: tuple[Any, ...]) -> bool:
    """Whether the mean has a minimiser; and every client a stationary point, where the metric refers to these."""
    return sum(curvatures) > 0 and (all(curvatures) or not question.spec.stationary_models)


def _worst_starts(question: Question, curvatures: Numbers, signs: Numbers) -> Iterator[LineFederation]:
    """The federations with these curvatures whose starts and slopes are worst, and residuals with these signs."""
    few = len(curvatures)

    def line(slopes: Numbers, starts: Numbers) -> LineFederation:
        return _line_federation(question, curvatures, slopes, starts, signs)

    if question.spec.metric == "lifted_distance":
        if few == 1 or curvatures[0] == curvatures[1]:  # with different curvatures the ratio is between these
            yield line((ZERO,) * few, (ONE,) * few)
            if few == 2:
                yield line((ZERO,) * few, (ONE, -ONE))
    elif question.spec.dissimilarity is not None or question.spec.metric == "descent":  # gradients 1 ± b at the start
        B = question.spec.dissimilarity
        b = ZERO if few == 1 or B is None else to_fmpq(root_below(B**2 - 1, ROOT_UNIT))
        place = few / sum(curvatures) if question.board.minimiser else ZERO
        choices: set[Numbers] = {(ONE + b, ONE - b), (ONE - b, ONE + b)} if few == 2 else {(ONE,)}
        if few == 2 and B is None:
            choices.add((ONE, -ONE))  # a stationary point of the mean, which the method may leave
        for gradients in choices:
            slopes = tuple(h * place - g for h, g in zip(curvatures, gradients, strict=True))
            yield line(slopes, (place,) * few)
    elif few == 1:
        yield line((ZERO,), (ONE,))
    else:  # a quadratic form in w and p is determined by three of its values
        three = [line((p, -p), (w, w)) for w, p in ((ONE, ZERO), (ZERO, ONE), (ONE, ONE))]
        program = question.program
        metric, divisor = ([sign * at.at(form) for at in three]
                           for sign, form in ((-1, program.constant), (1, program.divisor)))  # fmt: skip
        w, p = _maximiser(*metric, *divisor)
        yield line((p, -p), (w, w))


def _maximiser(a: Any, c: Any, both: Any, A: Any, C: Any, together: Any) -> tuple[Any, Any]:
    """(w, p) that maximise (a·w² + 2b·wp + c·p²)/(A·w² + 2B·wp + C·p²), nearly; given at (1, 0), (0, 1), (1, 1)."""
    b, B = (both - a - c) / 2, (together - A - C) / 2
    if A * C == B * B:  # the divisor vanishes in a direction; the metric does not have to
        w, p = (ZERO, ONE) if not C else (C, -B)
        free = a * w * w + 2 * b * w * p + c * p * p
        return (w, p) if free > 0 else (ONE, ZERO) if A else (ZERO, ONE)
    if a * c == b * b:  # the metric is a square, and the maximiser rational
        w, p = (a, b) if a else (b, c)
        return (C * w - B * p, A * p - B * w) if a or c else (ONE, ZERO)
    root = np.linalg.cholesky([[float(A), float(B)], [float(B), float(C)]])
    inverse = np.linalg.inv(root)
    _, vectors = np.linalg.eigh(inverse @ np.array([[float(a), float(b)], [float(b), float(c)]]) @ inverse.T)
    w, p = (Fraction(float(x)).limit_denominator(DIGITS) for x in inverse.T @ vectors[:, -1])
    return to_fmpq(w), to_fmpq(p)


def _line_federation(
    question: Question, curvatures: Numbers, slopes: Numbers, starts: Numbers, signs: Numbers
) -> LineFederation:
    """The federation with the values of all unknowns, evaluation by evaluation.

    The new basic vector of each evaluation is the one that makes its gradient that of the quadratic there. Residuals
    are as long as allowed, with these signs.
    """
    few = len(curvatures)
    basic: dict[Key, Any] = {}
    _set(basic, "z" if question.spec.metric == "lifted_distance" else "w", starts)
    _set(basic, "g*", tuple(-slope for slope in slopes))
    for evaluation in question.board.evaluations:
        for number, residual in enumerate(question.board.residuals, 1):
            # As soon as the gradient at the start of its subproblem is known: the answer depends on it.
            if (MEAN, f"e{number}") not in basic and all(key in basic for key in residual.first.parts):
                first = _of_clients(residual.first, basic, few)
                left = tuple(g * residual.gamma * sign for g, sign in zip(first, signs, strict=True))
                _set(basic, f"e{number}", left)
        new = next(
            (key[1] for u in (evaluation.gradient, evaluation.point) for key in u.parts if key not in basic), None
        )
        if new is not None:
            _set(basic, new, _solution(evaluation, new, basic, curvatures, slopes))
    for parts, points in _of_objective(question, basic, few):
        h, p = _mean(curvatures), _mean(slopes)
        _set(basic, parts.gradient, tuple(h * x - p for x in points))
    return LineFederation(question, curvatures, slopes, starts, basic)


def _values(question: Question, basic: dict[Key, Any], curvatures: Numbers, slopes: Numbers) -> dict[str, Any]:
    """The means of the clients' values at all evaluations but the minimiser, where they are 0; and the least value."""
    few, values = len(slopes), {}
    for evaluation in question.board.evaluations:
        if evaluation.value:
            points = _of_clients(evaluation.point, basic, few)
            values[evaluation.value] = _mean(
                [(h * x / 2 - p) * x for h, x, p in zip(curvatures, points, slopes, strict=True)]
            )
    for parts, points in _of_objective(question, basic, few):
        h, p = _mean(curvatures), _mean(slopes)
        values[parts.value] = _mean([(h * x / 2 - p) * x for x in points])
    if not question.board.minimiser and sum(curvatures) > 0:
        values[LEAST] = -(sum(slopes) ** 2) / (2 * few * sum(curvatures))
    return values


def _of_objective(question: Question, basic: dict[Key, Any], clients: int) -> Iterator[tuple[SplitFunctions, Numbers]]:
    """What `similarity` does not know of the objective at the clients' own points, with these points."""
    if isinstance(question.spec.clients, SimilarClients):
        for number, evaluation in enumerate(question.board.evaluations):
            parts = parts_at(question.board, number, evaluation)
            if parts.gradient:
                yield parts, _of_clients(evaluation.point, basic, clients)


def _solution(evaluation: Evaluation, new: str, basic: dict[Key, Any], curvatures: Numbers, slopes: Numbers) -> Numbers:
    """The new vector u of every client, with gradient(u) = curvature · point(u) − slope."""
    point, gradient = evaluation.point, evaluation.gradient
    of_point, of_gradient = (u.parts.get((MEAN, new), ZERO) for u in (point, gradient))
    known = zip(_of_clients(point, basic, len(slopes)), _of_clients(gradient, basic, len(slopes)), strict=True)
    return tuple(
        (h * x - slope - g) / (of_gradient - h * of_point)
        for h, slope, (x, g) in zip(curvatures, slopes, known, strict=True)
    )


def _of_clients(u: Family, basic: dict[Key, Any], clients: int) -> Numbers:
    """The known part of the clients' vectors; the second of two clients has the opposite deviation."""
    mean = deviation = ZERO
    for key, c in u.parts.items():
        known = basic.get(key)
        if known:
            if key[0] == DEVIATION:
                deviation += c * known
            else:
                mean += c * known
    return (mean + deviation, mean - deviation)[:clients]


def _set(basic: dict[Key, Any], name: str, numbers: Numbers) -> None:
    first, last = numbers[0], numbers[-1]  # of one client or two
    basic[MEAN, name] = (first + last) * HALF
    basic[DEVIATION, name] = (first - last) * HALF


def _mean(numbers: Sequence[Any]) -> Any:
    return sum(numbers, ZERO) / len(numbers)
