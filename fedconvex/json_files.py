"""JSON that commands write, and files that they read: strictly, within limits, and of a stated shape before use."""

import json
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from fedconvex.safe_text import one_line, printable

LARGEST_FILE = 50_000_000  # bytes
MOST_DIGITS = 300  # of an integer: more would be no float
LONGEST_TEXT = 20_000  # characters
SHOWN = 40  # characters of a wrong value in an error
NAMES = {str: "no text", int: "no integer", float: "no number", bool: "neither true nor false", None: "not null"}


def read_json(path: Path, largest: int = LARGEST_FILE) -> Any:
    """The file's content. Raises OSError where it cannot be read, and ValueError where it is not strictly JSON."""
    if not path.is_file() and path.exists():
        raise OSError(None, "it is no file")  # a pipe would never end
    with path.open("rb") as file:
        content = file.read(min(path.stat().st_size, largest) + 1)
    if len(content) > largest:
        raise ValueError(f"it is larger than {largest} bytes")
    return from_json(content.decode("utf-8"))


def from_json(text: str) -> Any:
    """The value of a JSON text. Raises ValueError also for NaN, numbers beyond floats, keys given twice, deep nesting.

    Python's reader takes the first three, and what they mean is then up to chance.
    """
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_float, parse_int=_int, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """The value as a JSON text for other programs; characters that are not visible are escaped."""
    return printable(json.dumps(plain_data(value), indent=1, allow_nan=False, ensure_ascii=ascii_only))


def plain_data(value: Any) -> Any:
    """The value with lists in place of tuples, texts of fractions, and None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {str(key): plain_data(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(entry) for entry in value]
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    return str(value) if isinstance(value, Fraction) else value


def fault_in(found: Any, shape: Any, place: str = "it") -> str | None:
    """Where and how the value differs from the shape, in words; None where it does not.

    Args:
        shape: str, int, bool, float (any number), None or Any; a tuple of alternatives, of which the last one is
            reported; a set of texts; [shape] for lists; {str: shape} for objects with any keys;
            {"key": shape, "key?": shape} for objects that have the first key, may have the second, and whatever else.
    """
    match shape:
        case tuple():
            faults = [fault_in(found, one, place) for one in shape]
            return None if None in faults else faults[-1]
        case frozenset():
            fits = isinstance(found, str) and found in shape
            return None if fits else f"{place} is {_shown(found)}, none of {', '.join(sorted(shape))}"
        case [every]:
            if not isinstance(found, list):
                return f"{place} is {_shown(found)}, no list"
            return _first(fault_in(one, every, f"{place}[{i}]") for i, one in enumerate(found))
        case dict():
            return _fault_in_object(found, shape, place)
    if shape is Any:
        return None
    if shape is str and isinstance(found, str):
        return None if len(found) <= LONGEST_TEXT else f"{place} has more than {LONGEST_TEXT} characters"
    if shape is None:
        fits = found is None
    elif shape is float:
        fits = isinstance(found, int | float) and not isinstance(found, bool)
    else:
        fits = type(found) is shape
    return None if fits else f"{place} is {_shown(found)}, {NAMES[shape]}"


def _fault_in_object(found: Any, shape: dict[Any, Any], place: str) -> str | None:
    if not isinstance(found, dict):
        return f"{place} is {_shown(found)}, no object"
    if str in shape:
        return _first(fault_in(one, shape[str], f"{place}[{_shown(key)}]") for key, one in found.items())
    needed = {key.rstrip("?"): (every, key.endswith("?")) for key, every in shape.items()}
    for key, (_, optional) in needed.items():
        if key not in found and not optional:
            return f"{place} has no {key}"
    inside = place.removeprefix("it")
    return _first(
        fault_in(found[key], every, f"{inside}.{key}".lstrip(".")) for key, (every, _) in needed.items() if key in found
    )


def _first(faults: Any) -> str | None:
    return next((fault for fault in faults if fault is not None), None)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    return one_line(json.dumps(value, ensure_ascii=False, default=str), SHOWN)  # str: the dates of TOML


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number in JSON")


def _float(text: str) -> float:
    if not isfinite(value := float(text)):
        raise ValueError(f"{one_line(text, SHOWN)} is too large a number")
    return value


def _int(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"an integer has {len(text)} digits")
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found
