"""Formulas on lists of matrices, one per client: floats, rationals, balls, torch tensors, SymPy matrices."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedconvex.errors import InvalidInput
from fedconvex.statements.arguments import is_array, number
from fedconvex.statements.functions import home
from fedconvex.statements.notation import Shape
from fedconvex.statements.results import out_of_range

if TYPE_CHECKING:
    from fedconvex.statements.calculator import Calculator


def transpose(matrix: Any) -> Any:
    """Mᵀ."""
    return matrix.transpose() if home(matrix) == "flint" else matrix.T


def product(left: Any, right: Any) -> Any:
    """Left times right; either may be a vector where the library has vectors."""
    return left * right if home(left) in ("flint", "sympy") else left @ right


def gram(A: Any) -> Any:
    """AᵀA."""
    return product(transpose(A), A)


def identity_like(square: Any) -> Any:
    """The identity of a square matrix's size and kind."""
    match home(square):
        case "flint":
            size = square.nrows()
            return type(square)(size, size, [int(i == j) for i in range(size) for j in range(size)])
        case "sympy":
            import sympy

            return sympy.Identity(square.shape[0]) if not hasattr(square, "tolist") else sympy.eye(square.shape[0])
        case "torch":
            import torch

            return torch.eye(square.shape[0], dtype=square.dtype, device=square.device)
    import numpy as np

    return np.eye(square.shape[0], dtype=np.int64 if square.dtype == object else np.float64)


def inverse(square: Any) -> Any:
    """M⁻¹; raises ZeroDivisionError where M is singular, or (balls) cannot be told from it."""
    match home(square):
        case "flint":
            return square.inv()
        case "sympy":
            return square.inv()
        case "torch":
            import torch

            return torch.linalg.inv(square)
    import numpy as np

    if square.dtype == object:
        return _inverse_of_objects(square)
    try:
        return np.linalg.inv(square)
    except np.linalg.LinAlgError:
        raise ZeroDivisionError from None


def call_with_matrices(calculator: "Calculator", given: Mapping[str, Any]) -> Any:
    """A calculator of lists of matrices: its numbers are checked as ever, the matrices for their shapes."""
    given = {**calculator.defaults, **given}
    if given.keys() != calculator.parameters.keys():
        wanted = ", ".join(calculator.names)
        raise TypeError(f"{calculator.name}() takes the keyword arguments {wanted}, not {', '.join(given)}")
    matrices = {n: v for n, v in given.items() if calculator.parameters[n].shape is Shape.MATRICES}
    columns = {n: _array(v) for n, v in given.items() if calculator.parameters[n].shape is Shape.COLUMN}
    numbers = {n: v for n, v in given.items() if n not in matrices and n not in columns}
    numbers = {name: _one_number(name, value) for name, value in numbers.items()}
    calculator.check(numbers)
    lists = {name: _clients(name, value) for name, value in matrices.items()}
    for name, value in [*columns.items(), *((f"{n}[{i}]", e) for n, es in lists.items() for i, e in enumerate(es))]:
        _require_numbers(name, value)
    if len({len(entries) for entries in lists.values()}) > 1:
        sizes = {name: len(entries) for name, entries in lists.items()}
        raise InvalidInput("clients", sizes, "the lists have different lengths", "give one entry per client in each")
    exact = any(
        _is_exact(value)
        for value in [*numbers.values(), *columns.values(), *(e for entries in lists.values() for e in entries)]
    )
    converted = {name: tuple(_in_kind(entry, exact) for entry in entries) for name, entries in lists.items()}
    try:
        others = {name: _in_kind(value, exact) for name, value in {**numbers, **columns}.items()}
        with _silent():
            result = calculator.formula(**converted, **others)
    except (ValueError, IndexError, RuntimeError) as error:
        raise InvalidInput(
            "matrices", list(matrices), f"do not fit together ({error})", "correct their shapes"
        ) from None
    except ZeroDivisionError:
        cure = "give clients whose data together determine every unknown"
        raise InvalidInput("matrices", list(matrices), "the matrix to invert is singular", cure) from None
    if home(result) == "numpy" and not _is_exact(result) and not _all_finite(result):
        raise out_of_range(calculator.owner, list(matrices))
    return result


def _silent() -> Any:
    """Overflow shows in the result."""
    import numpy as np

    return np.errstate(all="ignore")


def _one_number(name: str, value: Any) -> Any:
    taken = number(name, value)
    if is_array(taken) and getattr(taken, "ndim", 0) > 0:
        raise InvalidInput(name, value, "is not one number", "give one number, or loop")
    return taken


def _clients(name: str, value: Any) -> list[Any]:
    entries = list(value) if isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0 else []
    if not entries:
        raise InvalidInput(name, value, "is not a list with one entry per client", f"give {name} = [{name}_1, …]")
    return [_array(entry) for entry in entries]


def _array(value: Any) -> Any:
    """A list as an array; what a library made stays."""
    if not isinstance(value, list | tuple):
        return value
    from fedconvex.rationals import rectangular

    try:
        return rectangular(value)
    except ValueError:
        raise InvalidInput("rows", value, "are ragged", "give rows of equal length") from None


def _require_numbers(name: str, value: Any) -> None:
    """Refuses text, complex numbers and what is not finite; balls, tensors and SymPy matrices are taken as they are."""
    if home(value) != "numpy":
        return
    if value.dtype.kind not in "iufO":
        raise InvalidInput(name, value, f"is of type {value.dtype}, not real numbers", "give numbers")
    if value.dtype.kind == "f" and not _all_finite(value):
        raise InvalidInput(name, value, "has entries that are not finite", "remove or fill them")


def _all_finite(value: Any) -> bool:
    import numpy as np

    return bool(np.isfinite(value).all())


def _is_exact(value: Any) -> bool:
    return type(value).__name__ in ("Fraction", "fmpq") or str(getattr(value, "dtype", "")) == "object"


def _in_kind(value: Any, exact: bool) -> Any:
    """NumPy arrays and numbers as float64, or as exact objects; anything else as it is."""
    if home(value) != "numpy" and not isinstance(value, int | float):
        return value
    if exact:
        from fedconvex.rationals import fraction_array, to_fraction

        return fraction_array(value) if hasattr(value, "ndim") and value.ndim else to_fraction(value)
    return value.astype("float64") if hasattr(value, "astype") else value


def _inverse_of_objects(square: Any) -> Any:
    import flint
    import numpy as np

    from fedconvex.rationals import to_fmpq, to_fraction

    size = len(square)
    solved = flint.fmpq_mat(size, size, [to_fmpq(entry) for entry in square.ravel()]).inv()
    result = np.empty((size, size), dtype=object)
    result.ravel()[:] = [to_fraction(entry) for entry in solved.entries()]
    return result
