"""How samples are dealt to clients."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from fedconvex.errors import InvalidInput
from fedconvex.strategies.numbers import Draw, counts


def partitions(
    min_value: int = 1, max_value: int = 3, *, min_samples: int = 1, max_samples: int = 8
) -> st.SearchStrategy[list[np.ndarray]]:
    """Partitions of n samples among m clients: ascending int64 index arrays, disjoint, not empty, covering 0 … n − 1.

    What `fedconvex.data.partition` gives, but any at all. Shrinks to one client that has everything.

    Args:
        min_value, max_value: of m; at most n, which cuts max_value off where it is larger.
        min_samples, max_samples: of n.

    Raises:
        InvalidInput: for ranges that contain nothing; fewer samples than clients.
    """
    clients, samples = counts(min_value, max_value, "value"), counts(min_samples, max_samples, "samples")
    if samples[0] < clients[0]:
        cure = "give min_samples >= min_value"
        raise InvalidInput("min_samples", samples[0], f"is fewer than the {clients[0]} clients", cure)

    @st.composite
    def build(draw: Draw) -> list[Any]:
        n = draw(st.integers(*samples))
        m = draw(st.integers(clients[0], min(clients[1], n)))
        owners = np.array(draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n)))
        if m > 1:  # one sample for each client, so that none is empty
            owners[draw(st.permutations(range(n)))[:m]] = np.arange(m)
        return [np.flatnonzero(owners == k).astype(np.int64) for k in range(m)]

    return build()
