"""Problems and methods to measure constants on, and a check that a ball encloses its number tightly."""

from fractions import Fraction
from typing import Any

import flint
from hypothesis import strategies as st
from problem_makers import ball_contains, least_squares, quadratics

import fedconvex as fc

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
METHODS = st.sampled_from([fc.FedProx(mu=2), fc.FedSplit(stepsize=QUARTER), fc.FedDyn(alpha=3)])
PROBLEMS = quadratics() | least_squares()
PAIR = fc.Quadratic([[[1]], [[3]]], [[1], [0]])
INDEFINITE = fc.Quadratic([[[-1]], [[3]]], [[1], [0]])


def near(ball: Any, number: float, part: float = 1e-6) -> bool:
    return abs(float(ball) - number) <= part * abs(number) + 1e-12


def encloses(ball: Any, exact: Fraction) -> bool:
    """Contains it, and is narrow."""
    return ball_contains(flint.arb(ball), exact) and float(flint.arb(ball).rad()) <= 1e-25 * (1 + abs(float(exact)))


def squared(ball: Any) -> Any:
    with flint.ctx.workprec(400):
        return flint.arb(ball) ** 2
