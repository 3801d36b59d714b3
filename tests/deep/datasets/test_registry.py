"""`load_dataset`: names, options and missing files; LIBSVM files."""

import json
from pathlib import Path

import numpy as np
import pytest
from dataset_makers import images, refused, write_pair

from fedconvex.deep.datasets import checksum, digits, libsvm, load_dataset, names, registry


@pytest.fixture
def mnist_folder(tmp_path: Path) -> Path:
    write_pair(tmp_path, "train-images-idx3-ubyte", "train-labels-idx1-ubyte", images(10), list(range(10)))
    write_pair(tmp_path, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", images(2), [4, 8])
    return tmp_path


def test_data_sets_by_name(mnist_folder: Path) -> None:
    assert load_dataset("mnist", mnist_folder).num_samples == 10
    assert load_dataset("mnist", data_dir=str(mnist_folder), split="test").labels.tolist() == [4, 8]
    assert load_dataset("digits").inputs.shape == (1797, 1, 8, 8)
    wanted = {"mnist", "emnist", "cifar10", "cifar100", "shakespeare", "sent140", "libsvm", "digits"}
    assert wanted <= set(names())


def test_unknown_names_and_options(mnist_folder: Path) -> None:
    with refused("name = minst", "did you mean mnist?", "cifar100"):
        load_dataset("minst", mnist_folder)
    with refused("option = verfy", "did you mean verify?"):
        load_dataset("mnist", mnist_folder, verfy=True)
    with refused("split = test", "digits has no splits"):
        load_dataset("digits", split="test")
    with refused("vocabulary = None", "is missing: sent140 needs it"):
        load_dataset("sent140", mnist_folder)
    with refused("train-images-idx3-ubyte", "not ba891046"):
        load_dataset("mnist", mnist_folder, verify=True)


@pytest.mark.parametrize("name", sorted(set(names()) - {"digits"}))
def test_missing_files_are_named_with_their_origin(name: str, tmp_path: Path) -> None:
    options = {"vocabulary": {"a": 0}} if name == "sent140" else {}
    with refused("data_dir = None", f"{name} needs files", "give data_dir: a "):
        load_dataset(name, **options)
    with refused("nowhere", "nothing is downloaded here: get ", " from "):
        load_dataset(name, tmp_path / "nowhere", **options)
    if name != "libsvm":
        with refused(str(tmp_path), "nothing is downloaded here: get "):
            load_dataset(name, tmp_path, **options)


def test_asserted_classes(mnist_folder: Path) -> None:
    assert load_dataset("mnist", mnist_folder, num_classes=10).num_classes == 10
    with refused("num_classes = 10", "8 of them have no sample in MNIST test, the first is class 0"):
        load_dataset("mnist", mnist_folder, "test", num_classes=10)
    with refused("num_classes = 9", "MNIST train has 10 classes"):
        load_dataset("mnist", mnist_folder, num_classes=9)
    data = {"users": ["a"], "num_samples": [2], "user_data": {"a": {"x": [[1], [2]], "y": [0, 2]}}}
    (mnist_folder / "x.json").write_text(json.dumps(data))
    assert load_dataset("leaf", mnist_folder / "x.json").num_classes == 3
    with refused("num_classes = 3", "1 of them have no sample"):
        load_dataset("leaf", mnist_folder / "x.json", num_classes=3)


def test_libsvm(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("-1 1:0.5\n+1 2:2\n-1 3:1\n")
    found = libsvm(tmp_path / "a", num_features=4)
    assert found.inputs.tolist() == [[0.5, 0, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0]]
    assert found.labels.tolist() == [0, 1, 0]
    (tmp_path / "b").write_text("1 1:1\n1 2:1\n")
    assert libsvm(tmp_path / "b", classes=[-1, 1]).labels.tolist() == [1, 1]
    with refused("class_labels", "2 or more distinct"):
        libsvm(tmp_path / "b")
    with refused("lacks 1"):
        libsvm(tmp_path / "b", classes=[-1, 0])
    (tmp_path / "c").write_text("0.5 1:1\n1 2:1\n")
    with refused("such as 0.5", "a classification"):
        libsvm(tmp_path / "c")
    with refused("line 1", "index:value"):
        (tmp_path / "d").write_text("1 2\n")
        libsvm(tmp_path / "d")
    libsvm(tmp_path / "a", sha256=checksum(tmp_path / "a"))
    with refused("SHA-256"):
        libsvm(tmp_path / "a", sha256="0" * 64)


def test_digits_are_scikit_learn_s() -> None:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    found = digits().require_all_classes()
    assert found.inputs.dtype == np.float32
    assert np.array_equal(found.inputs[:, 0] * 16, bunch.images)
    assert np.array_equal(found.labels, bunch.target)


def test_a_name_that_two_modules_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "modules_that_bind", lambda package, name: ["mnist", "leaf", "mnist"])
    with pytest.raises(ImportError, match=r"two modules of .* list a data set emnist"):
        registry._loaders()
