"""Tables of numbers: they are prepared only on request, or where a column is an identifier or may be the clients'."""

import numpy as np

from fedconvex.data.columns import DATE_NAME, IDENTIFIER_NAME, IDENTIFIER_WORDS, Column, of_numbers, of_texts
from fedconvex.data.preparation import Preparation, prepare
from fedconvex.data.table import Table
from fedconvex.data.table_source import TableSource
from fedconvex.sparse import is_sparse

LOOKED_AT = 1000  # columns; wider tables come from programs


def completed(table: Table, source: TableSource, options: Preparation, notes: tuple[str, ...] = ()) -> Table:
    """The table as it is, or prepared where its columns or the options call for that. Raises UntidyTable."""
    if not needs_preparation(table, options):
        return table._replace(notes=table.notes + notes)
    columns = [of_numbers(name, table.features[:, j]) for j, name in enumerate(table.feature_names)]
    columns.append(_of_values(table.target_name, table.targets))
    if table.clients is not None:
        columns.append(of_texts(table.client_name, list(table.clients)))
    client = None if table.clients is None else table.client_name
    prepared = prepare(columns, source, table.target_name, client, options)
    return prepared._replace(notes=notes + prepared.notes)


def needs_preparation(table: Table, options: Preparation) -> bool:
    """Whether the options ask for it, or a table of numbers has something to say or to refuse."""
    if options.given or (table.clients is None and not options.has_clients):
        return True
    if is_sparse(table.features) or len(table.feature_names) > LOOKED_AT:
        return False
    for j, name in enumerate(table.feature_names):
        if name == "" or any(pattern.search(name) for pattern in (IDENTIFIER_NAME, IDENTIFIER_WORDS, DATE_NAME)):
            column = of_numbers(name, table.features[:, j])
            if name == "" or column.is_identifier or column.content == "dates":
                return True
    return False


def _of_values(name: str, values: np.ndarray) -> Column:
    return of_texts(name, values.tolist()) if values.dtype.kind == "U" else of_numbers(name, values)
