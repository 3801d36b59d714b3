"""Types of arguments, for documentation and type checkers: one alias for each kind of number that functions take.

Libraries are named and not loaded: flint, SymPy and torch are imported by who uses them.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    import flint
    import numpy
    import sympy
    import torch

# A real number that has one exact value: a float is the dyadic rational that it is.
Exact: TypeAlias = "int | float | Fraction | flint.fmpz | flint.fmpq | flint.arb"

# What a calculator of `fedconvex.theory` takes for each of its parameters: `statements.calculator.Calculator` says
# what it returns for which.
Number: TypeAlias = Union[Exact, "numpy.ndarray", "torch.Tensor", "sympy.Expr"]
