"""Independent streams of random numbers for data generators, one for each quantity and client.

Client k's streams depend on the seed and on k alone, so that its data do not change with the number of clients.
"""

from enum import IntEnum

import numpy as np


class GeneratorStream(IntEnum):
    """The random quantity. The numbers differ from those of `fedconvex.randomness`, so that one seed can serve both."""

    SIZE = 101
    MODEL = 102
    CENTRE = 103
    FEATURES = 104
    TARGETS = 105
    HOLDOUT = 106


def stream(seed: int, draw: GeneratorStream, *client: int) -> np.random.Generator:
    """The generator for one quantity of the given client, or of all clients together if none is given."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(draw), *client)))
