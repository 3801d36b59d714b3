"""The cheapest priced function in floating point: a proposal, of which nothing is trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair
from fedconvex.proofs_checks.search.lyapunov.priced_rounds import WEIGHT, PricedRound
from fedconvex.proofs_checks.search.lyapunov.semidefinite import in_units, independent, matrices_of_function
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    MEAN,
    Form,
)
from fedconvex.proofs_checks.worst_cases.programs.solver import Constraints, units

FAR = 10.0  # a ratio of units that is worth changing them


@final
@dataclass(frozen=True, eq=False)
class PricedProposal:
    """V, its prices and the multipliers of a proof, with the cost and the margin."""

    entries: dict[Pair, float]
    prices: np.ndarray
    multipliers: np.ndarray
    cost: float
    margin: float


def balanced_units(
    blocks: Sequence[np.ndarray], of_values: np.ndarray, vectors: Sequence[np.ndarray], value_units: np.ndarray
) -> list[np.ndarray]:
    """Units of vectors in which the squares of inequalities are like their function values, if they are far from it."""
    squares = np.max(
        [np.abs(m * np.multiply.outer(v, v)).max(axis=(1, 2)) for m, v in zip(blocks, vectors, strict=True)], 0
    )
    values = np.abs(of_values * value_units).max(1, initial=0)
    both = (squares > 0) & (values > 0)
    ratio = float(np.median(values[both] / squares[both])) if both.any() else 1.0
    return [v * (np.sqrt(ratio) if not 1 / FAR < ratio < FAR else 1.0) for v in vectors]


def priced_proposal(
    posed: PricedRound, rate: float, weights: tuple[Fraction, ...], most: float | None = None
) -> PricedProposal | None:
    """The cheapest function; or with `most`, which the cost may be, the one with the largest margin."""
    pairs, one = list(posed.squares), [f for _, f in (*posed.inequalities, *posed.equations)]
    before, after = ([both[k] for both in posed.squares.values()] for k in (0, 1))
    forms = [*one, *posed.sizes, *before, *after]
    program = Program(Form(), Form(), tuple((str(i), form) for i, form in enumerate(forms)))
    (blocks, of_values), (vectors, value_units, _) = program.floats, units(program)
    vectors = balanced_units(blocks, of_values, vectors, value_units)
    count, n, k, p = len(posed.inequalities), len(one), len(posed.sizes), len(pairs)
    columns = 1 + p + k + n  # the margin, V, prices, multipliers
    double = np.array([1.0 if a == b else 2.0 for a, b in pairs])

    def effect(m: np.ndarray) -> np.ndarray:
        """What each variable adds to the form, from the forms' matrices or values."""
        V = (rate * m[n + k : n + k + p] - m[n + k + p :]) * double.reshape(-1, *[1] * (m.ndim - 1))
        return np.concatenate([np.zeros_like(m[:1]), V, m[n : n + k], -m[:n]])

    size, values, on_zeros, matrices = in_units(program, (vectors, value_units), posed.zeros, effect)
    problem = Constraints()
    problem.equal(values)
    cost = np.zeros(columns)
    cost[1 + p : 1 + p + k] = np.array(weights, dtype=float) / size[1 + p : 1 + p + k]
    problem.at_most(-np.eye(columns)[1 + p : 1 + p + k + count])  # prices and multipliers of inequalities
    if most is not None:
        size_of_cost = max(abs(most), 1e-12)
        problem.at_most(np.vstack([cost / size_of_cost, np.eye(columns)[0]]), [most / size_of_cost, 1.0])
    if posed.budget:
        spent = [double[i] * float(posed.budget.get(pair, 0)) / size[1 + i] for i, pair in enumerate(pairs)]
        prices = [float(c) / size[1 + p + j] for j, c in enumerate(posed.paid or [0] * k)]
        problem.at_most(np.array([[0.0, *spent, *prices, *[0.0] * n]]), [1.0])
    server = np.array([float(c) for c in posed.measured])
    measured = np.outer(server, server)
    for m in matrices:
        m[0] = -np.eye(m.shape[-1]) * (most is not None)
        problem.positive(-m)
    problem.equal(independent(on_zeros))
    unit = {a: np.sqrt(size[1 + i]) for i, (a, b) in enumerate(pairs) if a == b}  # in which entries are like 1
    of_entries = np.array([unit[a] * unit[b] for a, b in pairs]) / size[1 : 1 + p]
    for part, basis in matrices_of_function(pairs, of_entries, 1, k + n).items():
        length = basis.shape[-1]
        basis[0] = -np.eye(length) * (most is not None)
        least = np.zeros((length, length))
        if part == MEAN:
            known = measured * np.multiply.outer(*[[unit[part, i] for i in range(length)]] * 2)
            if posed.worth is None:
                least = known
            else:
                place = 1 + pairs.index(WEIGHT)
                basis[place] = float(posed.worth) * known / size[place]
        problem.positive(-basis, -least)
    objective = cost / (np.abs(cost).max() or 1.0) if most is None else -np.eye(columns)[0]
    if most is None:
        problem.equal(np.eye(columns)[:1])
    x, _, status = problem.least(objective)
    if not np.isfinite(x).all() or "Infeasible" in status:
        return None
    found = x / size
    entries = dict(zip(pairs, map(float, found[1 : 1 + p]), strict=True))
    return PricedProposal(entries, found[1 + p : 1 + p + k], found[1 + p + k :], float(cost @ x), float(x[0]))
