"""`from_frame`: the federated problem of a table of pandas, polars or Arrow, in one call."""

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedconvex.data.federated import FederatedData, Model
from fedconvex.data.frame_tables import as_pandas, source_of, table_of
from fedconvex.data.load import assigned, checked_task
from fedconvex.data.preparation import Impute, Preparation
from fedconvex.data.several import join
from fedconvex.data.targets import Task
from fedconvex.errors import InvalidInput, PreparedData
from fedconvex.names import checked_keywords
from fedconvex.validation import truth_value

if TYPE_CHECKING:
    from fedconvex.problems.base import Problem


@checked_keywords
def from_frame(
    frame: Any,
    client: str | None = None,
    target: str | None = None,
    task: Task | Literal["auto"] = "auto",
    *,
    clients: int | None = None,
    partition: str | None = None,
    drop: str | Sequence[str] = (),
    one_hot: str | Sequence[str] = (),
    impute: Impute | None = None,
    decimal: Literal[".", ","] | None = None,
    standardize: bool = False,
    missing: str | Sequence[str] | None = None,
    categories: str | Sequence[str] = (),
    model: Model = "auto",
    ridge: float | None = None,
    weights: Literal["pooled", "uniform"] = "pooled",
    intercept: bool = True,
    seed: int = 0,
) -> "Problem":
    """The federated problem of fitting a linear model to a table: a row for each sample, a column says whose it is.

    Use it in a notebook, between a DataFrame and `fedconvex.audit.audit(problem)`. `fedconvex.data.load(frame, …)` is
    the same without the last step: its result knows the names of features and clients, and what was done to them.

    What was decided without you (the kind of regression, the encoding of texts, decimal commas) is said in a warning,
    `PreparedData`. What is yours to decide is listed in one error, `UntidyTable`, and
    `from_frame(frame, **error.options)` is the next call.

    Args:
        frame: a DataFrame of pandas, or of polars, or an Arrow table; or a dict of them by client.
        client: the column with the clients' names; default `client` or `client_id`.
        target: the column to predict; default `target`, `label` or `y`.
        task: regression, binary or multiclass; auto: by the target's values, see `fedconvex.data.targets.task_of`.
        clients, partition, seed: to divide the rows among clients, in place of `client`.
        drop, one_hot, impute, decimal, standardize, missing, categories: the preparation, as in `load`.
        model, ridge, weights, intercept: see `FederatedData.problem`.

    Returns:
        `LeastSquares` for a regression, `Logistic` for two classes, `MultinomialLogistic` for more.

    Raises:
        UntidyTable: columns that cannot be used without a decision.
        InvalidInput: no such column; a task or a model that does not fit the targets.
    """
    truth_value(standardize, "standardize")
    requested = checked_task(task)
    several = join(frame, "frame", client, clients, partition) if isinstance(frame, Mapping) else None
    table = as_pandas(frame, "frame") if several is None else several.frame
    client = client if several is None else several.client
    if client is not None and (clients is not None or partition is not None):
        raise InvalidInput("client", client, "is given together with clients or partition", "give one of the two")
    has_clients = clients is not None or partition is not None
    options = Preparation.of(drop, one_hot, impute, decimal, standardize, has_clients, missing, categories)
    source = (
        source_of(table, "frame", ("client", "target")) if several is None else several.source(("client", "target"))
    )
    prepared = table_of(table, source, target, client, options)
    data = assigned(prepared, clients, partition, seed, requested, standardize, "frame", str(source.value))
    problem = data.problem(model, ridge, weights, intercept)
    if said := announcements(data, model):
        warnings.warn("; ".join(said), PreparedData, stacklevel=2)
    return problem


def announcements(data: FederatedData, model: Model) -> list[str]:
    """What was decided about the data without a request, and what is unusual about them; the choice of a task first.

    Two classes, text and fractional numbers leave no choice; whole numbers do.
    """
    targets = np.concatenate(data.targets)
    chosen = model == "auto" and data.requested_task == "auto" and targets.dtype.kind == "i" and data.task != "binary"
    return [data.task_and_reason, *data.notes] if chosen else list(data.notes)
