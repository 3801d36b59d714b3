"""Text as character numbers, and every window of it as a sample: next-character prediction."""

import numpy as np

from fedconvex.errors import InvalidInput

# LEAF's table of 80 characters, in its order.
CHARACTERS = "\n !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz}"
UNKNOWN = len(CHARACTERS) - 1
TABLE = np.full(128, UNKNOWN)
TABLE[[ord(character) for character in CHARACTERS]] = range(len(CHARACTERS))
TABLE.flags.writeable = False


def character_numbers(text: str) -> np.ndarray:
    """The numbers 0 … 79 of the characters in `CHARACTERS`, int64 (n,); all others are 79.

    LEAF's code gives characters outside its table the number −1, which as a label of 80 classes is the last class: 79,
    that of `}`. Here they are 79 among the inputs too. Source: Caldas et al., "LEAF: a benchmark for federated
    settings" (2018), language_utils.py of its code.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return np.where(codes < TABLE.size, TABLE[np.minimum(codes, TABLE.size - 1)], UNKNOWN)


def characters(numbers: np.ndarray) -> str:
    """The text of character numbers, as far as they know it."""
    return "".join(CHARACTERS[number] for number in np.asarray(numbers).ravel().tolist())


def windows(numbers: np.ndarray, length: int, first: int = 0, count: int | None = None) -> tuple[np.ndarray, ...]:
    """Windows `first`, `first + 1`, …: inputs (count, length) and, as labels (count,), the number after each.

    There are n − length of them in n characters; count None: all from `first` on.
    """
    there = len(numbers) - length
    count = max(there - first, 0) if count is None else count
    if first < 0 or first + count > there or count == 0:
        raise InvalidInput("count", count, f"there are {max(there, 0)} windows of {length} characters", "ask for fewer")
    every = np.lib.stride_tricks.sliding_window_view(numbers, length)
    return every[first : first + count], numbers[first + length : first + length + count]
