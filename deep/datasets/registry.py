"""The data sets by their names, for command lines and configurations."""

import os
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, NamedTuple

from fedconvex.deep.datasets.choices import one_of
from fedconvex.deep.datasets.cifar import ORIGIN as CIFAR_ORIGIN
from fedconvex.deep.datasets.cifar import cifar10, cifar100
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.image_folder import ORIGIN as IMAGE_ORIGIN
from fedconvex.deep.datasets.image_folder import image_folder
from fedconvex.deep.datasets.leaf import ORIGIN as LEAF_ORIGIN
from fedconvex.deep.datasets.leaf import leaf
from fedconvex.deep.datasets.mnist import EMNIST_ORIGIN, MNIST_ORIGIN, emnist, mnist
from fedconvex.deep.datasets.plays import ORIGIN as PLAYS_ORIGIN
from fedconvex.deep.datasets.sent140 import ORIGIN as TWEETS_ORIGIN
from fedconvex.deep.datasets.sent140 import sent140
from fedconvex.deep.datasets.shakespeare import shakespeare
from fedconvex.deep.datasets.tables import ORIGIN as TABLES_ORIGIN
from fedconvex.deep.datasets.tables import digits, libsvm
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least


class Known(NamedTuple):
    """How a data set is loaded, which files it takes, and where they can be had."""

    load: Callable[..., Dataset]
    files: str
    origin: str


DATASETS = {
    "mnist": Known(mnist, "a folder with train-images-idx3-ubyte and so on", MNIST_ORIGIN),
    "emnist": Known(emnist, "a folder with emnist-letters-train-images-idx3-ubyte and so on", EMNIST_ORIGIN),
    "cifar10": Known(cifar10, "a folder with data_batch_1.bin and so on", CIFAR_ORIGIN),
    "cifar100": Known(cifar100, "a folder with train.bin and test.bin", CIFAR_ORIGIN),
    "shakespeare": Known(shakespeare, "a folder or file of plays as text, or LEAF's JSON", PLAYS_ORIGIN),
    "sent140": Known(sent140, "a CSV file of tweets, or LEAF's JSON", TWEETS_ORIGIN),
    "leaf": Known(leaf, "a file or folder of LEAF's JSON", LEAF_ORIGIN),
    "libsvm": Known(libsvm, "a LIBSVM file", TABLES_ORIGIN),
    "image_folder": Known(image_folder, "a folder with a folder of images for each class", IMAGE_ORIGIN),
    "digits": Known(digits, "no files", "scikit-learn"),
}
WITHOUT_FILES = ("digits",)


def names() -> tuple[str, ...]:
    """The names that `load_dataset` knows."""
    return tuple(DATASETS)


def load_dataset(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    split: str | None = None,
    *,
    num_classes: int | None = None,
    **options: Any,
) -> Dataset:
    """The data set of that name; nothing is downloaded.

    data_dir: the folder or file that the loader of the same name takes first; digits needs none, and looks at none.
    split: train or test, where there are such; by default that of the loader. num_classes: what the data must have,
    with samples in every class. options: further arguments of the loader.

    Raises InvalidInput: unknown names and options (with the nearest known one), files that are not there (with those
    that are looked for, where, and where they can be had), and whatever the loader refuses.
    """
    known = DATASETS[one_of(name, DATASETS, "name")]
    takes = dict(signature(known.load).parameters)
    if name not in WITHOUT_FILES:
        takes.pop(next(iter(takes)))  # the folder or file
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
    if name in WITHOUT_FILES:
        found = known.load(**given)
    elif data_dir is None:
        cure = f"give data_dir: {known.files}, from {known.origin}"
        raise InvalidInput("data_dir", None, f"is missing: {name} needs files, and nothing is downloaded", cure)
    else:
        found = known.load(data_dir, **given)
    return found if num_classes is None else _with_classes(found, num_classes)


def _with_classes(found: Dataset, num_classes: int) -> Dataset:
    if found.num_classes != integer_at_least(num_classes, 1, "num_classes"):
        problem = f"{found.source} has {found.num_classes} classes"
        raise InvalidInput("num_classes", num_classes, problem, f"give {found.num_classes}, or leave it out")
    return found.require_all_classes()
