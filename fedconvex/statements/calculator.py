"""Calculators of the papers' bounds: formulas that check their arguments and run in the arithmetic of these."""

from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, final

import numpy as np

from fedconvex.arithmetic import working_precision
from fedconvex.errors import InvalidInput, UnknownKeyword
from fedconvex.statements import arguments as taken
from fedconvex.statements.arguments import LARGE, SMALL, Arguments, NumberType, is_array, is_extreme, name_at, to_float
from fedconvex.statements.formula import PRECISION, CheckedFormula
from fedconvex.statements.functions import Imprecise, Undecided, is_rational
from fedconvex.statements.notation import Shape
from fedconvex.statements.results import assembled, broadcast_shape, is_finite, like, out_of_range, parts, relocating
from fedconvex.statements.signs import sign

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P", default=...)  # the formula's arguments: type checkers know their names
else:
    from typing import ParamSpec

    P = ParamSpec("P")  # Python 3.13 knows defaults


@final
@dataclass(frozen=True, eq=False, repr=False)
class Calculator(CheckedFormula, Generic[P]):
    """Evaluates a paper's formula: call it with keyword arguments, numbers of one kind or arrays that broadcast.

    | arguments | result |
    |---|---|
    | float, int | float (rounded, unproved) |
    | with a Fraction or fmpq, and no float | the exact value; an arb ball that contains it where it is irrational |
    | with an arb | an arb that contains the value, at flint's working precision |
    | NumPy arrays | float64, broadcast; object arrays entry by entry |
    | torch tensors | a tensor, differentiable |
    | SymPy | an expression |

    Use floats and arrays to explore, exact numbers or balls where the result is to be relied on, and `sign` where
    only the sign counts. Raises InvalidInput (a ValueError) where a condition does not hold, or floats leave their
    range.
    """

    def __repr__(self) -> str:
        return f"<{self.owner}: {self.name}({', '.join(self.names)})>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the calculator by its place in the code, as Python does with functions."""
        return restored, (self.formula.__module__, self.formula.__name__)

    def __call__(self, *unnamed: P.args, **given: P.kwargs) -> Any:
        if unnamed:
            cure = f"name them: {', '.join(self.names)}"
            raise UnknownKeyword("arguments", unnamed, f"{self.owner} takes its arguments by name", cure)
        if any(parameter.shape is Shape.MATRICES for parameter in self.parameters.values()):
            from fedconvex.statements.matrices import call_with_matrices

            return call_with_matrices(self, given)
        arguments = self.arguments(given)
        kind = arguments.kind
        if kind in (NumberType.ARRAY, NumberType.OBJECTS, NumberType.TENSOR):
            broadcast_shape(arguments.values)  # raises where the shapes do not fit together
        if self.upwards and kind is NumberType.FLOAT:
            return self._rounded_up(arguments)
        if self.upwards and kind is NumberType.ARRAY:
            import numpy as np

            # each entry is rounded up from its exact value, which array arithmetic does not have
            return self._one_by_one(arguments).astype(np.float64)
        if self.integer and kind in (NumberType.FLOAT, NumberType.ARRAY, NumberType.TENSOR):
            # ⌈x⌉ of a rounded x may be off by one: integers are computed from the exact values of the floats
            kind = NumberType.EXACT if kind is NumberType.FLOAT else NumberType.OBJECTS
        if kind is NumberType.OBJECTS:
            return self._one_by_one(arguments)
        if kind is NumberType.ARRAY:
            return in_chunks(self, arguments)
        self.check(arguments.values)
        return self._compute(arguments, kind)

    def sign(self, *, precision: int = 64, limit: int = 1 << 12, **given: Any) -> Any:
        """The certified sign of the value at exact arguments (a float is taken as the rational number that it is).

        Use it to decide whether a bound is positive: a computed float near 0 does not decide that. See `signs.sign`.
        """
        return sign(self, given, precision=precision, limit=limit)

    def _compute(self, arguments: Arguments, kind: NumberType) -> Any:
        """The value for checked arguments that include no NumPy array."""
        values = arguments.values
        match kind:
            case NumberType.SYMBOL:
                return self.apply(arguments, {name: taken.to_symbol(value) for name, value in values.items()})
            case NumberType.BALL:
                try:
                    return self.in_balls(arguments, working_precision())
                except Undecided:
                    cure = "give narrower balls, or exact numbers"
                    raise InvalidInput(self.name, values, "balls too wide for one integer", cure) from None
            case NumberType.EXACT:
                value = self.exactly_or_enclosed(arguments)
                return _upper_bound(value) if self.upwards and not is_rational(value) else value
            case NumberType.TENSOR:
                return self._in_tensors(arguments)
        return self.as_float(arguments)

    def _in_tensors(self, arguments: Arguments) -> Any:
        convert = taken.to_tensors(arguments.values)
        values = {name: convert(value) for name, value in arguments.values.items()}
        try:
            result = self.apply(arguments, values)
        except Imprecise:
            problem, cure = f"{self.owner} loses its digits in floats", "give numbers, or NumPy arrays"
            raise InvalidInput("arguments", arguments.values, problem, cure) from None
        except (ArithmeticError, ValueError):
            raise out_of_range(self.owner, arguments.values) from None
        if not all(is_finite(part) for part in parts(result)):
            raise out_of_range(self.owner, arguments.values)
        return result

    def _rounded_up(self, arguments: Arguments) -> float:
        """A float that is not below the value."""
        from fedconvex.arithmetic.balls import upper_float

        self.check(arguments.values)
        return upper_float(taken.to_ball(self.exactly_or_enclosed(arguments)))

    def _one_by_one(self, arguments: Arguments) -> Any:
        """The values at the entries of the broadcast arrays, each computed by a call of its own."""
        import numpy as np

        results: Any = None
        for index, values in self.entries(arguments):
            with relocating(index, arguments.values):
                result = arguments.call(self, values, self.names)
            if results is None:
                results = np.empty(broadcast_shape(arguments.values), dtype=object)
            results[index] = result
        if results is None:
            return self.of_nothing(arguments)
        return assembled(results, arguments.kind)


