"""The largest mean of products of two lengths, E[a·b], in units of what is promised, proved on both sides.

a·b <= (τa² + b²/τ)/2 for every τ > 0, and the right side is linear in inner products: a certificate for one τ is a
proof. Nothing is lost with the best τ, where clients are written out: √(a²b²) is concave in the Gram matrix, so that
it is largest where all draws of one shape are alike, and there τ = b/a makes both sides equal.
"""

from fractions import Fraction
from math import isqrt

import numpy as np
from scipy.optimize import minimize

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.proofs_checks.worst_cases.certificates.presolve import certify_usable
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import Feasible, feasible
from fedconvex.proofs_checks.worst_cases.looseness.quotients import Quotient
from fedconvex.proofs_checks.worst_cases.looseness.registry import Multiplied
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.refinement import polish
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, propose
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import Form

BITS = 128  # of roots that are rounded
DIGITS = 10**8
LARGEST = 500  # unknown numbers that are polished


def product_quotient(asked: Multiplied) -> Quotient:
    """The least t with E[a·b] <= t·promised; what is attained is attained where `asked.inside` says it is."""
    proved, _ = _best(asked)
    certificate, proposal = certify_usable(proved)
    inside = asked if asked.inside is None else asked.inside
    program, near = _best(inside)
    found = feasible(program, near, list(polish(program, near, LARGEST)))
    attained = None if found is None else _attained(inside, found)
    return Quotient(asked, proposal.status, certificate, found, attained)


def _best(asked: Multiplied) -> tuple[Program, Proposal]:
    """The program of the best τ for every shape, found by descent in their logarithms."""
    start = np.zeros(len(asked.shapes))
    scale = max(abs(propose(_program(asked, start)).t), 1e-9)

    def value(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        program = _program(asked, logarithms)
        proposal = propose(program, twice=True)
        slopes = [_slope(program, proposal, place, tau) for place, tau in enumerate(np.exp(logarithms))]
        return proposal.t / scale, np.array(slopes) / scale

    found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(-15, 15)] * len(start))
    program = _program(asked, found.x)
    return program, propose(program, twice=True)


def _slope(program: Program, proposal: Proposal, place: int, tau: float) -> float:
    """By the envelope theorem, with the instance that is worst for these τ."""
    first, second = (_value(program, proposal, f"{name} {place}") for name in ("first", "second"))
    return (tau * first - second / tau) / 2


def _value(program: Program, proposal: Proposal, name: str) -> float:
    place = 2 + [known for known, _ in program.inequalities].index(name)
    blocks, values = program.floats
    products = sum(float(np.tensordot(m[place], gram, 2)) for m, gram in zip(blocks, proposal.grams, strict=True))
    return products + float(values[place] @ proposal.values)


def _program(asked: Multiplied, logarithms: np.ndarray) -> Program:
    """With the squares among the inequalities, since they are not negative, and asked for later."""
    happens, squares = Form(), []
    for place, (shape, logarithm) in enumerate(zip(asked.shapes, logarithms, strict=True)):
        tau = Fraction(float(np.exp(logarithm))).limit_denominator(DIGITS) or Fraction(1, DIGITS)
        first, second = (
            sum((squares_of[which] * chance for chance, *squares_of in shape), start=Form()) for which in (0, 1)
        )
        happens = happens + (first * tau + second / tau) / 2
        squares += [(f"first {place}", first), (f"second {place}", second)]
        for n, (_, a, b) in enumerate(shape):
            squares += [(f"first {place} of {n}", a), (f"second {place} of {n}", b)]
    return Program(asked.promised, -happens, (*asked.board.inequalities(), *asked.more, *squares))


def _attained(asked: Multiplied, found: Feasible) -> Fraction:
    """Σ chance·√(a²b²), roots rounded down, divided by what is promised."""
    names = [name for name, _ in found.program.inequalities]
    total = Fraction(0)
    for place, shape in enumerate(asked.shapes):
        for n, (chance, _, _) in enumerate(shape):
            a, b = (to_fraction(found.at(2 + names.index(f"{w} {place} of {n}"))) for w in ("first", "second"))
            total += chance * root_below(a * b)
    return total / to_fraction(found.at(0))


def root_below(square: Fraction) -> Fraction:
    """√square, rounded down."""
    return Fraction(isqrt(square.numerator * square.denominator << 2 * BITS), square.denominator << BITS)
