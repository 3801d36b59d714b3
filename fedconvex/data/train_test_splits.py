"""`train_test_split`: holds out a part of every client's samples for testing."""

from dataclasses import replace

import numpy as np

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.data.federated import FederatedData
from fedconvex.data.random_streams import GeneratorStream, stream
from fedconvex.errors import InvalidInput
from fedconvex.validation import instance_of, random_seed


def train_test_split(
    data: FederatedData, test_fraction: float = 0.2, seed: int = 0
) -> tuple[FederatedData, FederatedData]:
    """Splits every client's samples at random into (train, test); within each part they keep their order.

    Use it to measure accuracy on samples that the clients did not train on. Of n_k samples, test_fraction·n_k rounded
    to the nearest integer (half up) are for testing, but at least 1 and at most n_k − 1. Both parts have the classes of
    the whole, so that a model of one fits the other.

    Args:
        data: n_k >= 2 for every client.
        test_fraction: strictly between 0 and 1; the text of FedProx has 0.2, its released code 0.1.
        seed: a whole number >= 0; client k's split depends on it, on k and on n_k alone.

    Raises:
        InvalidInput: a fraction outside (0, 1); a client with a single sample.

    Source: FedProx, appendix C.2.
    """
    instance_of(data, FederatedData, "data", "federated data", "give for example fedconvex.data.load(…)")
    if not 0 < to_fraction(test_fraction, "test_fraction") < 1:
        problem = "must leave every client samples of both kinds"
        raise InvalidInput("test_fraction", test_fraction, problem, "give 0 < test_fraction < 1")
    seed = random_seed(seed)
    small = np.flatnonzero(data.sizes < 2)
    if small.size:
        name = data.client_names[int(small[0])]
        problem = f"client {name!r} has 1 sample, which cannot serve for both training and testing"
        raise InvalidInput("data", data, problem, f"leave out such clients (there are {small.size})")
    train, test = [], []
    for k, size in enumerate(data.sizes.tolist()):
        # in rationals: 0.15 · 10 + 0.5 must not depend on how floats round
        held_out = min(max(int(size * to_fraction(test_fraction) + to_fraction(0.5)), 1), size - 1)
        shuffled = stream(seed, GeneratorStream.HOLDOUT, k).permutation(size)
        test.append(np.sort(shuffled[:held_out]))
        train.append(np.sort(shuffled[held_out:]))
    return _part(data, train, "training part"), _part(data, test, "test part")


def _part(data: FederatedData, rows: list[np.ndarray], name: str) -> FederatedData:
    # without this, a part in which a class does not occur would pose a smaller problem
    keeps_classes = data.task != "regression" and data.classes.size > 1
    return replace(
        data,
        features=tuple(array[chosen] for array, chosen in zip(data.features, rows, strict=True)),
        targets=tuple(array[chosen] for array, chosen in zip(data.targets, rows, strict=True)),
        source=f"{data.source} ({name})",
        class_labels=data.classes if keeps_classes else None,
    )
