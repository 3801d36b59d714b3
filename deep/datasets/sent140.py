"""Sent140: tweets labelled sad or happy, one client per account."""

import csv
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fedconvex.data.file_contents import numbered_lines
from fedconvex.data.table import bad_file
from fedconvex.deep.datasets.dataset import Dataset, consecutive_rows
from fedconvex.deep.datasets.leaf import SUFFIXES, json_files, read_leaf_json
from fedconvex.deep.datasets.loader import Loader
from fedconvex.deep.datasets.reading import Checksums, missing, require_checksums
from fedconvex.deep.datasets.words import read_word_vectors, require_vocabulary, word_numbers
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least

ORIGIN = "Sentiment140 (training.1600000.processed.noemoticon.csv), or the benchmark LEAF (as JSON)"
COLUMNS = ("polarity", "id", "date", "query", "user", "text")
NEUTRAL = 2
HAPPY = {0: 0, 1: 1, 4: 1}  # label by polarity: happy is 4 in Sentiment140, 1 in LEAF
TEXT = 4  # position in LEAF's rows, which do not contain the polarity

Tweets = dict[str, tuple[list[list[int]], list[int]]]


def sent140(
    path: str | os.PathLike[str],
    vocabulary: Mapping[str, int] | str | os.PathLike[str],
    split: str | None = None,
    *,
    seq_length: int = 25,
    min_samples_per_client: int = 1,
    lowercase: bool = False,
    sha256: Checksums = None,
) -> Dataset:
    """Read tweets as word numbers, int64 inputs (N, seq_length), with labels 0 (sad) and 1 (happy).

    Use it for FedProx's experiment on text with natural clients, with the model `sentiment_lstm`.

    Args:
        path: Sentiment140's CSV file: six columns, Latin-1, no header: polarity 0, 2 or 4, id, date, query, user,
            text. Or LEAF's JSON, one file or a folder: polarity 0 or 1 (or 4), rows [id, date, query, user, text, …].
        vocabulary: a dictionary from words to numbers 0 … V − 1, or the path of word vectors whose words to use.
        split: for JSON, the folder `train` or `test` in `path`. The CSV file has no splits: see `Dataset.hold_out`.
        min_samples_per_client: leave out accounts with fewer tweets.
        lowercase: convert the text to lower case, as GloVe's words are. LEAF and FedProx do not.
        sha256: expected checksum of the file, or checksums by file name.

    Clients are sorted by name. Neutral tweets (polarity 2, some in the manual test file) are left out.
    Raises InvalidInput. Source: Go, Bhayani and Huang, "Twitter sentiment classification using distant supervision"
    (2009); Caldas et al., "LEAF" (2018).
    """
    place = Path(path)
    seq_length = integer_at_least(seq_length, 1, "seq_length")
    fewest = integer_at_least(min_samples_per_client, 1, "min_samples_per_client")
    if isinstance(vocabulary, str | os.PathLike):
        vocabulary = read_word_vectors(vocabulary)[0]
    vocabulary = require_vocabulary(vocabulary)
    tweets: Tweets = {}
    for user, label, text in _tweets(place, split, sha256):
        inputs, labels = tweets.setdefault(user, ([], []))
        inputs.append(word_numbers(text.lower() if lowercase else text, vocabulary, seq_length))
        labels.append(label)
    kept = [(user, *tweets[user]) for user in sorted(tweets) if len(tweets[user][1]) >= fewest]
    if not kept:
        raise bad_file(place, f"no account has {fewest} tweets", "give a smaller min_samples_per_client")
    pooled = np.array([row for _, rows, _ in kept for row in rows], dtype=np.int64)
    happy = np.array([label for _, _, own in kept for label in own], dtype=np.int64)
    clients = consecutive_rows([user for user, _, _ in kept], [len(own) for _, _, own in kept])
    return Dataset(pooled, happy, 2, f"Sent140 {place.name}", clients)


def _tweets(place: Path, split: str | None, sha256: Checksums) -> Iterator[tuple[str, int, str]]:
    """Yield user, label and text of each tweet."""
    if not place.exists():
        raise missing(place, "there is no such file or folder", "the tweets", ORIGIN)
    if place.is_dir() or place.name.lower().endswith(SUFFIXES):
        files = json_files(place, split)
        require_checksums(files, sha256)
        yield from _of_json(read_leaf_json(files))
        return
    if split is not None:
        problem = "a CSV file of Sentiment140 has no splits"
        raise InvalidInput("split", split, problem, "leave it out, and call hold_out() on the result")
    require_checksums([place], sha256)
    yield from _of_csv(place)


def _of_json(data: dict[str, Any]) -> Iterator[tuple[str, int, str]]:
    for user in data["users"]:
        for row, polarity in zip(data["user_data"][user]["x"], data["user_data"][user]["y"], strict=True):
            if not isinstance(row, list) or len(row) <= TEXT or not isinstance(row[TEXT], str):
                problem = "has an entry that is not a list [id, date, query, user, text, …]"
                raise InvalidInput(f"user_data[{user!r}]['x']", row, problem, "give LEAF's Sent140")
            number = _polarity(polarity)
            if number is None:
                problem = "has a polarity that is not 0, 1 or 4"
                raise InvalidInput(f"user_data[{user!r}]['y']", polarity, problem, "give LEAF's Sent140")
            if number != NEUTRAL:
                yield user, HAPPY[number], row[TEXT]


def _of_csv(path: Path) -> Iterator[tuple[str, int, str]]:
    # Decoded line by line: a quoted text may span lines, and csv counts them for the error messages.
    reader = csv.reader((line.decode("latin-1") for _, line in numbered_lines(path)), strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            problem = f"line {reader.line_num}: is not valid CSV ({error})"
            raise bad_file(path, problem, "repair the quotes there") from None
        if row is None:
            return
        if not row:
            continue
        number = _polarity(row[0]) if len(row) == len(COLUMNS) else None
        if number is None or number == 1:  # 1 is LEAF's polarity; in this file it is a mistake
            problem = f"line {reader.line_num}: is not {', '.join(COLUMNS)}, with polarity 0, 2 or 4"
            raise bad_file(path, problem, "give the CSV file of Sentiment140, without a header")
        if number != NEUTRAL:
            yield row[4], HAPPY[number], row[5]


def _polarity(value: Any) -> int | None:
    """Return 0, 1, 2 or 4, given as an integer or as text; None for anything else."""
    text = str(value) if type(value) in (int, str) else ""
    return int(text) if text in ("0", "1", "2", "4") else None


LOADERS = (Loader(sent140, "a CSV file of tweets, or LEAF's JSON", ORIGIN),)
