"""Each way in which a file can be wrong: the error names the path, the place and the cure."""

import contextlib
import gzip
import io
import os
import pickle
import struct
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedconvex.data import file_contents, load, number_blocks, table
from fedconvex.data.files import read_table
from fedconvex.errors import InvalidInput

LIBSVM = b"".join(b"1 1:%d 3:2.5\n-1 2:1\n" % i for i in range(2000))
CSV = b"client,a,b,y\n" + b"".join(b"%d,%d,0.25,%d\n" % (i % 5, i, i % 2) for i in range(2000))


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def parquet(**columns: Any) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer)
    return buffer.getvalue()


def damaged_page(checksum: bool) -> bytes:
    """A column of 7.25, of which one has become 8.25."""
    buffer, table = io.BytesIO(), pa.table({"a": [7.25] * 5, "y": [0, 1, 0, 1, 0]})
    pq.write_table(table, buffer, use_dictionary=False, compression="none", write_page_checksum=checksum)
    return buffer.getvalue().replace(struct.pack("<5d", *[7.25] * 5), struct.pack("<5d", 8.25, *[7.25] * 4))


def huge_npy() -> bytes:
    """An array whose header promises 2^45 numbers."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (2**25, 2**20)})
    return buffer.getvalue()


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name + ".npy", data)
    return buffer.getvalue()


class Bad(NamedTuple):
    name: str
    data: bytes
    says: tuple[str, ...]
    options: Mapping[str, Any] = MappingProxyType({})


X, y = np.ones((3, 2)), np.arange(3)
OBJECTS = np.array([{}, [], None], dtype=object)

LIBSVM_FILES = [
    Bad("index_0", b"1 1:2\n1 0:2 1:3\n", ("line 2", "index 0 is less than 1", "add 1 to every index")),
    Bad("negative.svm", b"1 -3:2\n", ("line 1", "index -3 is less than 1")),
    Bad("same.t", b"# two\n1 1:2\n\n1 4:1 4:3\n", ("line 4", "index 4 comes after 4", "sort each line")),
    Bad("falling.txt", b"1 1:2\n1 4:1 2:3\n", ("line 2", "index 2 comes after 4", "increase")),
    Bad("colon", b"1 1:2\n1 1:1 2\n", ("line 2", "in '2' the colon is missing", "write index:value")),
    Bad("cut_short", b"1 1:2 3:4\n1 1:1 3:", ("line 2", "value '' is not a finite number")),
    Bad("minus_zero", b"1 1:2\n1 1:1 3:-0\n1 1:2\n", ("line 2", "'3:-0' is cut short", "repair or remove")),
    Bad("cut_value.svm", b"1 1:2\n1 3:0.25", ("line 2", "no line break at its end", "add the line break")),
    Bad("cut_label.svm", b"1 1:2\n-1", ("line 2", "no line break at its end", "copy it again")),
    Bad("value", b"1 1:2\n1 1:one\n", ("line 2", "value 'one' is not a finite number", "repair")),
    Bad("nan", b"1 1:nan\n", ("line 1", "value 'nan' is not a finite number")),
    Bad("underscored-index", b"1 1_0:2\n", ("line 1", "the index '1_0' is not a whole number", "write index:value")),
    Bad("long.svm", b"1 1:1\n-9007199254740993 1:1\n", ("line 2", "beyond 2^53", "number the classes anew")),
    Bad("underscore", b"1 1:1_0\n", ("line 1", "value '1_0' is not a finite number")),
    Bad("index", b"1 1.5:2\n", ("line 1", "index '1.5' is not a whole number")),
    Bad("qid", b"1 qid:3 1:2\n", ("line 1", "ranking query", "remove all qid")),
    Bad("no_label", b"1 1:2\n1:2 2:3\n", ("line 2", "the label is missing", "put the label first")),
    Bad("label", b"1 1:2\nyes 2:3\n", ("line 2", "label 'yes' is not a finite number", "--format")),
    Bad("binary", b"\x89PNG\r\n\x1a\n\xff\xfe", ("line 1", r"\x89", "not a finite number")),
    Bad("empty.svm", b"", ("has no rows",)),
    Bad("only_labels", b"1\n-1\n", ("no line has a feature", "index:value")),
    Bad("wide", b"1 1:2\n1 5:2\n", ("line 2", "index 5 is larger than num_features = 4", ">= 5"), {"num_features": 4}),
    Bad("huge", b"1 99999999999999999999:1\n", ("line 1", "99999999999999999999 is larger than")),
    Bad("truncated.gz", gzip.compress(LIBSVM)[:-300], ("after line ", "gzip data is truncated", "again")),
    Bad("plain.gz", LIBSVM, ("gzip data is damaged", "drop .gz from its name")),
    Bad("crc.gz", gzip.compress(LIBSVM)[:-8] + bytes(8), ("gzip data is damaged",)),
]
CSV_FILES = [
    Bad("index.csv", b",a,y\n0,1,2\n1,1,3\n2,5,3\n", ("first column has no name", "row numbers", "index=False")),
    Bad("part.csv", b",a,y\n7,1,2\n3,1,3\n5,5,3\n", ("first column has no name", "row numbers", "drop the column")),
    Bad("empty.csv", b"", ("the file is empty", "header line")),
    Bad("header.csv", b"client,a,y\n", ("has a header but no rows",)),
    Bad("ragged.csv", b"client,a,y\n0,1,2\n0,1\n", ("line 3", "2 fields, the header has 3", "repair the line")),
    Bad("long.csv", b"client,a,y\n0,1,2,3\n", ("line 2", "4 fields, the header has 3")),
    Bad(
        "quoted.csv", b'client,a,y\n"n\nn",1,2\n0,nan,2\n', ("line 4, column 'a'", "missing ('nan')", "remove the row")
    ),
    Bad("missing.csv", b"client,a,y\n0,1,2\n0,,2\n", ("line 3, column 'a'", "missing ('')", "fill it in")),
    Bad("infinite.csv", b"client,a,y\n0,-inf,2\n", ("line 2, column 'a'", "'-inf' is not finite")),
    Bad("huge.csv", b"client,a,y\n0,1e999,2\n", ("line 2, column 'a'", "'1e999' is not finite")),
    Bad(
        "text.csv",
        b"client,a,y\n0,1,2\n0,red,2\n",
        ("line 3, column 'a'", "'red' is not a number", "encode", "--drop a"),
    ),
    Bad("constant.csv", b"client,a,y\n0,red,2\n0,red,1\n", ("column 'a'", "'red' in every row", "--drop a")),
    Bad("long.csv", b"client,a,y\n0,1,9007199254740992\n0,1,9007199254740993\n", ("line 3, column 'y'", "beyond 2^53")),
    Bad("grouped.csv", b"client,a,y\n0,1_000,2\n0,1,2\n", ("line 2, column 'a'", "'1_000' is not a number")),
    Bad("target.csv", b"client,a,y\n0,1,2\n0,1,\n", ("line 3, column 'y'", "missing")),
    Bad("target_inf.csv", b"client,a,y\n0,1,2\n0,1,inf\n", ("line 3, column 'y'", "'inf' is not finite")),
    Bad(
        "target_mixed.csv",
        b"client,a,y\n0,1,2\n0,1,b\n",
        ("line 3, column 'y'", "text in a target column that has num"),
    ),
    Bad("client.csv", b"client,a,y\n0,1,2\nNA,1,2\n", ("line 3, column 'client'", "missing ('NA')")),
    Bad(
        "no_target.csv",
        b"client,a\n0,1\n",
        ("no column is named target or label or y", "'client', 'a'", "--target-column"),
    ),
    Bad("two.csv", b"client,a,y,label\n0,1,1,1\n", ("has the columns label and y", "name it with target_column")),
    Bad("twice.csv", b"client,a,a,y\n0,1,1,1\n", ("column 'a' comes more than once", "its own name")),
    Bad("bare.csv", b"client,y\n0,1\n", ("has no features beside client and y", "at least one feature column")),
    Bad("separators.csv", b"client;a;y\n0,1,2\n", ("line 2: has 3 fields, the header has 1", "repair the line")),
    Bad(
        "latin1.csv",
        "client,a,y\n0,1,süß\n".encode("latin-1"),
        ("line 2", "is not UTF-8 text", "save the file as UTF-8"),
    ),
    Bad("quote.csv", b'client,a,y\n0,1,"2\n0,1,2\n', ("line 3", "not valid CSV", "repair the quotes")),
    Bad("truncated.csv.gz", gzip.compress(CSV)[:2000], ("after line ", "gzip data is truncated")),
    Bad(
        "no_column.csv", CSV, ("client_column = site", "'client', 'a', 'b', 'y'", "name one"), {"client_column": "site"}
    ),
    Bad("no_tgt.csv", CSV, ("target_column = z", "'client', 'a', 'b', 'y'", "name one"), {"target_column": "z"}),
    Bad("same.csv", CSV, ("client_column = y", "is the target column of", "name another"), {"client_column": "y"}),
    Bad("width.csv", CSV, ("num_features = 3", "states how many", "leave it out"), {"num_features": 3}),
]
BINARY_FILES = [
    Bad("empty.parquet", b"", ("the file is empty",)),
    Bad("cut.parquet", parquet(client=y, a=y, y=y)[:-20], ("is not readable as Parquet", "copy the file again")),
    Bad("none.parquet", parquet(client=["a", None], a=[1, 2], y=[1, 2]), ("row 2, column 'client'", "is missing")),
    Bad("nan.parquet", parquet(client=[0, 0], a=[1, np.nan], y=[1, 2]), ("row 2, column 'a'", "is missing")),
    Bad(
        "long.parquet", parquet(client=[0, 0], a=[1, 2], y=[2**53, 2**53 + 1]), ("row 2", "beyond 2^53", "put a letter")
    ),
    Bad("inf.parquet", parquet(client=[0, 0], a=[1, np.inf], y=[1, 2]), ("row 2, column 'a'", "inf is not finite")),
    Bad("text.parquet", parquet(client=[0], a=["red"], y=[1]), ("column 'a'", "'red' in every row", "--drop a")),
    Bad(
        "date.parquet",
        parquet(a=[1], y=pd.to_datetime(["2020-01-01"])),
        ("column 'y': holds dates", "name another target"),
    ),
    Bad("rows.parquet", parquet(client=y[:0], a=y[:0], y=y[:0]), ("has no rows",)),
    Bad("column.parquet", parquet(a=y, y=y), ("client_column = k", "'a', 'y'", "name one"), {"client_column": "k"}),
    Bad("objects.npz", npz(X=X, y=OBJECTS), ("is not readable as NPZ", "allow_pickle=False", "numpy.savez")),
    Bad("pickle.npz", pickle.dumps({"X": X, "y": y}), ("is not readable as NPZ", "numpy.savez")),
    Bad("npy.npz", npy(X), ("is not readable as NPZ", "numpy.savez")),
    Bad("cut.npz", npz(X=X, y=y)[:-30], ("is not readable as NPZ", "numpy.savez")),
    Bad("no_X.npz", npz(A=X, y=y), ("has no array X; its arrays are A, y", "numpy.savez")),
    Bad("no_y.npz", npz(X=X, b=y), ("no column is named target or label or y", "'X', 'b'")),
    Bad("flat.npz", npz(X=y, y=y), ("X has shape (3,)", "samples by features")),
    Bad("complex.npz", npz(X=X * 1j, y=y), ("complex128",)),
    Bad("rows.npz", npz(X=X[:0], y=y[:0]), ("has no rows",)),
    Bad("nan.npz", npz(X=np.where(np.eye(3, 2) > 0, np.nan, 1), y=y), ("row 1, column 'x1'", "nan is not finite")),
    Bad("nan_y.npz", npz(X=X, y=y / [1, 1, np.inf] + [0, np.inf, 0]), ("row 2: inf among the targets", "repair")),
    Bad("length.npz", npz(X=X, y=np.arange(4)), ("the targets have shape (4,)", "give 3 numbers or strings")),
    Bad("clients.npz", npz(X=X, y=y, client=X), ("the clients have shape (3, 2)", "give 3 numbers or strings")),
    Bad("bomb.npz", zipped(X=huge_npy(), y=npy(y)), ("unpacks to more than 4.0 GiB", "fewer samples")),
    Bad("text.npz", zipped(X=b"no array", y=npy(y)), ("is not readable as NPZ", "magic string", "numpy.savez")),
    Bad("target.npz", zipped(X=npy(X), y=b""), ("is not readable as NPZ", "numpy.savez")),
    Bad("two_X.npz", zipped(X=npy(X), y=npy(y), Z=npy(X)).replace(b"Z.npy", b"X.npy"), ("'X' comes more than once",)),
    Bad(  # the name in the table of contents, not the one before the member
        "renamed.npz",
        b"klient.npy".join(npz(X=X, y=y, client=y).rsplit(b"client.npy", 1)),
        ("is not readable as NPZ", "klient.npy"),
    ),
    # a header that announces fewer rows hides the wrong checksum from a reader that stops at the array's end
    Bad("rows.npz", npz(X=X, y=y).replace(b"(3, 2)", b"(2, 2)"), ("is not readable as NPZ", "X.npy")),
    Bad("page.parquet", damaged_page(checksum=True), ("is not readable as Parquet", "CRC", "copy the file again")),
    Bad("truncated.npz.gz", gzip.compress(npz(X=X, y=y))[:-10], ("gzip data is truncated",)),
    Bad("data.xlsx", b"PK", ("the suffix '.xlsx' does not determine the format", "csv, tsv, parquet, npz, libsvm")),
]


@pytest.mark.parametrize("bad", LIBSVM_FILES + CSV_FILES + BINARY_FILES, ids=lambda bad: bad.name)
def test_the_error_names_path_place_and_cure(bad: Bad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(bad.name).write_bytes(bad.data)
    with pytest.raises(InvalidInput) as caught:
        read_table(bad.name, **bad.options)
    for part in (bad.name, *bad.says):
        assert part in str(caught.value)
    assert caught.value.cure


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        *[
            (f"nowhere{end}", {}, "there is no such file; check the path")
            for end in ("", ".csv", ".npz.gz", ".parquet")
        ],
        *[(f"folder{end}", {}, "is a directory; give a file in it") for end in ("", ".npz", ".csv.gz")],
        ("loop", {}, ".*cannot be read"),
        (".", {"format": "xlsx"}, "format = xlsx: .*give one of csv, tsv"),
        *[("a9a", {o: "a"}, f"{o} = a: a9a is LIBSVM text.*leave it out") for o in ("client_column", "target_column")],
    ],
)
def test_what_is_no_file_and_what_does_not_fit_it(
    name: str, options: dict[str, Any], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if name.startswith("folder"):
        Path(name).mkdir()
    Path("loop").symlink_to("loop")
    with pytest.raises(InvalidInput, match=says if options else f"{name}: {says}"):
        read_table(name, **options)


SAMPLES = {
    "data": LIBSVM[:60],
    "data.gz": gzip.compress(LIBSVM[:60]),
    "data.csv": CSV[:60],
    "data.npz": npz(X=X, y=y, client=y),
    "data.parquet": parquet(client=y, a=y, y=y),
}


@settings(deadline=None)
@given(name=st.sampled_from(sorted(SAMPLES)), data=st.data())
def test_a_damaged_file_is_read_or_refused_and_nothing_else(name: str, data: st.DataObject) -> None:
    contents = bytearray(SAMPLES[name])
    start = data.draw(st.integers(0, len(contents)))
    contents[start : start + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(contents)
        with contextlib.suppress(InvalidInput):
            features, names, targets, *_ = read_table(path)
            assert np.isfinite(features).all()
            assert features.shape == (len(targets), len(names))


def test_a_long_path_is_named_in_full(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 100) / "data.csv"
    path.parent.mkdir()
    path.write_bytes(b"client,a,y\n0,,1\n0,1,1\n")
    with pytest.raises(InvalidInput) as caught:
        read_table(path)
    assert f"path = {path}: line 2, column 'a': the value is missing" in str(caught.value)


class Bomb:
    """Unpickling this writes a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.marker),)


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv", ""])
def test_no_file_is_executed(suffix: str, tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    path = tmp_path / f"data{suffix}"
    pickled = pickle.dumps(Bomb(marker))
    contents = {".npz": npz(X=X, y=np.array([Bomb(marker)] * 3, dtype=object))}
    for data in (contents.get(suffix, pickled), pickled):
        path.write_bytes(data)
        with pytest.raises(InvalidInput):
            read_table(path)
        assert not marker.exists()


def test_a_table_with_its_index_is_refused_and_without_it_read(tmp_path: Path) -> None:
    path, frame = tmp_path / "frame.csv", pd.DataFrame({"a": [1.5, 2, 2], "y": [0, 1, 1]})
    frame.to_csv(path)
    with pytest.raises(InvalidInput, match="index=False"):
        read_table(path)
    frame.to_csv(path, index=False)
    assert read_table(path).feature_names == ("a",)
    frame.to_csv(path, index_label="row")  # who names the column wants it
    assert read_table(path).feature_names == ("row", "a")
    path.write_text(",a,y\n0.5,1,2\n1,1,3\n")  # no row numbers
    assert read_table(path).feature_names == ("", "a")


def test_text_and_archives_that_unpack_to_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "MAX_BYTES", 1000)
    monkeypatch.setattr(number_blocks, "MAX_BYTES", 1000)
    for name in ("data.csv.gz", "data.parquet.gz"):
        (tmp_path / name).write_bytes(gzip.compress(CSV))
        with pytest.raises(InvalidInput, match="holds more than"):
            read_table(tmp_path / name)


