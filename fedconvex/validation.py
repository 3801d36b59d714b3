"""Argument checks for constructors and functions: each raises InvalidInput with name, value, problem and cure."""

import re
from collections.abc import Sequence
from fractions import Fraction
from math import isinf
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import Scalar, nearest_float, rectangular, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.sparse import dense, is_sparse

LONGEST_TEXT = 1000  # characters of a number in text
LARGEST_EXPONENT = 4000  # exact numbers: 1e1000000000 has as many digits


def positive(value: Any, argument: str) -> Scalar:
    """Returns `value` if it is a finite number > 0."""
    # a ball has to be positive altogether; other numbers are compared exactly
    if not ((value.is_finite() and value > 0) if _is_ball(value) else to_fraction(value, argument) > 0):
        raise InvalidInput(argument, value, "must be positive", f"give {argument} > 0")
    return value


def non_negative(value: Any, argument: str) -> Scalar:
    """Returns `value` if it is a finite number >= 0."""
    if not ((value.is_finite() and value >= 0) if _is_ball(value) else to_fraction(value, argument) >= 0):
        raise InvalidInput(argument, value, "must not be negative", f"give {argument} >= 0")
    return value


def fraction_of_one(value: Any, argument: str) -> Scalar:
    """Returns `value` if it is a number >= 0 and < 1, such as a momentum or a decay of averages."""
    non_negative(value, argument)
    if not 1 - value > 0:  # of a symbolic number only the sign is known
        raise InvalidInput(argument, value, "must be less than 1", f"give 0 <= {argument} < 1")
    return value


def exact_number(text: str, argument: str) -> Fraction:
    """The rational number that a user's text denotes exactly: 50, -3, 1/3, 0.1 or 1e-20.

    Raises InvalidInput for other text, and for numbers with so many digits that exact arithmetic would fill the memory.
    """
    exponent = re.search(r"[eE]([+-]?\d+)\s*$", text)
    if len(text) > LONGEST_TEXT or (exponent and abs(int(exponent[1])) > LARGEST_EXPONENT):
        raise InvalidInput(argument, text, "is too long to be computed with", "give a number of fewer digits")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        cure = "give one such as 50, -3, 1/3, 0.1 or 1e-20"
        raise InvalidInput(argument, text, "is not a number", cure) from None


def integer_at_least(value: Any, minimum: int, argument: str, maximum: int | None = None) -> int:
    """Returns `value` as an int if it is an integer >= minimum, and <= maximum."""
    exact = to_fraction(value, argument)
    if exact.denominator != 1 or exact < minimum:
        raise InvalidInput(argument, value, f"must be an integer >= {minimum}", f"give {argument} >= {minimum}")
    if maximum is not None and exact > maximum:
        raise InvalidInput(argument, value, "is too large", f"give {argument} <= {maximum}")
    return int(exact)


def random_seed(value: Any, argument: str = "seed") -> int:
    """Returns `value` as an int if it is an integer >= 0 of at most 4,096 bits, which Python still writes."""
    return integer_at_least(value, 0, argument, 2**4096 - 1)


def instance_of(value: Any, kind: Any, argument: str, what: str, cure: str) -> Any:
    """Returns `value` if it is an instance of the class; `what` names that in the error, such as "a problem"."""
    if not isinstance(value, kind):
        raise InvalidInput(argument, value, f"is not {what}", cure)
    return value


def members_of(values: Any, argument: str, cure: str) -> list[Any]:
    """The members of a list, tuple or other collection; text is none."""
    try:
        if not isinstance(values, str | bytes):
            return list(values)
    except (TypeError, RuntimeError):  # also of arrays and tensors without axes
        pass
    raise InvalidInput(argument, values, "is no collection", cure)


def is_choice(value: Any, choices: Sequence[str]) -> bool:
    """Whether the value is one of these texts; arrays, whose comparisons are arrays, are not."""
    return isinstance(value, str) and value in choices


def index_of_client(k: Any, num_clients: int) -> int:
    """Returns the index of a client, 0, …, num_clients − 1, as an int."""
    if (index := integer_at_least(k, 0, "k")) >= num_clients:
        raise InvalidInput("k", k, f"is the index of none of the {num_clients} clients", "count the clients from 0")
    return index


def in_floats(value: Any, argument: str) -> float:
    """The number as the nearest float; InvalidInput beyond the largest float, and below the least one."""
    if isinf(number := nearest_float(value)):
        raise InvalidInput(argument, value, "is beyond the largest float", f"give a smaller {argument}")
    if number == 0 and to_fraction(value, argument) != 0:
        raise InvalidInput(argument, value, "is below the least float", f"give {argument} = 0 or a larger one")
    return number


def truth_value(value: Any, argument: str) -> bool:
    """Returns `value` if it is True or False; other values, such as the text "no", are not read as one."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(argument, value, "is neither True nor False", f"give {argument}=True or {argument}=False")
    return bool(value)


def is_tensor(value: Any) -> bool:
    """Whether the value is a torch tensor, without loading torch; text files have a `detach`, too."""
    return hasattr(value, "detach") and hasattr(value, "dtype")


def from_torch(tensor: Any, argument: str) -> np.ndarray:
    """A torch tensor's values as a NumPy array, exactly; short floats become float32, as NumPy has no bfloat16."""
    try:
        here = tensor.detach().cpu()
        short = here.is_floating_point() and here.dtype.itemsize < 4
        found: np.ndarray = (here.float() if short else here).numpy()
    except (TypeError, RuntimeError, NotImplementedError):  # sparse, quantised, or without values
        cure = "convert it, for example by .to_dense() or .double()"
        raise InvalidInput(argument, f"a tensor of {tensor.dtype}", "has no array of its numbers", cure) from None
    return found


