"""Metrics of a user's own on the test set, such as an F1 score, as columns of the records."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from fedconvex.errors import InvalidInput

Metric = Callable[[Tensor, Tensor], Any]
TAKEN = ("value", "accuracy")  # columns of the test set that are always there


def require_metrics(metrics: Any, has_test: bool) -> dict[str, Metric]:
    """The metrics by name. Raises InvalidInput for what is no mapping to functions, and without a test set."""
    if metrics is None:
        return {}
    example = 'give such as {"f1": function}, with a function (outputs, targets) -> number'
    if not isinstance(metrics, Mapping) or not metrics:
        raise InvalidInput("metrics", metrics, "is no mapping of names to functions", example)
    for name, metric in metrics.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidInput("metrics", name, "is no name for a column", example)
        if name in TAKEN:
            raise InvalidInput("metrics", name, f"is the name of another column, test_{name}", "choose another one")
        if not callable(metric):
            raise InvalidInput(f"metrics[{name!r}]", metric, "is no function", example)
    if not has_test:
        raise InvalidInput("metrics", sorted(metrics), "need a test set, and none was given", "give test=…")
    return dict(metrics)


def computed(metrics: Mapping[str, Metric], outputs: Tensor, targets: Tensor) -> dict[str, float]:
    """The metrics of all outputs (N, …) and targets of the test set, by column; computed from tensors on the host."""
    outputs, targets, found = outputs.cpu(), targets.cpu(), {}
    for name, metric in metrics.items():
        try:
            value = metric(outputs, targets)
        except Exception as error:  # of the user's code
            problem = f"failed: {type(error).__name__}: {(str(error) or 'no reason given').splitlines()[0]}"
            cure = f"it gets outputs {tuple(outputs.shape)} and targets {tuple(targets.shape)}, tensors"
            raise InvalidInput(f"metrics[{name!r}]", metric, problem, cure) from error
        try:
            found[f"test_{name}"] = float(value)
        except (TypeError, ValueError, RuntimeError) as error:
            kind = f"a {type(value).__name__}"
            raise InvalidInput(f"metrics[{name!r}]", metric, f"returns {kind}", "return one number") from error
    return found
