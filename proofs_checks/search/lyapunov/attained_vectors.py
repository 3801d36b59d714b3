"""What happens in a round on quadratics that attain a rate: the vectors on which every proof of it is an equality."""

from collections.abc import Iterator
from typing import Any

from fedconvex.arithmetic.linear_systems import Rows, kernel, solution
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import QuadraticFederation
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, MEAN, ZERO, Key


def attained_vectors(posed: PosedRound, found: Attained) -> Iterator[dict[Key, Any]]:
    """The basic vectors of the round, as coordinates, from every eigenvector of the federation's map.

    Where the round is random, from the vectors that span the slowest second moments. None where the eigenvalue is
    irrational, and where answers are inexact. A proof's form vanishes on the means and on the deviations, each alone,
    so that the scale of one against the other does not matter.
    """
    if (found.root is None and not found.vectors) or posed.board.residuals:
        return
    assert isinstance(found.federation, QuadraticFederation)
    # the state's coordinates come first in `before`; gradients follow from them
    known, evaluations = list(posed.before.values())[: len(found.matrix)], posed.board.evaluations
    used = [*known, *(u for e in evaluations for u in (e.point, e.gradient))]
    keys = sorted({key for u in used for key in u.parts})
    rows = []
    for e in evaluations:
        for part, action in zip((MEAN, DEVIATION), found.federation.action, strict=True):
            # in every part, the gradient is the row of the action times the point's coordinates
            one = {key: -c for key, c in e.gradient.parts.items() if key[0] == part}
            for key, c in e.point.parts.items():
                one[key] = one.get(key, ZERO) + to_fmpq(action[0 if key[0] == MEAN else 1]) * c
            rows.append([one.get(key, ZERO) for key in keys])
    coordinates = [[u.parts.get(key, ZERO) for key in keys] for u in known]
    for vector in found.vectors or _eigenvectors(found):
        basic = solution([*rows, *coordinates], [ZERO] * len(rows) + vector, len(keys))
        if basic is not None:
            # These quadratics have ψ = 0, where the objective is composite.
            none = {key: ZERO for _, subgradient in posed.board.proximal for key in subgradient.parts}
            yield none | dict(zip(keys, basic, strict=True))


def _eigenvectors(found: Attained) -> Rows:
    eigen = [[x - (found.root if i == j else ZERO) for j, x in enumerate(row)] for i, row in enumerate(found.matrix)]
    return kernel(eigen, len(eigen))
