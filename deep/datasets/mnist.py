"""MNIST, data sets with the same file names (Fashion-MNIST, KMNIST), and EMNIST: grey images in idx files."""

import os
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np

from fedconvex.data.table import bad_file
from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.idx import read_idx
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.reading import Checksums, find, require_checksums
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least

MNIST_ORIGIN = "the MNIST page of Yann LeCun or one of its mirrors (fedconvex deep download mnist does)"
EMNIST_ORIGIN = "the EMNIST page of NIST (the archive gzip.zip)"
# SHA-256 of the uncompressed files: copies of MNIST in circulation are compressed in different ways.
MNIST_SUMS = MappingProxyType({
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
})  # fmt: skip
EMNIST_CLASSES = MappingProxyType(
    {"letters": 26, "balanced": 47, "byclass": 62, "bymerge": 47, "digits": 10, "mnist": 10}
)


def mnist(folder: str | os.PathLike[str], split: str = "train", *, verify: bool = False) -> Dataset:
    """MNIST: uint8 images (N, 1, 28, 28) of the 10 handwritten digits; N = 60,000 (train) or 10,000 (test).

    Use it for the papers' first image experiments; `Dataset.deal` makes the clients.

    folder: contains the files of that split, such as train-images-idx3-ubyte, also with .idx3 or .gz.
    verify: compare the files with the published checksums; leave it False for Fashion-MNIST and KMNIST.
    Raises InvalidInput. Source: LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to document
    recognition" (1998).
    """
    stem = {"train": "train", "test": "t10k"}[one_of(split, ("train", "test"), "split")]
    paths = [_find(Path(folder), stem, kind, "MNIST", MNIST_ORIGIN) for kind in ("images-idx3", "labels-idx1")]
    if verify:
        for path, kind in zip(paths, ("images-idx3", "labels-idx1"), strict=True):
            require_checksums([path], MNIST_SUMS[f"{stem}-{kind}-ubyte"])
    images, labels = _read(*paths)
    return Dataset(images, labels, 10, f"MNIST {split}")


def emnist(
    folder: str | os.PathLike[str],
    split: str = "train",
    subset: str = "letters",
    *,
    first_classes: int | None = None,
    sha256: Checksums = None,
) -> Dataset:
    """EMNIST: uint8 images (N, 1, 28, 28) of handwritten letters and digits, upright.

    Use it for FedDyn's EMNIST-L (`first_classes=10`), or where MNIST's 10 classes are too few.

    folder: contains emnist-SUBSET-train-images-idx3-ubyte and so on, also with .gz, or a folder `gzip` with them.
    subset: letters (26 classes, numbered from 1 in the files and from 0 here), balanced or bymerge (47), byclass (62),
        digits or mnist (10).
    first_classes: keep only the classes 0 … first_classes − 1; each must occur. 10 of letters is FedDyn's EMNIST-L.
    sha256: expected checksums of the uncompressed files by name.

    Raises InvalidInput. Source: Cohen, Afshar, Tapson and van Schaik, "EMNIST: an extension of MNIST to handwritten
    letters" (2017); FedDyn, appendix A.2.
    """
    one_of(split, ("train", "test"), "split")
    classes = EMNIST_CLASSES[one_of(subset, EMNIST_CLASSES, "subset")]
    name = f"EMNIST {subset} {split}"
    stem = f"emnist-{subset}-{split}"
    paths = [_find(Path(folder), stem, kind, "EMNIST", EMNIST_ORIGIN) for kind in ("images-idx3", "labels-idx1")]
    require_checksums(paths, sha256)
    images, labels = _read(*paths)
    images = np.ascontiguousarray(images.swapaxes(2, 3))  # EMNIST's files store every image transposed
    labels = labels.astype(np.int64)
    if subset == "letters":
        if labels.min() < 1:
            raise bad_file(paths[1], "has a label 0; letters are numbered from 1", "give the original labels")
        labels -= 1
    if first_classes is None:
        return Dataset(images, labels, classes, name)
    kept = integer_at_least(first_classes, 1, "first_classes")
    if kept > classes:
        raise InvalidInput("first_classes", kept, f"{subset} has {classes} classes", f"give at most {classes}")
    whole = Dataset(images, labels, classes, name)
    rows = whole.labels < kept
    if not rows.any():
        raise InvalidInput("first_classes", kept, f"none of them has a sample in {name}", "give more classes")
    return Dataset(whole.inputs[rows], whole.labels[rows], kept, f"{name}, first {kept}").require_all_classes()


def _find(folder: Path, stem: str, kind: str, data: str, origin: str) -> Path:
    # Copies in circulation are named …-images-idx3-ubyte or …-images.idx3-ubyte; torchvision puts them into MNIST/raw,
    # and EMNIST's archive has them in a folder gzip.
    names = [f"{stem}-{kind}-ubyte", f"{stem}-{kind.replace('-', '.')}-ubyte"]
    inside = ["", *(sub for sub in (f"{data}/raw/", "raw/", "gzip/") if (folder / sub).is_dir())]
    return find(folder, [place + name for place, name in product(inside, names)], data, origin)


def _read(image_path: Path, label_path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read images (N, 1, height, width) and labels (N,), N >= 1."""
    images, labels = read_idx(image_path), read_idx(label_path)
    for path, array, axes in ((image_path, images, 3), (label_path, labels, 1)):
        if array.dtype != np.uint8 or array.ndim != axes or array.size == 0:
            problem = f"holds {array.dtype} of shape {array.shape}, not uint8 with {axes} axes"
            raise bad_file(path, problem, "give image and label files under their own names")
    if len(images) != len(labels):
        problem = f"has {len(labels)} labels for {len(images)} images in {image_path.name}"
        raise bad_file(label_path, problem, "give two files of the same split")
    return images[:, None], labels


LOADERS = (
    Loader(mnist, "a folder with train-images-idx3-ubyte and so on", MNIST_ORIGIN, True),
    Loader(emnist, "a folder with emnist-letters-train-images-idx3-ubyte and so on", EMNIST_ORIGIN, True),
)
