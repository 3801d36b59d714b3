"""Formulas at SymPy's symbols, for proofs and for users who go on with SymPy. What is displayed is made of terms."""

from collections.abc import Mapping
from typing import Any

from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.notation import Parameter, Shape

ENTRIES = 2  # entries of a sequence that a formula of symbols has


def symbols(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """A SymPy symbol for each parameter; for a sequence, a tuple of symbols for its first entries."""
    import sympy

    made: dict[str, Any] = {}
    for name, parameter in parameters.items():
        match parameter.shape:
            case Shape.MATRICES:
                made[name] = tuple(_matrix(f"{parameter.latex}_{i + 1}", parameter) for i in range(ENTRIES))
            case Shape.COLUMN:
                made[name] = _matrix(parameter.latex, parameter)
            case Shape.SEQUENCE | Shape.VECTORS:
                made[name] = tuple(parameter.symbol(f"{name}_{i + 1}") for i in range(ENTRIES))
            case _:
                # a count of terms becomes a number, so that sums over it are written out
                made[name] = parameter.symbol(name) if parameter.written is None else sympy.Integer(parameter.written)
    return made


def expression(calculator: CheckedFormula) -> Any:
    """The formula as a SymPy expression, or as a named tuple of expressions.

    It calls the bare formula: the calculator itself would refuse symbols that do not satisfy its conditions.
    """
    return calculator.formula(**symbols(calculator.parameters))


def _matrix(symbol: str, parameter: Parameter) -> Any:
    """A SymPy matrix symbol. The papers' convention: capitals are n × d matrices, small letters columns.

    A column has n entries (responses) where every client has one, else d entries (unknowns).
    """
    import sympy

    d, n = (sympy.Symbol(size, integer=True, positive=True) for size in "dn")
    if parameter.shape is Shape.COLUMN:
        return sympy.MatrixSymbol(symbol, d, 1)
    return sympy.MatrixSymbol(symbol, n, d if symbol[0].isupper() else 1)