def restored(module: str, name: str) -> Any:
    """The calculator of a pickle: the one that a module's function of that name was decorated into."""
    found = getattr(import_module(module), name)
    return getattr(found, "calculator", found)


def _upper_bound(ball: Any) -> Fraction:
    """The upper bound of a ball as a rational number."""
    import flint

    with flint.ctx.workprec(PRECISION):
        mantissa, exponent = ball.upper().mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


# Chunks that fit into the processor's cache are faster than whole arrays, and need no temporary copies of these.

CHUNK = 1 << 14  # entries per chunk: the temporary arrays of one formula then stay in the processor's cache
MOST_AT_ONCE = 32  # NumPy's limit on the arrays of one iterator


def in_chunks(calculator: CheckedFormula, arguments: Arguments) -> Any:
    """The formula's values in float64 on NumPy arrays that broadcast: an array, or a named tuple of arrays.

    Raises InvalidInput, with an index, where an entry violates a condition or the result leaves the range of floats.
    """
    arrays = {name: value for name, value in arguments.values.items() if is_array(value)}
    numbers = {name: value for name, value in arguments.values.items() if name not in arrays}
    floats = {name: to_float(value) for name, value in numbers.items()}
    shape = broadcast_shape(arrays)
    extreme_numbers = any(is_extreme(value) for value in numbers.values())
    if 0 in shape:
        return calculator.of_nothing(arguments)
    results: list[Any] = []
    kind: Any = None
    begin = 0
    for chunk in _chunks(list(arrays.values()), CHUNK):
        values = dict(zip(arrays, chunk, strict=True))
        try:
            calculator.check({**numbers, **values})
        except InvalidInput as error:
            raise _relocated(error, begin, arrays, shape) from None
        extreme = _extreme(values, len(chunk[0])) | extreme_numbers
        if extreme.any():
            result = _by_way_of_balls(calculator, arguments, numbers, values, begin, shape)
        else:
            try:
                with np.errstate(all="ignore"):  # overflow shows as inf or NaN below, with its index
                    result = calculator.apply(arguments, {**floats, **values})
            except Imprecise:
                result = _by_way_of_balls(calculator, arguments, numbers, values, begin, shape)
            except (ArithmeticError, ValueError):  # from the numbers among the arguments; arrays raise nothing
                raise out_of_range(calculator.owner, numbers) from None
        if kind is None:
            kind = type(result)
            results = [np.empty(int(np.prod(shape))) for _ in parts(result)]
        size = len(chunk[0])
        for whole, part in zip(results, parts(result), strict=True):
            whole[begin : begin + size] = part
            finite = np.isfinite(whole[begin : begin + size])
            if not finite.all():
                raise _out_of_range(calculator, begin + int(np.argmin(finite)), shape)
        begin += size
    results = [whole.reshape(shape) for whole in results]
    return like(kind, results) if issubclass(kind, tuple) else results[0]


