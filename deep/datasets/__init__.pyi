"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""

from fedconvex.deep.datasets.characters import CHARACTERS as CHARACTERS
from fedconvex.deep.datasets.characters import character_numbers as character_numbers
from fedconvex.deep.datasets.characters import characters as characters
from fedconvex.deep.datasets.cifar import cifar10 as cifar10
from fedconvex.deep.datasets.cifar import cifar100 as cifar100
from fedconvex.deep.datasets.dataset import Dataset as Dataset
from fedconvex.deep.datasets.idx import read_idx as read_idx
from fedconvex.deep.datasets.leaf import leaf as leaf
from fedconvex.deep.datasets.leaf import read_leaf_json as read_leaf_json
from fedconvex.deep.datasets.mnist import MNIST_SUMS as MNIST_SUMS
from fedconvex.deep.datasets.mnist import emnist as emnist
from fedconvex.deep.datasets.mnist import mnist as mnist
from fedconvex.deep.datasets.plays import read_plays as read_plays
from fedconvex.deep.datasets.reading import checksum as checksum
from fedconvex.deep.datasets.registry import load_dataset as load_dataset
from fedconvex.deep.datasets.registry import names as names
from fedconvex.deep.datasets.sent140 import sent140 as sent140
from fedconvex.deep.datasets.shakespeare import shakespeare as shakespeare
from fedconvex.deep.datasets.tables import digits as digits
from fedconvex.deep.datasets.tables import libsvm as libsvm
from fedconvex.deep.datasets.words import read_word_vectors as read_word_vectors
from fedconvex.deep.datasets.words import word_numbers as word_numbers

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
