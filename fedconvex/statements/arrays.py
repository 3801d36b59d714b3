"""Formulas evaluated on NumPy arrays, a chunk at a time.

Chunks that fit into the processor's cache are faster than whole arrays, and need no temporary copies of these.
"""

from typing import Any

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.statements.arguments import LARGE, SMALL, Arguments, NumberType, is_array, is_extreme, name_at, to_float
from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.functions import Imprecise
from fedconvex.statements.results import broadcast_shape, like, out_of_range, parts

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
