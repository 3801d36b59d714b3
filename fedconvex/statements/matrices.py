"""Matrix operations for formulas on lists of matrices, one per client; and calls of such formulas.

Each operation works on NumPy arrays (of floats or of Fractions), flint matrices, torch tensors and SymPy matrices, and
on terms of these (`fedconvex.claims.display.matrices`), from which the formulas are displayed.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.statements.arguments import is_array, number, to_ball, to_symbol
from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.functions import home
from fedconvex.statements.notation import Shape
from fedconvex.statements.results import out_of_range

UNRELIABLE = 64  # a matrix of floats counts as singular from the condition number 1/(UNRELIABLE · size · eps) on


def transpose(matrix: Any) -> Any:
    """Mᵀ."""
    return matrix.transpose() if home(matrix) == "flint" else matrix.T


def product(left: Any, right: Any) -> Any:
    """The matrix product; either factor may be a vector where the library has vectors."""
    return left * right if home(left) in ("flint", "sympy") else left @ right


def gram(A: Any) -> Any:
    """AᵀA."""
    return product(transpose(A), A)


def squared_length(vector: Any) -> Any:
    """‖v‖²."""
    return vector.squared_length() if home(vector) == "fedconvex" else product(transpose(vector), vector)


def total(terms: Iterable[Any]) -> Any:
    """The sum of matrices, or of vectors, of one shape; ValueError where they differ in it."""
    first, *others = terms
    if home(first) == "fedconvex":  # a term of one client, for those of all
        return first.total()
    for term in others:
        first = first + _of_shape(term, _shape(first))
    return first


def difference(left: Any, right: Any) -> Any:
    """Left minus right, both of one shape; ValueError where they differ in it."""
    return left - _of_shape(right, _shape(left))


def column(value: Any) -> Any:
    """A vector, or a matrix of one column, as it is; ValueError for anything else."""
    shape = _shape(value)
    if len(shape) == 0 or shape[1:] not in ((), (1,)):
        raise ValueError(f"{_shape_text(shape)} where one column is needed")
    return value


def scalar_of(matrix: Any, value: Any) -> Any:
    """The number in a type that multiplies the matrix, and whose inverse is exact where the matrix is exact."""
    match home(matrix):
        case "flint":
            from fedconvex.arithmetic.rationals import to_fmpq

            return to_ball(value) if type(matrix).__name__ == "arb_mat" else to_fmpq(value)
        case "sympy":
            return to_symbol(value)
    return value


def identity_like(square: Any) -> Any:
    """The identity matrix of the same size and type as a square matrix."""
    match home(square):
        case "flint":
            size = square.nrows()
            return type(square)(size, size, [int(i == j) for i in range(size) for j in range(size)])
        case "sympy":
            import sympy

            return sympy.Identity(square.shape[0]) if not hasattr(square, "tolist") else sympy.eye(square.shape[0])
        case "fedconvex":
            return square.identity()
        case "torch":
            import torch

            return torch.eye(square.shape[0], dtype=square.dtype, device=square.device)
    import numpy as np

    return np.eye(square.shape[0], dtype=np.int64 if square.dtype == object else np.float64)


def sum_of_powers(square: Any, count: Any) -> Any:
    """Σ_{k<count} M^k, by Horner's rule."""
    if home(square) == "fedconvex":
        return square.powers(count)
    powers = identity_like(square)
    for _ in range(int(count) - 1):
        powers = identity_like(square) + product(square, powers)
    return powers


def inverse(square: Any) -> Any:
    """M⁻¹; raises ZeroDivisionError where M is singular, or may be as far as balls or floats can tell.

    Floats: M counts as singular where its condition number, after scaling rows and columns alike, exceeds
    1/(64 · size · eps). Scaling comes first because a unit of measurement must not make a problem unsolvable.
    """
    match home(square):
        case "flint":
            return square.inv()
        case "sympy":
            return square.inv()
        case "fedconvex":
            return square.inverse()
        case "torch":
            import torch

            _require_regular(square.detach().cpu().numpy())
            return torch.linalg.inv(square)
    import numpy as np

    if square.dtype == object:
        return _inverse_of_objects(square)
    _require_regular(square)
    return np.linalg.inv(square)


def _require_regular(square: Any) -> None:
    """Raises ZeroDivisionError for a matrix of floats that is singular up to rounding."""
    import numpy as np

    if np.ndim(square) != 2:
        raise ValueError(f"a matrix of shape {np.shape(square)}")
    if not _all_finite(square):
        raise OverflowError
    size, diagonal = len(square), np.sqrt(abs(np.diagonal(square)))
    scale = diagonal if (diagonal > 0).all() else np.ones(size)  # M_ij/√(M_ii M_jj): a unit diagonal
    singular = np.linalg.svd(square / scale / scale[:, None], compute_uv=False)
    # "not >" also refuses NaN
    if not singular[-1] > UNRELIABLE * size * np.finfo(square.dtype).eps * singular[0]:
        raise ZeroDivisionError


