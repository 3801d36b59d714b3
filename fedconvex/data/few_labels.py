"""The partition scheme `power-law-labels:D`: few labels per client, and sizes that follow a power law."""

import numpy as np

from fedconvex.data.client_sizes import apportion, power_law_shares
from fedconvex.errors import InvalidInput

EXPONENT = 2.75  # see `fedconvex.data.client_sizes.power_law_sizes`
FITTING_STEPS = 50


def power_law_labels(
    labels: np.ndarray, num_clients: int, labels_per_client: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """The clients' index sets under `power-law-labels:D`, see `fedconvex.data.partition`.

    Three steps: which client has which labels; how many samples of each of its labels (a table of numbers whose row
    sums follow the power law and whose column sums are the labels' counts); which samples.

    labels: (n,) with values 0 … C − 1, all of which occur, n >= num_clients. labels_per_client: D.
    Raises InvalidInput for D·num_clients < C.
    """
    counts = np.bincount(labels)
    if labels_per_client * num_clients < counts.size:
        problem = f"{num_clients} clients with {labels_per_client} labels each cannot hold all {counts.size} labels"
        least = -(-counts.size // num_clients)
        raise InvalidInput("partition", f"power-law-labels:{labels_per_client}", problem, f"give D >= {least}")
    room = np.minimum(counts, num_clients)  # a label with n samples has at most n holders, each at most once
    places = apportion(min(labels_per_client * num_clients, int(room.sum())), counts / counts.max(), 1, room)
    holds = _assign_labels(places, num_clients, rng)
    least = min(labels_per_client, labels.size // num_clients)
    # every client needs a sample of each of its labels
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


def _assign_labels(places: np.ndarray, num_clients: int, rng: np.random.Generator) -> np.ndarray:
    """Which client holds which label: a random boolean (num_clients, C) array with column sums `places`.

    Row sums differ by at most 1. Clients choose one after the other, with a preference for labels with many free places
    (the smallest of exponential variables with rates `free`). A label with as many free places as clients remain must
    be chosen by all of them; such labels are never more than a client may choose, so that all places are filled.
    """
    holds = np.zeros((num_clients, places.size), dtype=bool)
    free = places.copy()
    each, extra = divmod(int(places.sum()), num_clients)
    for chosen_before, k in enumerate(rng.permutation(num_clients)):
        arrival = np.where(free > 0, rng.standard_exponential(free.size) / np.maximum(free, 1), np.inf)
        arrival[free == num_clients - chosen_before] = 0
        chosen = np.argsort(arrival)[: each + (chosen_before < extra)]
        holds[k, chosen] = True
        free[chosen] -= 1
    return holds


def _fit(holds: np.ndarray, row_sums: np.ndarray, column_sums: np.ndarray) -> np.ndarray:
    """A matrix, positive where `holds` and 0 elsewhere, with these column sums and approximately these row sums.

    Iterative proportional fitting: it scales rows and columns alternately, columns last.
    """
    fitted = holds.astype(np.float64)
    for _ in range(FITTING_STEPS):
        fitted *= (row_sums / fitted.sum(axis=1))[:, None]
        fitted *= column_sums / fitted.sum(axis=0)
        np.maximum(fitted, 1e-9, out=fitted, where=holds)
    return fitted
