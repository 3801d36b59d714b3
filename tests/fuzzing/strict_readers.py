"""Readers of the same formats by others, or in a few plain lines: what they refuse must not be taken for data.

Each takes the file that `kinds_of_files` damages and returns what its reader returns there, or raises an error.
"""

import csv
import gzip
import io
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

BOOLEANS = {"true": "1", "false": "0"}


def rows(array: Any) -> Any:
    """Numbers as nested lists of floats, which are compared by value; −0 is 0."""
    return (np.asarray(array, dtype=np.float64) + 0.0).tolist()


def values(array: Any) -> Any:
    """As `rows`, and text as it is."""
    found = np.asarray(array)
    return rows(found) if found.dtype.kind in "biuf" else [str(value).strip() for value in found.tolist()]


def opened(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def delimited(path: Path) -> Any:
    """pandas, with a line of another length as an error."""
    import pandas

    separator = "\t" if ".tsv" in path.name else ","
    lines = csv.reader(io.StringIO(opened(path).decode("utf-8-sig"), newline=""), delimiter=separator, strict=True)
    widths = {len(line) for line in lines if line}
    if len(widths) != 1:
        raise ValueError(f"lines of {widths} fields")
    frame = pandas.read_csv(
        path, sep=separator, index_col=False, on_bad_lines="error", keep_default_na=False, na_values=[],
        encoding="utf-8-sig", dtype=str,
    )  # fmt: skip
    frame.columns = frame.columns.str.strip()
    cells = {name: column.str.strip().replace(BOOLEANS) for name, column in frame.items()}
    clients, targets = cells.pop("client", None), cells.pop("y")
    numbers = [coded for column in cells.values() for coded in coded_columns(column)]
    try:
        targets = pandas.to_numeric(targets, errors="raise").astype(float)
    except ValueError:
        targets = frame["y"]
    return rows(np.array(numbers).T), values(targets), None if clients is None else clients.tolist()


def coded_columns(column: Any) -> list[Any]:
    """A column of numbers, or of a few texts of which none is a number: an indicator of each but the first."""
    import pandas

    if pandas.to_numeric(column, errors="coerce").isna().all() and 1 < column.nunique() <= 10:
        indicators = pandas.get_dummies(column, drop_first=True, dtype=float)
        return [indicators[name] for name in indicators]
    return [pandas.to_numeric(column, errors="raise").astype(float)]


def libsvm(path: Path) -> Any:
    """scikit-learn."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(io.BytesIO(opened(path)), zero_based=False)
    if not np.isfinite(X.data).all() or not np.isfinite(y).all():
        raise ValueError("a number is not finite")
    return rows(X.toarray()), rows(y), None


def npz(path: Path) -> Any:
    """NumPy, after zipfile has compared all checksums."""
    with zipfile.ZipFile(path) as archive:
        if archive.testzip() is not None or len(set(archive.namelist())) < len(archive.namelist()):
            raise ValueError("a member is damaged, or comes twice")
    with np.load(path, allow_pickle=False) as arrays:
        clients = [str(client) for client in arrays["client"].tolist()] if "client" in arrays else None
        return rows(arrays["X"]), values(arrays["y"]), clients


def parquet(path: Path) -> Any:
    """pyarrow, which compares the pages with their checksums."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path, page_checksum_verification=True).to_pandas()
    clients = [str(client) for client in table.pop("client").tolist()] if "client" in table else None
    targets = table.pop("y").to_numpy()
    return rows(table.to_numpy(dtype=np.float64)), values(targets), clients


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is no number")
    return value


def strictly_json(path: Path) -> Any:
    return json.loads(
        opened(path).decode("utf-8"), object_pairs_hook=_once, parse_constant=_finite, parse_float=_finite
    )


def leaf(path: Path) -> Any:
    found = strictly_json(path)
    every = [(user, found["user_data"][user]) for user in found["users"]]
    vectors = [row for _, own in every for row in own["x"]]
    if any(type(value) not in (int, float) for row in vectors for value in row):
        raise TypeError("a feature is no number")
    counts = [(user, len(own["y"])) for user, own in every if own["y"]]
    return rows(vectors), rows([label for _, own in every for label in own["y"]]), counts


def idx(path: Path) -> Any:
    data = opened(path)
    zero, code, axes = int.from_bytes(data[:2], "big"), data[2], data[3]
    shape = np.frombuffer(data[4 : 4 + 4 * axes], ">u4").tolist()
    kind = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}[code]
    if zero:
        raise ValueError("no idx file")
    return str(np.frombuffer(data[4 + 4 * axes :], kind).reshape(shape).astype(float).tolist())


def cifar(path: Path) -> Any:
    records = np.frombuffer(opened(path), np.uint8).reshape(-1, 3073)
    if records[:, 0].max() > 9:
        raise ValueError("a label beyond 9")
    return records[:, 0].tolist(), records[:, 1:].tolist()


def word_vectors(path: Path) -> Any:
    found: dict[str, list[float]] = {}
    for line in opened(path).decode("utf-8").removesuffix("\n").split("\n"):
        word, *numbers = line.removesuffix("\r").rstrip(" ").split(" ")
        if word in found or not word or (found and len(numbers) != len(next(iter(found.values())))):
            raise ValueError(f"line {line!r:.40}")
        found[word] = [_finite(number.replace("_", "?")) for number in numbers]
    return list(found), np.array(list(found.values())).astype(np.float32).tolist()


def tweets(path: Path) -> Any:
    """Users and labels."""
    lines = csv.reader(io.StringIO(opened(path).decode("latin-1"), newline=""), strict=True)
    found = [(line[4], {"0": 0, "4": 1}[line[0]]) for line in lines if line and line[0] != "2" and _is_tweet(line)]
    return sorted(found)


def _is_tweet(line: list[str]) -> bool:
    if len(line) != 6:
        raise ValueError(f"{len(line)} fields")
    return True
