"""Data sets from tables: LIBSVM files, and the digits that are installed with scikit-learn."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedconvex.data import builtin
from fedconvex.data.files import read_table
from fedconvex.data.targets import as_class_labels
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.reading import Checksums, missing, require_checksums
from fedconvex.errors import InvalidInput
from fedconvex.sparse import dense

ORIGIN = "the LIBSVM data page of Chang and Lin"


def libsvm(
    path: str | os.PathLike[str],
    *,
    num_features: int | None = None,
    classes: Sequence[Any] | None = None,
    sha256: Checksums = None,
) -> Dataset:
    """Read a LIBSVM classification file: float64 inputs (N, p), and the file's labels, sorted, as classes 0, 1, ….

    Use it for the tables of the LIBSVM page that fit into memory as dense arrays.

    path: plain or gzipped. num_features: p, needed where the last features are zero in every sample. classes: all
    labels, 2 or more; give the same ones for training and test file if a class may be absent from either; default:
    the labels in the file. sha256: the file's expected checksum.
    Raises InvalidInput. See `fedconvex.data.files.read_table`.
    """
    if not Path(path).is_file():
        raise missing(Path(path), "there is no such file", "LIBSVM data", ORIGIN)
    require_checksums([Path(path)], sha256)
    table = read_table(path, format="libsvm", num_features=num_features)
    if table.targets.dtype.kind != "i":
        problem = f"has labels that are not integers, such as {table.targets[table.targets % 1 != 0][0]}"
        raise InvalidInput("path", Path(path), problem, "give a classification data set")
    every = as_class_labels(table.targets if classes is None else classes, table.targets)
    # `every` is sorted, so a label's position in it is its class number.
    return Dataset(dense(table.features, "path"), np.searchsorted(every, table.targets), len(every), Path(path).name)


def digits() -> Dataset:
    """1,797 handwritten digits: float32 images (1797, 1, 8, 8) with values 0, 1/16, …, 1, of 10 classes.

    Use it for examples and tests: it needs no files. It is too easy to compare methods by their accuracy.
    Source: Alpaydin and Kaynak, optical recognition of handwritten digits, test set (1998), through scikit-learn.
    """
    table = builtin.table("digits")
    return Dataset(table.features.reshape(-1, 1, 8, 8).astype(np.float32), table.targets, 10, "digits")


LOADERS = (Loader(libsvm, "a LIBSVM file", ORIGIN), Loader(digits, "", "scikit-learn"))
