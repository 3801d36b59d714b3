"""Results of formulas: a number or a named tuple of numbers, or arrays of either; and errors about single entries."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.statements.arguments import Numbers, NumberType, is_array, name_at


def parts(result: Any) -> Iterator[Any]:
    """The numbers of a result: the entries of a named tuple, or the one number."""
    yield from result if isinstance(result, tuple) else (result,)


def is_finite(number: Any) -> bool:
    """Whether a float or a ball is finite, or every entry of a tensor."""
    if hasattr(number, "isfinite"):
        return bool(number.isfinite().all())
    return bool(number.is_finite() if hasattr(number, "is_finite") and hasattr(number, "rad") else number - number == 0)


def named_parts(name: str, result: Any) -> dict[str, Any]:
    """The numbers of a result by name: the fields of a named tuple, or `name` for a single number."""
    if not isinstance(result, tuple):
        return {name: result}
    fields = getattr(result, "_fields", None) or [f"{name}[{i}]" for i in range(len(result))]
    return dict(zip(fields, result, strict=True))


def entries_of(name: str, value: Any) -> list[tuple[str, Any]]:
    """Pairs (name, number): one for a number, one for each entry `name[i]` of an array."""
    if not getattr(value, "shape", ()):
        return [(name, value)]
    import numpy as np

    return [(f"{name}{list(index)}", number) for index, number in np.ndenumerate(value)]


def like(kind: type[tuple[Any, ...]], values: list[Any]) -> tuple[Any, ...]:
    """The values as a tuple of this type, a named tuple or a plain one."""
    return kind(*values) if hasattr(kind, "_fields") else tuple(values)


def broadcast_shape(values: Numbers) -> tuple[int, ...]:
    """The common shape of the arrays among the values; InvalidInput where they do not broadcast."""
    import numpy as np

    shapes = {name: tuple(value.shape) for name, value in values.items() if is_array(value)}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        raise InvalidInput("arguments", shapes, "have shapes that do not broadcast", "give equal shapes") from None


@contextmanager
def relocating(index: tuple[int, ...], arrays: Numbers) -> Iterator[None]:
    """Inside this context, an error about a single value names the array entry that the value came from."""
    try:
        yield
    except InvalidInput as error:
        shape = tuple(getattr(arrays.get(error.argument), "shape", ()))
        argument = name_at(error.argument, index, shape)
        raise InvalidInput(argument, error.value, error.problem, error.cure) from None


def assembled(results: Any, kind: NumberType) -> Any:
    """An object array of results, as an integer array where all are integers; of named tuples, a tuple of arrays."""
    import numpy as np

    flat = list(results.ravel())
    # NumPy would make a further axis of tuples
    if flat and isinstance(flat[0], tuple):
        columns = []
        for column in zip(*flat, strict=True):
            array = np.empty(len(flat), dtype=object)
            array[:] = column
            columns.append(assembled(array.reshape(results.shape), kind))
        return like(type(flat[0]), columns)
    if all(type(entry) is int and abs(entry) < 1 << 63 for entry in flat):  # as large as int64 holds
        results = results.astype(np.int64)
    if kind is NumberType.TENSOR:
        import torch

        if results.dtype == object:
            raise InvalidInput("arguments", "tensors", "give integers that no tensor holds", "give numbers or arrays")

        return torch.from_numpy(results)
    return results


def out_of_range(owner: str, arguments: Any) -> InvalidInput:
    """The error for a float result that is infinite or undefined."""
    return InvalidInput("arguments", arguments, f"{owner} leaves the range of float64", "use Fraction, or flint.arb")
