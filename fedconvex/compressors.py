"""Compressors: what clients send in the place of vectors, in fewer numbers.

| compressor | C(v) | promise |
|---|---|---|
| `Unbiased(omega)` | v·(1 + ω) with probability 1/(1 + ω), else 0 | E C(v) = v, E‖C(v) − v‖² = ω‖v‖² |
| `RandK(k)` | d/k times k random entries of v | the same, ω = d/k − 1 |
| `Contractive(delta)` | v with probability δ, else 0 | E‖C(v) − v‖² = (1 − δ)‖v‖² |
| `TopK(k)` | the k largest entries of v | ‖C(v) − v‖² <= (1 − δ)‖v‖², δ = k/d |

A method's code calls `cohort.compress(compressor, rows)`: each participant compresses its own row, independently of the
others, and of all rounds before. Theory knows no more of a compressor than its promise, so that rates are proved for
`Unbiased` and `Contractive`, and hold for every compressor that keeps the promise; for others see `promise`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, nearest_float, to_fraction
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.parameters import ReadableParameters
from fedconvex.validation import instance_of, integer_at_least


class Compressor(ReadableParameters, ABC):
    """C(v) = a number times some entries of v. Subclasses are frozen dataclasses of its parameters."""

    @abstractmethod
    def promise(self, dim: int) -> "Unbiased | Contractive":
        """What theory may know of it, for vectors of `dim` entries. Raises InvalidInput for too few."""

    @abstractmethod
    def kept(self, rows: Array, generators: Sequence[np.random.Generator], arithmetic: Arithmetic) -> np.ndarray:
        """Which entries of (K, d) rows of numbers are sent, as truth values; one generator a row."""

    def factor(self, dim: int) -> Fraction:
        """What the entries that are sent are multiplied by."""
        return Fraction(1)

    # How many numbers are sent for an entry: two where its place is chosen by the client, not drawn by a common seed.
    numbers_an_entry: ClassVar[int] = 1

    def compress(
        self, rows: Array, generators: Sequence[np.random.Generator], arithmetic: Arithmetic
    ) -> tuple[Array, int]:
        """C of every row of a (K, d) array, in any arithmetic, and how many numbers are sent. Raises InvalidInput."""
        shape = tuple(rows.shape)
        if len(shape) != 2:
            raise InvalidInput("rows", shape, "is no shape (K, d) of the participants' vectors",
                               "compress what the clients send, before it is averaged")  # fmt: skip
        instance_of(self.promise(shape[1]), Unbiased | Contractive, "promise", "a promise", "return Unbiased(omega) or "
                    "Contractive(delta)")  # fmt: skip
        values = arithmetic.array([0, self.factor(shape[1])])
        kept: object = self.kept(rows, generators, arithmetic)  # a subclass may return anything
        if not (isinstance(kept, np.ndarray) and kept.dtype == bool and kept.shape == shape):
            what = f"keeps {kept.dtype} of shape {kept.shape}" if isinstance(kept, np.ndarray) else f"keeps {kept!r}"
            raise InvalidInput("compressor", self, what, f"return truth values of shape {shape} from `kept`")
        return rows * values[kept.astype(np.int64)], self.numbers_an_entry * int(kept.sum())


@final
@dataclass(frozen=True)
class Unbiased(Compressor):
    """Any compressor with E C(v) = v and E‖C(v) − v‖² <= ω‖v‖², and in runs one that attains this: all or nothing.

    Args:
        omega: ω >= 0; with 0 nothing is compressed.
    """

    omega: Scalar

    def __post_init__(self) -> None:
        if to_fraction(self.omega, "omega") < 0:
            raise InvalidInput(
                "omega", self.omega, "is negative", "give omega >= 0, such as d/k - 1 for k of d entries"
            )

    def promise(self, dim: int) -> "Unbiased":
        return self

    def factor(self, dim: int) -> Fraction:
        return 1 + to_fraction(self.omega)

    def kept(self, rows: Array, generators: Sequence[np.random.Generator], arithmetic: Arithmetic) -> np.ndarray:
        return _whole(rows, generators, 1 / self.factor(0))


@final
@dataclass(frozen=True)
class Contractive(Compressor):
    """Any compressor with E‖C(v) − v‖² <= (1 − δ)‖v‖², and in runs one that attains this: the vector or nothing.

    Args:
        delta: δ in (0, 1]; with 1 nothing is compressed.
    """

    delta: Scalar

    def __post_init__(self) -> None:
        if not 0 < to_fraction(self.delta, "delta") <= 1:
            raise InvalidInput("delta", self.delta, "is not in (0, 1]", "give for example k/d, for the k largest of d")

    def promise(self, dim: int) -> "Contractive":
        return self

    def kept(self, rows: Array, generators: Sequence[np.random.Generator], arithmetic: Arithmetic) -> np.ndarray:
        return _whole(rows, generators, to_fraction(self.delta))


@dataclass(frozen=True)
class _Some(Compressor):
    """What compressors share that send k entries."""

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer_at_least(self.k, 1, "k"))

    def share(self, dim: int) -> Fraction:
        """k/d. Raises InvalidInput for vectors that have not so many entries."""
        if self.k > dim:
            raise InvalidInput("k", self.k, f"is more than the {dim} entries of a vector", f"give k <= {dim}")
        return Fraction(self.k, dim)


@final
@dataclass(frozen=True)
class RandK(_Some):
    """k of the d entries, every choice equally likely, times d/k: unbiased with ω = d/k − 1.

    Args:
        k: from 1 to d.
    """

    def promise(self, dim: int) -> Unbiased:
        return Unbiased(1 / self.share(dim) - 1)

    def factor(self, dim: int) -> Fraction:
        return 1 / self.share(dim)

    def kept(self, rows: Array, generators: Sequence[np.random.Generator], arithmetic: Arithmetic) -> np.ndarray:
        found = np.zeros(tuple(rows.shape), dtype=bool)
        for row, generator in zip(found, generators, strict=True):
            row[generator.permutation(len(row))[: self.k]] = True
        return found


@final
@dataclass(frozen=True)
class TopK(_Some):
    """The k entries of largest size; of equal ones the first: contractive with δ = k/d.

    Args:
        k: from 1 to d.
    """

    numbers_an_entry: ClassVar[int] = 2

    def promise(self, dim: int) -> Contractive:
        return Contractive(self.share(dim))

    def kept(self, rows: Array, generators: Sequence[np.random.Generator], arithmetic: Arithmetic) -> np.ndarray:
        if arithmetic.certainty is Certainty.ENCLOSED:
            raise InvalidInput("arithmetic", arithmetic.name, "does not say which entries are the largest, for TopK",
                               "use 'exact' or 'float', or another compressor")  # fmt: skip
        if arithmetic.certainty is Certainty.EXACT:
            sizes = [[-abs(entry) for entry in row] for row in rows.tolist()]
            order = np.array([sorted(range(len(row)), key=row.__getitem__) for row in sizes])
        else:
            order = np.argsort(-np.abs(arithmetic.to_float(rows)), axis=1, kind="stable")
        found = np.zeros(tuple(rows.shape), dtype=bool)
        np.put_along_axis(found, order[:, : self.k], True, axis=1)
        return found


def _whole(rows: Array, generators: Sequence[np.random.Generator], chance: Fraction) -> np.ndarray:
    """Every row whole with this probability, else nothing of it."""
    sent = [generator.random() < nearest_float(chance) for generator in generators]
    return np.broadcast_to(np.array(sent, dtype=bool)[:, None], tuple(rows.shape))
