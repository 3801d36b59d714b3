"""Text as character numbers, and its sliding windows as samples for next-character prediction."""

import numpy as np

from fedconvex.errors import InvalidInput

# LEAF's alphabet of 80 characters. A character's number is its position here, so the order must not change.
CHARACTERS = "\n !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz}"
UNKNOWN = len(CHARACTERS) - 1
TABLE = np.full(128, UNKNOWN)
TABLE[[ord(character) for character in CHARACTERS]] = range(len(CHARACTERS))
TABLE.flags.writeable = False


def character_numbers(text: str) -> np.ndarray:
    """Encode text as the positions 0 … 79 of its characters in `CHARACTERS`, int64 (n,); all others become 79.

    Use it to feed your own text to a model trained on `shakespeare`.

    LEAF's code numbers characters outside its alphabet −1, which as a label of 80 classes is the last class: 79, that
    of `}`. Here they are 79 among the inputs too. Source: Caldas et al., "LEAF: a benchmark for federated
    settings" (2018), language_utils.py of its code.
    """
    # One 4-byte code point per character turns the text into an array without a loop; lone surrogates are let through.
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return np.where(codes < TABLE.size, TABLE[np.minimum(codes, TABLE.size - 1)], UNKNOWN)


def characters(numbers: np.ndarray) -> str:
    """Decode character numbers; a character outside the alphabet comes back as `}`, with which it shares its number."""
    return "".join(CHARACTERS[number] for number in np.asarray(numbers).ravel().tolist())


def windows(numbers: np.ndarray, length: int, first: int = 0, count: int | None = None) -> tuple[np.ndarray, ...]:
    """Return `count` consecutive windows from position `first`: inputs (count, length), labels (count,).

    A window's label is the character that follows it, so n characters have n − length windows; count None: all from
    `first` on. Inputs and labels are views of `numbers`. Raises InvalidInput if there are fewer windows, or none.
    """
    there = len(numbers) - length
    count = max(there - first, 0) if count is None else count
    if first < 0 or first + count > there or count == 0:
        raise InvalidInput("count", count, f"there are {max(there, 0)} windows of {length} characters", "request fewer")
    every = np.lib.stride_tricks.sliding_window_view(numbers, length)
    return every[first : first + count], numbers[first + length : first + length + count]
