"""Expected metrics on quadratic clients of one curvature, by two moments: of every draw, and of gradients' noise.

On F_k(x) = ½h‖x‖² + ⟨g_k, x⟩ with Σ g_k = 0 all vectors of a run are known in the start w, the g_k and the noise, and
expected products follow round by round from ‖w‖², mean‖g_k‖² and σ²: they are linear in these three numbers, exactly.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    Key,
    inner,
    square,
)
from fedconvex.proofs_checks.worst_cases.questions.noisy_gradients import VARIANCE, shares_of
from fedconvex.proofs_checks.worst_cases.questions.question import Question

NONE = Fraction(0)
Pair = tuple[Key, Key]
Known = tuple[Any, Any, Any]  # the weights of ‖w‖², of mean‖g_k‖² and of σ²


def moments_on(
    question: Question, problem: Quadratic, start: Any, variance: Fraction = NONE
) -> tuple[Fraction, Fraction]:
    """The metric and the divisor on clients of one curvature that are started at this point, minimised at 0.

    Their gradients' noise has this variance; where its independence is not assumed, it is the same for all clients.
    """
    h = to_fmpq(problem.H[0][0][0])
    m = problem.num_clients
    distance = sum((Fraction(x) ** 2 for x in start), Fraction(0))
    slopes = sum((Fraction(x) ** 2 for c in problem.c for x in c), Fraction(0)) / m
    on = (_of(question, h, form) for form in (question.program.constant * -1, question.program.divisor))
    sizes = (distance, slopes, variance)
    metric, divisor = (sum((to_fraction(c) * x for c, x in zip(one, sizes, strict=True)), NONE) for one in on)
    return metric, divisor


def have_one_curvature(problem: Quadratic) -> bool:
    """Whether all clients have the same multiple of the identity as Hessian."""
    h = problem.H[0][0][0]
    return all(
        entry == (h if i == j else 0) for H in problem.H for i, row in enumerate(H) for j, entry in enumerate(row)
    )


def _of(question: Question, h: Any, form: Form) -> Known:
    """What a form of the question's program is there."""
    known = dict(_gradients(question, h))
    values = {}
    for evaluation in question.board.evaluations:
        point = _put(evaluation.point, known)
        values[evaluation.value] = square(point) * (h / 2) + inner(question.board.minimiser_gradients, point)
    products: dict[Pair, Known] = {
        ((MEAN, "w"),) * 2: (ONE, ZERO, ZERO),
        ((DEVIATION, "g*"),) * 2: (ZERO, ONE, ZERO),
    }
    for name in _noises(question):
        for (part, *_), share in shares_of(question.spec.independent):
            products[((part, name),) * 2] = (ZERO, ZERO, share)

    def number(one: Form) -> Known:
        total = [ZERO, ZERO, ZERO]
        parts = [(c, _product(known, *pair)) for pair, c in one.products.items()]
        parts += [(c, values[name]) for name, c in one.values.items()]
        for c, part in parts:
            for pair, weight in part.products.items():
                for i, x in enumerate(products.get(pair, (ZERO,) * 3)):  # others are orthogonal
                    total[i] += c * weight * x
        return total[0], total[1], total[2]

    values[VARIANCE] = Form()  # is counted below
    if question.settled is None:
        return _with_variance(form, number(form))
    settled = {one.key for new in question.settled.rounds for one in new}
    for key, other, one in question.settled.products({*settled, *(key for pair in products for key in pair)}):
        products[min(key, other), max(key, other)] = number(one)
    return _with_variance(form, number(form))


def _with_variance(form: Form, known: Known) -> Known:
    return known[0], known[1], known[2] + form.values.get(VARIANCE, ZERO)


def _noises(question: Question) -> list[str]:
    noisy = question.terms.histories_of.noisy
    return [] if noisy is None else [f"noise {number + 1}" for number in range(len(noisy.noises))]


def _gradients(question: Question, h: Any) -> Iterator[tuple[Key, Family]]:
    """What the unknowns of every evaluation are, where gradients are h times the point plus those at the minimiser."""
    known: dict[Key, Family] = {}
    rounds = [] if question.settled is None else question.settled.rounds
    given = {one.key for new in rounds for one in new}
    names = {"w", "g*", *_noises(question)}
    for evaluation in question.board.evaluations[1:]:
        rest = evaluation.gradient - evaluation.point * h - question.board.minimiser_gradients
        rest = _put(rest, known)
        for part in (MEAN, DEVIATION):
            of_part = rest.only(part).parts
            new = next((key for key in of_part if key[1] not in names and key not in given), None)
            if new is not None:
                known[new] = Family({key: -c / of_part[new] for key, c in of_part.items() if key != new})
                yield new, known[new]


def _put(u: Family, known: dict[Key, Family]) -> Family:
    total = Family({key: c for key, c in u.parts.items() if key not in known})
    return sum((known[key] * c for key, c in u.parts.items() if key in known), start=total)


def _product(known: dict[Key, Family], a: Key, b: Key) -> Form:
    return inner(known.get(a, Family({a: ONE})), known.get(b, Family({b: ONE})))
