"""`load`: a built-in data set, a file or a frame, with its rows assigned to clients."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from fedconvex import memory
from fedconvex.data import builtin
from fedconvex.data.column_roles import DEFAULT_CLIENTS
from fedconvex.data.federated import FederatedData, divide_among_clients, federate
from fedconvex.data.files import read_table
from fedconvex.data.frame_tables import COLLECT, as_pandas, is_frame, is_lazy, source_of, table_of
from fedconvex.data.preparation import Impute, Preparation
from fedconvex.data.several import join, of_several
from fedconvex.data.table import FEWER, Table, bad_file, standardized
from fedconvex.data.targets import TASKS, Task
from fedconvex.errors import InvalidInput
from fedconvex.names import checked_keywords, suggestion
from fedconvex.sparse import is_sparse
from fedconvex.validation import instance_of, integer_at_least, is_choice, truth_value


@checked_keywords
def load(
    source: Any,
    *,
    clients: int | None = None,
    partition: str | None = None,
    client_column: str | None = None,
    target_column: str | None = None,
    task: Task | Literal["auto"] = "auto",
    drop: str | Sequence[str] = (),
    one_hot: str | Sequence[str] = (),
    impute: Impute | None = None,
    decimal: Literal[".", ","] | None = None,
    standardize: bool = False,
    missing: str | Sequence[str] | None = None,
    categories: str | Sequence[str] = (),
    format: str | None = None,
    num_features: int | None = None,
    seed: int = 0,
) -> FederatedData:
    """Loads a built-in data set, a file or a frame as federated data: samples that belong to clients.

    Use it for real data; `.problem()` of the result is the problem to solve, and `from_frame` is both in one call. If
    the table states which client each row belongs to, prefer that natural partition; otherwise the rows are divided
    among clients at random.

    A table needs no preparation if it holds numbers. Texts of at most 10 values are one-hot encoded, decimal commas and
    the separators `;`, tab and `|` are recognised; `.notes` of the result says so. Missing values, dates, identifiers
    and other texts are yours to decide: one error, `UntidyTable`, lists them all with the options below that decide
    them, and `load(source, **error.options)` is the next call.

    Args:
        source: `diabetes`, `breast_cancer` or `digits` (write ./digits for a file of that name); the path of a CSV,
            TSV, Parquet, NPZ or LIBSVM file, gzipped or not (see `fedconvex.data.files.read_table`); or a table of
            pandas, polars or Arrow. Several tables, each of a client: a list of CSV, TSV or Parquet files, a folder or
            pattern (`sites/*.csv`) of them, or a dict of files or tables by client.
        clients, partition, seed: for data without a client column: the number of clients (built-in sets: default 10),
            the scheme (`iid`, the default, `lognormal:SIGMA`, `dirichlet:ALPHA`, `by-label:D` or `power-law-labels:D`,
            see `fedconvex.data.partition`), and the random seed of the partition.
        client_column: the column with the clients' names, by default `client` or `client_id` if there is one. Each
            distinct value becomes a client, in sorted order.
        target_column: the column to predict, by default `target`, `label` or `y`.
        task: regression, binary or multiclass; auto: see `fedconvex.data.targets.task_of`.
        drop: columns that are no features.
        one_hot: columns to encode, one column of zeros and ones for each value but the first.
        impute: what missing features become: the `median`, the `mean`, or the `most_frequent` value of the column
            (always that of a column of texts); `drop` leaves out rows with missing values. Rows without target or
            client are left out in either case.
        decimal: the decimal mark of columns that do not show it, such as 1,234.
        missing: the words for missing values, such as "none,-999", in place of the usual ones: na, n/a, nan, null, ?
            and none, which is a category among words. Empty cells are missing in any case.
        categories: columns in which every word is a category, also none and NA; they are one-hot encoded.
        standardize: shift and scale every feature, over all clients, to mean 0 and variance 1; constant ones become 0.
        format, num_features: see `read_table`.

    Raises:
        UntidyTable: a table whose columns cannot be used without a decision.
        InvalidInput: a file that cannot be read; a client column together with clients or partition; neither of both.
    """
    truth_value(standardize, "standardize")
    requested = checked_task(task)
    divided_by = "clients" if clients is not None else "partition" if partition is not None else None
    if client_column is not None and divided_by is not None:
        problem = f"is given together with {divided_by}"
        raise InvalidInput("client_column", client_column, problem, "give one of the two")
    options = Preparation.of(drop, one_hot, impute, decimal, standardize, divided_by is not None, missing, categories)
    columns = {"target_column": target_column, "client_column": client_column}
    if (several := of_several(source)) is not None:
        for argument, value in {"format": format, "num_features": num_features}.items():
            if value is not None:
                raise InvalidInput(argument, value, "the source is several tables", "leave it out")
        joined = join(several, "source", client_column, clients, partition)
        table = table_of(joined.frame, joined.source(), target_column, joined.client, options)
        return assigned(table, None, None, seed, requested, standardize, "source", str(joined.source().value))
    if is_frame(source):
        for argument, value in {"format": format, "num_features": num_features}.items():
            if value is not None:
                raise InvalidInput(argument, value, "the source is a table, not a file", "leave it out")
        frame = as_pandas(source, "source")
        table = table_of(
            frame, source_of(frame, "source", ("client_column", "target_column")), **columns, options=options
        )
        return assigned(
            table, clients, partition, seed, requested, standardize, "source", f"a table of {len(frame)} rows"
        )
    cure = f"give a file, a table of pandas, polars or Arrow, or {', '.join(builtin.names())}"
    cure = COLLECT if is_lazy(source) else cure
    instance_of(source, str | os.PathLike, "source", "a name, a path or a table", cure)
    if source in builtin.names():
        for argument, value in {**columns, "format": format, "num_features": num_features, **options.given}.items():
            if value is not None:
                raise InvalidInput(argument, value, f"{source} is a built-in data set, not a file", "leave it out")
        table = builtin.table(str(source))
        table = table._replace(features=standardized(table.features)) if standardize else table
        number, scheme = DEFAULT_CLIENTS if clients is None else clients, "iid" if partition is None else partition
        return divide_among_clients(table, number, scheme, seed, str(source), requested)
    # one message for a misspelt file and a misspelt data set: nobody knows which of the two was meant
    if not Path(source).exists():
        cure = f"check the path, relative to {Path.cwd()}, or give one of {', '.join(builtin.names())}"
        raise bad_file(
            source, "is neither a file nor a built-in data set", suggestion(os.fspath(source), builtin.names()) + cure
        )
    with memory.refusing("path", Path(source), FEWER):
        table = read_table(source, format=format, num_features=num_features, **columns, options=options)
        return assigned(table, clients, partition, seed, requested, standardize, "path", os.fspath(source))


def checked_task(task: Any) -> Task | Literal["auto"]:
    """The task, if it is auto or one of `TASKS`."""
    if not is_choice(task, ("auto", *TASKS)):
        near = get_close_matches(task, TASKS, 1) if isinstance(task, str) else []
        cure = f"give {near[0]}" if near else f"give auto, {', '.join(TASKS)}"
        raise InvalidInput("task", task, "is not known", cure)
    return cast(Task | Literal["auto"], task)


def assigned(
    table: Table,
    clients: int | None,
    partition: str | None,
    seed: int,
    task: Task | Literal["auto"],
    standardize: bool,
    argument: str,
    source: str,
) -> FederatedData:
    """The table's rows assigned to clients, by its client column or divided, with notes on what is unusual.

    argument, source: how errors name the table.
    """
    value = Path(source) if argument == "path" else source
    if table.clients is not None and (clients is not None or partition is not None):
        problem = f"has a client column, and {'clients' if clients is not None else 'partition'} is given as well"
        raise InvalidInput(argument, value, problem, "leave out clients and partition, or rename the column")
    if table.clients is None and clients is None:
        cure = "give clients and partition (--clients N --partition iid), or client_column (--client-column NAME)"
        raise InvalidInput(argument, value, "has no client column that assigns its rows to clients", cure)
    if standardize:
        table = table._replace(features=standardized(table.features))  # before dividing: one scale for all clients
    if table.clients is None:
        scheme = "iid" if partition is None else partition
        data = divide_among_clients(table, integer_at_least(clients, 1, "clients"), scheme, seed, source, task)
    else:
        names = sorted(set(table.clients), key=_in_natural_order)
        position = {name: k for k, name in enumerate(names)}
        owner = np.array([position[name] for name in table.clients])
        # stable: a client's rows keep the order of the file
        rows = np.split(np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner))[:-1])
        data = federate(table, rows, names, source, task)
    return replace(data, notes=data.notes + peculiarities(data))


def _in_natural_order(name: str) -> tuple[bool, int, str]:
    """A sort key: whole numbers by size (2 before 10), then text."""
    number = name.isascii() and name.isdecimal()
    return (not number, int(name) if number else 0, name)


SHOWN = 5  # names in a sentence


def peculiarities(data: FederatedData) -> tuple[str, ...]:
    """Sentences on constant columns, more unknowns than samples, and clients with one class or one sample."""
    return tuple(_sentences(data))


def _sentences(data: FederatedData) -> Iterator[str]:
    if constant := _constant(data):
        shown = ", ".join(repr(name) for name in constant[:SHOWN])
        more = f" and {len(constant) - SHOWN} more" if len(constant) > SHOWN else ""
        it = "it" if len(constant) == 1 else "them"
        subject = f"the feature {shown} is" if len(constant) == 1 else f"the features {shown}{more} are"
        yield f"{subject} the same in every row, as the intercept is: leaving {it} out changes no prediction"
    first = data.targets[0][0]
    if data.num_samples > 1 and all((targets == first).all() for targets in data.targets):
        value = data.targets[0].tolist()[0]
        same = f"the target {data.target_name!r} is {value!r} in every row"
        yield f"{same}: there is nothing to predict; name another column"
    if data.num_features >= data.num_samples:
        yield (
            f"{data.num_features:,} features, {data.num_samples:,} samples: more unknowns than samples, so that only a "
            "ridge makes the minimiser unique"
        )
    if data.num_clients == 1:
        yield "there is one client only: nothing is federated"
    single = int(np.count_nonzero(data.sizes == 1))
    if single:
        yield f"{single:,} of {data.num_clients:,} clients have one sample only"
    if data.task != "regression":
        alone = [
            name
            for name, targets, size in zip(data.client_names, data.targets, data.sizes, strict=True)
            if size > 1 and (targets == targets[0]).all()
        ]
        if alone:
            shown = ", ".join(repr(name) for name in alone[:SHOWN]) + ("…" if len(alone) > SHOWN else "")
            yield f"{len(alone):,} of {data.num_clients:,} clients have samples of one class only ({shown})"


def _constant(data: FederatedData) -> list[str]:
    """The features that are the same everywhere; not looked for in sparse data, where many are 0."""
    if any(map(is_sparse, data.features)):
        return []
    first = data.features[0][0]
    same = np.all([(array == first).all(axis=0) for array in data.features], axis=0)
    return [data.feature_names[j] for j in np.flatnonzero(same).tolist()] if data.num_samples > 1 else []
