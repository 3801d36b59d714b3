"""Windows of characters per speaking role: splits, amounts and random choices."""

import json
import string
import sys
from pathlib import Path

import numpy as np
import pytest
from dataset_makers import refused
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.deep.datasets import CHARACTERS, Dataset, character_numbers, characters, shakespeare


def test_the_table_of_characters() -> None:
    letters_and_digits = set(string.ascii_letters + string.digits)
    assert len(CHARACTERS) == len(set(CHARACTERS)) == 80
    assert letters_and_digits < set(CHARACTERS)
    assert set(CHARACTERS) - letters_and_digits == set("\n !\"&'(),-.:;>?[]}")
    assert list(CHARACTERS) == sorted(CHARACTERS)


@given(st.text(st.sampled_from(CHARACTERS)))
def test_characters_and_numbers_there_and_back(text: str) -> None:
    assert characters(character_numbers(text)) == text


@given(st.text())
def test_other_characters_are_the_last(text: str) -> None:
    expected = [CHARACTERS.find(character) % 80 for character in text]  # −1 is the last, as in LEAF's labels
    assert character_numbers(text).tolist() == expected
    assert character_numbers("\ud800é$}~\x00").tolist() == [79] * 6


def speech(role: str, length: int, seed: int) -> str:
    letters = np.random.default_rng(seed).choice(list("abcdef"), length)
    return f"{role}:\n{''.join(letters)}\n"


@pytest.fixture
def play(tmp_path: Path) -> Path:
    """Roles of 30, 15 + 1 + 14 and 8 characters."""
    texts = [speech("Anna", 30, 0), speech("Ben", 15, 1), speech("Carl", 8, 2), speech("Ben", 14, 3)]
    (tmp_path / "play.txt").write_text("\n".join(texts))
    return tmp_path / "play.txt"


def by_role(found: Dataset) -> dict[str, list[tuple[str, str]]]:
    pairs = {}
    for (name, _), (inputs, labels) in zip(found.clients, found.client_data(), strict=True):
        pairs[name] = [(characters(x), characters(y)) for x, y in zip(inputs, labels, strict=True)]
    return pairs


def test_every_window_is_a_sample(play: Path) -> None:
    found = shakespeare(play, seq_length=5)
    assert found.inputs.dtype == np.int64
    assert found.num_classes == 80
    pairs = by_role(found)
    assert {name: len(own) for name, own in pairs.items()} == {"play/ANNA": 25, "play/BEN": 25, "play/CARL": 3}
    lines = play.read_text().split("\n")
    text = f"{lines[4]} {lines[10]}"  # Ben's two speeches
    assert pairs["play/BEN"] == [(text[i : i + 5], text[i + 5]) for i in range(25)]


def test_the_parts_for_training_and_testing_do_not_meet(play: Path) -> None:
    whole, train, test = (
        by_role(shakespeare(play, split, seq_length=3, test_fraction=0.3)) for split in (None, "train", "test")
    )
    assert train.keys() == test.keys() == {"play/ANNA", "play/BEN"}  # Carl has not enough for both
    for name in train:
        assert train[name] == whole[name][: 21 - 3]
        assert test[name] == whole[name][21:]


def test_as_many_samples_as_asked_for(play: Path) -> None:
    whole = by_role(shakespeare(play, seq_length=3))
    starts = set()
    for seed in range(12):
        options = {"seq_length": 3, "samples_per_client": 10, "test_fraction": 0.3, "seed": seed}
        train, test = (shakespeare(play, split, **options) for split in ("train", "test"))
        assert train.sizes.tolist() == [10, 10]
        assert test.sizes.tolist() == [3, 3]
        for name, pairs in by_role(train).items():
            starts.add(whole[name].index(pairs[0]))
            assert pairs == whole[name][whole[name].index(pairs[0]) :][:10]
        again = shakespeare(play, "train", **options)
        assert np.array_equal(train.inputs, again.inputs)
    assert len(starts) > 3
    assert by_role(shakespeare(play, seq_length=3, samples_per_client=5)).keys() == whole.keys()
    assert shakespeare(play, seq_length=3, samples_per_client=6).sizes.tolist() == [6, 6]


