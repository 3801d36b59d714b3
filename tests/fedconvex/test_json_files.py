"""The strict reader of JSON, and shapes: what they refuse, with the place."""

import os
from pathlib import Path
from typing import Any

import pytest

from fedconvex.json_files import fault_in, from_json, read_json

SHAPE = {"name": str, "count": int, "size?": float, "sort": frozenset({"a", "b"}), "rows": [(None, {"x": float})]}
GOOD: dict[str, Any] = {"name": "n", "count": 3, "size": 1.5, "sort": "a", "rows": [None, {"x": 2}], "more": []}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("NaN", "no number"),
        ("[-Infinity]", "no number"),
        ("1e999", "too large"),
        ("1" + "0" * 400, "401 digits"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("{", "Expecting"),
        ("", "Expecting"),
    ],
)
def test_what_is_not_strictly_json_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        from_json(text)


def test_a_file_is_read_within_limits(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"a": [1, 2.5, "\\ud800"]}')
    assert read_json(file) == {"a": [1, 2.5, "\ud800"]}
    with pytest.raises(ValueError, match="larger than 10 bytes"):
        read_json(file, 10)
    file.write_bytes(b'"\xff"')
    with pytest.raises(ValueError, match="utf-8"):
        read_json(file)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "b.json")
    os.mkfifo(tmp_path / "pipe.json")  # opening it would wait for ever
    with pytest.raises(OSError, match="no file"):
        read_json(tmp_path / "pipe.json")


def test_a_shape_accepts_what_has_it() -> None:
    assert fault_in(GOOD, SHAPE) is None
    assert fault_in({name: GOOD[name] for name in GOOD if name != "size"}, SHAPE) is None
    assert fault_in({"p": 1, "q": 2}, {str: int}) is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": 1}, "name is 1, no text"),
        ({"name": "x" * 20_001}, "name has more than 20000 characters"),
        ({"count": True}, "count is true, no integer"),
        ({"count": 1.0}, "count is 1.0, no integer"),
        ({"size": "1"}, 'size is "1", no number'),
        ({"size": True}, "size is true, no number"),
        ({"sort": "\x1b"}, r'sort is "\u001b", none of a, b'),
        ({"rows": {}}, "rows is an object, no list"),
        ({"rows": [None, {"x": None}]}, "rows[1].x is null, no number"),
        ({"rows": [None, []]}, "rows[1] is a list, no object"),
        ({"rows": [None, {}]}, "rows[1] has no x"),
    ],
)
def test_a_fault_names_its_place(change: dict[str, Any], says: str) -> None:
    assert fault_in(GOOD | change, SHAPE) == says


@pytest.mark.parametrize("found", [None, 3, "text", [], True])
def test_another_kind_of_value_is_no_object(found: Any) -> None:
    assert str(fault_in(found, SHAPE)).endswith("no object")
