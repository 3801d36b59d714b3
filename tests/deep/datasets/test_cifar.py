"""CIFAR from small binary files: pixels, labels and batches in place; damaged and pickled files refused."""

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


def test_the_binary_version_of_cifar10(tmp_path: Path) -> None:
    for folder in (binary_10(tmp_path / "a"), binary_10(tmp_path / "b" / "cifar-10-batches-bin").parent):
        train, test = cifar10(folder), cifar10(folder, "test")
        assert train.labels.tolist() == LABELS[:10]
        assert test.labels.tolist() == LABELS[10:]
        assert train.inputs.shape == (10, 3, 32, 32)
        # red, then green, then blue, each row by row
        assert train.inputs[4, 1, 2, 3] == RECORDS[4, 1024 + 2 * 32 + 3]
        assert np.array_equal(test.inputs.reshape(2, -1), RECORDS[10:])


def test_cifar100_fine_and_coarse(tmp_path: Path) -> None:
    for name in ("train", "test"):
        rows = [bytes([COARSE[k], FINE[k]]) + RECORDS[k].tobytes() for k in range(3)]
        (tmp_path / f"{name}.bin").write_bytes(b"".join(rows))
    assert cifar100(tmp_path).labels.tolist() == FINE
    assert cifar100(tmp_path).num_classes == 100
    coarse = cifar100(tmp_path, "test", labels="coarse")
    assert coarse.labels.tolist() == COARSE
    assert coarse.num_classes == 20
    assert np.array_equal(coarse.inputs.reshape(3, -1), RECORDS[:3])
    with refused("labels = find", "did you mean fine?"):
        cifar100(tmp_path, labels="find")


@pytest.mark.parametrize("inside", ["", "cifar-10-batches-py"])
def test_the_pickled_version_is_refused_and_not_executed(inside: str, tmp_path: Path) -> None:
    folder = tmp_path / inside
    folder.mkdir(exist_ok=True)
    executed = tmp_path / "executed"
    (folder / "data_batch_1").write_bytes(f"cos\nmkdir\n(V{executed}\ntR.".encode())  # os.mkdir, when unpickled
    with refused(str(folder / "data_batch_1"), "Python version of CIFAR-10", "cifar-10-binary.tar.gz"):
        cifar10(tmp_path)
    assert not executed.exists()
    assert len(cifar10(binary_10(tmp_path)).labels) == 10  # both versions in one folder: the binary one is read


def test_the_pickled_version_of_cifar100_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cifar-100-python").mkdir()
    (tmp_path / "cifar-100-python" / "test").write_bytes(b"\x80\x02}.")
    with refused(str(tmp_path / "cifar-100-python" / "test"), "Python version", "cifar-100-binary.tar.gz"):
        cifar100(tmp_path, "test")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with refused(str(tmp_path), "data_batch_1.bin", "cifar-10-batches-bin", "Krizhevsky"):
        cifar10(tmp_path)
    with refused("there is no such folder", "test_batch.bin"):
        cifar10(tmp_path / "nowhere", "test")
    (binary_10(tmp_path) / "data_batch_4.bin").unlink()
    with refused("data_batch_4.bin"):
        cifar10(tmp_path)
    with refused("train.bin", "cifar-100-binary"):
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


def test_sums(tmp_path: Path) -> None:
    right = checksum(binary_10(tmp_path) / "test_batch.bin")
    cifar10(tmp_path, "test", sha256=right)
    with refused("test_batch.bin", "not " + "f" * 64):
        cifar10(tmp_path, "test", sha256="f" * 64)
    with refused("data_batch_3.bin"):
        cifar10(tmp_path, sha256={"data_batch_3.bin": right})
