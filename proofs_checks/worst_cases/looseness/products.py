"""The largest mean of products of two lengths, E[a·b], divided by a bound's unit, proved on both sides.

a·b <= (τa² + b²/τ)/2 for every τ > 0, and the right side is linear in inner products: a certificate for one τ is a
proof. With the best τ nothing is lost, where draws are enumerated: √(a²b²) is concave in the Gram matrix, so that it is
largest where all draws of one shape are alike, and there τ = b/a makes both sides equal.
"""

from fractions import Fraction

import numpy as np
from scipy.optimize import minimize

from fedconvex.arithmetic.rationals import root_below, to_fraction
from fedconvex.proofs_checks.worst_cases.certificates.search import certify_reduced
from fedconvex.proofs_checks.worst_cases.instances.feasible_points import FeasiblePoint, feasible_point
from fedconvex.proofs_checks.worst_cases.looseness.quotients import Quotient
from fedconvex.proofs_checks.worst_cases.looseness.registry import Multiplied
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Form
from fedconvex.proofs_checks.worst_cases.programs.refinement import refine
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, propose

BITS = 128
ROOT_UNIT = Fraction(1, 2**BITS)  # of rounded roots
DIGITS = 10**8  # largest denominator of τ


def product_quotient(product: Multiplied) -> Quotient:
    """The least t with E[a·b] <= t·right: an upper bound for `product`, a lower bound for `product.inside` if given."""
    proved, _ = _best(product)
    certificate, proposal = certify_reduced(proved)
    inside = product if product.inside is None else product.inside
    program, near = _best(inside)
    found = feasible_point(program, near, list(refine(program, near)))
    attained = None if found is None else _attained(inside, found)
    return Quotient(product, proposal.status, certificate, found, attained)


def _best(product: Multiplied) -> tuple[Program, Proposal]:
    """The program with the best τ for every shape, found by descent in their logarithms, and its solution."""
    start = np.zeros(len(product.shapes))
    # The descent needs an objective of about 1.
    scale = max(abs(propose(_program(product, start)).t), 1e-9)

    def value(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        program = _program(product, logarithms)
        proposal = propose(program, twice=True)
        slopes = [_slope(program, proposal, place, tau) for place, tau in enumerate(np.exp(logarithms))]
        return proposal.t / scale, np.array(slopes) / scale

    found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(-15, 15)] * len(start))
    program = _program(product, found.x)
    return program, propose(program, twice=True)


def _slope(program: Program, proposal: Proposal, place: int, tau: float) -> float:
    """The derivative in log τ, by the envelope theorem: at the instance that is worst for these τ."""
    first, second = (_value(program, proposal, f"{name} {place}") for name in ("first", "second"))
    return (tau * first - second / tau) / 2


def _value(program: Program, proposal: Proposal, name: str) -> float:
    place = 2 + [known for known, _ in program.inequalities].index(name)
    blocks, values = program.floats
    products = sum(float(np.tensordot(m[place], gram, 2)) for m, gram in zip(blocks, proposal.grams, strict=True))
    return products + float(values[place] @ proposal.values)


def _program(product: Multiplied, logarithms: np.ndarray) -> Program:
    """E[τa² + b²/τ]/2 as the metric.

    The squares are among the inequalities: they are nonnegative, and `_attained` needs their values.
    """
    metric, squares = Form(), []
    for place, (shape, logarithm) in enumerate(zip(product.shapes, logarithms, strict=True)):
        # Any positive rational τ gives a proof; a short one keeps the program's numbers short.
        tau = Fraction(float(np.exp(logarithm))).limit_denominator(DIGITS) or Fraction(1, DIGITS)
        first, second = (
            sum((squares_of[which] * chance for chance, *squares_of in shape), start=Form()) for which in (0, 1)
        )
        metric = metric + (first * tau + second / tau) / 2
        squares += [(f"first {place}", first), (f"second {place}", second)]
        for n, (_, a, b) in enumerate(shape):
            squares += [(f"first {place} of {n}", a), (f"second {place} of {n}", b)]
    return Program(product.right, -metric, (*product.board.inequalities(), *product.more, *squares))


def _attained(product: Multiplied, found: FeasiblePoint) -> Fraction:
    """Σ chance·√(a²b²) with roots rounded down, divided by the right side."""
    names = [name for name, _ in found.program.inequalities]
    total = Fraction(0)
    for place, shape in enumerate(product.shapes):
        for n, (chance, _, _) in enumerate(shape):
            a, b = (to_fraction(found.at(2 + names.index(f"{w} {place} of {n}"))) for w in ("first", "second"))
            total += chance * root_below(a * b, ROOT_UNIT / (a * b).denominator)
    return total / to_fraction(found.at(0))
