"""Clients' samples from `torch.utils.data`: data sets and loaders, read once into tensors."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate

from fedconvex.errors import InvalidInput

READ_TWICE = 16  # a mirrored image is the same twice in every other case


def in_tensors(clients: Any, name: str = "clients[{}]") -> Any:
    """The clients' samples, with each data set or loader replaced by its pair (inputs, targets); others as they are.

    Of a loader the data set and `collate_fn` count: the local solver makes the batches. name: how errors name client k.
    Raises InvalidInput for data without a length, samples that are no pairs or do not stack, and those drawn at random.
    """
    kinds = (Dataset, DataLoader)
    if not isinstance(clients, list | tuple) or not any(isinstance(one, kinds) for one in clients):
        return clients
    return [_pair(one, name.format(k)) if isinstance(one, kinds) else one for k, one in enumerate(clients)]


def _pair(given: Any, place: str) -> tuple[Tensor, Tensor]:
    data, collate = (given.dataset, given.collate_fn) if isinstance(given, DataLoader) else (given, default_collate)
    kind = type(data).__name__
    if isinstance(data, IterableDataset) or not hasattr(data, "__len__"):
        raise InvalidInput(place, kind, "has no length", "give a data set with len(), or tensors (inputs, targets)")
    if len(data) == 0:
        raise InvalidInput(place, kind, "has no samples", "leave the client out")
    _require_fixed(data, place)
    try:
        found: Any = collate([data[i] for i in range(len(data))])
    except (RuntimeError, TypeError, ValueError) as error:
        problem = f"has samples that do not stack: {str(error).splitlines()[0]}"
        raise InvalidInput(place, kind, problem, "give samples of one shape") from error
    if not isinstance(found, tuple | list) or len(found) != 2:
        made = f"{len(found)} parts" if isinstance(found, tuple | list) else f"a {type(found).__name__}"
        raise InvalidInput(place, kind, f"has samples of {made}", "let each be a pair (input, target)")
    inputs, targets = found
    return inputs, targets


def _require_fixed(data: Any, place: str) -> None:
    """Raise InvalidInput if one of the first samples changes from one reading to the next: by a random transform."""
    once, again = ([x for i in range(min(READ_TWICE, len(data))) for x in _tensors(data[i])] for _ in range(2))
    if not all(map(torch.equal, once, again)):
        problem = "draws at random: a sample changes each time it is read"
        cure = "leave its random transform out, and give transform=… with local_mode='training'"
        raise InvalidInput(place, type(data).__name__, problem, cure)


def _tensors(sample: Any) -> Sequence[Tensor]:
    found = []
    for part in tree_flatten(sample)[0]:
        with suppress(TypeError, ValueError, RuntimeError):  # what is no number does not stack, which is reported later
            found.append(torch.as_tensor(part))
    return found
