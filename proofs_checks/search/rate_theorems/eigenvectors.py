"""Coordinates of the state in which a round on the slowest clients is diagonal.

A form that contracts by just the rate r² has there no product of the coordinate that shrinks by r and another one: as
r²·V − V⁺ vanishes with its gradient on the slowest errors v, V v is an eigenvector of the transposed round. So V has
simple formulas in these coordinates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.linear_systems import Rows, applied, kernel, product, solution
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, Part
from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair, PosedRound
from fedconvex.proofs_checks.search.scalars import common_factor, quotient
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, ZERO
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters, Parametric

Bases = Mapping[str, Rows]  # by part: every row a new coordinate, from the old ones


def eigenvectors(parameters: Parameters, coordinates: Coordinates, matrix: Rows, root: Any) -> Bases:
    """For parts of two coordinates their left eigenvectors; none where the round mixes parts, or nothing is gained.

    Args:
        parameters: whose functions the numbers are.
        coordinates: of the state.
        matrix: the map of the slowest clients' errors.
        root: its eigenvalue of largest size.
    """
    found, place = dict[str, Rows](), 0
    for part in coordinates.parts:
        own = range(place, place := place + len(part.read))
        others = [j for j in range(len(matrix)) if j not in own]
        if len(own) == 2 and not any(matrix[i][j] or matrix[j][i] for i in own for j in others):
            block = [[matrix[i][j] for j in own] for i in own]
            second = block[0][0] + block[1][1] - root
            spaces = [_left(block, one) for one in (root, second)]
            if second != root and all(len(space) == 1 for space in spaces):
                found[part.part] = [_primitive(parameters, space[0]) for space in spaces]
    return found


def changed(coordinates: Coordinates, bases: Bases) -> Coordinates:
    """The same state in these coordinates; numbers, or functions of parameters."""
    mean, deviation, *others = (_changed(part, bases.get(part.part)) for part in coordinates.parts)
    return replace(coordinates, mean=mean, deviation=deviation, others=tuple(others))


def least_restrictive(posed: PosedRound, bases: Bases) -> dict[Pair, Any]:
    """The weight of the second coordinate's square against the first one's, where a round has one gradient step.

    With the gradient at w = w₁z₁ + w₂z₂, of which z_j⁺ has the multiple β_j, z₁² + c·z₂² contracts by just the rate on
    the most clients for c = |β₁w₂/(β₂w₁)|.
    """
    found = dict[Pair, Any]()
    for part in bases if len(posed.board.evaluations) == 2 else ():
        first, second = ((part, i) for i in (0, 1))
        (_, step), keys = posed.board.evaluations, [key for i in (0, 1) for key in posed.before[part, i].parts]
        at, by = (
            [step.point.parts.get(key) for key in keys],
            [posed.after[z].parts.get((part, "g1")) for z in (first, second)],
        )
        if all((*at, *by)):
            c = by[0] * at[1] / (by[1] * at[0])
            found[second, second] = c if c.sampled > 0 else -c
    return found


def _changed(part: Part, basis: Rows | None) -> Part:
    if basis is None:
        return part
    n = len(basis)
    units = [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]
    inverse = [solution(basis, unit, n) for unit in units]  # the columns
    return replace(
        part,
        read=product(basis, part.read, len(part.read[0])),
        written=product([one for one in inverse if one is not None], part.written, len(part.written[0])),
        start=applied(basis, part.start),
        by_gradients=[applied(basis, row) for row in part.by_gradients],
    )


def _left(block: Rows, root: Any) -> Rows:
    """The left eigenvectors."""
    n = len(block)
    return kernel([[block[i][j] - (root if i == j else ZERO) for i in range(n)] for j in range(n)], n)


def _primitive(parameters: Parameters, vector: Sequence[Any]) -> list[Parametric]:
    """The multiple with polynomials as entries that have no common factor, the first one positive at the sample."""
    values = [parameters.number(x).value for x in vector]
    factor = common_factor(values)
    found = [Parametric(quotient(x, factor), parameters) for x in values]
    first = next(x for x in found if x)
    return found if first.sampled > 0 else [-x for x in found]
