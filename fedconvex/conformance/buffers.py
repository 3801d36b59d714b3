"""What a code base does with a model's floating-point buffers, the running statistics of batch normalisation.

No paper's method says: a server may average them as it does the parameters, or keep its own (as where each client keeps
the statistics of its own data). So this is a note of the report and never a fault. Batch normalisation itself is not
checkable, because its output depends on all samples of a batch: a client's function is then no sum over its samples.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fedconvex.conformance.implementation import ObservedRun

STATISTICS = ("running_mean", "running_var")  # as torch names them, at the end of the entry's name
COUNTERS = ("num_batches_tracked",)  # whole numbers, unless a server has averaged them
CLOSE = 1e-5  # relative: the rounding of float32
BUFFERS = "buffers (running statistics): "

# the server's buffers after a round, from those of the active clients (K, B), their weights (K,) and its own before
Rule = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
RULES: dict[str, Rule] = {
    "the server keeps its own": lambda rows, weights, before: before,
    "the server averages the clients', weighted as the models": lambda rows, weights, before: weights @ rows,
    "the server averages the clients', all alike": lambda rows, weights, before: rows.mean(0),
    "the server takes those of the last client": lambda rows, weights, before: rows[-1],
}


def is_buffer(name: object) -> bool:
    """Whether an entry of a state_dict is a running statistic or a counter: no parameter."""
    return str(name).rpartition(".")[2] in (*STATISTICS, *COUNTERS)


def buffers_of(model: Any) -> np.ndarray | None:
    """The running statistics of a module or a state_dict in one vector; None where there are none."""
    entries = model if isinstance(model, Mapping) else _named_buffers(model)
    found = [entry for name, entry in entries.items() if str(name).rpartition(".")[2] in STATISTICS]
    arrays = [entry.detach().cpu().numpy() if hasattr(entry, "detach") else np.asarray(entry) for entry in found]
    return np.concatenate([array.reshape(-1).astype(float) for array in arrays]) if arrays else None


def notes_on(runs: Sequence["ObservedRun"]) -> list[str]:
    """What the runs show of the server's buffers; nothing where models have none."""
    servers = [[buffer for buffer in run.server_buffers if buffer is not None] for run in runs]
    if not any(servers):
        return []
    moved = [_differ(buffers[0], buffer) for buffers in servers for buffer in buffers[1:]]
    rounds = [seen for run in runs for seen in _rounds(run)]
    if not rounds:  # the clients' buffers are not known
        if not any(moved):
            return [f"{BUFFERS}those of the server never change"]
        return [f"{BUFFERS}the server changes them; client_models with the clients' buffers would show how"]
    if not any(_differ(row, before) for rows, _, before, _ in rounds for row in rows):
        return [f"{BUFFERS}nothing shows what the server does with them, since those of the clients never change"]
    fitting = [
        name
        for name, rule in RULES.items()
        if all(not _differ(after, rule(rows, weights, before)) for rows, weights, before, after in rounds)
    ]
    return [BUFFERS + (" or ".join(fitting) or "the server neither averages the clients' nor keeps its own")]


def _rounds(run: "ObservedRun") -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Of every round in which all are known: the clients' buffers and weights, the server's before and after."""
    weights = np.asarray(run.scenario.base.weights, float)
    for t, clients in enumerate(run.client_buffers[: len(run.server_buffers) - 1]):
        before, after = run.server_buffers[t], run.server_buffers[t + 1]
        rows = [row for row in clients.values() if row is not None]
        if rows and len(rows) == len(clients) and before is not None and after is not None:
            own = weights[list(clients)]
            yield np.stack(rows), own / own.sum(), before, after


def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape != other.shape or not np.allclose(one, other, rtol=CLOSE, atol=CLOSE)


def _named_buffers(model: Any) -> dict[str, Any]:
    """The buffers of a module by name; of anything else none."""
    return dict(model.named_buffers()) if callable(getattr(model, "named_buffers", None)) else {}
