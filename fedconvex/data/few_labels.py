"""Deal samples so that every client has few labels and the clients' sizes follow a power law."""

import numpy as np

from fedconvex.data.client_sizes import apportion, power_law_shares
from fedconvex.errors import InvalidInput

EXPONENT = 2.75  # see `fedconvex.data.client_sizes.power_law_sizes`
SWEEPS = 50


def power_law_labels(
    labels: np.ndarray, num_clients: int, labels_per_client: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Index sets as `fedconvex.data.partition` describes them under `power-law-labels:D`.

    labels: 0 … C − 1, every one in use, at least num_clients of them. Raises InvalidInput for D·num_clients < C.
    """
    counts = np.bincount(labels)
    if labels_per_client * num_clients < counts.size:
        problem = f"{num_clients} clients with {labels_per_client} labels each cannot hold all {counts.size} labels"
        least = -(-counts.size // num_clients)
        raise InvalidInput("partition", f"power-law-labels:{labels_per_client}", problem, f"give D >= {least}")
    room = np.minimum(counts, num_clients)
    places = apportion(min(labels_per_client * num_clients, int(room.sum())), counts / counts.max(), 1, room)
    holds = _who_holds_what(places, num_clients, rng)
    least = min(labels_per_client, labels.size // num_clients)
    sizes = apportion(labels.size, power_law_shares(num_clients, EXPONENT, rng), least)
    wanted = _fit(holds, sizes, counts)
    parts: list[list[np.ndarray]] = [[] for _ in range(num_clients)]
    for label, count in enumerate(counts):
        holders = np.flatnonzero(holds[:, label])
        shares = wanted[holders, label]
        ends = np.cumsum(apportion(int(count), shares / shares.max(), 1))
        shuffled = rng.permutation(np.flatnonzero(labels == label))
        for k, piece in zip(holders, np.split(shuffled, ends[:-1]), strict=True):
            parts[k].append(piece)
    return [np.concatenate(pieces) for pieces in parts]


def _who_holds_what(places: np.ndarray, num_clients: int, rng: np.random.Generator) -> np.ndarray:
    """A random boolean (num_clients, C) array with column sums `places`, at most num_clients each, and level row sums.

    Clients choose in turn, a label with chance growing with its free places. A label with as many free places as there
    are clients left must be chosen; there are never more of these than a client may choose, so the deal comes out even.
    """
    holds = np.zeros((num_clients, places.size), dtype=bool)
    free = places.copy()
    each, extra = divmod(int(places.sum()), num_clients)
    for turn, k in enumerate(rng.permutation(num_clients)):
        arrival = np.where(free > 0, rng.standard_exponential(free.size) / np.maximum(free, 1), np.inf)
        arrival[free == num_clients - turn] = 0
        chosen = np.argsort(arrival)[: each + (turn < extra)]
        holds[k, chosen] = True
        free[chosen] -= 1
    return holds


def _fit(holds: np.ndarray, row_sums: np.ndarray, column_sums: np.ndarray) -> np.ndarray:
    """Positive numbers where `holds`, with these column sums and, as far as those allow, these row sums.

    Rows and columns are scaled in turn (iterative proportional fitting).
    """
    fitted = holds.astype(np.float64)
    for _ in range(SWEEPS):
        fitted *= (row_sums / fitted.sum(axis=1))[:, None]
        fitted *= column_sums / fitted.sum(axis=0)
        np.maximum(fitted, 1e-9, out=fitted, where=holds)
    return fitted
