"""The arguments of one call of a formula: validation, the arithmetic that they imply, conversion into it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.statements.functions import home
from fedconvex.statements.notation import Parameter, Shape

Numbers = dict[str, Any]
LONGEST_INTEGER = 1 << 53  # every integer up to here is a float
LARGE, SMALL = 1e60, 1e-60  # between these, a product of five numbers stays within the range of floats


class NumberType(Enum):
    """The arithmetic in which a call computes, read off the types of its arguments."""

    FLOAT = auto()
    EXACT = auto()  # Fraction or fmpq
    BALL = auto()  # arb
    SYMBOL = auto()  # SymPy
    ARRAY = auto()  # NumPy, float64
    OBJECTS = auto()  # NumPy arrays of any of the above
    TENSOR = auto()  # torch


@dataclass(frozen=True)
class Arguments:
    """The values by name, those of a sequence one by one (`gammas[2]`), and the arithmetic that they imply."""

    values: Numbers
    sequences: Mapping[str, int]  # the number of entries, by name
    kind: NumberType

    @staticmethod
    def of(given: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> "Arguments":
        """The arguments with every value validated; InvalidInput for anything that is not a number."""
        values: Numbers = {}
        sequences = {}
        for name, value in given.items():
            if parameters[name].shape in (Shape.SEQUENCE, Shape.VECTORS):
                entries = _entries(name, value, parameters[name].shape)
                sequences[name] = len(entries)
                if len(set(sequences.values())) > 1:
                    raise InvalidInput("lengths", sequences, "are not equal", "give one entry of each for each client")
                values.update({f"{name}[{i}]": number(f"{name}[{i}]", entry) for i, entry in enumerate(entries)})
            else:
                values[name] = number(name, value)
        return Arguments(values, sequences, _number_type(values.values()))

    def call(self, function: Callable[..., Any], values: Numbers, names: tuple[str, ...]) -> Any:
        """Calls the function with the arguments `names`, whose sequences are put together again."""
        return function(**{name: self._regrouped(name, values) for name in names})

    def _regrouped(self, name: str, values: Numbers) -> Any:
        if name in self.sequences:
            return tuple(values[f"{name}[{i}]"] for i in range(self.sequences[name]))
        return values[name]


def parameter_of(name: str) -> str:
    """The parameter to which a value's name belongs: `gammas` for `gammas[2]`."""
    return name.partition("[")[0]


def is_array(value: Any) -> bool:
    """Whether the value is a NumPy array with at least one axis, or a torch tensor."""
    return getattr(value, "ndim", 0) > 0 or home(value) == "torch"


