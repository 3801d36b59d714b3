"""Bounds for many rounds from a certificate for one round, for methods whose rounds are alike.

If E‖w⁺ − x*‖² <= t(‖w − x*‖² + h·G) for all w, with G = (1/m)Σ‖∇F_k(x*)‖², then after T rounds

    E‖w_T − x*‖² <= t^T ‖w_0 − x*‖² + h(t + t² + … + t^T)·G.

Every h > 0 has such a t, a smaller h a larger t. The method must have no memory, and rounds must draw independently.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, floor, inf, log
from typing import Any

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.certificates.search import nearest
from fedconvex.proofs_checks.worst_cases.programs.solver import propose
from fedconvex.proofs_checks.worst_cases.questions.question import Question, pose
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification

LONG = 2000  # bits of a denominator from which on a rational is rounded
KEPT = 200  # bits that rounding leaves
RANGE = log(1e6)  # h is sought between H/10⁶ and 10⁶H
STEPS = 12  # of the first search, on each side of H


def bound_after(certificate: DualCertificate, certified: Question, question: Question, rounds: int) -> Fraction:
    """The bound on `question` that follows from a certificate about all its rounds (rounds = 1), or about one of T."""
    if rounds == 1:
        return certificate.t
    return after_rounds(certificate.t, certified.spec.heterogeneity, question.spec.heterogeneity, rounds)


def after_rounds(t: Fraction, h: Fraction, H: Fraction, rounds: int) -> Fraction:
    """The bound on E‖w_T − x*‖² in units of ‖w_0 − x*‖² + H·G."""
    if not H:
        return t**rounds
    # The bound is a·‖w_0 − x*‖² + b·G; the larger of a and b/H bounds it in units of ‖w_0 − x*‖² + H·G.
    return max(t**rounds, h / H * (rounds if t == 1 else t * (1 - t**rounds) / (1 - t)))


def best_round(spec: Specification) -> Question:
    """The question about one round, divided with the h whose bound is smallest after all rounds, by a float search.

    Any h gives a valid bound, so that the search need not be exact.
    """
    H, rounds = spec.heterogeneity, spec.rounds

    def one_round(h: Fraction) -> Question:
        return pose(replace(spec, rounds=1, heterogeneity=h))

    if not H:
        return one_round(H)

    def bound(logarithm: float) -> float:
        h = Fraction(exp(logarithm))
        proposal = propose(one_round(h).program)
        t = proposal.t if proposal.is_solved else inf
        # Beyond t = 2 the powers overflow, and such an h is of no use.
        return float(max(t**rounds, h / H * sum(t**i for i in range(1, rounds + 1)))) if t < 2 else inf

    from scipy.optimize import minimize_scalar  # half a second, which no other question needs

    centre = float(log(H))
    best = min((centre + RANGE * place / STEPS for place in range(-STEPS, STEPS + 1)), key=bound)
    near = minimize_scalar(bound, bounds=(best - RANGE / STEPS, best + RANGE / STEPS), method="bounded")
    return one_round(to_fraction(nearest(exp(near.x if near.fun < bound(best) else best), 10**9)))


def shortened(x: Any, upwards: bool) -> Any:
    """A rational with very many digits rounded to a short one, in the given direction.

    The exact bound after many rounds with heterogeneity has thousands of digits that are of no use.
    """
    if not isinstance(x, Fraction) or x.denominator.bit_length() < LONG or not x:
        return x
    shift = KEPT - (x.numerator.bit_length() - x.denominator.bit_length())
    scaled = x * Fraction(2) ** shift
    return (ceil(scaled) if upwards else floor(scaled)) / Fraction(2) ** shift
