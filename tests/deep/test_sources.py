"""Samples from data sets on disk arrive with their clients, their test files and their scaling."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_makers import write_pair

from fedconvex import data
from fedconvex.deep.sources import load
from fedconvex.errors import InvalidInput


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """MNIST's files, 30 and 10 images of 4 × 4."""
    rng = np.random.default_rng(0)
    for stem, size in (("train", 30), ("t10k", 10)):
        names, pictures = (f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte"), (size, 4, 4)
        write_pair(tmp_path, *names, rng.integers(0, 256, pictures, dtype=np.uint8), [i % 10 for i in range(size)])
    return tmp_path


def test_images(images: Path) -> None:
    found = load("mnist", images.parent, images.name, clients=3, partition="by-label:4", seed=2)
    assert len(found.clients) == 3
    assert found.num_classes == 10
    assert sum(len(X) for X, _ in found.clients) == 30
    assert found.clients[0][0].shape[1:] == (1, 4, 4)
    assert found.test is not None
    assert found.test[0].shape == (10, 1, 4, 4)
    raw = np.frombuffer((images / "t10k-images-idx3-ubyte").read_bytes()[16:], np.uint8)
    np.testing.assert_allclose(found.test[0].ravel(), raw / 255, rtol=1e-6)
    np.testing.assert_array_equal(found.test[1], np.arange(10))


def test_images_are_standardised_by_the_training_images(images: Path) -> None:
    found = load("mnist", images, ".", standardize=True)
    pixels = np.concatenate([X.ravel() for X, _ in found.clients])
    assert pixels.mean() == pytest.approx(0, abs=1e-5)
    assert pixels.std() == pytest.approx(1, rel=1e-5)
    assert found.test is not None
    assert abs(found.test[0].mean()) > 1e-4


def test_tables_are_standardised_by_what_is_not_held_out() -> None:
    """The same shift and scale for both, found from the features as they are; constant columns become 0."""
    plain, found = (load("digits", Path(), clients=5, test=0.5, standardize=by) for by in (False, True))
    assert plain.test is not None
    assert found.test is not None
    raw, training = (np.concatenate([X for X, _ in source.clients]) for source in (plain, found))
    varies = raw.std(0) > 0
    assert not varies.all()
    np.testing.assert_allclose(training[:, varies].mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(training[:, varies].std(0), 1, rtol=1e-12)
    expected = (plain.test[0] - raw.mean(0)) / np.where(varies, raw.std(0), 1)
    np.testing.assert_allclose(found.test[0][:, varies], expected[:, varies], atol=1e-10)
    assert not training[:, ~varies].any()
    assert not found.test[0][:, ~varies].any()
    assert abs(np.concatenate([training, found.test[0]]).mean(0)).max() > 1e-3  # not what all samples would give


def test_a_table_without_held_out_samples_is_standardised_as_a_whole() -> None:
    found = load("digits", Path(), clients=5, standardize=True)
    expected = data.load("digits", clients=5, standardize=True)
    for (X, _), whole in zip(found.clients, expected.features, strict=True):
        np.testing.assert_array_equal(X, whole)


def test_data_that_know_their_clients_keep_them(tmp_path: Path) -> None:
    import json

    users = {"ann": {"x": [[1, 2], [3, 4], [5, 6]], "y": [0, 1, 2]}, "bob": {"x": [[0, 0]] * 5, "y": [2, 1, 0, 1, 2]}}
    whole = {"users": list(users), "num_samples": [3, 5], "user_data": users}
    (tmp_path / "data.json").write_text(json.dumps(whole))
    found = load("leaf", tmp_path, "data.json")
    assert [len(X) for X, _ in found.clients] == [3, 5]
    held = load("leaf", tmp_path, "data.json", test=0.4)
    assert [len(X) for X, _ in held.clients] == [2, 3]
    assert held.test is not None
    assert len(held.test[0]) == 3
    assert len(load("leaf", tmp_path, "data.json", clients=4).clients) == 4


def test_held_out_speech_is_not_that_of_the_training(tmp_path: Path) -> None:
    """Random letters, of which five in a row occur once: no five of the training are held out."""
    letters = np.random.default_rng(0).choice(list("abcdefghijklmnopqrstuvwxyz"), (2, 400))
    speeches = ["".join(row) for row in letters]
    (tmp_path / "play.txt").write_text(f"A PLAY\n\nANN\t{speeches[0]}\nBOB\t{speeches[1]}\n")
    found = load("shakespeare", tmp_path, ".", test=0.25, options={"seq_length": 10})
    assert found.test is not None
    assert len(found.test[0]) > 50

    def fives(windows: Any) -> set[tuple[int, ...]]:
        return {tuple(window[i : i + 5].tolist()) for window in windows for i in range(6)}

    assert len(found.clients) == 2
    for X, _ in found.clients:
        assert len(X) > 150
        assert not fives(X) & fives(found.test[0])
    together = load("shakespeare", tmp_path, ".", options={"seq_length": 10})
    assert any(fives(X[::2]) & fives(X[1::2]) for X, _ in together.clients)  # what dealing at random would do


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"name": "mnist"}, "data_dir"),
        ({"name": "mnist", "data_dir": "nowhere"}, "nowhere"),
        ({"name": "mnist", "data_dir": ".", "test": 0.1}, "test files of its own"),
        ({"name": "mnist", "data_dir": ".", "client_column": "a"}, "has no columns"),
        ({"name": "mnist", "data_dir": ".", "options": {"verfy": True}}, "verify"),
        ({"name": "mnist", "data_dir": ".", "standardize": "no"}, "neither true nor false"),
        ({"name": "digits", "standardize": "no"}, "neither true nor false"),
        ({"name": "digits", "test": 2}, "test = 2: must leave"),
        ({"name": "digits", "data_dir": "."}, "is a table"),
        ({"name": "digits", "options": {"a": 1}}, "is a table"),
    ],
)
def test_mistakes(options: dict[str, Any], culprit: str, images: Path) -> None:
    with pytest.raises(InvalidInput, match=culprit):
        load(folder=images, **options)