def _extreme(arrays: dict[str, Any], size: int) -> Any:
    """A mask of the entries so large or small that an intermediate result may overflow or underflow."""
    found = np.zeros(size, dtype=bool)
    for array in arrays.values():
        if array.size and not (array.min() >= SMALL and array.max() <= LARGE):  # skips the usual arrays quickly
            found |= is_extreme(array)
    return found


def _by_way_of_balls(
    calculator: CheckedFormula,
    arguments: Arguments,
    numbers: dict[str, Any],
    values: dict[str, Any],
    begin: int,
    shape: tuple[int, ...],
) -> Any:
    """The formula's values entry by entry, computed in balls where an entry is extreme."""
    rows = []
    for i, entries in enumerate(zip(*values.values(), strict=True)):
        single = {**numbers, **dict(zip(values, map(float, entries), strict=True))}
        try:
            rows.append(calculator.as_float(Arguments(single, arguments.sequences, NumberType.FLOAT)))
        except InvalidInput:
            raise _out_of_range(calculator, begin + i, shape) from None
    if not isinstance(rows[0], tuple):
        return np.array(rows)
    return like(type(rows[0]), [np.array(column) for column in zip(*rows, strict=True)])


def _chunks(arrays: list[Any], size: int) -> Any:
    """Tuples of float64 chunks of the broadcast arrays, one chunk per array, equally long, in C order."""
    if len(arrays) > MOST_AT_ONCE:  # then whole arrays at once
        yield tuple(np.asarray(array, dtype=np.float64).ravel() for array in np.broadcast_arrays(*arrays))
        return
    iterator = np.nditer(
        arrays,
        flags=["external_loop", "buffered", "zerosize_ok"],
        op_flags=[["readonly"]] * len(arrays),
        op_dtypes=[np.float64] * len(arrays),
        order="C",
        buffersize=size,
        casting="same_kind",
    )
    with iterator:
        piece: Any
        for piece in iterator:
            yield piece if isinstance(piece, tuple) else (piece,)


def _out_of_range(calculator: CheckedFormula, place: int, shape: tuple[int, ...]) -> InvalidInput:
    index = tuple(int(i) for i in np.unravel_index(place, shape))
    return out_of_range(calculator.owner, {"index": index})


def _relocated(error: InvalidInput, begin: int, arrays: dict[str, Any], shape: tuple[int, ...]) -> InvalidInput:
    """The error about an entry of a chunk (`mu[17]`) as one about the entry of the user's array (`mu[2, 3]`)."""
    # a chunk is 1-d, so that its errors say `mu[17]`
    name, _, place = error.argument.rpartition("[")
    if name not in arrays:
        return error
    index = np.unravel_index(begin + int(place.rstrip("]")), shape)
    argument = name_at(name, tuple(int(i) for i in index), arrays[name].shape)
    return InvalidInput(argument, error.value, error.problem, error.cure)
