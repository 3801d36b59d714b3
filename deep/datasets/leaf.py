"""Reader of the benchmark LEAF's JSON files: users, their numbers of samples, and each user's inputs x and labels y.

Source: Caldas et al., "LEAF: a benchmark for federated settings" (2018). FedProx's released data have this format.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedconvex.data.file_contents import contents
from fedconvex.data.table import bad_file
from fedconvex.deep.datasets.dataset import Clients, Dataset, consecutive_rows
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.reading import Checksums, files_with_suffix, missing, require_checksums
from fedconvex.errors import InvalidInput
from fedconvex.json_files import from_json
from fedconvex.validation import integer_at_least

ORIGIN = "the benchmark LEAF (its preprocessing writes JSON), or the repository of FedProx"
SUFFIXES = (".json", ".json.gz")
MOST_CLASSES = 1000  # of labels that no sample or argument explains: a damaged label would else become a huge model
CURE = 'write {"users": […], "num_samples": […], "user_data": {user: {"x": […], "y": […]}}}'
Places = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def json_files(place: str | os.PathLike[str], split: str | None) -> list[Path]:
    """List the JSON files: the file itself or those of the folder; with a split, those of the folder of that name."""
    place = Path(place)
    if split is not None:
        if not (place / split).is_dir():
            wanted = "LEAF's JSON files, split into train and test,"
            raise missing(place, f"has no folder {split} with *.json, or leave out split", wanted, ORIGIN)
        place = place / split
    return files_with_suffix(place, SUFFIXES, "LEAF's JSON files", ORIGIN)


def read_leaf_json(paths: Places) -> dict[str, Any]:
    """Merge LEAF's JSON files into one {"users": […], "num_samples": […], "user_data": {user: {"x": […], "y": […]}}}.

    Use it for LEAF data whose x are not vectors; `leaf`, `sent140` and `shakespeare` read the usual ones.

    paths: a JSON file, plain or gzipped, a folder of them, or a list of such. Other entries of the files are ignored.
    Raises InvalidInput for another structure, counts that do not agree, a user in two files or twice in one, NaN.
    """
    places = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    merged: dict[str, Any] = {"users": [], "num_samples": [], "user_data": {}}
    for path in [path for place in places for path in json_files(place, None)]:
        found = _checked(path, _parsed(path))
        twice = [user for user in found["users"] if user in merged["user_data"]]
        if twice:
            raise bad_file(path, f"user {twice[0]!r} is in another file, too", "give every file once")
        merged["users"] += found["users"]
        merged["num_samples"] += found["num_samples"]
        merged["user_data"] |= {user: found["user_data"][user] for user in found["users"]}
    return merged


def leaf(
    path: Places, split: str | None = None, *, num_classes: int | None = None, sha256: Checksums = None
) -> Dataset:
    """Read LEAF's JSON files whose x are vectors: float64 inputs (N, p), and the users as clients.

    Use it for the partitions that LEAF's preprocessing or FedProx's authors made, such as their synthetic data.

    path: as for `read_leaf_json`; with a split, a folder that contains a folder `train` or `test` of JSON files.
    num_classes: default: the largest label plus 1, at most 1000 or the number of samples. sha256: expected checksums
    by file name.
    Raises InvalidInput.
    """
    if split is not None and not isinstance(path, str | os.PathLike):
        raise InvalidInput("split", split, "is given with a list of files", "list the files of one split")
    places = [path] if isinstance(path, str | os.PathLike) else list(path)
    files = [file for place in places for file in json_files(place, split)]
    require_checksums(files, sha256)
    data = read_leaf_json(files)
    inputs: list[np.ndarray] = []
    labels: list[int] = []
    for user in data["users"]:
        x, y = data["user_data"][user]["x"], data["user_data"][user]["y"]
        for row in x:
            inputs.append(_vector(user, row, len(inputs[0]) if inputs else None))
        labels += [_class_number(user, label) for label in y]
    if not labels:
        raise InvalidInput(
            "path", Path(path) if isinstance(path, str) else path, "has no samples", "give data with users"
        )
    classes = max(labels) + 1 if num_classes is None else integer_at_least(num_classes, 1, "num_classes")
    if num_classes is None and classes > max(MOST_CLASSES, len(labels)):
        owners = np.repeat(data["users"], data["num_samples"])
        problem = f"would make {classes} classes, of {len(labels)} samples"
        cure = "repair the label, or give num_classes if there are so many"
        raise InvalidInput(f"user_data[{str(owners[labels.index(classes - 1)])!r}]['y']", classes - 1, problem, cure)
    source = ", ".join(file.name for file in files[:3]) + (", …" if len(files) > 3 else "")
    return Dataset(np.array(inputs), np.array(labels, dtype=np.int64), classes, source, clients_of(data))


def clients_of(data: dict[str, Any]) -> Clients:
    """Return the users that have samples, for samples stacked user by user."""
    counts = {user: n for user, n in zip(data["users"], data["num_samples"], strict=True) if n}
    return consecutive_rows(list(counts), list(counts.values()))


def _parsed(path: Path) -> Any:
    try:
        return from_json(contents(path).decode())
    except InvalidInput:
        raise
    except ValueError as error:
        raise bad_file(path, f"is not JSON: {str(error)[:80]}", "download or copy the file again") from None


def _checked(path: Path, found: Any) -> dict[str, Any]:
    """Return the dictionary if it has LEAF's structure and its counts agree; otherwise raise InvalidInput."""
    if not isinstance(found, dict):
        raise bad_file(path, "is not a JSON object", CURE)
    for name, kind in (("users", list), ("num_samples", list), ("user_data", dict)):
        if not isinstance(found.get(name), kind):
            what = "an object" if kind is dict else "a list"
            raise bad_file(path, f"has no entry {name!r} that is {what}", CURE)
    users, counts, data = found["users"], found["num_samples"], found["user_data"]
    if not all(isinstance(user, str) for user in users) or len(set(users)) < len(users):
        raise bad_file(path, "'users' are not distinct strings", CURE)
    if len(users) != len(counts) or set(users) != data.keys():
        problem = f"has {len(users)} users, {len(counts)} num_samples and {len(data)} user_data, or other names there"
        raise bad_file(path, problem, "give one of each for every user")
    for user, count in zip(users, counts, strict=True):
        own = data[user]
        lists = [own.get(name) for name in ("x", "y")] if isinstance(own, dict) else [None]
        if not all(isinstance(values, list) for values in lists):
            raise bad_file(path, f"user {user!r} has no lists x and y", CURE)
        lengths = [len(values) for values in lists if values is not None]
        if type(count) is not int or lengths != [count, count]:
            problem = f"user {user!r} has {lengths[0]} x and {lengths[1]} y, and num_samples says {count!r:.40}"
            raise bad_file(path, problem, "make the counts agree, or create the file again")
    return found


def _vector(user: str, row: Any, width: int | None) -> np.ndarray:
    # NumPy would take true, a list in the place of a number, and a text among texts.
    plain = isinstance(row, list) and all(type(value) in (int, float) for value in row)
    vector = np.asarray(row if plain else None)
    if vector.dtype.kind not in "iuf" or vector.ndim != 1 or vector.size == 0 or vector.size != (width or vector.size):
        wanted = "a list of numbers" if width is None else f"a list of {width} numbers, as the others are"
        raise InvalidInput(f"user_data[{user!r}]['x']", row, f"has an entry that is not {wanted}", "repair the file")
    return vector.astype(np.float64)


def _class_number(user: str, label: Any) -> int:
    # Some files write classes as 3.0; True is an int to Python, and a mistake here.
    if isinstance(label, bool) or not isinstance(label, int | float) or not 0 <= label < 2**31 or label != int(label):
        raise InvalidInput(f"user_data[{user!r}]['y']", label, "is no class number 0, 1, …", "number the classes")
    return int(label)


LOADERS = (Loader(leaf, "a file or folder of LEAF's JSON", ORIGIN),)
