"""Quadratic clients of which some take part, on which expected squares of errors decrease the least, exactly.

The expected squares are linear in those before; the spectral radius of this map, restricted to what the method's own
start reaches, bounds every V that is quadratic in the state. All clients have one curvature, or two groups have two.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.arithmetic.linear_systems import Rows
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, memories_at_rest
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import BETWEEN, OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, matrices, radii, spectral_radius
from fedconvex.proofs_checks.search.lyapunov.second_moments import SecondMoments, second_moments
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Several, in_floats
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass

REFINEMENTS, FINER = 2, 64  # of the slowest curvature, each by so many times
HALVINGS = 12  # that come to the same, where numbers are exact
SOMEWHERE = Fraction(5, 13)  # between the ends: a curvature like most others
EQUAL, ROUNDING = 1e-12, 1e-9  # relative differences of radii, and of vectors, that floats do not tell from 0
REFINED_GROUPS = 6  # halvings of the step between curvatures of groups


def slowest_when_drawn(
    found: Coordinates, solver: LocalSolver, functions: FunctionClass, draws: Draws, inexact: bool, groups: int = 2
) -> list[Attained]:
    """Clients of one curvature, or of up to two, on which expected squares of errors decrease the least, exactly."""
    signs = (-1, 0, 1) if inexact else (0,)

    def on(curvature: Fraction, sign: int) -> Attained:
        return attained_when_drawn(found, solver, draws, OnALine(curvature, curvature, Fraction(1)), sign)

    def about(curvatures: Sequence[Fraction], sign: int) -> list[float] | None:
        """In floats, at once; None where what runs reach is not the same space for all curvatures."""
        moments = of_one(Several(np.array(list(map(in_floats, curvatures)))), sign)
        images = matrices(moments.matrix, len(curvatures)) @ span
        inside = images[:, pivots]
        same = np.abs(images - span @ inside).max() <= ROUNDING * np.abs(images).max()
        return radii(inside) if same else None

    def exactly(grid: Sequence[Fraction], width: Fraction, sign: int) -> tuple[Fraction, Fraction]:
        """The largest that is found by halving the step, and its curvature."""
        best = max(((on(a, sign).squared, a) for a in grid), key=lambda one: one[0])
        for _ in range(HALVINGS if width else 0):
            width /= 2
            beside = [a for a in (best[1] - width, best[1] + width) if low < a < high]
            best = max([best, *((on(a, sign).squared, a) for a in beside)], key=lambda one: one[0])
        return best

    def of_one(curvature: Any, sign: int) -> SecondMoments:
        one = [(curvature, draws.clients)]
        return second_moments(found.method, solver, draws, one, memories_at_rest(found), sign)

    low, high = functions.ends
    step = (high - low) / BETWEEN
    every = [low + step * i for i in range(BETWEEN + 1)] if step else [low]
    basis, pivots, _ = of_one(low + (high - low) * SOMEWHERE, 0).reached
    span, tried = np.array(basis, dtype=float).T, []
    for sign in signs:
        width, at, grid = step, low, every
        most: float | Fraction = -1.0
        for _ in range(REFINEMENTS + 1):
            sizes = about(grid, sign)
            if sizes is None:
                most, at = exactly(every, step, sign)
                break
            n = max(range(len(grid)), key=sizes.__getitem__)
            if sizes[n] > most * (1 + EQUAL):
                most, at = sizes[n], grid[n]
            grid = [at + width * Fraction(i, FINER) for i in range(-FINER, FINER + 1)]
            grid, width = [a for a in grid if low <= a <= high], width / FINER
        tried.append((most, at, sign))
    _, at, sign = max(tried)
    best = on(at, sign)
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
    return second_moments(found.method, solver, draws, groups, memories_at_rest(found), sign).reached[2]


def _radius(matrix: Rows) -> float:
    """About the spectral radius."""
    return radii(matrices(matrix, 1))[0]


def counts_to_try(clients: int) -> Sequence[int]:
    """Sizes of the first group: one, two, some fractions, and all but these."""
    few = (1, 2, clients // 8, clients // 4, clients // 2)
    return sorted({n for count in few for n in (count, clients - count) if 0 < n < clients})
