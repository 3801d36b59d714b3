"""`load`: a built-in data set or a file, with its rows assigned to clients."""

import os
from pathlib import Path

import numpy as np

from fedconvex import memory
from fedconvex.data import builtin
from fedconvex.data.federated import FederatedData, divide_among_clients, federate
from fedconvex.data.files import read_table
from fedconvex.data.table import FEWER, bad_file, standardized
from fedconvex.errors import InvalidInput
from fedconvex.names import checked_keywords, suggestion
from fedconvex.validation import instance_of, truth_value

DEFAULT_CLIENTS = 10


@checked_keywords
def load(
    source: str | os.PathLike[str],
    *,
    clients: int | None = None,
    partition: str | None = None,
    client_column: str | None = None,
    target_column: str | None = None,
    format: str | None = None,
    num_features: int | None = None,
    standardize: bool = False,
    seed: int = 0,
) -> FederatedData:
    """Loads a built-in data set or a file as federated data: samples that belong to clients.

    Use it for real data; `.problem()` of the result is the problem to solve. If the file states which client each row
    belongs to, prefer that natural partition; otherwise the rows are divided among clients at random.

    Args:
        source: `diabetes`, `breast_cancer` or `digits` (write ./digits for a file of that name), or the path of a CSV,
            TSV, Parquet, NPZ or LIBSVM file, gzipped or not (see `fedconvex.data.files.read_table`).
        clients, partition, seed: for data without a client column: the number of clients (built-in sets: default 10),
            the scheme (`iid`, the default, `lognormal:SIGMA`, `dirichlet:ALPHA`, `by-label:D` or `power-law-labels:D`,
            see `fedconvex.data.partition`), and the random seed of the partition.
        client_column: the column with the clients' names, by default `client` or `client_id` if there is one. Each
            distinct value becomes a client, in sorted order.
        target_column: the column to predict, by default `target`, `label` or `y`.
        format, num_features: see `read_table`.
        standardize: shift and scale every feature, over all clients, to mean 0 and variance 1; constant ones become 0.

    Raises:
        InvalidInput: a file that cannot be read; a client column together with clients or partition; neither of both.
    """
    instance_of(source, str | os.PathLike, "source", "a name or a path", f"give a file or {', '.join(builtin.names())}")
    truth_value(standardize, "standardize")
    if source in builtin.names():
        file_options = {"client_column": client_column, "target_column": target_column, "format": format}
        for argument, value in {**file_options, "num_features": num_features}.items():
            if value is not None:
                raise InvalidInput(argument, value, f"{source} is a built-in data set, not a file", "leave it out")
        table = builtin.table(str(source))
        clients = DEFAULT_CLIENTS if clients is None else clients
    else:
        divided_by = "clients" if clients is not None else "partition" if partition is not None else None
        if client_column is not None and divided_by is not None:
            raise InvalidInput(
                "client_column", client_column, f"is given together with {divided_by}", "give one of the two"
            )
        # one message for a misspelt file and a misspelt data set: nobody knows which of the two was meant
        if not Path(source).exists():
            cure = f"check the path, relative to {Path.cwd()}, or give one of {', '.join(builtin.names())}"
            raise bad_file(
                source, "is neither a file nor a built-in data set", suggestion(source, builtin.names()) + cure
            )
        columns = {"target_column": target_column, "client_column": client_column}
        with memory.refusing("path", Path(source), FEWER):
            table = read_table(source, format=format, num_features=num_features, **columns)
        if table.clients is not None and divided_by is not None:
            cure = "leave out clients and partition, or rename the column"
            raise bad_file(source, f"has a client column, and {divided_by} is given as well", cure)
    if standardize:
        table = table._replace(features=standardized(table.features))  # before dividing: one scale for all clients
    if table.clients is None:
        if clients is None:
            cure = "give clients and partition (--clients N --partition iid), or client_column (--client-column NAME)"
            raise bad_file(source, "has no client column that assigns its rows to clients", cure)
        return divide_among_clients(table, clients, "iid" if partition is None else partition, seed, os.fspath(source))
    names = sorted(set(table.clients), key=_in_natural_order)
    position = {name: k for k, name in enumerate(names)}
    owner = np.array([position[name] for name in table.clients])
    # stable: a client's rows keep the order of the file
    rows = np.split(np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner))[:-1])
    return federate(table, rows, names, os.fspath(source))


def _in_natural_order(name: str) -> tuple[bool, int, str]:
    """A sort key: whole numbers by size (2 before 10), then text."""
    number = name.isascii() and name.isdecimal()
    return (not number, int(name) if number else 0, name)
