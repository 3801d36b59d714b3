"""CIFAR-10 and CIFAR-100: the binary version, and the Python version, whose pickles are read as data."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedconvex.data.stream import contents
from fedconvex.data.table import bad_file
from fedconvex.deep.datasets.checksums import Sums, require_sums
from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.pickles import read_plain_pickle
from fedconvex.deep.datasets.reading import find, missing, require_folder

ORIGIN = "the CIFAR page of Alex Krizhevsky, University of Toronto (fedconvex deep download cifar10 or cifar100 does)"
IMAGE = (3, 32, 32)
BYTES = 3 * 32 * 32
BATCHES = tuple(f"data_batch_{i}" for i in range(1, 6))
SPLITS = ("train", "test")


def cifar10(folder: str | os.PathLike[str], split: str = "train", *, sha256: Sums = None) -> Dataset:
    """Small photographs of 10 classes: uint8 images (N, 3, 32, 32), red, green, blue; 50,000 and 10,000.

    folder: has data_batch_1.bin … data_batch_5.bin and test_batch.bin, or the Python version's files without .bin, or a
        folder cifar-10-batches-bin or cifar-10-batches-py with them. No file is executed.
    sha256: sums of the files by their names.

    Raises InvalidInput. Source: Krizhevsky, "Learning multiple layers of features from tiny images" (2009).
    """
    names = BATCHES if one_of(split, SPLITS, "split") == "train" else ("test_batch",)
    folder = _inside(Path(folder), names, ("cifar-10-batches-bin", "cifar-10-batches-py"), "CIFAR-10")
    paths = [find(folder, [f"{name}.bin", name], "CIFAR-10", ORIGIN) for name in names]
    require_sums(paths, sha256)
    parts = [_binary(path, 1, 0) if _is_binary(path) else _python(path, "labels") for path in paths]
    return _joined(paths, parts, 10, f"CIFAR-10 {split}")


def cifar100(
    folder: str | os.PathLike[str], split: str = "train", labels: str = "fine", *, sha256: Sums = None
) -> Dataset:
    """Small photographs of 100 classes in 20 coarse ones: uint8 images (N, 3, 32, 32); 50,000 and 10,000.

    folder: has train.bin and test.bin, or the Python version's train and test, or a folder cifar-100-binary or
        cifar-100-python with them. No file is executed.
    labels: fine (100 classes) or coarse (20). sha256: sums of the files by their names.

    Raises InvalidInput. Source: as for `cifar10`.
    """
    coarse = one_of(labels, ("fine", "coarse"), "labels") == "coarse"
    name = one_of(split, SPLITS, "split")
    folder = _inside(Path(folder), (name,), ("cifar-100-binary", "cifar-100-python"), "CIFAR-100")
    path = find(folder, [f"{name}.bin", name], "CIFAR-100", ORIGIN)
    require_sums([path], sha256)
    part = _binary(path, 2, 0 if coarse else 1) if _is_binary(path) else _python(path, f"{labels}_labels")
    return _joined([path], [part], 20 if coarse else 100, f"CIFAR-100 {split} ({labels})")


def _inside(folder: Path, names: Sequence[str], usual: Sequence[str], data: str) -> Path:
    """The folder itself, or the usual one in it, that has the first of the files."""
    wanted = [name for first in names for name in (f"{first}.bin", first)]
    require_folder(folder, wanted, data, ORIGIN)
    for place in (folder, *(folder / name for name in usual)):
        if any((place / f"{name}{end}").is_file() for name in wanted[:2] for end in ("", ".gz")):
            return place
    problem = f"has no file {' or '.join(wanted[:2])}, nor has {' or '.join(usual)} in it"
    raise missing(folder, problem, data, ORIGIN)


def _is_binary(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".bin")


def _binary(path: Path, label_bytes: int, which: int) -> tuple[np.ndarray, np.ndarray]:
    """Records of 1 or 2 label bytes and 3,072 pixels."""
    data = np.frombuffer(contents(path), dtype=np.uint8)
    record = label_bytes + BYTES
    if len(data) % record:
        problem = f"has {len(data)} bytes, which is no multiple of a record's {record}"
        raise bad_file(path, problem, "download or copy the file again")
    rows = data.reshape(-1, record)
    return rows[:, label_bytes:], rows[:, which]


def _python(path: Path, key: str) -> tuple[np.ndarray, np.ndarray]:
    """A dictionary with `data` (N, 3072) and a list of labels; Python 2 wrote its keys as bytes."""
    batch = read_plain_pickle(path)
    found = {name: batch.get(name, batch.get(name.encode())) for name in ("data", key)}
    for name, value in found.items():
        if value is None:
            raise bad_file(path, f"has no entry {name!r}", "give a batch of the data set's Python version")
    images = found["data"]
    if not isinstance(images, np.ndarray) or images.dtype != np.uint8 or images.ndim != 2 or images.shape[1] != BYTES:
        kind = f"{images.dtype} of shape {images.shape}" if isinstance(images, np.ndarray) else type(images).__name__
        raise bad_file(path, f"'data' is {kind}, not uint8 of shape (N, {BYTES})", "give a batch of images")
    return images, _label_list(path, key, found[key], len(images))


def _label_list(path: Path, key: str, values: Any, count: int) -> np.ndarray:
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        values = values.tolist()
    if type(values) is not list or not all(type(value) is int and 0 <= value < 256 for value in values):
        raise bad_file(path, f"{key!r} is no list of class numbers", "give a batch of images")
    if len(values) != count:
        raise bad_file(path, f"has {len(values)} {key} for {count} images", "download or copy the file again")
    return np.array(values, dtype=np.int64)


def _joined(
    paths: Sequence[Path], parts: Sequence[tuple[np.ndarray, np.ndarray]], classes: int, source: str
) -> Dataset:
    for path, (images, labels) in zip(paths, parts, strict=True):
        if not len(images):
            raise bad_file(path, "has no images", "download or copy the file again")
        if labels.max() >= classes:
            problem = f"image {int(labels.argmax())} has label {int(labels.max())}, there are {classes} classes"
            raise bad_file(path, problem, "give files of this data set")
    images = np.concatenate([images for images, _ in parts]).reshape(-1, *IMAGE)
    return Dataset(images, np.concatenate([labels for _, labels in parts]).astype(np.int64), classes, source)


LOADERS = (
    Loader(cifar10, "a folder with data_batch_1.bin (or data_batch_1) and so on", ORIGIN, has_test_files=True),
    Loader(cifar100, "a folder with train.bin and test.bin (or train and test)", ORIGIN, has_test_files=True),
)
