"""Data sets from files for the runner: read with NumPy alone, as data and never as code, without any download.

`load_dataset(name, data_dir, split)` finds them by name; the loaders themselves return a `Dataset`, which deals its
samples to clients. The sizes of all files are bounded, and every error is an InvalidInput that names the file.
"""

from fedconvex.deep.datasets.characters import CHARACTERS, character_numbers, characters
from fedconvex.deep.datasets.checksums import checksum
from fedconvex.deep.datasets.cifar import cifar10, cifar100
from fedconvex.deep.datasets.dataset import Dataset
from fedconvex.deep.datasets.idx import read_idx
from fedconvex.deep.datasets.image_folder import image_folder
from fedconvex.deep.datasets.leaf import leaf, read_leaf_json
from fedconvex.deep.datasets.mnist import MNIST_SUMS, emnist, mnist
from fedconvex.deep.datasets.plays import read_plays
from fedconvex.deep.datasets.registry import load_dataset, names
from fedconvex.deep.datasets.sent140 import sent140
from fedconvex.deep.datasets.shakespeare import shakespeare
from fedconvex.deep.datasets.tables import digits, libsvm
from fedconvex.deep.datasets.words import read_word_vectors, word_numbers

__all__ = [
    "CHARACTERS",
    "MNIST_SUMS",
    "Dataset",
    "character_numbers",
    "characters",
    "checksum",
    "cifar10",
    "cifar100",
    "digits",
    "emnist",
    "image_folder",
    "leaf",
    "libsvm",
    "load_dataset",
    "mnist",
    "names",
    "read_idx",
    "read_leaf_json",
    "read_plays",
    "read_word_vectors",
    "sent140",
    "shakespeare",
    "word_numbers",
]
