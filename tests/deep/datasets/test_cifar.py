import pickle
from pathlib import Path

import numpy as np
import pytest
from dataset_makers import refused

from fedconvex.deep.datasets import checksum, cifar10, cifar100

RECORDS = np.random.default_rng(0).integers(0, 256, (12, 3072), dtype=np.uint8)
LABELS = [3, 0, 9, 1, 2, 2, 7, 8, 5, 6, 4, 4]
COARSE, FINE = [19, 0, 3], [99, 0, 41]
BATCHES = [f"data_batch_{i}" for i in range(1, 6)]


def binary_10(folder: Path, ending: str = ".bin") -> Path:
    """Two images in each training batch, two in the test batch."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate([*BATCHES, "test_batch"]):
        rows = range(2 * i, 2 * i + 2)
        (folder / f"{name}{ending}").write_bytes(b"".join(bytes([LABELS[r]]) + RECORDS[r].tobytes() for r in rows))
    return folder


def python_10(folder: Path, protocol: int, as_bytes: bool) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate([*BATCHES, "test_batch"]):
        rows = slice(2 * i, 2 * i + 2)
        batch = {"data": RECORDS[rows], "labels": LABELS[rows], "batch_label": "x", "filenames": ["a.png", "b.png"]}
        named = {key.encode(): value for key, value in batch.items()} if as_bytes else batch
        (folder / name).write_bytes(pickle.dumps(named, protocol))
    return folder


def test_the_binary_version_of_cifar10(tmp_path: Path) -> None:
    for folder in (binary_10(tmp_path / "a"), binary_10(tmp_path / "b" / "cifar-10-batches-bin").parent):
        train, test = cifar10(folder), cifar10(folder, "test")
        assert train.labels.tolist() == LABELS[:10]
        assert test.labels.tolist() == LABELS[10:]
        assert train.inputs.shape == (10, 3, 32, 32)
        # red, then green, then blue, each row by row
        assert train.inputs[4, 1, 2, 3] == RECORDS[4, 1024 + 2 * 32 + 3]
        assert np.array_equal(test.inputs.reshape(2, -1), RECORDS[10:])


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("as_bytes", [False, True])
def test_the_python_version_is_the_same(protocol: int, as_bytes: bool, tmp_path: Path) -> None:
    one = cifar10(python_10(tmp_path / "cifar-10-batches-py", protocol, as_bytes).parent)
    other = cifar10(binary_10(tmp_path / "binary"))
    assert np.array_equal(one.inputs, other.inputs)
    assert np.array_equal(one.labels, other.labels)


@pytest.mark.parametrize("kind", ["binary", "python"])
def test_cifar100_fine_and_coarse(kind: str, tmp_path: Path) -> None:
    for name in ("train", "test"):
        if kind == "binary":
            rows = [bytes([COARSE[k], FINE[k]]) + RECORDS[k].tobytes() for k in range(3)]
            (tmp_path / f"{name}.bin").write_bytes(b"".join(rows))
        else:
            batch = {b"data": RECORDS[:3], b"fine_labels": FINE, b"coarse_labels": COARSE}
            (tmp_path / name).write_bytes(pickle.dumps(batch, 2))
    assert cifar100(tmp_path).labels.tolist() == FINE
    assert cifar100(tmp_path).num_classes == 100
    coarse = cifar100(tmp_path, "test", labels="coarse")
    assert coarse.labels.tolist() == COARSE
    assert coarse.num_classes == 20
    assert np.array_equal(coarse.inputs.reshape(3, -1), RECORDS[:3])
    with refused("labels = find", "did you mean fine?"):
        cifar100(tmp_path, labels="find")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with refused(str(tmp_path), "data_batch_1.bin or data_batch_1", "cifar-10-batches-py", "Krizhevsky"):
        cifar10(tmp_path)
    with refused("there is no such folder", "test_batch.bin"):
        cifar10(tmp_path / "nowhere", "test")
    (binary_10(tmp_path) / "data_batch_4.bin").unlink()
    with refused("data_batch_4.bin or data_batch_4"):
        cifar10(tmp_path)
    with refused("train.bin or train", "cifar-100-python"):
        cifar100(tmp_path)


def test_wrong_binary_files(tmp_path: Path) -> None:
    path = binary_10(tmp_path) / "test_batch.bin"
    whole = path.read_bytes()
    for data, says in (
        (whole[:-1], "has 6145 bytes, which is no multiple of a record's 3073"),
        (whole + b"\0", "no multiple"),
        (b"", "the file is empty"),
        (b"\x0a" + whole[1:], "image 0 has label 10, there are 10 classes"),
    ):
        path.write_bytes(data)
        with refused("test_batch.bin", says):
            cifar10(tmp_path, "test")


GOOD = {"data": RECORDS[:2], "labels": [1, 2]}


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        ({"data": RECORDS[:2]}, "has no entry 'labels'"),
        ({"labels": [1, 2]}, "has no entry 'data'"),
        (GOOD | {"labels": [1]}, "has 1 labels for 2 images"),
        (GOOD | {"labels": [1, 10]}, "image 1 has label 10"),
        (GOOD | {"labels": [1, -1]}, "is no list of class numbers"),
        (GOOD | {"labels": [1, "2"]}, "is no list of class numbers"),
        (GOOD | {"labels": [True, 1]}, "is no list of class numbers"),
        (GOOD | {"labels": (1, 2)}, "is no list of class numbers"),
        (GOOD | {"data": RECORDS[:2, :3000]}, "uint8 of shape (2, 3000), not uint8 of shape (N, 3072)"),
        (GOOD | {"data": RECORDS[:2].astype(float)}, "'data' is float64"),
        (GOOD | {"data": b"x" * 3072}, "'data' is bytes"),
        ({"data": RECORDS[:0], "labels": []}, "has no images"),
    ],
)
def test_wrong_python_batches(batch: dict, says: str, tmp_path: Path) -> None:
    (tmp_path / "test_batch").write_bytes(pickle.dumps(batch))
    with refused("test_batch", says):
        cifar10(tmp_path, "test")


def test_labels_may_be_an_array(tmp_path: Path) -> None:
    (tmp_path / "test_batch").write_bytes(pickle.dumps(GOOD | {"labels": np.array([1, 2])}))
    assert cifar10(tmp_path, "test").labels.tolist() == [1, 2]


def test_sums(tmp_path: Path) -> None:
    right = checksum(binary_10(tmp_path) / "test_batch.bin")
    cifar10(tmp_path, "test", sha256=right)
    with refused("test_batch.bin", "not " + "f" * 64):
        cifar10(tmp_path, "test", sha256="f" * 64)
    with refused("data_batch_3.bin"):
        cifar10(tmp_path, sha256={"data_batch_3.bin": right})
