"""Many rounds from one: what holds in every round, whoever is drawn, is added up.

If E‖w⁺ − x*‖² <= t(‖w − x*‖² + h·G) for all w, with G = (1/m)Σ‖∇F_k(x*)‖², then after T rounds

    E‖w_T − x*‖² <= t^T ‖w_0 − x*‖² + h(t + t² + … + t^T)·G.

Every h > 0 gives such a t: a smaller one a larger t. That holds for methods without memory, whose rounds are alike.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, floor, inf, log
from typing import Any

from scipy.optimize import minimize_scalar

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.proofs_checks.worst_cases.certificates.search import nearest
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.solver import propose
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import square
from fedconvex.proofs_checks.worst_cases.questions.question import Question, of_one_round

LONG = 2000  # bits of a denominator
KEPT = 200  # bits that are left of it
RANGE = log(1e6)  # h is looked for between H/10⁶ and 10⁶H
WIDE = 12  # steps on each side


def after_rounds(t: Fraction, h: Fraction, H: Fraction, rounds: int) -> Fraction:
    """The most that E‖w_T − x*‖² is in units of ‖w_0 − x*‖² + H·G."""
    if not H:
        return t**rounds
    return max(t**rounds, h / H * (rounds if t == 1 else t * (1 - t**rounds) / (1 - t)))


def best_round(question: Question) -> Question:
    """The question about one round from which most follows for all of them, by a search for its h."""
    one, H = of_one_round(question), question.heterogeneity
    if not H:
        return one

    def most(logarithm: float) -> float:
        h = Fraction(exp(logarithm))
        proposal = propose(measured_with(one, h).program)
        t = proposal.t if proposal.is_solved else inf
        return (
            float(max(t**question.rounds, h / H * sum(t**i for i in range(1, question.rounds + 1)))) if t < 2 else inf
        )

    centre = float(log(H))
    best = min((centre + RANGE * place / WIDE for place in range(-WIDE, WIDE + 1)), key=most)
    near = minimize_scalar(most, bounds=(best - RANGE / WIDE, best + RANGE / WIDE), method="bounded")
    return measured_with(one, to_fraction(nearest(exp(near.x if near.fun < most(best) else best), 10**9)))


def measured_with(question: Question, h: Fraction) -> Question:
    """The same question, with another weight of the gradients at the minimiser."""
    measure = square(question.start) + square(question.board.pulls) * h
    program = Program(measure, question.program.constant, question.program.inequalities)
    return replace(question, program=program, heterogeneity=h)


def shortened(x: Any, upwards: bool) -> Any:
    """A rational of very many digits as one of fewer, on the safe side: after many rounds all others are of no use."""
    if not isinstance(x, Fraction) or x.denominator.bit_length() < LONG or not x:
        return x
    shift = KEPT - (x.numerator.bit_length() - x.denominator.bit_length())
    scaled = x * Fraction(2) ** shift
    return (ceil(scaled) if upwards else floor(scaled)) / Fraction(2) ** shift