def test_roles_are_drawn_and_left_out(play: Path) -> None:
    assert len(shakespeare(play, seq_length=3, min_characters=9).clients) == 2
    drawn = {shakespeare(play, seq_length=3, num_clients=1, seed=seed).clients[0][0] for seed in range(20)}
    assert drawn == {"play/ANNA", "play/BEN", "play/CARL"}
    for seed in range(5):
        options = {"seq_length": 3, "num_clients": 1, "seed": seed, "test_fraction": 0.3}
        train, test = (shakespeare(play, split, **options) for split in ("train", "test"))
        assert train.clients[0][0] == test.clients[0][0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"seq_length": 40}, ("no role has the 1 windows of 40 characters",)),
        ({"samples_per_client": 500, "seq_length": 3}, ("no role has the 500 windows",)),
        ({"seq_length": 0}, ("seq_length = 0",)),
        ({"seq_length": 3, "num_clients": 4}, ("num_clients = 4", "only 3 roles have enough text")),
        ({"seq_length": 3, "num_clients": 0}, ("num_clients = 0",)),
        ({"split": "validation"}, ("split = validation", "known: train, test")),
        ({"split": "test", "test_fraction": 1.0}, ("test_fraction = 1.0",)),
        ({"seq_length": 3, "seed": -1, "num_clients": 1}, ("seed = -1",)),
        ({"min_characters": -1}, ("min_characters = -1",)),
        ({"sha256": "0" * 64}, ("play.txt", "SHA-256")),
    ],
)
def test_wrong_options(options: dict, says: tuple[str, ...], play: Path) -> None:
    with refused(*says):
        shakespeare(play, **options)


def test_windows_that_take_too_much_memory_are_refused(play: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["fedconvex.deep.datasets.shakespeare"]  # the package has a function of that name
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    with refused("59 windows take", "samples_per_client"):
        shakespeare(play, seq_length=3)


LEAF = {
    "users": ["PLAY_ANNA", "PLAY_BEN"],
    "num_samples": [2, 1],
    "user_data": {"PLAY_ANNA": {"x": ["abc", "bcd"], "y": ["d", "é"]}, "PLAY_BEN": {"x": ["xyz"], "y": ["}"]}},
}


def test_windows_from_leaf_s_json(tmp_path: Path) -> None:
    (tmp_path / "all_data.json").write_text(json.dumps(LEAF))
    (tmp_path / "both" / "test").mkdir(parents=True)
    (tmp_path / "both" / "test" / "all_data.json").write_text(json.dumps(LEAF))
    for found in (
        shakespeare(tmp_path / "all_data.json", seq_length=3),
        shakespeare(tmp_path, seq_length=3),
        shakespeare(tmp_path / "both", "test", seq_length=3),
    ):
        assert by_role(found) == {"PLAY_ANNA": [("abc", "d"), ("bcd", "}")], "PLAY_BEN": [("xyz", "}")]}
        assert found.num_classes == 80
    with refused("user_data['PLAY_ANNA']['x'] = abc", "not a text of 80 characters", "seq_length"):
        shakespeare(tmp_path)
    with refused("has no folder train", "leave out split"):
        shakespeare(tmp_path / "all_data.json", "train", seq_length=3)


@pytest.mark.parametrize(("name", "value"), [("x", [1]), ("x", ["abc", None]), ("y", ["ab", "c"]), ("y", ["a", ""])])
def test_wrong_windows_in_leaf_s_json(name: str, value: list, tmp_path: Path) -> None:
    data = json.loads(json.dumps(LEAF))
    data["user_data"]["PLAY_ANNA"][name] = (value * 2)[:2]
    (tmp_path / "x.json").write_text(json.dumps(data))
    with refused(f"user_data['PLAY_ANNA']['{name}']", "has an entry that is not a text"):
        shakespeare(tmp_path / "x.json", seq_length=3)
