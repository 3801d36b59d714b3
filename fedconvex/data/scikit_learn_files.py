"""The bundled data sets, read from scikit-learn's files without importing scikit-learn, which takes a second.

The numbers are those that scikit-learn's own loaders return, bit by bit; a test compares them.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np


class BundledSamples(NamedTuple):
    """Features (n, p), the p names of the features, and targets (n,)."""

    features: np.ndarray
    names: tuple[str, ...]
    targets: np.ndarray


def read(name: str) -> BundledSamples | None:
    """The data set that `sklearn.datasets.load_{name}` returns; None if it is not known here, or has no file there."""
    folder = _folder()
    if folder is None or name not in READERS:
        return None
    try:
        return READERS[name](folder)
    except FileNotFoundError:  # another release keeps it elsewhere
        return None


def _folder() -> Path | None:
    package = find_spec("sklearn")  # finds the package without executing it
    places = None if package is None else package.submodule_search_locations
    return Path(places[0]) / "datasets" / "data" if places else None


def _diabetes(folder: Path) -> BundledSamples:
    raw = np.loadtxt(folder / "diabetes_data_raw.csv.gz")
    features = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    features /= raw.shape[0] ** 0.5
    names = ("age", "sex", "bmi", "bp", *(f"s{i}" for i in range(1, 7)))
    return BundledSamples(features, names, np.loadtxt(folder / "diabetes_target.csv.gz"))


CELLS = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points", "symmetry",
    "fractal dimension",
)  # fmt: skip


def _breast_cancer(folder: Path) -> BundledSamples:
    rows = np.loadtxt(folder / "breast_cancer.csv", delimiter=",", skiprows=1)
    names = tuple(pattern.format(cell) for pattern in ("mean {}", "{} error", "worst {}") for cell in CELLS)
    return BundledSamples(rows[:, :-1].copy(), names, rows[:, -1].astype(int))


def _digits(folder: Path) -> BundledSamples:
    rows = np.loadtxt(folder / "digits.csv.gz", delimiter=",")
    names = tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8))
    return BundledSamples(rows[:, :-1], names, rows[:, -1].astype(int))


READERS: dict[str, Callable[[Path], BundledSamples]] = {
    "breast_cancer": _breast_cancer,
    "diabetes": _diabetes,
    "digits": _digits,
}