def numbers(values: Any, argument: str, ndim: int) -> np.ndarray:
    """A read-only copy of the values with `ndim` axes: int64, float64 or exact rationals (objects), all finite.

    Takes lists, NumPy arrays, torch tensors and sparse matrices of scipy.
    """
    if is_tensor(values):
        values = from_torch(values, argument)
    if is_sparse(values):
        values = dense(values, argument)
    if np.ma.isMaskedArray(values):
        raise InvalidInput(argument, values, "is a masked array", "fill or drop the masked entries")
    array = _rectangular(values, argument)
    if array.ndim != ndim:
        raise InvalidInput(argument, f"an array of shape {array.shape}", f"must have {ndim} axes", "reshape it")
    return read_only(_finite_numbers(array, argument))


def stacked_numbers(array: np.ndarray, argument: str) -> np.ndarray:
    """The finite float64 array of all clients' numbers, without a copy if it is already read-only."""
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InvalidInput(f"{argument}{list(place)}", array[place], "is not finite", "remove or fill such entries")
    return read_only(array.copy()) if _can_be_written_to(array) else array


def _can_be_written_to(array: np.ndarray) -> bool:
    """Whether the array, or an array that it is a view of, is writable."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return owner is not None  # the memory belongs to another object, which may change it


def points(values: Any, argument: str, shapes: Sequence[tuple[int, ...]]) -> Any:
    """The values as an array of finite numbers with one of the shapes; a torch tensor stays a tensor, detached."""
    array: Any = values.detach() if is_tensor(values) else _rectangular(values, argument)
    if tuple(array.shape) not in shapes:
        wanted = " or ".join(map(str, shapes))
        raise InvalidInput(
            argument, f"an array of shape {tuple(array.shape)}", f"must have shape {wanted}", "reshape it"
        )
    if is_tensor(values):
        found = from_torch(values, argument)
        _finite_numbers(found, argument)
        return array if found.dtype.itemsize == array.dtype.itemsize else array.float()  # bfloat16 has few operations
    if any(map(_is_ball, array.ravel().tolist())):  # a ball may be infinitely wide, where nothing is known
        return array
    return _finite_numbers(array, argument)


def _is_ball(value: Any) -> bool:
    return type(value).__name__ == "arb"


def read_only(array: np.ndarray) -> np.ndarray:
    """Makes the array read-only, in place, and returns it."""
    array.flags.writeable = False
    return array


def _rectangular(values: Any, argument: str) -> np.ndarray:
    """A copy as an array; long doubles and integers that float64 would round become objects."""
    try:
        array = rectangular(values)
    except ValueError:
        raise InvalidInput(argument, values, "is ragged", "give rows of equal length") from None
    if array.dtype.kind != "f" or array.dtype.itemsize <= 8:
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = array.astype(np.float64)  # the array holds long doubles
        return rounded if (rounded == array)[np.isfinite(array)].all() else array.astype(object)


def _finite_numbers(array: np.ndarray, argument: str) -> np.ndarray:
    if array.dtype.kind in "iu":
        # unsigned 64-bit integers may exceed int64
        return array.astype(np.int64) if np.can_cast(array.dtype, np.int64) else _exact_objects(array, argument)
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        if not np.isfinite(array).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise InvalidInput(f"{argument}{list(place)}", array[place], "is not finite", "remove or fill such entries")
        return array
    if array.dtype == object:
        return _exact_objects(array, argument)
    raise InvalidInput(argument, array.tolist(), f"is of type {array.dtype}, not real numbers", "give numbers")


def _exact_objects(array: np.ndarray, argument: str) -> np.ndarray:
    flat = [to_fraction(v, argument) for v in array.ravel().tolist()]
    result = np.empty(array.shape, dtype=object)
    result.ravel()[:] = flat
    return result


def client_list(values: Any, argument: str) -> Sequence[Any]:
    """The values as a non-empty list with one entry per client."""
    if isinstance(values, np.ndarray) and values.ndim >= 1:
        values = list(values)
    if not isinstance(values, list | tuple):
        raise InvalidInput(
            argument, values, "is not a list with one entry per client", f"give {argument} = [{argument}_1, …]"
        )
    if len(values) == 0:
        raise InvalidInput(argument, values, "has no clients", "give at least one client")
    return values


def normalised_weights(weights: Any, num_clients: int) -> tuple[Fraction, ...]:
    """The clients' weights as exact rationals that sum to 1; default 1/m each."""
    if weights is None:
        return (Fraction(1, num_clients),) * num_clients
    if is_tensor(weights):
        weights = from_torch(weights, "weights")
    elif hasattr(weights, "to_numpy"):  # a pandas column: in its order, whatever its index says
        weights = weights.to_numpy()
    if isinstance(weights, np.ndarray) and weights.ndim == 0:
        weights = [weights.item()]
    if not isinstance(weights, Sequence | np.ndarray) or len(weights) != num_clients or any(map(np.ndim, weights)):
        raise InvalidInput(
            "weights", weights, f"must have one entry for each of the {num_clients} clients", "correct its length"
        )
    exact = [to_fraction(w, f"weights[{k}]") for k, w in enumerate(weights)]
    for k, weight in enumerate(exact):
        if weight < 0:
            raise InvalidInput(f"weights[{k}]", weights[k], "must not be negative", "give weights >= 0")
    total = sum(exact)  # of Fractions: normalising rounds nothing
    if total == 0:
        raise InvalidInput("weights", weights, "sum to 0", "give at least one client a positive weight")
    return tuple(weight / total for weight in exact)
