"""Tweets as word numbers per account, and word vectors."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_makers import refused
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.deep.datasets import checksum, read_word_vectors, sent140, word_numbers

VECTORS = "the 0.5 -1\nhappy 1e-3 2\n, 0 0\nisn't 3 4\n"
VOCABULARY = {"the": 0, "happy": 1, ",": 2, "isn't": 3}
ROWS = [
    ["0", "1", "Mon", "NO_QUERY", "zoe", "The the, happy"],
    ["4", "2", "Tue", "NO_QUERY", "abe", 'isn\'t it "happy"? café'],
    ["4", "3", "Wed", "NO_QUERY", "zoe", "the the the the the happy"],
    ["2", "4", "Thu", "NO_QUERY", "mia", "neutral"],
]


@pytest.fixture
def tweets(tmp_path: Path) -> Path:
    with (tmp_path / "tweets.csv").open("w", encoding="latin-1", newline="") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(ROWS)
    return tmp_path / "tweets.csv"


def test_word_vectors(tmp_path: Path) -> None:
    (tmp_path / "v.txt.gz").write_bytes(gzip.compress(VECTORS.encode()))
    vocabulary, matrix = read_word_vectors(tmp_path / "v.txt.gz")
    assert vocabulary == VOCABULARY
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[0.5, -1], [np.float32(1e-3), 2], [0, 0], [3, 4], [0, 0], [0, 0]]
    few, smaller = read_word_vectors(tmp_path / "v.txt.gz", dim=2, max_words=2)
    assert list(few) == ["the", "happy"]
    assert smaller.shape == (4, 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("the 1 2\nhappy 1\n", "line 2: has 1 numbers after the word, not 2"),
        ("the 1 2\nhappy 1 2 3\n", "line 2: has 3 numbers"),
        ("the\n", "line 1: has 0 numbers"),
        ("the 1 2\nthe 3 4\n", "line 2: the word 'the' comes a second time"),
        (" 1 2\n", "line 1: the word '' is missing"),
        ("the 1 x\n", "line 1: has entries that are not finite numbers"),
        ("the 1 nan\n", "line 1: has entries that are not finite numbers"),
        ("the 1 1_0\n", "line 1: has entries that are not finite numbers"),
        ("the 1 1e39\n", "line 1: has entries that are not finite numbers"),
        ("", "has no words"),
    ],
)
def test_wrong_word_vectors(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(text)
    with refused("v.txt", says):
        read_word_vectors(tmp_path / "v.txt")


def test_word_vectors_that_are_not_those_asked_for(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(VECTORS)
    with refused("line 1: has 2 numbers after the word, not 300"):
        read_word_vectors(tmp_path / "v.txt", dim=300)
    with refused("max_words = 0"):
        read_word_vectors(tmp_path / "v.txt", max_words=0)
    with refused("SHA-256"):
        read_word_vectors(tmp_path / "v.txt", sha256="0" * 64)
    (tmp_path / "w.txt").write_bytes(b"\xff 1 2\n")
    with refused("line 1: the word is not UTF-8"):
        read_word_vectors(tmp_path / "w.txt")


def test_words_and_marks_are_numbered() -> None:
    assert word_numbers("the isn't, oh!", VOCABULARY, 6) == [0, 3, 2, 4, 4, 5]
    assert word_numbers("happy " * 9, VOCABULARY, 3) == [1, 1, 1]


@given(text=st.text(max_size=30), length=st.integers(1, 9))
def test_there_are_as_many_numbers_as_asked_for(text: str, length: int) -> None:
    numbers = word_numbers(text, VOCABULARY, length)
    assert len(numbers) == length
    assert set(numbers) <= set(range(6))
    assert numbers == sorted(numbers, key=lambda number: number == 5)  # padding comes last


def test_tweets_from_csv(tweets: Path) -> None:
    found = sent140(tweets, VOCABULARY, seq_length=5)
    assert [name for name, _ in found.clients] == ["abe", "zoe"]
    (abe, abe_is), (zoe, zoe_is) = found.client_data()
    assert abe.tolist() == [[3, 4, 1, 4, 4]]
    assert zoe.tolist() == [[4, 0, 2, 1, 5], [0, 0, 0, 0, 0]]
    assert (abe_is.tolist(), zoe_is.tolist()) == ([1], [0, 1])
    assert found.num_classes == 2
    small = sent140(tweets, VOCABULARY, seq_length=5, lowercase=True, min_samples_per_client=2)
    assert small.inputs.tolist() == [[0, 0, 2, 1, 5], [0, 0, 0, 0, 0]]


def test_the_vocabulary_may_be_a_file(tweets: Path, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(VECTORS)
    one, other = sent140(tweets, tmp_path / "v.txt"), sent140(tweets, VOCABULARY)
    assert np.array_equal(one.inputs, other.inputs)
    assert one.inputs.shape == (3, 25)


def as_leaf(polarities: dict[str, Any], more: list[str]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for row in ROWS[:3]:
        own = data.setdefault(row[4], {"x": [], "y": []})
        own["x"].append(row[1:] + more)
        own["y"].append(polarities[row[0]])
    users = list(data)
    return {"users": users, "num_samples": [len(data[user]["y"]) for user in users], "user_data": data}


@pytest.mark.parametrize("polarities", [{"0": 0, "4": 1}, {"0": 0, "4": 4}, {"0": "0", "4": "4"}])
@pytest.mark.parametrize("more", [[], ["training"]])
def test_tweets_from_json_are_the_same(polarities: dict, more: list[str], tweets: Path, tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "x.json").write_text(json.dumps(as_leaf(polarities, more)))
    expected = sent140(tweets, VOCABULARY)
    for found in (sent140(tmp_path, VOCABULARY, "train"), sent140(tmp_path / "train" / "x.json", VOCABULARY)):
        assert np.array_equal(found.inputs, expected.inputs)
        assert np.array_equal(found.labels, expected.labels)
        assert [name for name, _ in found.clients] == [name for name, _ in expected.clients]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("3,1,Mon,q,zoe,text", "line 2: is not polarity, id, date, query, user, text"),
        ("1,1,Mon,q,zoe,text", "line 2: is not polarity"),
        ("0,1,Mon,q,zoe", "line 2: is not polarity"),
        ("0,1,Mon,q,zoe,text,more", "line 2: is not polarity"),
        ("polarity,id,date,query,user,text", "without a header"),
        ('0,1,Mon,q,zoe,"text', "is not valid CSV"),
    ],
)
def test_wrong_lines(line: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("4,1,Mon,q,abe,fine\n" + line + "\n")
    with refused("x.csv", says):
        sent140(tmp_path / "x.csv", VOCABULARY)


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [("text", 1, "['x'] = text"), (["1", "2"], 1, "is not a list [id,"), (["1"] * 4 + [5], 1, "is not a list"),
     (["1"] * 5, 3, "['y'] = 3"), (["1"] * 5, True, "['y'] = True"), (["1"] * 5, None, "is not 0, 1 or 4")],
)  # fmt: skip
def test_wrong_json(x: Any, y: Any, says: str, tmp_path: Path) -> None:
    data = {"users": ["a"], "num_samples": [1], "user_data": {"a": {"x": [x], "y": [y]}}}
    (tmp_path / "x.json").write_text(json.dumps(data))
    with refused("user_data['a']", says):
        sent140(tmp_path / "x.json", VOCABULARY)


def test_wrong_options(tweets: Path, tmp_path: Path) -> None:
    with refused("no account has 3 tweets"):
        sent140(tweets, VOCABULARY, min_samples_per_client=3)
    for wrong in ({}, {"the": 1}, {"the": 0, "a": 0}):
        with refused("vocabulary", "does not number its"):
            sent140(tweets, wrong)
    with refused("split = train", "hold_out"):
        sent140(tweets, VOCABULARY, "train")
    with refused("there is no such file", "Sentiment140"):
        sent140(tmp_path / "nowhere.csv", VOCABULARY)
    with refused("seq_length = 0"):
        sent140(tweets, VOCABULARY, seq_length=0)
    sent140(tweets, VOCABULARY, sha256=checksum(tweets))
    with refused("tweets.csv", "SHA-256"):
        sent140(tweets, VOCABULARY, sha256="0" * 64)
