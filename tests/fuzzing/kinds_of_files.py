"""Every kind of file that the package reads: a small valid one, its reader, and where there is one a strict reader.

`damaged` names the file that is damaged; `write` fills a folder with it and what belongs to it; `read` returns what the
package reads there in the form of `strict`, or whatever it likes where nothing is compared.
"""

import gzip
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import strict_readers as strictly
from dataset_makers import packed, tarred, write_pair
from strict_readers import rows, values

Folder = Path


@dataclass(frozen=True)
class Kind:
    """A kind of file, and what reads it."""

    damaged: str
    write: Callable[[Folder], object]
    read: Callable[[Folder], Any]
    strict: Callable[[Path], Any] | None = None

    @property
    def name(self) -> str:
        return self.damaged.replace("/", "-")


def small_numbers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).round(3)


FEATURES, TARGETS = small_numbers((12, 3)), np.arange(12) % 3
CLIENTS = [f"site {i // 4}" for i in range(12)]


def file(name: str, content: bytes | Callable[[], bytes]) -> Callable[[Folder], object]:
    """Writes one file; a library that makes its content is loaded only then."""

    def write(folder: Folder) -> None:
        path, data = folder / name, content if isinstance(content, bytes) else content()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)

    return write


# ---- tables


def delimited(mark: str) -> bytes:
    lines = [mark.join(["client", "a", "b", "c", "y"])]
    every = zip(CLIENTS, FEATURES.tolist(), TARGETS.tolist(), strict=True)
    return "\n".join([*lines, *(mark.join(map(str, [k, *x, y])) for k, x, y in every), ""]).encode()


def libsvm() -> bytes:
    return "".join(
        f"{y} {' '.join(f'{j}:{v}' for j, v in enumerate(x, 1) if abs(v) > 0.3)}\n"
        for x, y in zip(FEATURES.tolist(), TARGETS.tolist(), strict=True)
    ).encode()


def npz() -> bytes:
    written = io.BytesIO()
    np.savez_compressed(written, X=FEATURES, y=TARGETS, client=np.array(CLIENTS))
    return written.getvalue()


def parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    written = io.BytesIO()
    columns = {"client": CLIENTS, **dict(zip("abc", FEATURES.T, strict=True)), "y": TARGETS}
    pyarrow.parquet.write_table(pyarrow.table(columns), written, write_page_checksum=True)
    return written.getvalue()


def table(name: str) -> Callable[[Folder], Any]:
    def read(folder: Folder) -> Any:
        from fedconvex.data.files import read_table

        found = read_table(folder / name)
        X = found.features.toarray() if hasattr(found.features, "toarray") else found.features
        return rows(X), values(found.targets), None if found.clients is None else list(found.clients)

    return read


def tables() -> list[Kind]:
    contents = {
        "t.csv": (delimited(","), strictly.delimited), "t.tsv": (delimited("\t"), strictly.delimited),
        "t.csv.gz": (delimited(","), strictly.delimited), "t.svm": (libsvm(), strictly.libsvm),
        "t.svm.gz": (libsvm(), strictly.libsvm), "t.npz": (npz, strictly.npz),
        "t.parquet": (parquet, strictly.parquet),
    }  # fmt: skip
    return [Kind(name, file(name, content), table(name), strict) for name, (content, strict) in contents.items()]


# ---- data sets of deep runs

LEAF = {
    "users": ["f_1", "f_0"],
    "num_samples": [2, 1],
    "user_data": {"f_0": {"x": [[5, 6.5]], "y": [2]}, "f_1": {"x": [[1.0, 2.0], [3, -4]], "y": [0.0, 1.0]}},
}
TWEETS = {
    "users": ["ann"],
    "num_samples": [2],
    "user_data": {"ann": {"x": [["1", "d", "q", "ann", "so good !"], ["2", "d", "q", "ann", "so sad"]], "y": [1, 0]}},
}
WINDOWS = {"users": ["A"], "num_samples": [2], "user_data": {"A": {"x": ["abcd", "bcde"], "y": ["e", "f"]}}}
TWEETS_CSV = (
    b'"0","1","Mon","NO_QUERY","ann","so sad"\n"4","2","Tue","NO_QUERY","bob","so, ""good"""\n'
    b'"2","3","Wed","NO_QUERY","bob","well"\n"4","4","Thu","NO_QUERY","ann","fine"\n'
)
VECTORS = "\n".join(
    f"{word} {' '.join(map(str, small_numbers((4,), i)))}" for i, word in enumerate(["so", "sad", "good", "!"])
).encode()
WORDS = {"so": 0, "good": 1, "!": 2}
WITH_TABS = (
    b"\tTHE STORM\n\n\tDRAMATIS PERSONAE\n\nANNA\ta queen.\n\nACT I\n\nSCENE I\tAt sea.\n\n"
    b"ANNA\tHear me [aside]\n\tnow, all of you.\n\nFIRST\nLORD\t[Enter a\n\tghost] I hear.\n\nBEN: And I do.\n"
)
WITH_COLONS = b"First Citizen:\nBefore we proceed, hear me.\n\nAll:\nSpeak, speak.\n"


