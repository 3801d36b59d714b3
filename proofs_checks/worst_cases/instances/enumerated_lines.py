"""Federations on a line for clients that are written out: quadratics with curvatures at the ends of the class.

What the method does is linear in its start and the clients' pulls. So the metric, and what it is measured in, are
quadratic forms in these numbers, which are known from a few of them, played exactly; the largest quotient is an
eigenvalue. Its vector is rounded: what is attained is what is then played, exactly.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np

from fedconvex.arithmetic.rationals import fraction_array
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.instances.replay import measures
from fedconvex.proofs_checks.worst_cases.questions.question import Question

DIGITS = 10**6
TRIED = 2


def written_lines(question: Question) -> Iterator[AttainingFederation]:
    """Those on which the method does most, nearly; none for a descent, whose start is no quadratic question."""
    if question.metric == "descent" or question.dissimilarity is not None or question.board.residuals:
        return
    low, high = question.clients.lowest, question.clients.highest
    ends = sorted({low, high} | ({low / 2} if low < 0 else set()))  # some with a minimum of the mean
    found = [
        (*_worst(question, curvatures), curvatures)
        for curvatures in combinations_with_replacement(ends, question.board.clients)
        if sum(curvatures) > 0 and (question.spread is None or all(curvatures))
    ]
    for _, numbers, curvatures in sorted(found, key=lambda one: -one[0])[:TRIED]:
        yield _instance(curvatures, [Fraction(x).limit_denominator(DIGITS) for x in numbers])


def _worst(question: Question, curvatures: tuple[Fraction, ...]) -> tuple[float, list[float]]:
    """The largest quotient of metric and measure, and the start and pulls (but the last) that have it."""
    size = len(curvatures)
    units = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    alone = [_measured(question, curvatures, unit) for unit in units]
    forms = [np.diag([float(pair[which]) for pair in alone]) for which in (0, 1)]
    for i, j in combinations(range(size), 2):
        both = _measured(question, curvatures, [x + y for x, y in zip(units[i], units[j], strict=True)])
        for which, form in enumerate(forms):
            form[i, j] = form[j, i] = float(both[which] - alone[i][which] - alone[j][which]) / 2
    metric, measure = forms
    values, vectors = np.linalg.eigh(measure)
    free = values <= 1e-12 * values.max()
    if free.any() and np.abs(metric @ vectors[:, free]).max() > 0:  # it leaves where nothing is measured
        place = int(np.argmax(np.einsum("ij,ik,kj->j", vectors[:, free], metric, vectors[:, free])))
        return float("inf"), list(vectors[:, free][:, place])
    inverse = vectors[:, ~free] / np.sqrt(values[~free])
    quotients, worst = np.linalg.eigh(inverse.T @ metric @ inverse)
    numbers = inverse @ worst[:, -1]
    return float(quotients[-1]), list(numbers / np.abs(numbers).max())


def _measured(
    question: Question, curvatures: tuple[Fraction, ...], numbers: list[Fraction]
) -> tuple[Fraction, Fraction]:
    found = measures(question, _instance(curvatures, numbers))
    assert found is not None
    return found


def _instance(curvatures: tuple[Fraction, ...], numbers: list[Fraction]) -> AttainingFederation:
    start, *pulls = numbers
    clients = [*pulls, -sum(pulls, Fraction(0))]
    problem = Quadratic([[[h]] for h in curvatures], [[p] for p in clients])
    return AttainingFederation(problem, fraction_array([[start]] * len(clients)))
