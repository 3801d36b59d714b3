"""MNIST and EMNIST from small idx files: orientation, numbering of classes, checksums."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from dataset_makers import images, packed, refused, write_pair

from fedconvex.deep.datasets import checksum, emnist, mnist

LABELS = [3, 1, 9]
PICTURES = images(3)


@pytest.mark.parametrize(
    ("image_name", "label_name"),
    [
        ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
        ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
        ("train-images.idx3-ubyte", "train-labels.idx1-ubyte"),
        ("train-images.idx3-ubyte.gz", "train-labels-idx1-ubyte"),
        ("raw/train-images-idx3-ubyte", "raw/train-labels-idx1-ubyte"),
    ],
)
def test_mnist_under_all_its_names(image_name: str, label_name: str, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    write_pair(tmp_path, image_name, label_name, PICTURES, LABELS)
    found = mnist(tmp_path)
    assert np.array_equal(found.inputs[:, 0], PICTURES)
    assert found.labels.tolist() == LABELS
    assert found.num_classes == 10


def test_splits_are_told_apart(tmp_path: Path) -> None:
    write_pair(tmp_path, "train-images-idx3-ubyte", "train-labels-idx1-ubyte", PICTURES, LABELS)
    write_pair(tmp_path, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", PICTURES[:1], [7])
    assert mnist(tmp_path, "test").labels.tolist() == [7]
    with refused("split = tests", "did you mean test? known: train, test"):
        mnist(tmp_path, "tests")


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with refused(str(tmp_path), "train-images-idx3-ubyte or train-images.idx3-ubyte", "LeCun"):
        mnist(tmp_path)
    with refused("there is no such folder", "train-images-idx3-ubyte", "nothing is downloaded"):
        mnist(tmp_path / "nowhere")
    (tmp_path / "file").write_bytes(b"")
    with refused("is a file, not the folder"):
        mnist(tmp_path / "file")


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    names = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
    write_pair(tmp_path, *names, PICTURES, [1, 2])
    with refused(names[1], "2 labels for 3 images in train-images-idx3-ubyte"):
        mnist(tmp_path)
    write_pair(tmp_path, *reversed(names), PICTURES, [1, 2, 3])
    with refused(names[0], "holds uint8 of shape (3,), not uint8 with 3 axes"):
        mnist(tmp_path)
    write_pair(tmp_path, *names, PICTURES, [1, 2, 10])
    with refused("labels[2] = 10"):
        mnist(tmp_path)
    write_pair(tmp_path, *names, PICTURES[:0], [])
    with refused("of shape (0, 4, 4)"):
        mnist(tmp_path)


def test_other_files_under_the_names_of_mnist_are_noticed(tmp_path: Path) -> None:
    write_pair(tmp_path, "train-images-idx3-ubyte", "train-labels-idx1-ubyte", PICTURES, LABELS)
    with refused("train-images-idx3-ubyte", "not ba891046", "another file, or a damaged one"):
        mnist(tmp_path, verify=True)


def emnist_files(folder: Path, subset: str, labels: list[int], split: str = "train") -> np.ndarray:
    upright = images(len(labels), 3, 5)
    stem = f"emnist-{subset}-{split}"
    names = f"{stem}-images-idx3-ubyte.gz", f"{stem}-labels-idx1-ubyte.gz"
    write_pair(folder, *names, upright.transpose(0, 2, 1), labels)
    return upright


def test_emnist_is_put_upright_and_letters_start_at_0(tmp_path: Path) -> None:
    upright = emnist_files(tmp_path, "letters", [1, 26, 11])
    found = emnist(tmp_path)
    assert np.array_equal(found.inputs[:, 0], upright)
    assert found.labels.tolist() == [0, 25, 10]
    assert found.num_classes == 26


@pytest.mark.parametrize(
    ("subset", "classes"), [("balanced", 47), ("byclass", 62), ("bymerge", 47), ("digits", 10), ("mnist", 10)]
)
def test_the_other_subsets_start_at_0_already(subset: str, classes: int, tmp_path: Path) -> None:
    emnist_files(tmp_path / "gzip", subset, [0, classes - 1], "test")
    found = emnist(tmp_path, "test", subset)
    assert found.labels.tolist() == [0, classes - 1]
    assert found.num_classes == classes


def test_the_first_ten_letters(tmp_path: Path) -> None:
    upright = emnist_files(tmp_path, "letters", [*range(1, 12), 1])
    found = emnist(tmp_path, first_classes=10)
    assert found.labels.tolist() == [*range(10), 0]
    assert found.num_classes == 10
    assert np.array_equal(found.inputs[:, 0], upright[[*range(10), 11]])
    with refused("num_classes = 12", "no sample", "class 11"):
        emnist(tmp_path, first_classes=12)
    for wrong in (0, 27, 2.5):
        with refused("first_classes"):
            emnist(tmp_path, first_classes=wrong)


def test_emnist_that_is_not_as_published(tmp_path: Path) -> None:
    emnist_files(tmp_path, "letters", [0, 1])
    with refused("emnist-letters-train-labels", "has a label 0"):
        emnist(tmp_path)
    with refused("emnist-digits-test-images-idx3-ubyte", "NIST"):
        emnist(tmp_path, "test", "digits")
    with refused("subset = letter", "did you mean letters?"):
        emnist(tmp_path, subset="letter")
    emnist_files(tmp_path, "letters", [27])
    with refused("labels[0] = 26"):
        emnist(tmp_path)


def test_given_sums(tmp_path: Path) -> None:
    emnist_files(tmp_path, "digits", [0, 1])
    name = "emnist-digits-train-labels-idx1-ubyte"
    right = checksum(tmp_path / f"{name}.gz")
    emnist(tmp_path, subset="digits", sha256={name: right.upper()})
    with refused(name, f"SHA-256 {right}, not {'0' * 64}"):
        emnist(tmp_path, subset="digits", sha256={name: "0" * 64})
    with refused("sha256 = labels", "is not among the files of this data set", name):
        emnist(tmp_path, subset="digits", sha256={"labels": right})
    with refused("is one checksum for 2 files"):
        emnist(tmp_path, subset="digits", sha256=right)
    with refused("is not a SHA-256"):
        emnist(tmp_path, subset="digits", sha256={name: "00"})


def test_a_sum_is_of_the_content_not_of_its_compression(tmp_path: Path) -> None:
    data = packed(PICTURES)
    (tmp_path / "a").write_bytes(data)
    (tmp_path / "b.gz").write_bytes(gzip.compress(data, 1))
    (tmp_path / "c.gz").write_bytes(gzip.compress(data, 9))
    assert len({checksum(tmp_path / name) for name in ("a", "b.gz", "c.gz")}) == 1
    (tmp_path / "d").write_bytes(data + b"\0")
    assert checksum(tmp_path / "d") != checksum(tmp_path / "a")
    (tmp_path / "abc").write_bytes(b"abc")  # the example of FIPS 180-2
    assert checksum(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    (tmp_path / "e.gz").write_bytes(gzip.compress(data)[:-9])
    with refused("e.gz", "truncated"):
        checksum(tmp_path / "e.gz")
