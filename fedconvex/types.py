"""Types of public parameters: one alias for each kind of number and array that the package takes.

Libraries are named and not loaded: flint, SciPy, SymPy and torch are imported by who uses them.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    import flint
    import numpy
    import scipy.sparse
    import sympy
    import torch

# A real number that has one exact value (a float is the dyadic rational that it is), or a ball that contains one.
Exact: TypeAlias = Union[
    int, float, Fraction, "numpy.integer", "numpy.floating", "flint.fmpz", "flint.fmpq", "flint.arb"
]  # fmt: skip

# What a calculator of `fedconvex.theory` takes; `statements.calculator.Calculator` says what it returns for which.
Number: TypeAlias = Union[Exact, "numpy.ndarray", "torch.Tensor", "sympy.Expr"]

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
