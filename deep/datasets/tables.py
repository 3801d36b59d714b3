"""Small tables: LIBSVM files, and the digits that scikit-learn carries with it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedconvex.data import builtin
from fedconvex.data.files import read_table
from fedconvex.data.targets import as_class_labels
from fedconvex.deep.datasets.checksums import Sums, require_sums
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.reading import missing
from fedconvex.errors import InvalidInput

ORIGIN = "the LIBSVM data page of Chang and Lin"


def libsvm(
    path: str | os.PathLike[str],
    *,
    num_features: int | None = None,
    classes: Sequence[Any] | None = None,
    sha256: Sums = None,
) -> Dataset:
    """A LIBSVM file, gzipped or not: float64 inputs (N, p), labels numbered 0, 1, … in the order of the file's labels.

    num_features: p, where the last features never occur. classes: all labels there are, 2 or more, where some may not
    occur (give the same for training and test file); default: those that occur. sha256: the file's sum.
    Raises InvalidInput. See `fedconvex.data.files.read_table`.
    """
    if not Path(path).is_file():
        raise missing(Path(path), "there is no such file", "LIBSVM data", ORIGIN)
    require_sums([Path(path)], sha256)
    table = read_table(path, format="libsvm", num_features=num_features)
    if table.targets.dtype.kind != "i":
        problem = f"has labels that are no whole numbers, such as {table.targets[table.targets % 1 != 0][0]}"
        raise InvalidInput("path", Path(path), problem, "give data of a classification")
    every = as_class_labels(table.targets if classes is None else classes, table.targets)
    return Dataset(table.features, np.searchsorted(every, table.targets), len(every), Path(path).name)


def digits() -> Dataset:
    """1,797 handwritten digits: float32 images (1797, 1, 8, 8), 0 … 1 in steps of 1/16, and 10 classes. No files.

    Source: Alpaydin and Kaynak, optical recognition of handwritten digits, test set (1998), through scikit-learn.
    """
    table = builtin.table("digits")
    return Dataset(table.features.reshape(-1, 1, 8, 8).astype(np.float32), table.targets, 10, "digits")


LOADERS = (Loader(libsvm, "a LIBSVM file", ORIGIN), Loader(digits, "", "scikit-learn"))