def test_a_label_alone_is_a_sample_of_zeros(tmp_path: Path) -> None:
    """4,203 of the published w8a's lines are so."""
    (tmp_path / "data").write_bytes(b"1 1:2\n-1\n1 2:3\n")
    assert read_table(tmp_path / "data").features.tolist() == [[2, 0], [0, 0], [0, 3]]


def test_a_parquet_page_without_checksum_is_taken_as_it_is(tmp_path: Path) -> None:
    """As the documentation says: nothing in such a file shows the damage."""
    (tmp_path / "data.parquet").write_bytes(damaged_page(checksum=False))
    assert read_table(tmp_path / "data.parquet").features[:2].ravel().tolist() == [8.25, 7.25]


def test_a_member_that_is_no_array_may_not_unpack_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.npz"
    path.write_bytes(zipped(X=npy(X), y=npy(y), notes=bytes(5000)))
    assert read_table(path).features.shape == (3, 2)
    monkeypatch.setattr("fedconvex.npz_files.MAX_BYTES", 4000)
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        read_table(path)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "MAX_LINE", 100)
    (tmp_path / "data.svm").write_bytes(b"1 1:1\n" + b"1" * 200)
    with pytest.raises(InvalidInput, match="line 2: is longer than 100 bytes"):
        read_table(tmp_path / "data.svm")


def test_a_csv_table_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_BYTES", 1000)
    (tmp_path / "data.csv").write_bytes(CSV)
    with pytest.raises(InvalidInput, match="63 rows by 2 features"):
        load(tmp_path / "data.csv")
