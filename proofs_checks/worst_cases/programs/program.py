"""The data of a semidefinite program, exactly: the quadratic forms whose nonnegative combination is a proof.

    find the least t such that  t·N + C = Σ_i λ_i I_i + (a positive semidefinite quadratic form),  λ >= 0,

where N is the divisor, C minus the metric, and I_i >= 0 the inequalities that hold. Every feasible point is a proof of
metric <= t·N, for all vectors and functions that satisfy the inequalities. (For "descent" the metric is minus the
decrease.)
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from flint import fmpq, fmpq_mat

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, ZERO, Family, Form, Key

Matrix = list[list[Any]]  # of flint's rationals
Sparse = Mapping[tuple[int, int], Any]  # the entries (i, j) with i <= j that are not 0


@final
@dataclass(frozen=True, eq=False)
class Program:
    """N, C, and the inequalities with their names."""

    divisor: Form
    constant: Form
    inequalities: tuple[tuple[str, Form], ...]

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """N, C, and the inequalities, in this order: inequality i is form i + 2."""
        return (self.divisor, self.constant, *(form for _, form in self.inequalities))

    @cached_property
    def blocks(self) -> tuple[tuple[Key, ...], ...]:
        """The basic vectors in each of the orthogonal parts: the rows of its Gram matrix."""
        keys = sorted({key for form in self.forms for pair in form.products for key in pair})
        # Parts are orthogonal, so that each has a Gram matrix of its own.
        parts = dict.fromkeys(part for part, _ in keys)
        return tuple(tuple(key for key in keys if key[0] == part) for part in parts)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The names of the unknown function values."""
        return tuple(sorted({name for form in self.forms for name in form.values}))

    @cached_property
    def reduced(self) -> tuple[tuple[dict[int, Any], ...], ...]:
        """For every block the rows of B in M = Bᵀ M[p, p] B, which holds for the matrices M of all forms; p its pivots.

        Solvers need an interior: directions in which all forms vanish are removed, exactly.
        """
        return tuple(
            _reduced([form[place] for form in self._sparse], len(block)) for place, block in enumerate(self.blocks)
        )

    @cached_property
    def seen(self) -> tuple[tuple[int, ...], ...]:
        """For every block the pivots p: basic vectors that determine all forms."""
        return tuple(tuple(min(row) for row in rows) for rows in self.reduced)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the blocks' matrices."""
        return tuple(map(len, self.seen))

    @cached_property
    def matrices(self) -> tuple[tuple[Sparse, ...], ...]:
        """For every form its symmetric matrix in every block, in the pivots only."""
        kept = [
            None if len(seen) == len(block) else {i: row for row, i in enumerate(seen)}
            for block, seen in zip(self.blocks, self.seen, strict=True)
        ]
        return tuple(tuple(map(_among, form, kept)) for form in self._sparse)

    @cached_property
    def _sparse(self) -> tuple[tuple[Sparse, ...], ...]:
        """For every form its symmetric matrix in every block, in all of the block's basic vectors."""
        places = {key: (b, i) for b, block in enumerate(self.blocks) for i, key in enumerate(block)}
        return tuple(_sparse(form, places, len(self.blocks)) for form in self.forms)

    @cached_property
    def floats(self) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """In floating point: the forms' matrices, (forms, n, n) for every block, and the coefficients of values.

        Raises:
            InvalidInput: a coefficient that no float holds.
        """
        try:
            return self._in_floats()
        except OverflowError:
            raise InvalidInput("parameters", "some", "give coefficients that are too large for the solver's floats",
                               "give numbers of less extreme sizes") from None  # fmt: skip

    def _in_floats(self) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        blocks = tuple(np.zeros((len(self.forms), n, n)) for n in self.sizes)
        for k, form in enumerate(self.matrices):
            for dense, sparse in zip(blocks, form, strict=True):
                for (i, j), entry in sparse.items():
                    dense[k, i, j] = dense[k, j, i] = float(entry)
        of_values = [[float(form.values.get(name, 0)) for name in self.values] for form in self.forms]
        return blocks, np.array(of_values, dtype=float).reshape(len(self.forms), len(self.values))

    def coordinates(self, basic: Mapping[Key, Any]) -> list[list[Any]]:
        """For basic vectors that are numbers (a one-dimensional instance), the reduced vector of every block."""
        return [
            [
                # a row of one entry is a basic vector, the usual case
                sum((c * basic[block[i]] for i, c in row.items()), ZERO) if len(row) > 1 else basic[block[min(row)]]
                for row in rows
            ]
            for block, rows in zip(self.blocks, self.reduced, strict=True)
        ]

    def rest(self, t: Any, multipliers: Sequence[Any]) -> Form:
        """t·N + C − Σ λ_i I_i as a form; t and λ may be rational functions of parameters."""
        total: Form = self.divisor * t + self.constant
        for (_, form), multiplier in zip(self.inequalities, multipliers, strict=True):
            if multiplier:
                total = total - form * multiplier
        return total

    def put(self, key: Key, u: Family) -> "Program":
        """The program with a vector in the place of a basic vector."""
        rest = tuple((name, form.put(key, u)) for name, form in self.inequalities)
        return Program(self.divisor.put(key, u), self.constant.put(key, u), rest)

    def with_equations(self, equations: Iterable[tuple[str, Form]]) -> "Program":
        """The program with forms that are 0: a proof may use them with multipliers of any sign."""
        both = (pair for name, form in equations for pair in ((name, form), (f"{name}, reversed", -form)))
        return Program(self.divisor, self.constant, (*self.inequalities, *both))

    def only(self, names: Collection[str]) -> "Program":
        """The program with some of the inequalities."""
        return Program(self.divisor, self.constant, tuple(pair for pair in self.inequalities if pair[0] in names))

    @cached_property
    def unsquared(self) -> list[list[list[Any]]]:
        """The basic vectors whose squares occur in no form, each as a reduced vector of every block."""
        keys = [key for block in self.blocks for key in block]
        return [self.coordinates({key: fmpq(int(key == one)) for key in keys}) for one in self._unsquared]

    @cached_property
    def _unsquared(self) -> list[Key]:
        squared = {a for form in self.forms for (a, b), c in form.products.items() if a == b and c}
        return [key for block in self.blocks for key in block if key not in squared]

    def without_useless(self) -> "Program":
        """The program without inequalities whose multiplier is 0 in every proof; solvers then find proofs more often.

        The square of a vector that is in no form cannot be in t·N + C − Σ λ_i I_i; this form is positive semidefinite
        only if the vector is not in it at all, so its products with others cancel. Where these have one sign in all
        I_i, and are in neither N nor C, their λ_i are 0.
        """
        alone = set(self._unsquared)
        signs: dict[Any, dict[int, bool]] = {}
        for place, form in enumerate(self.forms):
            for pair, c in form.products.items():
                if c and not alone.isdisjoint(pair):
                    signs.setdefault(pair, {})[place] = c > 0
        useless = {
            place - 2
            for by_place in signs.values()
            if 0 not in by_place and 1 not in by_place and len(set(by_place.values())) == 1
            for place in by_place
        }
        if not useless:
            return self
        kept = tuple(pair for i, pair in enumerate(self.inequalities) if i not in useless)
        return Program(self.divisor, self.constant, kept).without_useless()  # others may have become useless now

    def remainder(self, t: Any, multipliers: Sequence[Any]) -> tuple[list[Matrix], list[Any]]:
        """t·N + C − Σ λ_i I_i for rational t and λ: its matrices, and the coefficients of the function values."""
        blocks = [[[ZERO] * n for _ in range(n)] for n in self.sizes]
        values = dict.fromkeys(self.values, ZERO)
        # Sparse sums: most forms have few of the basic vectors, and certificates are checked often.
        weights = (t, ONE, *(-multiplier for multiplier in multipliers))
        for weight, matrices, form in zip(weights, self.matrices, self.forms, strict=True):
            if weight:
                for block, matrix in zip(blocks, matrices, strict=True):
                    for (i, j), entry in matrix.items():
                        block[i][j] += weight * entry
                for name, c in form.values.items():
                    values[name] += weight * c
        for block in blocks:  # so far the upper triangles
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
            # ⟨a, b⟩ is two entries of the matrix
            found[block][(i, j) if i <= j else (j, i)] = c if i == j else c / 2
    return found


def _reduced(matrices: Sequence[Sparse], size: int) -> tuple[dict[int, Any], ...]:
    """The reduced row echelon form of all matrices stacked, whose rows span their joint row space."""
    entries = [ZERO] * (len(matrices) * size**2)
    for k, matrix in enumerate(matrices):
        for (i, j), entry in matrix.items():
            entries[(k * size + i) * size + j] = entries[(k * size + j) * size + i] = entry
    stacked = fmpq_mat(len(matrices) * size, size, entries)
    if stacked.rank() == size:  # the common case: nothing to remove, and the rank alone is faster
        return tuple({i: ONE} for i in range(size))
    echelon, rank = stacked.rref()
    return tuple({j: entry for j, entry in enumerate(row) if entry != 0} for row in echelon.tolist()[:rank])


def _among(matrix: Sparse, kept: Mapping[int, int] | None) -> Sparse:
    """The rows and columns that are kept, renumbered; all of them for None."""
    if kept is None:
        return matrix
    return {(kept[i], kept[j]): entry for (i, j), entry in matrix.items() if i in kept and j in kept}
