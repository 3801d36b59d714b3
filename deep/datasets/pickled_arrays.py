"""What the names in a pickle stand for: functions that make arrays of numbers from their bytes, and nothing else.

Each refuses what is not of the form that NumPy writes with TypeError or ValueError.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

NUMBERS = re.compile(r"[|<>=]?[biuf][1248]")


class Typed:
    """A NumPy number type under construction."""

    def __init__(self, code: Any, _align: Any = False, _copy: Any = False) -> None:
        code = code.decode("ascii") if isinstance(code, bytes) else code
        if not isinstance(code, str) or not NUMBERS.fullmatch(code):
            raise TypeError("a type that is no number")
        self.dtype = np.dtype(code)

    def build(self, state: tuple[Any, ...]) -> None:
        """(version, byte order, subarray, names, fields, …): only the byte order may say anything."""
        order = state[1].decode("ascii") if isinstance(state[1], bytes) else state[1]
        if order not in ("|", "<", ">", "=") or any(part is not None for part in state[2:5]):
            raise TypeError("a type that is no plain number")
        self.dtype = np.dtype(order + self.dtype.str[1:])


class Array:
    """A NumPy array under construction."""

    def __init__(self, *_subtype_shape_code: Any) -> None:
        self.array: np.ndarray | None = None

    def build(self, state: tuple[Any, ...]) -> None:
        """(version, shape, type, whether columns come first, bytes)."""
        _, shape, kind, by_columns, data = state
        self.array = numbers(data, kind, shape, "F" if by_columns else "C")


def numbers(data: Any, kind: Any, shape: Any, order: Any) -> np.ndarray:
    """Bytes as numbers, without a copy."""
    if not isinstance(kind, Typed) or not isinstance(data, bytes | bytearray) or not isinstance(shape, tuple):
        raise TypeError("not an array of numbers")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("a shape that is none")
    if math.prod(shape) * kind.dtype.itemsize != len(data):
        raise ValueError(f"{len(data)} bytes for shape {shape}")
    return np.frombuffer(data, dtype=kind.dtype).reshape(shape, order=order)


def buffered(data: Any, kind: Any, shape: Any, order: Any, *_axes: Any) -> Array:
    """What protocol 5 has for an array."""
    made = Array()
    made.array = numbers(data, kind, shape, order)
    return made


def scalar(kind: Any, data: Any) -> Any:
    """A NumPy number as Python's."""
    return numbers(data, kind, (), "C").item()


def encoded(text: Any, encoding: Any) -> bytes:
    """What protocol 2 has for bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise TypeError("not bytes")
    return text.encode("latin-1")


def subclass(*_nothing: Any) -> Any:
    """An argument of `_reconstruct`; nothing calls it."""
    raise TypeError("an array without a shape")


def empty_bytes() -> bytes:
    """What protocol 2 has for no bytes."""
    return b""


STANDS_FOR: dict[str, Callable[..., Any]] = {
    "numpy.dtype": Typed,
    "numpy.ndarray": subclass,
    "_codecs.encode": encoded,
    "__builtin__.bytes": empty_bytes,
    **{f"numpy.{core}.multiarray._reconstruct": Array for core in ("core", "_core")},
    **{f"numpy.{core}.multiarray.scalar": scalar for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": buffered for core in ("core", "_core")},
}
