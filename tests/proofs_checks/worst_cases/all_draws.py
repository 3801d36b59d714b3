"""All possible draws of clients, with their probabilities."""

from fractions import Fraction as F
from itertools import combinations, product

import numpy as np

from fedconvex.participation import Bernoulli, Draw, Uniform


def every_draw(m, participation):
    """(probability, draw), by enumeration."""
    if isinstance(participation, Uniform):
        sets = list(combinations(range(m), participation.K))
        return [(F(1, len(sets)), Draw(np.array(s), np.ones(participation.K, dtype=np.int64))) for s in sets]
    if isinstance(participation, Bernoulli):  # of rounds in which somebody takes part
        p, nobody = participation.p, (1 - participation.p) ** m
        sets = [s for n in range(1, m + 1) for s in combinations(range(m), n)]
        each = [(p ** len(s) * (1 - p) ** (m - len(s)) / (1 - nobody), s) for s in sets]
        return [(chance, Draw(np.array(s), np.ones(len(s), dtype=np.int64))) for chance, s in each]
    found = []
    for chosen in product(range(m), repeat=participation.K):
        members, times = np.unique(chosen, return_counts=True)
        found.append((F(1, m**participation.K), Draw(members, times)))
    return found
