"""Independent streams of random numbers, one per purpose (participants, mini-batches, …) and place.

A stream depends on the seed, its purpose, the round and perhaps the client, but not on earlier draws. With the same
seed every method therefore gets the same participants, stragglers and mini-batches (common random numbers, so that
comparisons are paired), and a run can be resumed at any round.
"""

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """The purpose of a stream. The numbers enter the seeds: never change them, or stored results change."""

    PARTICIPANTS = 1
    GRADIENT_PARTICIPANTS = 2  # a second sample of clients, whose gradients the method averages first (FedDANE)
    STRAGGLERS = 3
    MINIBATCHES = 4
    COMMUNICATION = 5
    PROBES = 6  # random vectors and draws for measurements
    LOCAL_STEPS = 7  # what models and augmentation draw in a local step
    NUMBERS_OF_STEPS = 8  # of the clients' local work
    COMPRESSION = 9  # of what clients send


def stream(seed: int, purpose: IntEnum, *place: int) -> np.random.Generator:
    """The generator for one purpose at one place, given by round, client and so on."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(purpose), *place)))