def name_at(name: str, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """The name with an index, as in `mu[2, 0]`: that of the broadcast array, translated into an array of this shape."""
    if not shape:
        return name
    own = index[len(index) - len(shape) :]  # broadcasting adds axes in front, and repeats axes of size 1
    own = tuple(0 if size == 1 else int(i) for i, size in zip(own, shape, strict=True))
    return f"{name}[{', '.join(map(str, own))}]"


def entry(value: Any, index: tuple[int, ...]) -> Any:
    """The entry of an array at an index of the broadcast array; a number is its own entry everywhere."""
    if not is_array(value):
        return value
    shape = tuple(value.shape)
    own = index[len(index) - len(shape) :]
    found = value[tuple(0 if size == 1 else i for i, size in zip(own, shape, strict=True))]
    return found.item() if hasattr(found, "item") else found


def is_rounded(value: Any) -> bool:
    """Whether conversion to float64 may round the number: a Fraction, a ball, an integer beyond 2⁵³."""
    return not is_array(value) and (not isinstance(value, int | float) or abs(value) > LONGEST_INTEGER)


def is_extreme(value: Any) -> Any:
    """Whether a number is so large or small that its powers may leave the range of floats; for arrays, a mask."""
    if is_array(value):
        return (abs(value) > LARGE) | ((abs(value) < SMALL) & (value != 0))
    if not isinstance(value, int | float):
        # an fmpq cannot be compared with a float
        value = Fraction(int(value.p), int(value.q)) if hasattr(value, "p") else value
    return abs(value) > LARGE or (abs(value) < SMALL and value != 0)


def to_float(value: Any) -> Any:
    """The value as a float (ints stay ints), exact numbers rounded to nearest, arrays as float64."""
    if isinstance(value, int | float):
        return value
    if is_array(value):
        import numpy as np

        from fedconvex.validation import from_torch

        found = from_torch(value, "an argument") if home(value) == "torch" else value
        return np.asarray(found, dtype=np.float64)
    from fedconvex.arithmetic.rationals import nearest_float

    return nearest_float(value)


def to_tensors(values: Numbers) -> Callable[[Any], Any]:
    """A function that converts arrays and integer tensors to tensors of floats on one device; numbers stay numbers."""
    import torch

    device = next(value.device for value in values.values() if home(value) == "torch")

    def convert(value: Any) -> Any:
        if home(value) == "torch":
            return value if value.is_floating_point() else value.to(torch.float64)
        value = to_float(value)
        return torch.as_tensor(value, device=device) if is_array(value) else value

    return convert


def to_exact(value: Any) -> Any:
    """The number as a Fraction; an fmpq stays one."""
    if type(value).__name__ == "fmpq":
        return value
    return value if isinstance(value, Fraction) else Fraction(value)


def to_ball(value: Any) -> Any:
    """A ball that contains the number, as narrow as the working precision allows; a ball stays."""
    import flint

    if isinstance(value, flint.arb):
        return value
    if isinstance(value, int | float):
        return flint.arb(value)
    if isinstance(value, Fraction):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return flint.arb(value)


def to_symbol(value: Any) -> Any:
    """The value as a SymPy number or expression."""
    import sympy

    if type(value).__name__ == "fmpq":
        return sympy.Rational(int(value.p), int(value.q))
    return sympy.sympify(value)


def _entries(name: str, value: Any, shape: Shape) -> list[Any]:
    if home(value) == "torch":
        entries = list(value.unbind(-1 if shape is Shape.SEQUENCE else 0)) if value.ndim else None
    elif isinstance(value, list | tuple):
        entries = list(value)
    elif getattr(value, "ndim", 0) > 0:
        import numpy as np

        array = np.asarray(value)
        entries = list(np.moveaxis(array, -1, 0) if shape is Shape.SEQUENCE else array)
    else:
        entries = None
    if not entries:
        raise InvalidInput(name, value, f"is not a list of {shape.value}", f"give {name} = [{name}_1, …]")
    return entries


def number(name: str, value: Any) -> Any:
    """The argument as int, float, Fraction, fmpq, arb, SymPy expression, NumPy array or torch tensor.

    Raises InvalidInput for text, truth values, complex numbers, masked and ragged arrays.
    """
    kind = type(value).__name__
    if kind in ("arb", "fmpq", "Fraction") or (home(value) == "sympy" and _is_expression(value)):
        return value
    if home(value) == "torch":
        return _tensor(name, value)
    if isinstance(value, list | tuple) or hasattr(value, "__array__"):
        import numpy as np

        from fedconvex.arithmetic.rationals import rectangular

        # NumPy would turn a mixed list of truth values and numbers into numbers
        if isinstance(value, list | tuple) and any(isinstance(entry, bool) for entry in value):
            raise InvalidInput(name, value, "holds truth values", "give numbers")
        if np.ma.isMaskedArray(value):
            raise InvalidInput(name, value, "is a masked array", "fill or drop the masked entries")
        try:
            array = rectangular(value) if isinstance(value, list | tuple) else np.asarray(value)
        except ValueError:
            raise InvalidInput(name, value, "is ragged", "give rows of equal length") from None
        if array.ndim > 0:
            if array.dtype.kind not in "iufO":
                raise InvalidInput(name, value, f"is of type {array.dtype}, not real numbers", "give numbers")
            return _exact_objects(array) if _loses_digits(array) else array
        value = array.item()
    if type(value) is int or type(value) is float:  # not isinstance: True is an int
        return value
    from fedconvex.arithmetic.rationals import to_fmpq, to_fraction

    return to_fmpq(value) if kind == "fmpz" else to_fraction(value, name)  # refuses what is no number


def _is_expression(value: Any) -> bool:
    import sympy

    return isinstance(value, sympy.Expr)


def _loses_digits(array: Any) -> bool:
    """Whether conversion to float64 would round an entry of the array: a long integer, a long double."""
    import numpy as np

    # object arrays are not converted, and numbers of fewer than 8 bytes fit
    if array.dtype.kind == "O" or array.dtype.itemsize < 8 or array.dtype == np.float64:
        return False
    with np.errstate(all="ignore"):
        return bool((array.astype(np.float64).astype(array.dtype) != array)[np.isfinite(array)].any())


def _exact_objects(array: Any) -> Any:
    """An object array of the entries as Fractions; NaN and inf stay floats, for `check` to refuse."""
    import numpy as np

    from fedconvex.arithmetic.rationals import to_fraction

    exact = np.empty(array.shape, dtype=object)
    exact.ravel()[:] = [to_fraction(v) if np.isfinite(v) else float(v) for v in array.ravel()]
    return exact


def _tensor(name: str, value: Any) -> Any:
    if not hasattr(value, "detach") or value.is_complex() or str(value.dtype) == "torch.bool":
        raise InvalidInput(name, value, "is not a tensor of real numbers", "give a tensor of floats")
    return value


def _number_type(values: Any) -> NumberType:
    """The arithmetic for a mixture of values: tensors before arrays, symbols before balls, floats before Fractions."""
    libraries, types, arrays, objects = set(), set(), False, False
    for value in values:
        libraries.add(home(value))
        types.add(type(value).__name__)
        if home(value) == "numpy":
            arrays, objects = True, objects or value.dtype == object
    exact, balls = bool({"Fraction", "fmpq"} & types), "arb" in types
    if "torch" in libraries:
        if balls or objects or "sympy" in libraries:
            raise InvalidInput("arguments", sorted(types), "cannot be combined", "give tensors and plain numbers only")
        return NumberType.TENSOR
    if arrays:
        return NumberType.OBJECTS if objects or balls or "sympy" in libraries else NumberType.ARRAY
    if "sympy" in libraries:
        return NumberType.SYMBOL
    if balls:
        return NumberType.BALL
    return NumberType.EXACT if exact and "float" not in types else NumberType.FLOAT
