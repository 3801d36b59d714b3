"""Federations on a line that are tried as worst ones: extreme, enumerated, of two kinds of clients, or noisy."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement

import numpy as np

from fedconvex.arithmetic.rationals import fraction_array
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.instances.line_federations import (
    LineFederation,
    extreme_curvatures,
    extreme_federations,
    has_minimum,
)
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.instances.replay import metric_and_divisor
from fedconvex.proofs_checks.worst_cases.instances.resting_federations import resting_federations
from fedconvex.proofs_checks.worst_cases.questions.question import LARGEST, Question, pose

BITS = 60  # of a square root that is irrational
DIGITS = 10**6  # largest denominator of a maximiser that is an eigenvector
SMALL_SHARE = 10**6  # divisor of the heterogeneity in search of instances for many rounds
TRIED = 2  # choices of curvatures whose worst enumerated federations are simulated


def trial_federations(
    question: Question, certified: Question, extreme: Sequence[LineFederation]
) -> Iterator[AttainingFederation]:
    """The federations of extreme curvatures that are worth a simulation of `question`.

    `extreme` are those of `certified`, which is the question, or one round of it.
    """
    if question.spec.rests:
        yield from resting_federations(question)
    # With full participation the program's ratio is the simulated one, so that the first federation is the worst.
    tried = extreme[:1] if question.spec.draws.everyone else extreme
    if certified is not question and question.spec.heterogeneity:
        # In many rounds other federations are worst than in one: those whose gradients hardly count in the divisor.
        small = question.spec.heterogeneity / SMALL_SHARE
        tried = [*extreme, *extreme_federations(pose(replace(certified.spec, heterogeneity=small)))]
    yield from (made.instance for made in tried)
    if question.enumerated:
        yield from enumerated_federations(question)
    if question.spec.noise is not None:
        yield from noisy_federations(question)
    elif question.settled is not None:
        yield from federations_of_two_kinds(question)


def enumerated_federations(question: Question) -> Iterator[AttainingFederation]:
    """Nearly worst federations of extreme curvatures for clients that are enumerated.

    None for a descent and with dissimilarity, whose starts are no quadratic question, and for inexact answers.
    """
    if question.spec.metric == "descent" or question.spec.dissimilarity is not None or question.board.residuals:
        return
    choices = combinations_with_replacement(extreme_curvatures(question), question.board.clients)
    makers = [partial(_enumerated, h) for h in choices if has_minimum(question, h)]
    found = [(*_worst_numbers(question, question.board.clients, make), make) for make in makers]
    for _, numbers, make in sorted(found, key=lambda one: -one[0])[:TRIED]:
        yield make([Fraction(x).limit_denominator(DIGITS) for x in numbers])


def federations_of_two_kinds(question: Question) -> Iterator[AttainingFederation]:
    """Nearly worst federations of extreme curvatures of which many draws are alike: clients are of two kinds.

    None for a descent and with dissimilarity, as above, and where there are too many draws all the same.
    """
    if question.spec.metric == "descent" or question.spec.dissimilarity is not None:
        return
    m = question.spec.draws.clients or 2
    if m > LARGEST:
        return
    found = []
    for first, second in combinations_with_replacement(extreme_curvatures(question), 2):
        for share in {1, m // 2, m - 1} if first != second else {m // 2}:
            make = partial(_two_kinds, (first,) * share + (second,) * (m - share), share)
            one = make([Fraction(1), Fraction(1)])
            if has_minimum(question, (first, second)) and metric_and_divisor(question, one) is not None:
                found.append((*_worst_numbers(question, 2, make), make))
    for _, numbers, make in sorted(found, key=lambda one: -one[0])[:TRIED]:
        yield make([Fraction(x).limit_denominator(DIGITS) for x in numbers])


def noisy_federations(question: Question) -> Iterator[AttainingFederation]:
    """Clients of one curvature that start elsewhere, or differ, or whose gradients have noise: one is a worst one."""
    which = question.copies
    assert which is not None
    m = len(which)
    if m > LARGEST:
        return
    for h in extreme_curvatures(question):
        if not has_minimum(question, (h,)):
            continue
        slopes = [Fraction(0)] * m if m == 1 else [Fraction(1), Fraction(-1), *[Fraction(0)] * (m - 2)]
        for at, slope, variance in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
            problem = Quadratic([[[h]]] * m, [[p * slope] for p in slopes])
            yield AttainingFederation(problem, fraction_array([[Fraction(at)]] * m), variance=Fraction(variance))


def _two_kinds(curvatures: tuple[Fraction, ...], share: int, numbers: list[Fraction]) -> AttainingFederation:
    """The federation with this start, and this slope of each of the first `share` clients."""
    (start, slope), m = numbers, len(curvatures)
    slopes = [slope] * share + [-slope * share / (m - share)] * (m - share)
    return AttainingFederation(Quadratic([[[h]] for h in curvatures], [[p] for p in slopes]),
                               fraction_array([[start]] * m))  # fmt: skip


def _worst_numbers(
    question: Question, size: int, make: Callable[[list[Fraction]], AttainingFederation]
) -> tuple[float, list[float]]:
    """The largest ratio of the federations with so many numbers, and the numbers that have it, in floats.

    The two quadratic forms follow from their values at unit vectors and sums of two, which are simulated exactly.
    """
    units = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    places = [(i, i) for i in range(size)] + list(combinations(range(size), 2))
    at = {}
    for i, j in places:
        numbers = units[i] if i == j else [x + y for x, y in zip(units[i], units[j], strict=True)]
        found = metric_and_divisor(question, make(numbers))
        assert found is not None
        at[i, j] = found
    metric, divisor = np.zeros((size, size)), np.zeros((size, size))
    for which, form in enumerate((metric, divisor)):
        for i, j in places:
            mixed = at[i, j][which] if i == j else (at[i, j][which] - at[i, i][which] - at[j, j][which]) / 2
            form[i, j] = form[j, i] = float(mixed)
    values, vectors = np.linalg.eigh(divisor)
    free = values <= 1e-12 * values.max()
    if free.any() and np.abs(metric @ vectors[:, free]).max() > 0:  # a positive metric where the divisor is 0
        place = int(np.argmax(np.einsum("ij,ik,kj->j", vectors[:, free], metric, vectors[:, free])))
        return float("inf"), list(vectors[:, free][:, place])
    inverse = vectors[:, ~free] / np.sqrt(values[~free])
    quotients, worst = np.linalg.eigh(inverse.T @ metric @ inverse)
    numbers_ = inverse @ worst[:, -1]
    return float(quotients[-1]), list(numbers_ / np.abs(numbers_).max())


def _enumerated(curvatures: tuple[Fraction, ...], numbers: list[Fraction]) -> AttainingFederation:
    """The federation with this start and these slopes but the last, which makes their sum 0."""
    start, *slopes = numbers
    clients = [*slopes, -sum(slopes, Fraction(0))]
    problem = Quadratic([[[h]] for h in curvatures], [[p] for p in clients])
    return AttainingFederation(problem, fraction_array([[start]] * len(clients)))
