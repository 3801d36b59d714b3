"""Read a pickle as data: an interpreter of the few instructions that tables of numbers need. It calls nothing.

A pickle is a program for a stack machine. Here its instructions are parsed by `pickletools`, which executes none, and
followed only as far as they build dictionaries, lists, tuples, texts, bytes, whole and real numbers. The names that
NumPy's arrays need are not imported: each stands for a function below that makes the array from its bytes. Every other
name, and every other instruction, is an error that says the file contains code.
"""

import os
import pickletools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fedconvex.data.stream import contents
from fedconvex.data.table import bad_file
from fedconvex.deep.datasets.pickled_arrays import STANDS_FOR, Array, Typed
from fedconvex.errors import InvalidInput

MARK = object()
CURE = "it may do harm when it is unpickled: get the file from its publisher, or use the binary version of the data"


VALUES = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
    "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8",
    "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
}  # fmt: skip
CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "MARK": lambda: MARK,
}  # fmt: skip


def read_plain_pickle(path: str | os.PathLike[str]) -> dict[Any, Any]:
    """The dictionary in a pickle of protocol 0 … 5, its NumPy arrays as arrays; Python 2's strings as bytes.

    Raises InvalidInput for a file that contains anything but such data, is damaged, or is no pickle of a dictionary.
    """
    path = Path(path)
    data = contents(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of strange escapes in texts of protocol 0
            found = Machine(path, len(data)).run(pickletools.genops(data), len(data))
    except InvalidInput:
        raise
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, MemoryError) as error:
        problem = f"is no readable pickle ({str(error)[:80] or type(error).__name__})"
        raise bad_file(path, problem, "download or copy the file again") from None
    if type(found) is not dict:
        raise bad_file(path, f"holds a {type(found).__name__}, not a dictionary", "give a batch of the data set")
    if any(callable(value) for value in found.values()):
        raise bad_file(path, "contains code: a name that belongs to no array", CURE)
    return {key: value.array if isinstance(value, Array) else value for key, value in found.items()}


class Machine:
    """The stack machine, without the instructions that call."""

    def __init__(self, path: Path, budget: int) -> None:
        self.path = path
        self.budget = budget  # bytes that may be made by decoding: no more than the file has
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, instructions: Iterator[tuple[Any, Any, int | None]], size: int) -> Any:
        """Follow the instructions to the end of the file."""
        for instruction, argument, position in instructions:
            name = instruction.name
            if name == "STOP":
                if position != size - 1:
                    raise ValueError(f"goes on after its end at byte {position}")
                return self.stack.pop()
            if name in VALUES:
                self.stack.append(argument)
            elif name in CONSTANTS:
                self.stack.append(CONSTANTS[name]())
            elif step := getattr(self, f"do_{name.lower()}", None):
                step(argument)
            else:
                raise self.code(f"the instruction {name}")
        raise ValueError("has no end")

    def code(self, what: str) -> InvalidInput:
        """The error for what could be executed."""
        return bad_file(self.path, f"contains code: {what}", CURE)

    def marked(self) -> list[Any]:
        """What is above the topmost mark, taken off with it."""
        place = len(self.stack) - 1
        while self.stack[place] is not MARK:
            place -= 1
            if place < 0:
                raise IndexError("no mark")
        above = self.stack[place + 1 :]
        del self.stack[place:]
        return above

    def top(self, kind: type) -> Any:
        """The topmost value, if it is of that type."""
        if type(self.stack[-1]) is not kind:
            raise TypeError(f"{type(self.stack[-1]).__name__} is no {kind.__name__}")
        return self.stack[-1]

    def fill(self, pairs: list[Any]) -> None:
        """Add keys and values to the dictionary on top."""
        into = self.top(dict)
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            if type(key) not in (str, bytes, int):
                raise TypeError(f"a key that is a {type(key).__name__}")
            into[key] = value

    def do_proto(self, version: int) -> None:
        if version > 5:
            raise ValueError(f"protocol {version}")

    def do_frame(self, _size: int) -> None:
        """Frames are for readers that fetch the file in pieces."""

    def do_string(self, text: str) -> None:
        """Python 2's strings are bytes."""
        self.stack.append(text.encode("latin-1"))

    do_binstring = do_short_binstring = do_string

    def do_put(self, place: int) -> None:
        self.memo[place] = self.stack[-1]

    do_binput = do_long_binput = do_put

    def do_memoize(self, _: None) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def do_get(self, place: int) -> None:
        self.stack.append(self.memo[place])

    do_binget = do_long_binget = do_get

    def do_tuple(self, _: None) -> None:
        self.stack.append(tuple(self.marked()))

    def do_list(self, _: None) -> None:
        self.stack.append(self.marked())

    def do_dict(self, _: None) -> None:
        pairs = self.marked()
        self.stack.append({})
        self.fill(pairs)

    def _last(self, count: int) -> tuple[Any, ...]:
        taken = tuple(self.stack[-count:])
        if len(taken) < count or MARK in taken:
            raise IndexError("too few values")
        del self.stack[-count:]
        return taken

    def do_tuple1(self, _: None) -> None:
        self.stack.append(self._last(1))

    def do_tuple2(self, _: None) -> None:
        self.stack.append(self._last(2))

    def do_tuple3(self, _: None) -> None:
        self.stack.append(self._last(3))

    def do_append(self, _: None) -> None:
        (value,) = self._last(1)
        self.top(list).append(value)

    def do_appends(self, _: None) -> None:
        values = self.marked()
        self.top(list).extend(values)

    def do_setitem(self, _: None) -> None:
        self.fill(list(self._last(2)))

    def do_setitems(self, _: None) -> None:
        self.fill(self.marked())

    def do_global(self, words: str) -> None:
        self._name(words.replace(" ", "."))

    def do_stack_global(self, _: None) -> None:
        module, name = self._last(2)
        self._name(f"{module}.{name}" if type(module) is type(name) is str else "a name that is no text")

    def _name(self, name: str) -> None:
        if name not in STANDS_FOR:
            raise self.code(f"the name {name[:80]}")
        self.stack.append(STANDS_FOR[name])

    def do_reduce(self, _: None) -> None:
        stand_in, arguments = self._last(2)
        if not any(stand_in is known for known in STANDS_FOR.values()) or type(arguments) is not tuple:
            raise self.code("a call of something that is no part of an array")
        made = stand_in(*arguments)
        self.budget -= len(made) if isinstance(made, bytes) else 0
        if self.budget < 0:
            raise ValueError("unpacks to more than it has bytes")
        self.stack.append(made)

    def do_build(self, _: None) -> None:
        (state,) = self._last(1)
        if not isinstance(self.stack[-1], Typed | Array) or type(state) is not tuple:
            raise self.code("a state for something that is no array")
        self.stack[-1].build(state)