def call_with_matrices(calculator: CheckedFormula, given: Mapping[str, Any]) -> Any:
    """The value of a formula that takes lists of matrices, one matrix per client.

    Numbers among the arguments are checked as for every calculator, matrices for shape and finite entries. One exact
    argument makes the whole calculation exact.
    """
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
    converted = {name: tuple(_converted(entry, exact) for entry in entries) for name, entries in lists.items()}
    try:
        others = {name: _converted(value, exact) for name, value in {**numbers, **columns}.items()}
        with _silent():
            result = calculator.formula(**converted, **others)
    except InvalidInput:
        raise
    except (ValueError, IndexError, RuntimeError, TypeError, AttributeError) as error:  # the last two of numbers
        raise InvalidInput(
            "matrices", list(matrices), f"do not fit together ({error})", "correct their shapes"
        ) from None
    except ZeroDivisionError:
        cure = "give clients whose data together determine every unknown, or Fractions"
        problem = "the matrix to invert is singular, or too close to singular for floats or balls"
        raise InvalidInput("matrices", list(matrices), problem, cure) from None
    except OverflowError:
        raise out_of_range(calculator.owner, list(matrices)) from None
    if home(result) == "numpy" and not _is_exact(result) and not _all_finite(result):
        raise out_of_range(calculator.owner, list(matrices))
    return result


def _silent() -> Any:
    """No warnings of overflow: it shows in the result, which the caller checks."""
    import numpy as np

    return np.errstate(all="ignore")


def _one_number(name: str, value: Any) -> Any:
    checked = number(name, value)
    if is_array(checked) and getattr(checked, "ndim", 0) > 0:
        raise InvalidInput(name, value, "is not one number", "give one number, or loop")
    return checked


def _clients(name: str, value: Any) -> list[Any]:
    entries = list(value) if isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0 else []
    if not entries:
        raise InvalidInput(name, value, "is not a list with one entry per client", f"give {name} = [{name}_1, …]")
    return [_array(entry) for entry in entries]


def _array(value: Any) -> Any:
    """A list as a NumPy array; arrays, tensors and matrices of libraries unchanged."""
    if not isinstance(value, list | tuple):
        return value
    from fedconvex.arithmetic.rationals import rectangular

    try:
        return rectangular(value)
    except ValueError:
        raise InvalidInput("rows", value, "are ragged", "give rows of equal length") from None


def _require_numbers(name: str, value: Any) -> None:
    """Refuses NumPy arrays of text or complex numbers and with NaN or inf; other libraries' matrices pass."""
    if home(value) != "numpy":
        return
    if value.dtype.kind not in "iufO":
        raise InvalidInput(name, value, f"is of type {value.dtype}, not real numbers", "give numbers")
    if value.dtype.kind == "f" and not _all_finite(value):
        raise InvalidInput(name, value, "has entries that are not finite", "remove or fill them")


def _shape(value: Any) -> tuple[Any, ...]:
    return (value.nrows(), value.ncols()) if hasattr(value, "nrows") else tuple(getattr(value, "shape", ()))


def _of_shape(value: Any, shape: tuple[Any, ...]) -> Any:
    if _shape(value) != shape:
        raise ValueError(f"shapes {_shape_text(shape)} and {_shape_text(_shape(value))}")
    return value


def _shape_text(shape: tuple[Any, ...]) -> str:
    return " × ".join(map(str, shape)) or "a single number"


def _all_finite(value: Any) -> bool:
    import numpy as np

    return bool(np.isfinite(value).all())


def _is_exact(value: Any) -> bool:
    return type(value).__name__ in ("Fraction", "fmpq") or str(getattr(value, "dtype", "")) == "object"


def _converted(value: Any, exact: bool) -> Any:
    """The value as float64, or as exact numbers if `exact`; integer matrices in a type that has a division."""
    if type(value).__name__ == "fmpz_mat":
        import flint

        return flint.fmpq_mat(value)
    if home(value) == "torch" and not value.is_floating_point():
        return value.double()
    if home(value) != "numpy" and not isinstance(value, int | float):
        return value
    if exact:
        from fedconvex.arithmetic.rationals import fraction_array, to_fraction

        return fraction_array(value) if hasattr(value, "ndim") and value.ndim else to_fraction(value)
    return value.astype("float64") if hasattr(value, "astype") else value


def _inverse_of_objects(square: Any) -> Any:
    import flint
    import numpy as np

    from fedconvex.arithmetic.rationals import to_fmpq, to_fraction

    size = len(square)
    solved = flint.fmpq_mat(size, size, [to_fmpq(entry) for entry in square.ravel()]).inv()
    result = np.empty((size, size), dtype=object)
    result.ravel()[:] = [to_fraction(entry) for entry in solved.entries()]
    return result
