"""A strategy for partitions of samples among clients."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from fedconvex.errors import InvalidInput
from fedconvex.strategies.numbers import count_range


def partitions(
    min_value: int = 1, max_value: int = 3, *, min_samples: int = 1, max_samples: int = 8
) -> st.SearchStrategy[list[np.ndarray]]:
    """A strategy for partitions of n samples among m clients: nonempty, disjoint, ascending int64 arrays of indices.

    Use it to test code that takes the result of `fedconvex.data.partition`, whose form they have; every partition of
    0, …, n − 1 can occur. Shrinks to one client that has all samples.

    Args:
        min_value, max_value: the range of m, further limited by m <= n.
        min_samples, max_samples: the range of n.

    Raises:
        InvalidInput: an empty range; fewer samples than clients.
    """
    clients, samples = count_range(min_value, max_value, "value"), count_range(min_samples, max_samples, "samples")
    if samples[0] < clients[0]:
        cure = "give min_samples >= min_value"
        raise InvalidInput("min_samples", samples[0], f"is fewer than the {clients[0]} clients", cure)

    @st.composite
    def build(draw: st.DrawFn) -> list[Any]:
        n = draw(st.integers(*samples))
        m = draw(st.integers(clients[0], min(clients[1], n)))
        owners = np.array(draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n)))
        if m > 1:  # gives each client one sample, so that none is empty
            owners[draw(st.permutations(range(n)))[:m]] = np.arange(m)
        return [np.flatnonzero(owners == k).astype(np.int64) for k in range(m)]

    return build()
