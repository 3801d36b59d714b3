"""Independent streams of random numbers for data generators, one for each quantity and client.

Client k's streams depend on the seed and on k alone, so that its data do not change with the number of clients.
"""

from enum import IntEnum

from fedconvex.randomness import stream as stream


class GeneratorStream(IntEnum):
    """The random quantity. The numbers differ from those of `fedconvex.randomness`, so that one seed can serve both."""

    SIZE = 101
    MODEL = 102
    CENTRE = 103
    FEATURES = 104
    TARGETS = 105
    HOLDOUT = 106
