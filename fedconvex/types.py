"""Types of public parameters: one alias for each kind of number and array that the package takes.

Libraries are named and not loaded: flint, SciPy, SymPy and torch are imported by who uses them.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

if TYPE_CHECKING:
    import flint
    import numpy
    import scipy.sparse
    import torch

# A real number that has one exact value (a float is the dyadic rational that it is), or a ball that contains one.
Exact: TypeAlias = Union[
    int, float, Fraction, "numpy.integer", "numpy.floating", "flint.fmpz", "flint.fmpq", "flint.arb"
]  # fmt: skip


class Real(Protocol):
    """What a calculator of `fedconvex.theory` takes for a real number; `Calculator` states what it returns for which.

    An int, a float, a Fraction, a number of flint such as an `arb`, a NumPy array or torch tensor of numbers, or a
    SymPy expression. A formula is written once for all of them, so the type lists the operations that they share.
    """

    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...


# What a calculator takes for several numbers, such as one of each client: a sequence, or an array's last axis. Vectors
# are arrays, `Real`; where it takes several, they are `Reals | Vectors`, along the first axis.
Reals: TypeAlias = Union[Sequence[Real], "numpy.ndarray", "torch.Tensor"]

# A vector such as a point (d,) or the clients' weights (m,).
Vector: TypeAlias = Union[Sequence[Exact], "numpy.ndarray", "torch.Tensor"]

# A matrix (n, d), such as a client's features.
Matrix: TypeAlias = Union[
    Sequence[Sequence[Exact]], Sequence["numpy.ndarray"], "numpy.ndarray", "torch.Tensor",
    "scipy.sparse.sparray", "scipy.sparse.spmatrix",
]  # fmt: skip

# One vector, or one matrix, for every client; a stacked array has the clients on its first axis.
Vectors: TypeAlias = Union[Sequence[Vector], "numpy.ndarray", "torch.Tensor"]
Matrices: TypeAlias = Union[Sequence[Matrix], "numpy.ndarray", "torch.Tensor"]
