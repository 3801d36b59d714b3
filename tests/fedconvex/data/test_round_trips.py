"""The same table through every format gives the same data, bit for bit."""

import csv
import gzip
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from fedconvex.data import FederatedData, load
from fedconvex.data.table import Table, default_names

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw) -> Table:
    rows, columns = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    features = draw(st.lists(st.lists(NUMBERS, min_size=columns, max_size=columns), min_size=rows, max_size=rows))
    target = draw(st.sampled_from([NUMBERS, st.integers(-2, 2), st.booleans(), st.sampled_from(["ja", "nein, nie"])]))
    targets = np.array(draw(st.lists(target, min_size=rows, max_size=rows)))
    client = draw(st.sampled_from([st.integers(0, 11), st.sampled_from(['north "1"', "süd", "10", "9"])]))
    clients = draw(st.lists(client, min_size=rows, max_size=rows))
    return Table(np.array(features), default_names(columns), targets, tuple(clients))


def frame(table: Table, with_clients: bool) -> pd.DataFrame:
    columns = dict(zip(table.feature_names, table.features.T, strict=True))
    clients = {"client": list(table.clients)} if with_clients else {}
    return pd.DataFrame({**clients, **columns, "y": table.targets})


def write_csv(table: Table, path: Path, with_clients: bool) -> None:
    data = frame(table, with_clients)
    opener = gzip.open if path.suffix == ".gz" else open
    delimiter = "\t" if ".tsv" in path.name else ","
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(data.columns)
        writer.writerows([repr(v) if isinstance(v, float) else v for v in row] for row in data.itertuples(index=False))


def write_npz(table: Table, path: Path, with_clients: bool) -> None:
    np.savez(path, X=table.features, y=table.targets, **({"client": np.array(table.clients)} if with_clients else {}))


def write_libsvm(table: Table, path: Path) -> None:
    lines = [
        " ".join([repr(float(target)), *(f"{j}:{value!r}" for j, value in enumerate(row, 1))])
        for target, row in zip(table.targets, table.features.tolist(), strict=True)
    ]
    data = "\n".join(["# a comment", lines[0] + " # another", "", *lines[1:], ""]).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def assert_same(one: FederatedData, other: FederatedData) -> None:
    assert one.client_names == other.client_names
    assert one.feature_names == other.feature_names
    for A, B in zip(one.features + one.targets, other.features + other.targets, strict=True):
        assert (A.dtype.kind, A.shape) == (B.dtype.kind, B.shape)
        assert A.astype(B.dtype).tobytes() == B.tobytes()


@settings(deadline=None, max_examples=50)
@given(tables())
def test_csv_tsv_parquet_and_npz_with_a_client_column_agree(table: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.npz")]
        for path in paths[:3]:
            write_csv(table, path, with_clients=True)
        frame(table, with_clients=True).to_parquet(paths[3])
        write_npz(table, paths[4], with_clients=True)
        first, *others = [load(path) for path in paths]
    assert set(first.client_names) == set(map(str, table.clients))
    for other in others:
        assert_same(first, other)
    for k, name in enumerate(first.client_names):
        mine = [i for i, client in enumerate(table.clients) if str(client) == name]
        assert first.features[k].tobytes() == table.features[mine].tobytes()
        assert first.targets[k].tolist() == table.targets[mine].tolist()


@settings(deadline=None, max_examples=50)
@given(tables().filter(lambda table: table.targets.dtype.kind != "U"), st.integers(0, 2**32))
def test_libsvm_dealt_to_clients_agrees_with_csv_parquet_and_npz(table: Table, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("t", "t.t.gz", "t.svm", "t.csv", "t.parquet", "t.npz")]
        for path in paths[:3]:
            write_libsvm(table, path)
        write_csv(table, paths[3], with_clients=False)
        frame(table, with_clients=False).to_parquet(paths[4])
        write_npz(table, paths[5], with_clients=False)
        first, *others = [load(path, clients=2, partition="by-label:1", seed=seed) for path in paths]
    for other in others:
        assert_same(first, other)