def images(folder: Folder) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4, 3, 3), dtype=np.uint8)
    write_pair(folder, "train-images-idx3-ubyte", "train-labels-idx1-ubyte", pixels, list(range(4)))


def picture(kind: str) -> bytes:
    from PIL import Image

    written = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (6, 5, 3), dtype=np.uint8)).save(written, kind)
    return written.getvalue()


def dataset(
    name: str, place: str = "", of: Callable[[Any], Any] | None = None, **options: Any
) -> Callable[[Folder], Any]:
    def read(folder: Folder) -> Any:
        from fedconvex.deep import datasets

        found = getattr(datasets, name)(folder / place, **options)
        return None if of is None else of(found)

    return read


def of_leaf(found: Any) -> Any:
    return rows(found.inputs), rows(found.labels), [(name, len(own)) for name, own in found.clients]


def of_tweets(found: Any) -> Any:
    return sorted((name, int(label)) for name, own in found.clients for label in found.labels[own])


def of_vectors(found: Any) -> Any:
    return list(found[0]), found[1][:-2].tolist()


def of_cifar(found: Any) -> Any:
    return found.labels.tolist(), found.inputs.reshape(found.num_samples, -1).tolist()


def one(
    name: str,
    content: bytes | Callable[[], bytes],
    read: Callable[[Folder], Any],
    strict: Callable[[Path], Any] | None = None,
) -> Kind:
    """A kind of which one file is all that is read."""
    return Kind(name, file(name, content), read, strict)


def as_json(content: Any) -> bytes:
    return json.dumps(content).encode()


def of_idx(found: Any) -> Any:
    return str(found.astype(float).tolist())  # as text, NaN is equal to itself


def datasets() -> list[Kind]:
    plays = tarred({"one.txt": WITH_TABS, "two.txt": WITH_COLONS})
    doubles = packed(small_numbers((4, 3)))
    records = bytes([3]) + bytes(range(256)) * 12 + bytes([9]) + bytes(range(256)) * 12
    return [
        one("leaf.json", as_json(LEAF), dataset("leaf", "leaf.json", of_leaf), strictly.leaf),
        one("leaf.json.gz", as_json(LEAF), dataset("leaf", "leaf.json.gz", of_leaf), strictly.leaf),
        one("a.idx", doubles, dataset("read_idx", "a.idx", of_idx), strictly.idx),
        one("a.idx.gz", doubles, dataset("read_idx", "a.idx.gz", of_idx), strictly.idx),
        Kind("train-images-idx3-ubyte", images, dataset("mnist")),
        Kind("train-labels-idx1-ubyte", images, dataset("mnist")),
        one("test_batch.bin", records, dataset("cifar10", "", of_cifar, split="test"), strictly.cifar),
        one("test.bin", bytes([1]) + records[:3073], dataset("cifar100", split="test")),
        one("tabs.txt", WITH_TABS, dataset("read_plays", "tabs.txt")),
        one("colons.txt", WITH_COLONS, dataset("read_plays", "colons.txt")),
        one("plays.tar", plays, dataset("read_plays", "plays.tar")),
        one("plays.tar.gz", plays, dataset("read_plays", "plays.tar.gz")),
        one("windows.json", as_json(WINDOWS), dataset("shakespeare", "windows.json", seq_length=4)),
        one("tweets.json", as_json(TWEETS), dataset("sent140", "tweets.json", vocabulary=WORDS)),
        one("tweets.csv", TWEETS_CSV, dataset("sent140", "tweets.csv", of_tweets, vocabulary=WORDS), strictly.tweets),
        one("glove.txt", VECTORS, dataset("read_word_vectors", "glove.txt", of_vectors), strictly.word_vectors),
    ]  # fmt: skip


def kinds() -> Mapping[str, Kind]:
    """All of them, by name."""
    from kinds_of_results import results

    return {kind.name: kind for kind in [*tables(), *datasets(), *results()]}
