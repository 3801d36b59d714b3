"""Reads LIBSVM (svmlight) text: one sample a line, `label index:value index:value …`, with increasing indices from 1.

scikit-learn reads this format too; this reader names the line and the entry of an error, and refuses NaN, indices from
0, labels beyond 2^53 and a last line that may be cut short, instead of interpreting them.
"""

import math
from array import array
from pathlib import Path

import numpy as np

from fedconvex.data.file_contents import numbered_lines
from fedconvex.data.table import MAX_BYTES, Table, bad_file, check_size, default_names
from fedconvex.data.targets import as_targets, written_too_long
from fedconvex.errors import InvalidInput
from fedconvex.sparse import Features, stays_sparse

MAX_INDEX = MAX_BYTES // 8


def read_libsvm(path: Path, num_features: int | None = None) -> Table:
    """Reads a LIBSVM file; features that a line omits are 0, a label alone has all of them 0, `#` starts a comment.

    The last line must end with a line break, like all others: without it, `1 3:0.25` may be all that is left of
    `1 3:0.2531 4:1`, and no check of the line itself would tell.

    num_features: p, for files in which the last features never occur (default: the largest index in the file).
    Raises InvalidInput with the line number of the first bad line.
    """
    targets, values = array("d"), array("d")  # compact arrays: files may have millions of entries
    columns, lengths = array("q"), array("q")
    for number, line in numbered_lines(path):
        tokens = line.split(b"#", 1)[0].split()
        if not tokens:
            continue
        try:
            targets.append(_finite(tokens[0]))
        except ValueError:
            raise _bad_label(path, number, tokens[0]) from None
        if written_too_long(tokens[0].decode()):
            raise _long_label(path, number, tokens[0])
        previous = 0
        for token in tokens[1:]:
            index_text, _, value_text = token.partition(b":")
            try:
                index = _index(index_text)
                values.append(_finite(value_text))
            except ValueError:
                raise _bad_entry(path, number, token) from None
            if not previous < index <= (num_features or MAX_INDEX):
                raise _bad_index(path, number, index, previous, num_features)
            if value_text == b"-0":  # zeros are left out; this is what is left of a value such as -0.5
                raise bad_file(path, f"line {number}: {_show(token)} is cut short", "repair or remove the entry")
            columns.append(index)
            previous = index
        lengths.append(len(tokens) - 1)
        if not line.endswith(b"\n"):
            problem = f"line {number}: has no line break at its end, as if the file were cut short there"
            raise bad_file(path, problem, "add the line break if the file is complete, or else copy it again")
    if not targets:
        raise bad_file(path, "has no rows", "give a file with samples")
    width = num_features or max(columns, default=0)
    if width == 0:
        raise bad_file(path, "no line has a feature", "give entries index:value")
    return Table(
        _features(path, lengths, columns, values, width), default_names(width), as_targets(np.frombuffer(targets)), None
    )


def _features(path: Path, lengths: "array[int]", columns: "array[int]", values: "array[float]", width: int) -> Features:
    """The (n, p) features from the entries of every line: numbers of entries, columns from 1, values."""
    counts = np.frombuffer(lengths, dtype=np.int64)
    places = np.frombuffer(columns, dtype=np.int64) - 1 if columns else np.empty(0, np.int64)
    entries = np.frombuffer(values) if values else np.empty(0)
    if stays_sparse(len(counts), width, len(entries)):
        from scipy.sparse import csr_array

        return csr_array((entries, places, np.concatenate([[0], np.cumsum(counts)])), shape=(len(counts), width))
    check_size(path, len(counts), width)
    features = np.zeros((len(counts), width))
    features[np.repeat(np.arange(len(counts)), counts), places] = entries
    return features


def _index(text: bytes) -> int:
    if b"_" in text:  # int() would read 1_0 as 10
        raise ValueError
    return int(text)


def _finite(text: bytes) -> float:
    value = float(text)
    if not math.isfinite(value) or b"_" in text:
        raise ValueError
    return value


def _show(token: bytes) -> str:
    return repr(token[:40].decode("ascii", "backslashreplace"))


def _bad_label(path: Path, number: int, token: bytes) -> InvalidInput:
    if b":" in token:
        return bad_file(path, f"line {number}: starts with {_show(token)}, the label is missing", "put the label first")
    cure = "start each line with a finite number; for another format, name it with format (--format)"
    return bad_file(path, f"line {number}: the label {_show(token)} is not a finite number", cure)


def _long_label(path: Path, number: int, token: bytes) -> InvalidInput:
    problem = f"line {number}: the label {_show(token)} is beyond 2^53, where floats merge neighbours"
    return bad_file(path, problem, "number the classes anew; write numbers to predict with a decimal point")


def _bad_entry(path: Path, number: int, token: bytes) -> InvalidInput:
    index, colon, value = token.partition(b":")
    where = f"line {number}: in {_show(token)} "
    if not colon:
        return bad_file(path, where + "the colon is missing", "write index:value")
    if index == b"qid":
        return bad_file(path, where + "there is a ranking query", "remove all qid entries")
    try:
        _index(index)
    except ValueError:
        return bad_file(path, where + f"the index {_show(index)} is not a whole number", "write index:value")
    return bad_file(path, where + f"the value {_show(value)} is not a finite number", "repair or remove the entry")


def _bad_index(path: Path, number: int, index: int, previous: int, num_features: int | None) -> InvalidInput:
    where = f"line {number}: the index {index} "
    if index < 1:
        return bad_file(path, where + "is less than 1", "add 1 to every index if they start at 0")
    if index <= previous:
        return bad_file(path, where + f"comes after {previous}, but indices must increase", "sort each line by index")
    if num_features is None:
        return bad_file(path, where + f"is larger than {MAX_INDEX}", "repair the line")
    return bad_file(path, where + f"is larger than num_features = {num_features}", f"give num_features >= {index}")
