"""Load data by the name of a built-in set or the path of a file, and give every client its share."""

import os
from pathlib import Path

import numpy as np

from fedconvex.data import builtin
from fedconvex.data.federated import FederatedData, deal, federate
from fedconvex.data.files import read_table
from fedconvex.data.table import bad_file, standardized
from fedconvex.errors import InvalidInput

DEFAULT_CLIENTS = 10


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
    """Samples and the clients that they lie with.

    source: `diabetes`, `breast_cancer` or `digits` (write ./digits for a file of that name), or the path of a file that
        `fedconvex.data.files.read_table` reads, with client_column, target_column, format and num_features as there.
        With a client column (one named `client` or `client_id` is taken without asking) the partition is the natural
        one: a client for every value in it, in the order of the values, which are the clients' names.
    clients, partition, seed: for data without a client column: the number of clients (built-in sets: default 10), the
        scheme (`iid`, the default, `lognormal:SIGMA`, `dirichlet:ALPHA`, `by-label:D` or `power-law-labels:D`, see
        `fedconvex.data.partition`), the deal's seed.
    standardize: bring every feature column, over all clients, to mean 0 and variance 1; constant columns become 0.

    Raises InvalidInput for a file that cannot be read, a client column beside clients or partition, and for neither.
    """
    if source in builtin.names():
        file_options = {"client_column": client_column, "target_column": target_column, "format": format}
        for argument, value in {**file_options, "num_features": num_features}.items():
            if value is not None:
                raise InvalidInput(argument, value, f"{source} is a built-in data set, not a file", "leave it out")
        table = builtin.table(str(source))
        clients = DEFAULT_CLIENTS if clients is None else clients
    else:
        dealt = "clients" if clients is not None else "partition" if partition is not None else None
        if client_column is not None and dealt is not None:
            raise InvalidInput("client_column", client_column, f"is given together with {dealt}", "give one of the two")
        if not Path(source).exists():
            cure = f"check the path, relative to {Path.cwd()}, or give one of {', '.join(builtin.names())}"
            raise bad_file(source, "is neither a file nor a built-in data set", cure)
        columns = {"target_column": target_column, "client_column": client_column}
        table = read_table(source, format=format, num_features=num_features, **columns)
        if table.clients is not None and dealt is not None:
            cure = "leave out clients and partition, or rename the column"
            raise bad_file(source, f"has a client column, and {dealt} is given as well", cure)
    if standardize:
        table = table._replace(features=standardized(table.features))
    if table.clients is None:
        if clients is None:
            cure = "give clients and partition (--clients N --partition iid), or client_column (--client-column NAME)"
            raise bad_file(source, "has no client column, so its rows must be dealt to clients", cure)
        return deal(table, clients, "iid" if partition is None else partition, seed, os.fspath(source))
    names = sorted(set(table.clients), key=_natural)
    position = {name: k for k, name in enumerate(names)}
    owner = np.array([position[name] for name in table.clients])
    rows = np.split(np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner))[:-1])
    return federate(table, rows, names, os.fspath(source))


def _natural(name: str) -> tuple[bool, int, str]:
    """Whole numbers first, by size, then text."""
    number = name.isascii() and name.isdecimal()
    return (not number, int(name) if number else 0, name)
