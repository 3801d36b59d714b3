"""The semidefinite program behind a worst case: what is exact about it.

    find the least t such that  t·N + C = Σ_i λ_i I_i + (a quadratic form that is not negative),  λ >= 0,

where N is what the metric is measured in, C the metric's negative, and I_i the inequalities that hold. A solution is a
proof of metric <= t·N, for any vectors and functions. (For the least decrease, t is minus the decrease.)
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from flint import fmpq_mat

from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import ONE, ZERO, Form, Key

Matrix = list[list[Any]]  # of flint's rationals
Sparse = Mapping[tuple[int, int], Any]  # the entries (i, j) with i <= j that are not 0


@final
@dataclass(frozen=True, eq=False)
class Program:
    """`measure` is N, `constant` is C; `inequalities` have names."""

    measure: Form
    constant: Form
    inequalities: tuple[tuple[str, Form], ...]

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """N, C, and the inequalities."""
        return (self.measure, self.constant, *(form for _, form in self.inequalities))

    @cached_property
    def blocks(self) -> tuple[tuple[Key, ...], ...]:
        """The basic vectors of each of the orthogonal parts."""
        keys = sorted({key for form in self.forms for pair in form.products for key in pair})
        parts = dict.fromkeys(part for part, _ in keys)
        return tuple(tuple(key for key in keys if key[0] == part) for part in parts)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The names of function values."""
        return tuple(sorted({name for form in self.forms for name in form.values}))

    @cached_property
    def reduced(self) -> tuple[tuple[dict[int, Any], ...], ...]:
        """In every block the rows of B, by their entries: M = Bᵀ M[p, p] B for all forms, B reduced, with pivots p."""
        return tuple(
            _reduced([form[place] for form in self._sparse], len(block)) for place, block in enumerate(self.blocks)
        )

    @cached_property
    def seen(self) -> tuple[tuple[int, ...], ...]:
        """In every block the pivots p: basic vectors that suffice."""
        return tuple(tuple(min(row) for row in rows) for rows in self.reduced)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Of the blocks' matrices."""
        return tuple(map(len, self.seen))

    @cached_property
    def matrices(self) -> tuple[tuple[Sparse, ...], ...]:
        """Of every form, its symmetric matrix in every block, without directions that no form sees."""
        kept = [
            None if len(seen) == len(block) else {i: row for row, i in enumerate(seen)}
            for block, seen in zip(self.blocks, self.seen, strict=True)
        ]
        return tuple(tuple(map(_among, form, kept)) for form in self._sparse)

    @cached_property
    def _sparse(self) -> tuple[tuple[Sparse, ...], ...]:
        """Of every form, its symmetric matrix in every block, in all of the block's basic vectors."""
        places = {key: (b, i) for b, block in enumerate(self.blocks) for i, key in enumerate(block)}
        return tuple(_sparse(form, places, len(self.blocks)) for form in self.forms)

    @cached_property
    def floats(self) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The forms' matrices, (forms, n, n) for every block, and the coefficients of their values."""
        blocks = tuple(np.zeros((len(self.forms), n, n)) for n in self.sizes)
        for k, form in enumerate(self.matrices):
            for dense, sparse in zip(blocks, form, strict=True):
                for (i, j), entry in sparse.items():
                    dense[k, i, j] = dense[k, j, i] = float(entry)
        of_values = [[float(form.values.get(name, 0)) for name in self.values] for form in self.forms]
        return blocks, np.array(of_values, dtype=float).reshape(len(self.forms), len(self.values))

    def coordinates(self, basic: Mapping[Key, Any]) -> list[list[Any]]:
        """Of basic vectors on a line, what the forms see of them, in every block."""
        return [
            [sum((c * basic[block[i]] for i, c in row.items()), ZERO) for row in rows]
            for block, rows in zip(self.blocks, self.reduced, strict=True)
        ]

    def rest(self, t: Any, multipliers: Sequence[Any]) -> Form:
        """t·N + C − Σ λ_i I_i; the numbers may be rational functions of parameters."""
        total: Form = self.measure * t + self.constant
        for (_, form), multiplier in zip(self.inequalities, multipliers, strict=True):
            if multiplier:
                total = total - form * multiplier
        return total

    def only(self, names: Collection[str]) -> "Program":
        """With some of the inequalities."""
        return Program(self.measure, self.constant, tuple(pair for pair in self.inequalities if pair[0] in names))

    def remainder(self, t: Any, multipliers: Sequence[Any]) -> tuple[list[Matrix], list[Any]]:
        """t·N + C − Σ λ_i I_i, exactly: its matrices, and the coefficients of the function values."""
        blocks = [[[ZERO] * n for _ in range(n)] for n in self.sizes]
        values = dict.fromkeys(self.values, ZERO)
        weights = (t, ONE, *(-multiplier for multiplier in multipliers))
        for weight, matrices, form in zip(weights, self.matrices, self.forms, strict=True):
            if weight:
                for block, matrix in zip(blocks, matrices, strict=True):
                    for (i, j), entry in matrix.items():
                        block[i][j] += weight * entry
                for name, c in form.values.items():
                    values[name] += weight * c
        for block in blocks:
            for i, row in enumerate(block):
                for j in range(i):
                    row[j] = block[j][i]
        return blocks, list(values.values())


def _sparse(form: Form, places: Mapping[Key, tuple[int, int]], blocks: int) -> tuple[Sparse, ...]:
    found: tuple[dict[tuple[int, int], Any], ...] = tuple({} for _ in range(blocks))
    for (a, b), c in form.products.items():
        block, i = places[a]
        _, j = places[b]
        if c:
            found[block][min(i, j), max(i, j)] = c if i == j else c / 2
    return found


def _reduced(matrices: Sequence[Sparse], size: int) -> tuple[dict[int, Any], ...]:
    """The reduced echelon form of all matrices, one below the other."""
    entries = [ZERO] * (len(matrices) * size**2)
    for k, matrix in enumerate(matrices):
        for (i, j), entry in matrix.items():
            entries[(k * size + i) * size + j] = entries[(k * size + j) * size + i] = entry
    stacked = fmpq_mat(len(matrices) * size, size, entries)
    if stacked.rank() == size:
        return tuple({i: ONE} for i in range(size))
    echelon, rank = stacked.rref()
    return tuple({j: entry for j, entry in enumerate(row) if entry != 0} for row in echelon.tolist()[:rank])


def _among(matrix: Sparse, kept: Mapping[int, int] | None) -> Sparse:
    """Its rows and columns that are kept, by their new numbers; all, where nothing is left out."""
    if kept is None:
        return matrix
    return {(kept[i], kept[j]): entry for (i, j), entry in matrix.items() if i in kept and j in kept}
