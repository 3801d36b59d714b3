"""Priced functions, searched for and certified: V with what it pays, and an exact proof."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.search.lyapunov.functions import LyapunovFunction
from fedconvex.proofs_checks.search.lyapunov.posed_round import WEIGHT, Pair, PosedRound
from fedconvex.proofs_checks.search.lyapunov.semidefinite import (
    NO_MARGIN,
    forms_before,
    in_units,
    independent,
    matrices_of_function,
)
from fedconvex.proofs_checks.worst_cases.certificates.search import balanced, nearest
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    MEAN,
    ONE,
    ZERO,
    Form,
    combination,
)
from fedconvex.proofs_checks.worst_cases.programs.solver import Constraints, units

# The cheapest priced function in floating point: a proposal, of which nothing is trusted.

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
    positive_by: np.ndarray


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
    posed: PosedRound, rate: float, weights: tuple[Fraction, ...], most: float | None = None
) -> PricedProposal | None:
    """The cheapest function; or with `most`, which the cost may be, the one with the largest margin."""
    pairs, one = list(posed.squares), [f for _, f in (*posed.inequalities, *posed.equations)]
    before, after = ([both[k] for both in posed.squares.values()] for k in (0, 1))
    forms = [*one, *posed.sizes, *before, *after]
    program = Program(Form(), Form(), tuple((str(i), form) for i, form in enumerate(forms)))
    (blocks, of_values), (vectors, value_units, _) = program.floats, units(program)
    vectors = balanced_units(blocks, of_values, vectors, value_units)
    count, n, k, p = len(posed.inequalities), len(one), len(posed.sizes), len(pairs)
    norms = forms_before(posed)[1]
    more = len(norms)
    columns = 1 + p + k + n + more  # the margin, V, prices, multipliers, and those by which V is positive
    double = np.array([1.0 if a == b else 2.0 for a, b in pairs])

    def effect(m: np.ndarray) -> np.ndarray:
        """What each variable adds to the form, from the forms' matrices or values."""
        V = (rate * m[n + k : n + k + p] - m[n + k + p :]) * double.reshape(-1, *[1] * (m.ndim - 1))
        return np.concatenate([np.zeros_like(m[:1]), V, m[n : n + k], -m[:n], np.zeros((more, *m.shape[1:]))])

    size, values, on_zeros, matrices = in_units(program, (vectors, value_units), posed.zeros, effect)
    problem = Constraints()
    problem.equal(values)
    cost = np.zeros(columns)
    cost[1 + p : 1 + p + k] = np.array(weights, dtype=float) / size[1 + p : 1 + p + k]
    signed = [*range(1 + p, 1 + p + k + count), *range(1 + p + k + n, columns)]
    problem.at_most(-np.eye(columns)[signed])  # prices and multipliers of inequalities
    if most is not None:
        size_of_cost = max(abs(most), 1e-12)
        problem.at_most(np.vstack([cost / size_of_cost, np.eye(columns)[0]]), [most / size_of_cost, 1.0])
    if posed.budget:
        spent = [double[i] * float(posed.budget.get(pair, 0)) / size[1 + i] for i, pair in enumerate(pairs)]
        prices = [float(c) / size[1 + p + j] for j, c in enumerate(posed.paid or [0] * k)]
        problem.at_most(np.array([[0.0, *spent, *prices, *[0.0] * (n + more)]]), [1.0])
    server = np.array([float(c) for c in posed.measured or ()])
    measured = np.outer(server, server)
    for m in matrices:
        m[0] = -np.eye(m.shape[-1]) * (most is not None)
        problem.positive(-m)
    problem.equal(independent(on_zeros))
    unit = {a: np.sqrt(size[1 + i]) for i, (a, b) in enumerate(pairs) if a == b}  # in which entries are like 1
    of_entries = np.array([unit[a] * unit[b] for a, b in pairs]) / size[1 : 1 + p]
    if posed.positive_by is not None:
        _add_positivity(problem, posed, size[1 : 1 + p], k + n, most is not None)
    parts = matrices_of_function(pairs, of_entries, 1, k + n) if posed.positive_by is None else {}
    for part, basis in parts.items():
        length = basis.shape[-1]
        basis[0] = -np.eye(length) * (most is not None)
        least = np.zeros((length, length))
        if part == MEAN:
            known = measured * np.multiply.outer(*[[unit[part, i] for i in range(length)]] * 2)
            least = float(posed.least) * known
            if posed.worth is not None:
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
    paid, multipliers, positive_by = np.split(found[1 + p :], [k, k + n])
    return PricedProposal(entries, paid, multipliers, float(cost @ x), float(x[0]), positive_by / norms)


