"""Streams of random numbers for generators of data, each named by what it draws and for which client.

Client k's streams depend on the seed and on k alone, so its data stay the same when more clients are asked for.
"""

from enum import IntEnum

import numpy as np


class GeneratorStream(IntEnum):
    """What a stream draws. The numbers are apart from those of `fedconvex.randomness`: one seed may serve both."""

    SIZE = 101
    MODEL = 102
    CENTRE = 103
    FEATURES = 104
    TARGETS = 105
    HOLDOUT = 106


def stream(seed: int, draw: GeneratorStream, *client: int) -> np.random.Generator:
    """The stream for one thing to draw, of one client or, without one, of all of them together."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(draw), *client)))
