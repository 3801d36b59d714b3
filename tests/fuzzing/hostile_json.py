"""JSON texts as an attacker or a damaged disk leaves them: one or a few values of a good file replaced."""

import json
from collections.abc import Iterator
from typing import Any

from hostile_names import NAMES
from hypothesis import strategies as st

FRAGMENTS = (
    "1" + "0" * 400, "1" + "0" * 5000,
    "1e999", "-1e308", "1e-320", "NaN", "-Infinity", "null", "true", "0", "-1", "2.5",
    "[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000, "[" * 200_000, "[]", "{}", "[[1]]", '{"lower": 1}',
    '""',     '"\\ud800"', '"\\u0000"', '"1/0"', '"proved"', '"' + "n" * 30_000 + '"', '"$' + "{" * 3000 + '$"',
    "{}{", "1 2", '{"a": 1, "a": 2}', *(json.dumps(name) for name in NAMES.values()),
)  # fmt: skip
PLACE = "@place@"


def paths(value: Any, so_far: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a JSON value."""
    yield so_far
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(one, (*so_far, key))


def renamed(value: Any, path: tuple[Any, ...], name: str) -> Any:
    """A copy in which the entry there, of an object, has another key."""
    if len(path) == 1:
        return {name if key == path[0] else key: one for key, one in value.items()}
    return replaced(value, path[:1], renamed(value[path[0]], path[1:], name))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """A copy with the value there replaced; None deletes an entry of an object."""
    if not path:
        return by
    if isinstance(value, list):
        return [replaced(one, path[1:], by) if i == path[0] else one for i, one in enumerate(value)]
    found = dict(value)
    if by is None and len(path) == 1:
        del found[path[0]]
    else:
        found[path[0]] = replaced(found[path[0]], path[1:], by)
    return found


@st.composite
def mutated(draw: Any, good: Any) -> str:
    """The text of `good` with up to three values replaced, entries renamed or left out, or the text cut off."""
    value, fragments = good, []
    for i in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(sorted(paths(value), key=str)))
        fragments.append(draw(st.sampled_from(FRAGMENTS)))
        how = draw(st.integers(0, 7)) if path and isinstance(path[-1], str) else None
        if how == 0:
            value = renamed(value, path, draw(st.sampled_from([*NAMES.values()])))
        else:
            value = replaced(value, path, None if how == 1 else f"{PLACE}{i}")
    text = json.dumps(value)
    for i, fragment in enumerate(fragments):
        text = text.replace(f'"{PLACE}{i}"', fragment)
    return text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 9)) == 0 else text
