"""Arrays that a user hands in as tensors of finite numbers, without a second copy of large ones."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedconvex.errors import InvalidInput

AT_ONCE = 2**22  # numbers that are compared at once: a test of all would take a byte for each


def as_samples(values: Any, name: str) -> Tensor:
    """The values as a tensor that shares their memory where it can. Raises InvalidInput unless all are finite numbers.

    name: how errors name them.
    """
    try:
        tensor = values if isinstance(values, Tensor) else torch.from_numpy(_writable(np.asarray(values)))
    except (TypeError, ValueError, RuntimeError):
        raise InvalidInput(
            name, type(values).__name__, "is not an array of numbers", "give a tensor or an array"
        ) from None
    if tensor.is_complex() or not is_finite(tensor):
        raise InvalidInput(name, tuple(tensor.shape), "has entries that are not finite numbers", "repair the samples")
    return tensor.detach()


def is_finite(values: Tensor) -> bool:
    """Whether all numbers are finite; of many, some at a time."""
    if not values.is_floating_point():
        return True
    if values.numel() <= AT_ONCE or not values.ndim:
        return bool(values.isfinite().all())
    at_once = max(1, AT_ONCE * len(values) // values.numel())
    return all(bool(part.isfinite().all()) for part in values.split(at_once))


def require_fits(values: Tensor, found: Tensor, name: str) -> Tensor:
    """The converted values `found`; raises InvalidInput if finite numbers overflowed in their type."""
    both = values.is_floating_point() and found.is_floating_point()
    narrower = both and torch.finfo(values.dtype).max > torch.finfo(found.dtype).max
    if narrower and not is_finite(found):
        cure = "scale the samples, or run in float64"
        raise InvalidInput(name, tuple(values.shape), f"has numbers that are too large for {found.dtype}", cure)
    return found


def moved(values: Tensor, device: torch.device) -> Tensor:
    """The values on the device; to a GPU from page-locked memory, so that neither side waits for the other."""
    if values.device == device:
        return values
    if device.type == "cuda":
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)


def _writable(array: np.ndarray) -> np.ndarray:
    """The array, or a copy: torch shares memory only with writable arrays, and warns about others."""
    return array if array.flags.writeable and array.flags.c_contiguous else array.copy()
