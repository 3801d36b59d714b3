"""CIFAR-10 and CIFAR-100 from the files of the binary version.

The publisher's other version, "for Python", is a set of pickles. Unpickling a file executes it, so those files are
refused with an error that says which ones to take instead.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fedconvex.data.file_contents import contents
from fedconvex.data.table import bad_file
from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.reading import Checksums, find, missing, require_checksums, require_folder

ORIGIN = "the CIFAR page of Alex Krizhevsky, University of Toronto (fedconvex deep download cifar10 or cifar100 does)"
IMAGE_SHAPE = (3, 32, 32)  # a record stores all red values, then green, then blue: torch's order of axes
IMAGE_BYTES = 3 * 32 * 32
BATCHES = tuple(f"data_batch_{i}" for i in range(1, 6))
SPLITS = ("train", "test")


def cifar10(folder: str | os.PathLike[str], split: str = "train", *, sha256: Checksums = None) -> Dataset:
    """CIFAR-10: uint8 images (N, 3, 32, 32), channels red, green, blue, of 10 classes; N = 50,000 or 10,000.

    Use it for the image experiments of the papers, with `Dataset.deal` for the clients: the data have none.

    folder: contains data_batch_1.bin … data_batch_5.bin and test_batch.bin, or a folder cifar-10-batches-bin with them.
    sha256: expected checksums by file name.

    Raises InvalidInput, also for the pickled Python version (data_batch_1 without .bin).
    Source: Krizhevsky, "Learning multiple layers of features from tiny images" (2009).
    """
    names = BATCHES if one_of(split, SPLITS, "split") == "train" else ("test_batch",)
    folder = _folder_with(Path(folder), names, "CIFAR-10", "cifar-10-batches-bin", "cifar-10-batches-py")
    paths = [find(folder, [f"{name}.bin"], "CIFAR-10", ORIGIN) for name in names]
    require_checksums(paths, sha256)
    return _dataset(paths, 1, 0, 10, f"CIFAR-10 {split}")


def cifar100(
    folder: str | os.PathLike[str], split: str = "train", labels: str = "fine", *, sha256: Checksums = None
) -> Dataset:
    """CIFAR-100: uint8 images (N, 3, 32, 32) of 100 classes, grouped into 20 coarse ones; N = 50,000 or 10,000.

    Use it where CIFAR-10 has too few classes: with 100 classes, partitions by label differ more between clients.

    folder: contains train.bin and test.bin, or a folder cifar-100-binary with them.
    labels: fine (100 classes) or coarse (20). sha256: expected checksums by file name.

    Raises InvalidInput, also for the pickled Python version (train and test without .bin). Source: as for `cifar10`.
    """
    coarse = one_of(labels, ("fine", "coarse"), "labels") == "coarse"
    name = one_of(split, SPLITS, "split")
    folder = _folder_with(Path(folder), (name,), "CIFAR-100", "cifar-100-binary", "cifar-100-python")
    path = find(folder, [f"{name}.bin"], "CIFAR-100", ORIGIN)
    require_checksums([path], sha256)
    # Each record of CIFAR-100 starts with the coarse label, then the fine one.
    return _dataset([path], 2, 0 if coarse else 1, 20 if coarse else 100, f"CIFAR-100 {split} ({labels})")


def _folder_with(folder: Path, names: Sequence[str], data: str, unpacked: str, pickled: str) -> Path:
    """`folder`, or the folder `unpacked` inside it, whichever contains the first of the binary files."""
    wanted = [f"{name}.bin" for name in names]
    require_folder(folder, wanted, data, ORIGIN)
    for place in (folder, folder / unpacked):
        if any((place / f"{wanted[0]}{end}").is_file() for end in ("", ".gz")):
            return place
    # The Python version has the same file names without .bin.
    for file in (folder / names[0], folder / pickled / names[0]):
        if file.is_file():
            problem = f"belongs to the Python version of {data}, which is pickled and not read here"
            archive = f"{data.lower()}-binary.tar.gz"
            cure = f"take the binary version, {archive}, from {ORIGIN}"
            raise bad_file(file, problem, cure)
    raise missing(folder, f"has no file {wanted[0]}, nor has {unpacked} in it", data, ORIGIN)


def _dataset(paths: Sequence[Path], label_bytes: int, label_place: int, num_classes: int, source: str) -> Dataset:
    parts = [_records(path, label_bytes) for path in paths]
    for path, records in zip(paths, parts, strict=True):
        labels = records[:, label_place]
        # The format has no magic number: a label out of range is the only sign of other contents.
        if labels.max() >= num_classes:
            problem = f"image {int(labels.argmax())} has label {int(labels.max())}, there are {num_classes} classes"
            raise bad_file(path, problem, "give files of this data set")
    images = np.concatenate([records[:, label_bytes:] for records in parts]).reshape(-1, *IMAGE_SHAPE)
    labels = np.concatenate([records[:, label_place] for records in parts]).astype(np.int64)
    return Dataset(images, labels, num_classes, source)


def _records(path: Path, label_bytes: int) -> np.ndarray:
    """Rows of 1 or 2 label bytes followed by 3,072 pixels; at least one row, for an empty file is refused."""
    data = np.frombuffer(contents(path), dtype=np.uint8)
    size = label_bytes + IMAGE_BYTES
    if len(data) % size:
        problem = f"has {len(data)} bytes, which is no multiple of a record's {size}"
        raise bad_file(path, problem, "download or copy the file again")
    return data.reshape(-1, size)


LOADERS = (
    Loader(cifar10, "a folder with data_batch_1.bin and so on", ORIGIN, has_test_files=True),
    Loader(cifar100, "a folder with train.bin and test.bin", ORIGIN, has_test_files=True),
)
