"""LEAF's JSON files, merged and checked."""

import contextlib
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_makers import refused
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.deep.datasets import checksum, leaf, read_leaf_json
from fedconvex.errors import InvalidInput

DATA = {
    "users": ["f_1", "f_0"],
    "num_samples": [2, 1],
    "user_data": {"f_0": {"x": [[5, 6.5]], "y": [2]}, "f_1": {"x": [[1.0, 2.0], [3, -4]], "y": [0.0, 1.0]}},
}


def written(path: Path, data: Any) -> Path:
    text = (data if isinstance(data, str) else json.dumps(data)).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def changed(**entries: Any) -> dict[str, Any]:
    return DATA | entries


def of_one(x: list, y: list, count: Any = 1) -> dict[str, Any]:
    return {"users": ["a"], "num_samples": [count], "user_data": {"a": {"x": x, "y": y}}}


def test_vectors(tmp_path: Path) -> None:
    found = leaf(written(tmp_path / "x.json.gz", DATA))
    assert found.inputs.tolist() == [[1, 2], [3, -4], [5, 6.5]]
    assert found.inputs.dtype == np.float64
    assert found.labels.tolist() == [0, 1, 2]
    assert [(name, rows.tolist()) for name, rows in found.clients] == [("f_1", [0, 1]), ("f_0", [2])]
    assert found.num_classes == 3
    assert leaf(tmp_path / "x.json.gz", num_classes=10).num_classes == 10
    with refused("labels[2] = 2"):
        leaf(tmp_path / "x.json.gz", num_classes=2)


def test_several_files_and_splits(tmp_path: Path) -> None:
    written(tmp_path / "train" / "a.json", DATA)
    written(tmp_path / "train" / "b.json", of_one([[0, 0]], [0]))
    written(tmp_path / "test" / "a.json", DATA)
    assert [name for name, _ in leaf(tmp_path, "train").clients] == ["f_1", "f_0", "a"]
    assert len(leaf(tmp_path, "test").clients) == 2
    files = [tmp_path / "train" / name for name in ("a.json", "b.json")]
    assert read_leaf_json(files) == read_leaf_json(tmp_path / "train")
    assert leaf(files).num_samples == 4
    with refused("test", "user 'f_1' is in another file, too"):
        read_leaf_json([tmp_path / "train", tmp_path / "test"])
    with refused("has no file *.json", "LEAF"):
        leaf(tmp_path)
    with refused("has no folder validation"):
        leaf(tmp_path, "validation")
    with refused("split = train", "a list of files"):
        leaf(files, "train")
    with refused("b.json", "SHA-256"):
        leaf(tmp_path, "train", sha256={"a.json": checksum(files[0]), "b.json": "0" * 64})


def test_a_user_without_samples_is_no_client(tmp_path: Path) -> None:
    data = {
        "users": ["a", "b"],
        "num_samples": [0, 1],
        "user_data": {"a": {"x": [], "y": []}, "b": {"x": [[1]], "y": [0]}},
    }
    assert [name for name, _ in leaf(written(tmp_path / "x.json", data)).clients] == ["b"]
    with refused("has no samples"):
        leaf(written(tmp_path / "y.json", of_one([], [], 0)))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"users": NaN}', "NaN is no number in JSON"),
        (b"\xff\xfe\x00".decode("latin-1"), "is not JSON"),
        ([], "is not a JSON object"),
        ({}, "has no entry 'users' that is a list"),
        ('{"users": [], "users": ["a"]}', "an object has a key twice"),
        (
            '{"users": ["a"], "num_samples": [1], "user_data": {"a": {"x": [[1]], "x": [[2]], "y": [0]}}}',
            "an object has a key twice",
        ),
        (changed(num_samples=3), "has no entry 'num_samples' that is a list"),
        (changed(user_data=[]), "has no entry 'user_data' that is an object"),
        (changed(users=["f_1", "f_1"]), "'users' are not distinct strings"),
        (changed(users=["f_1", 0]), "'users' are not distinct strings"),
        (changed(users=["f_1"]), "has 1 users, 2 num_samples and 2 user_data"),
        (changed(users=["f_1", "g"]), "or other names there"),
        (changed(num_samples=[2]), "has 2 users, 1 num_samples"),
        (changed(num_samples=[2, 2]), "user 'f_0' has 1 x and 1 y, and num_samples says 2"),
        (changed(num_samples=[2, 1.0]), "num_samples says 1.0"),
        (of_one([[1]], [1, 2]), "user 'a' has 1 x and 2 y"),
        (of_one({"0": [1]}, [1]), "user 'a' has no lists x and y"),
        (changed(user_data={"f_0": 1, "f_1": 2}), "has no lists x and y"),
    ],
)
def test_what_is_not_leaf_s_form(data: Any, says: str, tmp_path: Path) -> None:
    with refused("x.json", says):
        read_leaf_json(written(tmp_path / "x.json", data))


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([["a"]], [0], "['x'] = ['a']"),
        ([[[1]]], [0], "is not a list of numbers"),
        ([[]], [0], "is not a list of numbers"),
        (["text"], [0], "is not a list of numbers"),
        ([[1, [2]]], [0], "is not a list of numbers"),
        ([None], [0], "is not a list of numbers"),
        ([[True]], [0], "is not a list of numbers"),
        ([[1, True]], [0], "is not a list of numbers"),
        ([[1]], [-1], "['y'] = -1"),
        ([[1]], [0.5], "['y'] = 0.5"),
        ([[1]], ["0"], "is no class number"),
        ([[1]], [True], "is no class number"),
        ([[1]], [None], "is no class number"),
    ],
)
def test_what_is_no_vector_or_class(x: list, y: list, says: str, tmp_path: Path) -> None:
    with refused("user_data['a']", says):
        leaf(written(tmp_path / "x.json", of_one(x, y)))


def test_one_large_label_makes_no_huge_model(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", of_one([[1]] * 3, [0, 2**31 - 1, 1], 3))
    with refused("user_data['a']['y'] = 2147483647", "would make 2147483648 classes, of 3 samples", "num_classes"):
        leaf(path)
    assert leaf(path, num_classes=2**31).num_classes == 2**31
    assert leaf(written(tmp_path / "y.json", of_one([[1]], [999]))).num_classes == 1000
    with refused("would make 1001 classes"):
        leaf(written(tmp_path / "y.json", of_one([[1]], [1000])))


def test_other_lengths_and_infinite_numbers(tmp_path: Path) -> None:
    with refused("a list of 1 numbers, as the others are"):
        leaf(written(tmp_path / "x.json", of_one([[1], [1, 2]], [0, 0], 2)))
    text = json.dumps(of_one([[7]], [0]))
    with refused("1e999 is too large a number"):
        leaf(written(tmp_path / "y.json", text.replace("7", "1e999")))
    with refused("1e999 is too large a number"):
        leaf(written(tmp_path / "z.json", text.replace("[0]", "[1e999]")))


@given(place=st.integers(0, 10**6), text=st.text(st.sampled_from('[]{}",:0x'), max_size=3))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(
    place: int, text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = json.dumps(DATA)
    place %= len(whole)
    path = written(tmp_path_factory.mktemp("leaf") / "x.json", whole[:place] + text + whole[place + 1 :])
    with contextlib.suppress(InvalidInput):
        found = leaf(path)
        assert found.inputs.shape[0] == found.sizes.sum()
