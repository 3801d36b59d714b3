"""Floating-point Lyapunov functions for a given rate: proposals, of which nothing is trusted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedconvex.proofs_checks.search.lyapunov.posed_round import VALUE, Pair, PosedRound
from fedconvex.proofs_checks.worst_cases.programs.interior_points import Cone, least
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Key
from fedconvex.proofs_checks.worst_cases.programs.solver import units

NO_MARGIN = 1e-9  # a margin below which the solver's result is not even nearly a proof, where there may be none


@final
@dataclass(frozen=True, eq=False)
class Proposed:
    """The entries of a Lyapunov function's matrices and the multipliers of a proof, with their margin.

    The margin is the smallest eigenvalue of all matrices that have to be positive, in the solver's units.
    `positive_by`: the multipliers by which V is positive, where its matrices need not be.
    """

    entries: dict[Pair, float]
    multipliers: np.ndarray
    margin: float
    positive_by: np.ndarray


def lyapunov_function(posed: PosedRound, rate: float, zeros: Sequence[Mapping[Key, Any]] = ()) -> Proposed | None:
    """A Lyapunov function with V(next) <= rate·V and its proof, with the largest margin; None without a solution.

    Args:
        zeros: vectors of instances that attain the rate, on which the proof's form has to vanish: the margin counts
            orthogonally to these.
    """
    program, count, pairs = posed.forms, len(posed.inequalities), posed.pairs
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
    shown, norms_before = forms_before(posed)
    more = len(norms_before)
    diagonal = np.array([float(a == b and (a[0] != VALUE or more > 0)) for a, b in pairs])
    unknowns = 1 + len(pairs) + count + more
    equations = [np.concatenate([[0], diagonal, np.zeros(count + more)])]
    balance = np.concatenate([change_of_values * weights[:, None], -values / norms[:, None]])
    equations += [np.concatenate([[0], row, np.zeros(more)]) for row in balance.T]
    # The margin is at most 1, and the multipliers are not negative.
    bounds = np.zeros((count + more + 1, unknowns))
    bounds[0, 0], bounds[1:, 1 + len(pairs) :] = 1.0, -np.eye(count + more)
    cones = [Cone(bounds.T[..., None, None], np.array([1.0, *np.zeros(count + more)])[:, None, None])]
    for place, m in enumerate(scaled):
        change = rate * m[count : count + len(pairs)] - m[count + len(pairs) :]
        form = np.concatenate([change * weights[:, None, None], -m[:count] / norms[:, None, None]])
        form = np.concatenate([form, np.zeros((more, *form.shape[1:]))])
        inside, along = orthogonal([program.coordinates(zero)[place] for zero in zeros], vectors[place])
        # A positive form that vanishes on a vector maps it to 0.
        equations += [np.concatenate([[0], row]) for row in (form @ along).reshape(len(form), -1).T]
        cones.append(_positive(inside.T @ form @ inside, 1.0))
    if posed.positive_by is None:
        for part_name, basis in matrices_of_function(pairs, np.ones(len(pairs)), 0, count).items():
            cones.append(_positive(basis, float(part_name != VALUE)))  # function values may have weight 0
    else:
        blocks_before, values_before = shown
        for m in blocks_before:
            squares, used = m[more:] * weights[:, None, None], -m[:more] / norms_before[:, None, None]
            cones.append(_positive(np.concatenate([squares, np.zeros((count, *m.shape[1:])), used]), 1.0))
        balance = np.concatenate([values_before[more:] * weights[:, None], np.zeros((count, values_before.shape[1])),
                                  -values_before[:more] / norms_before[:, None]])  # fmt: skip
        equations += [np.concatenate([[0], row]) for row in balance.T]
    objective = np.zeros(unknowns)
    objective[0] = -1.0
    right = np.array([diagonal.sum(), *np.zeros(len(equations) - 1)])
    x = least(objective, (np.array(equations), right), cones)
    if x is None:
        return None
    entries, multipliers, positive_by = np.split(x[1:], [len(pairs), len(pairs) + count])
    found = entries * [sizes[a] * sizes[c] for a, c in pairs]
    return Proposed(dict(zip(pairs, map(float, found), strict=True)), multipliers / norms, float(x[0]),
                    positive_by / norms_before)  # fmt: skip


def forms_before(posed: PosedRound) -> tuple[tuple[list[np.ndarray], np.ndarray], np.ndarray]:
    """The forms that show V to be positive, in the solver's units, and the norms of the inequalities."""
    if posed.positive_by is None:
        return ([], np.zeros((0, 0))), np.zeros(0)
    program, count = posed.forms_before, len(posed.positive_by)
    (blocks, of_values), (vectors, value_units, _) = program.floats, units(program)
    scaled = [m[2:] * np.multiply.outer(v, v) for m, v in zip(blocks, vectors, strict=True)]
    norms = np.max([np.abs(m[:count]).max(axis=(1, 2)) for m in scaled], 0)
    norms[norms == 0] = 1.0
    return (scaled, of_values[2:] * value_units), norms


def _positive(matrices: np.ndarray, margin: float) -> Cone:
    """Σ x_i · matrices_i, without the margin, which is the first unknown."""
    first = margin * np.eye(matrices.shape[-1])
    return Cone(np.concatenate([first[None], -matrices])[:, None], np.zeros((1, *first.shape)))


def matrices_of_function(pairs: Sequence[Pair], units: Any, before: int, after: int) -> dict[str, np.ndarray]:
    """For every part V's matrix, by its entries in these units, with so many other unknowns before and after them."""
    found = {}
    for part in dict.fromkeys(a[0] for a, _ in pairs):
        n = 1 + max(b[1] for a, b in pairs if a[0] == part)
        found[part] = np.zeros((before + len(pairs) + after, n, n))
        for place, (a, b) in enumerate(pairs):
            if a[0] == part:
                found[part][before + place, a[1], b[1]] = found[part][before + place, b[1], a[1]] = units[place]
    return found


def in_units(
    program: Program, scales: tuple[Sequence[np.ndarray], np.ndarray], zeros: Sequence[Mapping[Key, Any]],
    combined: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:  # fmt: skip
    """A proof's form, linear in unknowns, where each of them is measured in units that make its part like 1.

    These sizes; equations by which function values cancel, and others by which the form vanishes on the zeros; and what
    is to be positive, orthogonally to these: stacks of matrices, one for each unknown.

    Args:
        scales: units of vectors and of values.
        combined: from the matrices of the program's inequalities to those of the unknowns.
    """
    (blocks, of_values), (vectors, value_units) = program.floats, scales
    scaled = [combined(m[2:] * np.multiply.outer(v, v)) for m, v in zip(blocks, vectors, strict=True)]
    values = combined(of_values[2:] * value_units)
    sizes = np.max([*(np.abs(m).max(axis=(1, 2)) for m in scaled), np.abs(values).max(axis=1, initial=0)], 0)
    sizes[sizes == 0] = 1.0
    on_zeros, matrices = [], []
    coordinates = [program.coordinates(zero) for zero in zeros]
    for place, (m, v) in enumerate(zip(scaled, vectors, strict=True)):
        m = m / sizes[:, None, None]
        away, along = orthogonal([zero[place] for zero in coordinates], v)
        on_zeros.append((m @ along).reshape(len(m), -1).T)
        matrices.append(away.T @ m @ away)
    return sizes, values.T / sizes, np.vstack(on_zeros), matrices


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
