"""Quadratic clients of which some take part, on which expected squares of errors decrease the least, exactly.

The expected squares are linear in those before; the spectral radius of this map, restricted to what the method's own
start reaches, bounds every V that is quadratic in the state. All clients have one curvature, or two groups have two.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fedconvex.arithmetic.linear_systems import Rows
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, memories_at_rest
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import BETWEEN, OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, spectral_radius
from fedconvex.proofs_checks.search.lyapunov.second_moments import second_moments
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass

REFINEMENTS = 12  # of the slowest curvature
REFINED_GROUPS = 6  # halvings of the step between curvatures of groups


def slowest_when_drawn(
    found: Coordinates, solver: LocalSolver, functions: FunctionClass, draws: Draws, inexact: bool, groups: int = 2
) -> list[Attained]:
    """Clients of one curvature, or of up to two, on which expected squares of errors decrease the least, exactly."""
    signs = (-1, 0, 1) if inexact else (0,)

    def on(curvature: Fraction, sign: int) -> Attained:
        return attained_when_drawn(found, solver, draws, OnALine(curvature, curvature, Fraction(1)), sign)

    low, high = functions.ends
    step = (high - low) / BETWEEN
    best = max((on(low + step * i, sign) for i in range(BETWEEN + 1) for sign in signs), key=_squared)
    for _ in range(REFINEMENTS if step else 0):
        assert isinstance(best.federation, OnALine)
        step, at = step / 2, best.federation.first
        beside = [on(a, best.sign) for a in (at - step, at + step) if low < a < high]
        best = max(best, *beside, key=_squared)
    if groups == 1 or low == high or draws.clients == 1:
        return [best]
    other = _slowest_of_two_groups(found, solver, functions, draws, best.sign)
    return [best if other is None else max(best, other, key=_squared)]


def _squared(one: Attained) -> Fraction:
    return one.squared


def _slowest_of_two_groups(
    found: Coordinates, solver: LocalSolver, functions: FunctionClass, draws: Draws, sign: int
) -> Attained | None:
    """The slowest two groups of the class; None where the search, in floating point, finds none slower than 0."""
    (low, high), m = functions.ends, draws.clients
    radii: dict[OnALine, float] = {}

    def radius(federation: OnALine) -> float:
        if federation not in radii:
            belongs = functions.contains(federation.in_short)
            radii[federation] = _radius(_moments_of(found, solver, draws, federation, sign)) if belongs else -1.0
        return radii[federation]

    tried = [OnALine(*pair, Fraction(n, m)) for n in counts_to_try(m)
             for pair in ((low, high), (low, (low + high) / 2), ((low + high) / 2, high))]  # fmt: skip
    best = max(tried, key=radius)
    step, count = (high - low) / 4, m // 8
    while step > (high - low) / 2**REFINED_GROUPS or count:
        beside = [replace(best, **{name: x}) for name in ("first", "second")
                  for x in (getattr(best, name) - step, getattr(best, name) + step) if low <= x <= high]  # fmt: skip
        beside += [replace(best, share=best.share + Fraction(n, m)) for n in {count, -count} - {0}]
        best = max([best, *(one for one in beside if 0 < one.share < 1 and one.first != one.second)], key=radius)
        step, count = step / 2, count // 2
    return attained_when_drawn(found, solver, draws, best, sign) if radius(best) > 0 else None


def attained_when_drawn(
    found: Coordinates, solver: LocalSolver, draws: Draws, federation: OnALine, sign: int = 0
) -> Attained:
    """The factor by which expected squares decrease on two groups of clients, exactly."""
    matrix = _moments_of(found, solver, draws, federation, sign)
    return Attained(federation, sign, matrix, *spectral_radius(matrix), None)


def _moments_of(found: Coordinates, solver: LocalSolver, draws: Draws, federation: OnALine, sign: int) -> Rows:
    groups = federation.groups(draws.clients)
    return second_moments(found.method, solver, draws, groups, memories_at_rest(found), sign).reached


def _radius(matrix: Rows) -> float:
    """About the spectral radius."""
    return float(np.abs(np.linalg.eigvals([[float(x) for x in row] for row in matrix])).max())


def counts_to_try(clients: int) -> Sequence[int]:
    """Sizes of the first group: one, two, some fractions, and all but these."""
    few = (1, 2, clients // 8, clients // 4, clients // 2)
    return sorted({n for count in few for n in (count, clients - count) if 0 < n < clients})