def _add_positivity(
    problem: Constraints, posed: PosedRound, sizes: np.ndarray, between: int, with_margin: bool
) -> None:
    """V − least·‖measured‖² is positive by inequalities, whose multipliers come last."""
    (blocks, of_values), norms = forms_before(posed)
    more, measured = len(norms), posed.measured or ()
    error = np.array([float(posed.least * measured[a[1]] * measured[b[1]])
                      if a[0] == MEAN and b[1] < len(measured) else 0.0 for a, b in posed.pairs])  # fmt: skip

    def placed(m: np.ndarray) -> np.ndarray:
        shape = (-1, *[1] * (m.ndim - 1))
        first = -np.eye(m.shape[-1])[None] * with_margin if m.ndim == 3 else np.zeros((1, *m.shape[1:]))
        V, used = m[more:] / sizes.reshape(shape), -m[:more] / norms.reshape(shape)
        return np.concatenate([first, V, np.zeros((between, *m.shape[1:])), used])

    for m in blocks:
        problem.positive(-placed(m), -np.tensordot(error, m[more:], 1))
    problem.equal(independent(placed(of_values).T))


SLACK = 1e-6  # relative cost that a proof may have more, so that it has an interior
DENOMINATORS = (1000, 10**6, 10**9, 2**60)  # of the entries of V, simplest first
BITS = 60  # of multipliers
NOISE = (0.0, 1e-6, 1e-5, 1e-4)  # relative sizes below which multipliers may be meant to be 0


def cheapest(posed: PosedRound, rate: Fraction, weights: tuple[Fraction, ...]) -> LyapunovFunction | None:
    """A certified function of this rate with nearly the least Σ weights · prices; None where none is found."""
    best = priced_proposal(posed, float(rate), weights)
    if best is None:
        return None
    for slack in (SLACK, 10 * SLACK, 100 * SLACK, 1000 * SLACK, 10_000 * SLACK):
        found = priced_proposal(posed, float(rate), weights, best.cost + abs(best.cost) * slack)
        # With zeros the margin may be 0, of which the solver gives noise: the exact proof decides.
        if found is None or found.margin <= (-NO_MARGIN if posed.zeros else 0.0):
            continue
        # Rounding should not ask for more than the solver found: a little more is paid, or less earned. But where sizes
        # are function values this moves others, and the proof's own margin has to do.
        signs = np.array([-1.0 if weight < 0 else 1.0 for weight in weights])
        for change in (slack, 0.0):
            for exact in _rounded(posed, rate, replace(found, prices=found.prices * (1 + change * signs))):
                return exact
    return None


def least_cost(posed: PosedRound, rate: float, weights: tuple[Fraction, ...]) -> float:
    """About the least Σ weights · prices at this rate, in floating point; infinite where there is none."""
    found = priced_proposal(posed, rate, weights)
    return float("inf") if found is None else found.cost


def _rounded(posed: PosedRound, rate: Fraction, found: PricedProposal) -> Iterator[LyapunovFunction]:
    count, more = len(posed.inequalities), len(posed.equations)
    shown = [to_fmpq(Fraction(round(max(c, 0.0) * 2**BITS), 2**BITS)) for c in found.positive_by]
    signed = found.multipliers[count:]
    split = [*found.multipliers[:count], *np.maximum(signed, 0), *np.maximum(-signed, 0)]
    assert len(split) == count + 2 * more
    for largest, least in product(DENOMINATORS, NOISE if posed.zeros else NOISE[:1]):
        kept = [c if c > least * max(split) else 0.0 for c in split]
        multipliers = [to_fmpq(Fraction(round(c * 2**BITS), 2**BITS)) for c in kept]
        entries = {pair: nearest(c, largest) for pair, c in found.entries.items()}
        prices = tuple(nearest(c, 2**60) for c in found.prices)
        program = posed.program(entries, prices)
        zeros = [program.coordinates(zero) for zero in posed.zeros]
        tried = [(entries, balanced(program, to_fmpq(rate), multipliers, zeros))]
        if zeros:  # V may have to vary, too
            tried.append(_balanced_together(posed, rate, entries, prices, multipliers))
        for V, exact in tried:
            if exact is None or any(c < 0 for c in exact):
                continue
            fractions = {pair: to_fraction(c) for pair, c in V.items()}
            positive = balanced(posed.positivity(V), ONE, shown) if shown else []
            if positive is None:
                continue
            try:
                yield LyapunovFunction(
                    posed, fractions, rate, *(tuple(map(to_fraction, these)) for these in (exact, positive, prices))
                )
            except ValueError:
                continue


def _balanced_together(
    posed: PosedRound, rate: Fraction, entries: dict[Pair, Any], prices: tuple[Any, ...], multipliers: list[Any]
) -> tuple[dict[Pair, Any], list[Any] | None]:
    """V and multipliers next to these with which the form vanishes where it has to; None where that is impossible."""
    changes = [
        (str((a, b)), combination((-to_fmpq(rate), before), (ONE, after)) * (1 if a == b else 2))
        for (a, b), (before, after) in posed.squares.items()
    ]
    paid = combination(*zip(prices, posed.sizes, strict=True))
    program, count = Program(Form(), paid, (*posed.relations, *changes)), len(multipliers)
    numbers = [*multipliers, *(entries[pair] for pair in posed.squares)]
    found = balanced(program, ZERO, numbers, [program.coordinates(zero) for zero in posed.zeros])
    if found is None:
        return entries, None
    return dict(zip(posed.squares, found[count:], strict=True)), found[:count]
