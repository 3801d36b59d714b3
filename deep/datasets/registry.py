"""The data sets by their names, for command lines and configurations."""

import os
from collections.abc import Mapping
from importlib import import_module
from inspect import Parameter, signature
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.loader import Loader
from fedconvex.discovery import modules_that_bind
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least

_PACKAGE = "fedconvex.deep.datasets"


def _loaders() -> dict[str, Loader]:
    """Those that the modules of this folder list: a new module there is a new data set."""
    modules = (import_module(f"{_PACKAGE}.{name}") for name in modules_that_bind(_PACKAGE, "LOADERS"))
    loaders = sorted((loader for module in modules for loader in module.LOADERS), key=lambda loader: loader.name)
    for one, next_one in pairwise(loaders):
        if one.name == next_one.name:
            raise ImportError(f"two modules of {_PACKAGE} list a data set {one.name}: rename one of them")
    return {loader.name: loader for loader in loaders}


DATASETS: Mapping[str, Loader] = MappingProxyType(_loaders())
WITHOUT_FILES = tuple(name for name, loader in DATASETS.items() if not loader.files)
WITH_TEST_FILES = tuple(name for name, loader in DATASETS.items() if loader.has_test_files)


def names() -> tuple[str, ...]:
    """The names that `load_dataset` takes."""
    return tuple(DATASETS)


def load_dataset(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    split: str | None = None,
    *,
    num_classes: int | None = None,
    **options: Any,
) -> Dataset:
    """Reads the data set of that name from its files. Use it where the name comes from a user; it downloads nothing.

    Args:
        name: one of `names()`.
        data_dir: the folder or file that the loader of the same name takes first, or the folder that holds it under the
            data set's name; ignored for data sets without files.
        split: train or test, for data sets that have both; default as in the loader.
        num_classes: the number of classes that the data must have, with samples in every class.
        options: further arguments of the loader.

    Raises:
        InvalidInput: an unknown name or option (with the nearest known one); missing files (with their names, the
            folder and who publishes them); whatever the loader refuses.
    """
    loader = DATASETS[one_of(name, DATASETS, "name")]
    takes = dict(signature(loader.load).parameters)
    if loader.files:
        takes.pop(next(iter(takes)))  # the folder or file: it comes from data_dir, so it is no option
    given = dict(options) if split is None else {"split": split, **options}
    if num_classes is not None and "num_classes" in takes:
        given["num_classes"] = num_classes
    if split is not None and "split" not in takes:
        raise InvalidInput("split", split, f"{name} has no splits", "leave it out, and hold samples out afterwards")
    for option in given:
        one_of(option, takes, "option")
    for key, parameter in takes.items():
        if parameter.default is Parameter.empty and key not in given:
            raise InvalidInput(key, None, f"is missing: {name} needs it", f"give {key}")
    if not loader.files:
        found = loader.load(**given)
    elif data_dir is None:
        cure = f"give data_dir: {loader.files}, from {loader.origin}"
        raise InvalidInput("data_dir", None, f"is missing: {name} needs files, and nothing is downloaded", cure)
    else:
        inside = Path(data_dir) / name
        found = loader.load(inside if inside.is_dir() else data_dir, **given)
    return found if num_classes is None else _require_classes(found, num_classes)


def _require_classes(found: Dataset, num_classes: int) -> Dataset:
    if found.num_classes != integer_at_least(num_classes, 1, "num_classes"):
        problem = f"{found.source} has {found.num_classes} classes"
        raise InvalidInput("num_classes", num_classes, problem, f"give {found.num_classes}, or leave it out")
    return found.require_all_classes()
