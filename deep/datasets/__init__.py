"""Data sets for the runner, read from files: nothing in them is executed, and reading them downloads nothing.

`load_dataset(name, data_dir, split)` finds them by name; each loader returns a `Dataset`, which can be divided among
clients. The sizes of all files are bounded, and every error is an InvalidInput that names the file.

A new data set is a new module here with a tuple `LOADERS` (`loader.Loader`); its functions are then names of this
package.
"""

from fedconvex.deep.datasets.characters import CHARACTERS, character_numbers, characters
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.idx import read_idx
from fedconvex.deep.datasets.leaf import read_leaf_json
from fedconvex.deep.datasets.mnist import MNIST_SUMS
from fedconvex.deep.datasets.plays import read_plays
from fedconvex.deep.datasets.reading import checksum
from fedconvex.deep.datasets.registry import DATASETS, load_dataset, names
from fedconvex.deep.datasets.words import read_word_vectors, word_numbers

# Bound here and not in a `__getattr__`: importing a module such as `mnist` makes the module an attribute of this
# package, which would hide the function of the same name.
globals().update({name: loader.load for name, loader in DATASETS.items()})

__all__ = [
    *DATASETS,
    "CHARACTERS",
    "MNIST_SUMS",
    "Dataset",
    "character_numbers",
    "characters",
    "checksum",
    "load_dataset",
    "names",
    "read_idx",
    "read_leaf_json",
    "read_plays",
    "read_word_vectors",
    "word_numbers",
]
