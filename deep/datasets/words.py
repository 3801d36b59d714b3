"""Words as numbers, and trained word vectors in GloVe's text format."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fedconvex.data.file_contents import numbered_lines
from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.deep.datasets.reading import Checksums, require_checksums
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least

WORD = re.compile(r"[\w']+|[.,!?;]")  # LEAF's rule for splitting tweets


def read_word_vectors(
    path: str | os.PathLike[str], dim: int | None = None, max_words: int | None = None, *, sha256: Checksums = None
) -> tuple[dict[str, int], np.ndarray]:
    """Read word vectors: a dictionary from word to number 0 … V − 1, and a float32 matrix (V + 2, d).

    Use it for `sentiment_lstm`, whose embedding is the matrix, and give the dictionary to `sent140`.

    Row i is the vector of word i, in the order of the file. Row V stands for unknown words and row V + 1 for padding,
    see `word_numbers`; both are zero.

    path: text with lines `word v1 … vd`, UTF-8, gzipped or not. dim: d, which the file must have; default: that of its
    first line. max_words: read at most so many (GloVe's files list frequent words first).
    Raises InvalidInput with the line number. Source: Pennington, Socher and Manning, "GloVe" (2014).
    """
    path = Path(path)
    require_checksums([path], sha256)
    dim = None if dim is None else integer_at_least(dim, 1, "dim")
    limit = None if max_words is None else integer_at_least(max_words, 1, "max_words")
    vocabulary: dict[str, int] = {}
    vectors: list[np.ndarray] = []
    for number, line in numbered_lines(path):
        if len(vocabulary) == limit:
            break
        fields = line.rstrip(b"\r\n").rstrip(b" ").split(b" ")
        dim = len(fields) - 1 if dim is None else dim
        if len(fields) - 1 != dim or dim == 0:
            problem = f"line {number}: has {len(fields) - 1} numbers after the word, not {dim or 'one or more'}"
            raise bad_file(path, problem, "give lines 'word v1 … vd', all of the same d")
        word = _word(path, number, fields[0], vocabulary)
        vocabulary[word] = len(vocabulary)
        vectors.append(_vector(path, number, fields[1:]))
        # Checked as lines arrive: a file that is too large must not fill the memory first.
        if (len(vectors) + 2) * dim * 4 > MAX_BYTES:
            raise bad_file(path, f"takes more than {MAX_BYTES / 2**30:.0f} GiB", "give max_words")
    if not vectors or dim is None:
        raise bad_file(path, "has no words", "give lines 'word v1 … vd'")
    return vocabulary, np.concatenate([np.stack(vectors), np.zeros((2, dim), np.float32)])


def word_numbers(text: str, vocabulary: Mapping[str, int], length: int) -> list[int]:
    """Encode the first `length` words of a text: V for an unknown word, V + 1 as padding of a shorter text.

    V is the size of the vocabulary, whose numbers are 0 … V − 1. LEAF's code uses V for both.
    """
    unknown = len(vocabulary)
    numbers = [vocabulary.get(word, unknown) for word in WORD.findall(text)[:length]]
    return numbers + [unknown + 1] * (length - len(numbers))


def require_vocabulary(vocabulary: Mapping[str, int]) -> Mapping[str, int]:
    """Return the vocabulary if it numbers its words 0 … V − 1, V >= 1; otherwise raise InvalidInput."""
    if not vocabulary or set(vocabulary.values()) != set(range(len(vocabulary))):
        problem = f"does not number its {len(vocabulary)} words 0 … {len(vocabulary) - 1}"
        raise InvalidInput("vocabulary", vocabulary, problem, "take that of read_word_vectors")
    return vocabulary


def _word(path: Path, number: int, field: bytes, vocabulary: Mapping[str, int]) -> str:
    try:
        word = field.decode("utf-8")
    except UnicodeDecodeError:
        raise bad_file(path, f"line {number}: the word is not UTF-8 text", "download the file again") from None
    if not word or word in vocabulary:
        what = "comes a second time" if word else "is missing"
        raise bad_file(path, f"line {number}: the word {word[:40]!r} {what}", "remove the line")
    return word


def _vector(path: Path, number: int, fields: list[bytes]) -> np.ndarray:
    try:
        vector = np.array([float(field.replace(b"_", b"?")) for field in fields])  # float() would read 1_0 as 10
    except ValueError:
        vector = np.array([np.nan])
    if not (np.abs(vector) < np.finfo(np.float32).max).all():  # a comparison with NaN is false: NaN is refused too
        raise bad_file(path, f"line {number}: has entries that are not finite numbers", "remove the line")
    return vector.astype(np.float32)
