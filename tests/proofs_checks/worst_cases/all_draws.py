"""All possible draws of clients, with their probabilities."""

from fractions import Fraction as F
from itertools import combinations, product

import numpy as np

from fedconvex.participation import Draw, Uniform


def every_draw(m, participation):
    """(probability, draw), by enumeration."""
    if isinstance(participation, Uniform):
        sets = list(combinations(range(m), participation.K))
        return [(F(1, len(sets)), Draw(np.array(s), np.ones(participation.K, dtype=np.int64))) for s in sets]
    found = []
    for chosen in product(range(m), repeat=participation.K):
        members, times = np.unique(chosen, return_counts=True)
        found.append((F(1, m**participation.K), Draw(members, times)))
    return found
