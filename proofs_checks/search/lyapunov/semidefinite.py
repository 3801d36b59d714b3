"""Floating-point Lyapunov functions for a given rate: proposals, of which nothing is trusted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedconvex.proofs_checks.search.lyapunov.posed_round import VALUE, Pair, PosedRound
from fedconvex.proofs_checks.worst_cases.programs.interior_points import Cone, least
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Key
from fedconvex.proofs_checks.worst_cases.programs.solver import units

NO_MARGIN = 1e-9  # a margin below which the solver's result is not even nearly a proof, where there may be none


@final
@dataclass(frozen=True, eq=False)
class Proposed:
    """The entries of a Lyapunov function's matrices and the multipliers of a proof, with their margin.

    The margin is the smallest eigenvalue of all matrices that have to be positive, in the solver's units.
    """

    entries: dict[Pair, float]
    multipliers: np.ndarray
    margin: float


def lyapunov_function(posed: PosedRound, rate: float, zeros: Sequence[Mapping[Key, Any]] = ()) -> Proposed | None:
    """A Lyapunov function with V(next) <= rate·V and its proof, with the largest margin; None without a solution.

    Args:
        zeros: vectors of instances that attain the rate, on which the proof's form has to vanish: the margin counts
            orthogonally to these.
    """
    program, count, pairs = posed.parts, len(posed.inequalities), posed.pairs
    (blocks, of_values), (vectors, value_units, _) = program.floats, units(program)
    scaled = [m[2:] * np.multiply.outer(v, v) for m, v in zip(blocks, vectors, strict=True)]
    values = of_values[2 : 2 + count] * value_units
    norms = np.max([np.abs(m[:count]).max(axis=(1, 2)) for m in scaled], 0)
    norms[norms == 0] = 1.0
    pair_values = of_values[2 + count :] * value_units
    change_of_values = rate * pair_values[: len(pairs)] - pair_values[len(pairs) :]
    # What V measures is measured in units in which squares and values have norm 1.
    sizes = {
        a: 1 / np.sqrt(max(*(np.abs(m[count + i]).max() for m in scaled), np.abs(pair_values[i]).max(initial=0)) or 1.0)
        for i, (a, b) in enumerate(pairs)
        if a == b
    }
    weights = np.array([sizes[a] * sizes[b] for a, b in pairs])
    diagonal = np.array([float(a == b and a[0] != VALUE) for a, b in pairs])
    equations = [np.concatenate([[0], diagonal, np.zeros(count)])]
    balance = np.concatenate([change_of_values * weights[:, None], -values / norms[:, None]])
    equations += [np.concatenate([[0], row]) for row in balance.T]
    # The margin is at most 1, and the multipliers are not negative.
    bounds = np.zeros((count + 1, 1 + len(pairs) + count))
    bounds[0, 0], bounds[1:, 1 + len(pairs) :] = 1.0, -np.eye(count)
    cones = [Cone(bounds.T[..., None, None], np.array([1.0, *np.zeros(count)])[:, None, None])]
    for place, m in enumerate(scaled):
        change = rate * m[count : count + len(pairs)] - m[count + len(pairs) :]
        form = np.concatenate([change * weights[:, None, None], -m[:count] / norms[:, None, None]])
        inside, along = orthogonal([program.coordinates(zero)[place] for zero in zeros], vectors[place])
        # A positive form that vanishes on a vector maps it to 0.
        equations += [np.concatenate([[0], row]) for row in (form @ along).reshape(len(form), -1).T]
        cones.append(_positive(inside.T @ form @ inside, 1.0))
    for part_name in dict.fromkeys(a[0] for a, _ in pairs):
        n = sum(1 for a, c in pairs if a == c and a[0] == part_name)
        basis = np.zeros((len(pairs) + count, n, n))
        for i, (a, c) in enumerate(pairs):
            if a[0] == part_name:
                basis[i, a[1], c[1]] = basis[i, c[1], a[1]] = 1.0
        cones.append(_positive(basis, float(part_name != VALUE)))  # function values may have weight 0
    objective = np.zeros(1 + len(pairs) + count)
    objective[0] = -1.0
    right = np.array([diagonal.sum(), *np.zeros(len(equations) - 1)])
    x = least(objective, (np.array(equations), right), cones)
    if x is None:
        return None
    found = x[1 : 1 + len(pairs)] * [sizes[a] * sizes[c] for a, c in pairs]
    return Proposed(dict(zip(pairs, map(float, found), strict=True)), x[1 + len(pairs) :] / norms, float(x[0]))


def _positive(matrices: np.ndarray, margin: float) -> Cone:
    """Σ x_i · matrices_i, without the margin, which is the first unknown."""
    first = margin * np.eye(matrices.shape[-1])
    return Cone(np.concatenate([first[None], -matrices])[:, None], np.zeros((1, *first.shape)))


def orthogonal(zeros: Sequence[Sequence[Any]], unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal bases of what is orthogonal to these vectors, and of their span, in the solver's units: columns."""
    if not zeros:
        return np.eye(len(unit)), np.zeros((len(unit), 0))
    rows = np.array([[float(x) for x in zero] for zero in zeros]) / unit
    _, sizes, directions = np.linalg.svd(rows)
    rank = int((sizes > 1e-9 * max(sizes.max(initial=0.0), 1e-300)).sum())
    return directions[rank:].T, directions[:rank].T


def independent(rows: np.ndarray) -> np.ndarray:
    """Orthonormal rows with the same span."""
    if not rows.size:
        return rows[:0]
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    kept: np.ndarray = directions[sizes > 1e-9 * max(sizes.max(), 1e-300)]
    return kept
