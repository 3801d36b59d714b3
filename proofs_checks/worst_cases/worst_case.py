"""`worst_case`: the worst performance of a method on a class of clients, as an interval proved on both sides."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from fedconvex.arithmetic.dense import in_one_thread
from fedconvex.arithmetic.rationals import fraction_array
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.names import checked_keywords
from fedconvex.participation import Participation
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.certificates.composition import best_round, bound_after
from fedconvex.proofs_checks.worst_cases.certificates.search import certify, certify_by
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import feasible_point
from fedconvex.proofs_checks.worst_cases.instances.line_federations import (
    LineFederation,
    extreme_curvatures,
    extreme_federations,
    has_minimum,
    target,
)
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation, quadratics
from fedconvex.proofs_checks.worst_cases.instances.replay import best_of, metric_and_divisor
from fedconvex.proofs_checks.worst_cases.instances.resting_federations import at_their_fixed_points, resting_federations
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.question import LARGEST, Question, pose
from fedconvex.proofs_checks.worst_cases.questions.specification import specify
from fedconvex.proofs_checks.worst_cases.result import WorstCase
from fedconvex.types import Exact, Vector

CLOSE = Fraction(1, 10**9)  # relative distance of the bounds at which no other instance is sought
SMALL = 12  # evaluations up to which a question about many rounds is also solved as it is


@checked_keywords
def worst_case(
    method: Method,
    clients: FunctionClass,
    num_clients: int | str = 2,
    rounds: int = 1,
    metric: Any = "distance",
    dissimilarity: Exact | None = None,
    heterogeneity: Exact = 0,
    local_solver: LocalSolver | None = None,
    participation: Participation | None = None,
    weights: Vector | None = None,
    spread: Exact | None = None,
    noise: Exact | None = None,
) -> WorstCase:
    """The worst performance of a method on clients of a class with equal weights: a rigorous interval.

    Use it to compare methods and parameters by what they guarantee, to see how loose a bound is (`looseness` does that
    for the papers' bounds), and to get a federation on which a method is at its worst. It takes milliseconds for a few
    rounds with full participation; programs grow with the square of the number of evaluations, and with the number of
    possible draws. It says nothing about a particular data set: `fedconvex.audit` does.

    With two clients or more and full participation the answer does not depend on their number: mean and deviation of
    the clients' vectors are orthogonal, and every pair of Gram matrices belongs to some m clients, whatever m. "any"
    stands for all numbers.

    Args:
        method: its numbers are exact, a float being the dyadic rational that it is. Where `local_steps` has a number
            for every client, clients with equal numbers are groups, of which the cost grows with the number: as many
            numbers as `num_clients`; for "any" one for each of equally many clients; for `ClientGroups` one a group.
            Of random communication (Scaffnew, FedPD's `skip`) every history of at most 6 rounds is followed.
        clients: `SmoothStronglyConvex(mu, L)`, `SmoothConvex(L)`, `Quadratics(mu, L)`, `SimilarClients(mu, L,
            delta)`, `ClientGroups(…)`, `PolyakLojasiewicz(mu, L)` of one client or, for "descent" and
            "mean_gradient_norm", `WeaklyConvex(L_minus, L)`.
        num_clients: 1, more, or "any".
        rounds: T >= 1; 1 for "descent". Where a bound for one round holds in every round ("lifted_distance";
            "distance" of methods without memory), it is composed, for any T.
        metric: of the point after the last round "distance" ‖w_T − x*‖², "gap" f(w_T) − f*, "gradient_norm"
            ‖∇f(w_T)‖²; over the T points γ^0 = w_0 and γ^t, the mean of the clients' answers in round t < T,
            "average_gap" f(Σ_t a_t γ^t) − f*, "mean_gap" Σ_t a_t (f(γ^t) − f*); each divided by
            ‖w_0 − x*‖² + heterogeneity · (1/m)Σ‖∇F_k(x*)‖². "mean_gradient_norm" Σ_t a_t ‖∇f(γ^t)‖² is divided by
            f(w_0) − inf f + heterogeneity · (1/m)Σ‖∇F_k(w_0)‖² + spread · (1/m)Σ‖θ_k⁰ − w_0‖². "lifted_distance"
            Σ‖z_k − z_k*‖² after and before the rounds (FedSplit); "bias" ‖w − x*‖²/((1/m)Σ‖∇F_k(x*)‖²) where a round
            leaves the server at w, of methods without memory, for num_clients >= 2; "gap_ratio"
            (f(w_T) − f*)/(f(w_0) − f*); "descent" the least
            (f(w) − f(w⁺))/‖∇f(w)‖² of a round. Expectations where clients are drawn: for few clients and rounds all
            possible draws are enumerated, and the answer is exact for that many; else "distance" is exact in one round,
            "gap" and "descent" of one are bounded by the descent lemma, and others follow from the second moments of
            all rounds' draws: an interval, for any number of clients and at most 24 points.
            Also a pair of numbers of the claim language, (numerator, denominator), as
            (square(server(1) - minimiser), square(server(0) - minimiser)) for "distance", or a numerator alone, then
            divided by ‖w_0 − x*‖². Time 0 is the start, from the method's own first state, and 1 is after the last
            round; in `mean_of_rounds` and `sum_of_rounds` they are before and after each round, where the start
            begins with models θ_k⁰ with ∇F_k(θ_k⁰) = 0 if the terms speak of `last_answers(0)`. The names "distance",
            "gap", "gradient_norm", "lifted_distance" and "descent" stand for such pairs.
        dissimilarity: B of FedProx's Definition 3 at the first point, where it is bounded.
        heterogeneity: the weight of the clients' gradients in the divisor; with 0 these gradients are unbounded.
        local_solver: `Exact()`, `GradientDescent(…)` or `ToInexactness(gamma)`, which stands for any γ-inexact answer;
            by default the method's own. `SGD(steps=…, stepsize=…)` with `noise`.
        participation: `Full()`, `Uniform(K)`, `Weighted(K)` or `Bernoulli(p)`.
        weights: a_t of the averages, divided by their sum; by default equal.
        spread: for "mean_gradient_norm", where every client has a point θ_k⁰ with ∇F_k(θ_k⁰) = 0, the weight of their
            distances in the divisor.
        noise: every gradient of a local step has unbiased noise, unrelated to all before it, E‖·‖² <= σ² on average
            over the clients; σ² times this weight is added to the divisor of the metrics with ‖w_0 − x*‖². With a
            number of clients their noise is independent; with "any" it may be the same. None: exact gradients.

    Returns:
        A `WorstCase` with `.lower`, `.upper`, `.certificate`, `.federation()` and `.proof()`.

    Raises:
        InvalidInput: a term that is not linear in inner products and function values (a length that is not squared, a
            product of such numbers), or of which the draws are too many; a metric, solver or scheme that is not
            analysed, rounds < 1, B < 1, a negative heterogeneity, subproblems without minimisers, a metric that needs a
            minimiser which the class does not give; a bias of methods with memory, drawn clients or several rounds;
            unequal local steps of drawn or similar clients, or not as many as clients.
    """
    specification = specify(
        method, clients, num_clients, rounds, metric, dissimilarity, heterogeneity, local_solver, participation,
        weights, spread, noise,
    )  # fmt: skip
    question = pose(specification)
    # A bound for one round composes where it holds in every round; else all rounds are one program.
    composes = rounds > 1 and specification.composable and not question.enumerated
    certified = best_round(specification) if composes else question
    answer = _solve(question, certified)
    # What is worst in every round need not fit together: the whole program can prove less, if it is small enough.
    is_whole = question.played == rounds and len(question.board.evaluations) <= SMALL
    if certified is question or answer.upper == answer.lower or not is_whole or metric == "lifted_distance":
        return answer
    return min(answer, _solve(question, question), key=lambda one: one.upper)


@in_one_thread
def _solve(question: Question, certified: Question) -> WorstCase:
    """Both bounds of `question`, the upper one by a certificate about `certified`: the question, or one round of it.

    Cheap ways come first: federations on a line, a certificate that follows from these, and only then a solver.
    """
    power = 1 if certified is question else question.spec.rounds
    extreme = extreme_federations(certified)
    goal, trials = target(extreme), trial_federations(question, certified, extreme)
    best = best_of(question, trials)
    if isinstance(best[0], float):  # infinite: a Fraction is compared with a float by way of the float's digits
        return WorstCase(question, certified, "not needed", None, 1, *best, None)
    if certified is question and (fewer := question.of_neighbours) is not None:
        search = certify_by(question.program, fewer, goal)
        if search.certificate is not None and search.proposal is not None:
            proved = bound_after(search.certificate, certified, question, power)
            point = feasible_point(question.program, search.proposal, search.refined, interior=False)
            if proved == best[0] or (point is not None and point.metric == proved):
                return WorstCase(question, certified, search.status, search.certificate, power, *best, point)
    search = certify(
        certified.program, goal, twice=question.enumerated,
        suffices=lambda found: bound_after(found, certified, question, power) == best[0],
    )  # fmt: skip
    certificate, point = search.certificate, None
    bound = None if certificate is None else bound_after(certificate, certified, question, power)
    if (
        power == 1
        and question.settled is None
        and question.spec.noise is None
        and search.proposal is not None
        and not _are_close(best[0], bound, CLOSE)
    ):
        fitted = quadratics(question, search.proposal)
        if question.spec.rests:
            fitted = at_their_fixed_points(question, fitted)
        best = best_of(question, fitted, best)
        if question.exact and question.spec.clients.interpolable:
            point = feasible_point(question.whole, search.proposal, search.refined, interior=question.all_pairs)
    return WorstCase(question, certified, search.status, certificate, power, *best, point)


def _are_close(attained: Any, proved: Fraction | None, relative: Fraction) -> bool:
    return attained is not None and proved is not None and proved - attained <= relative * abs(proved)


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
