"""Streams of random numbers, each named by what it is for: comparisons are paired because nothing shares a stream.

A stream depends on the seed, its purpose, the round and perhaps the client, and on nothing that was drawn before: the
same seed gives the same clients, stragglers and mini-batches whatever the method, and a run can be resumed anywhere.
"""

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream of random numbers decides."""

    PARTICIPANTS = 1
    GRADIENT_PARTICIPANTS = 2  # the second sample of methods that ask some clients for gradients first (FedDANE)
    STRAGGLERS = 3
    MINIBATCHES = 4
    COMMUNICATION = 5
    PROBES = 6  # vectors and draws that measurements take


def stream(seed: int, purpose: Purpose, *place: int) -> np.random.Generator:
    """The stream for one purpose at one place (round, client, …)."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(purpose), *place)))
