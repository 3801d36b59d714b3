"""Where a run computes, in which precision, on how many threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from fedconvex.errors import InvalidInput

PRECISIONS = ("full", "tf32", "bf16")
DTYPES = {"float64": torch.float64, "float32": torch.float32}


def device_of(device: Any) -> torch.device:
    """The device of that name; never another one than was asked for."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError):
        raise InvalidInput("device", device, "is unknown", "give 'cpu', 'cuda' or 'auto'") from None
    if place.type not in ("cpu", "cuda"):
        raise InvalidInput("device", device, "is not supported", "give 'cpu', 'cuda' or 'auto'")
    if place.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput("device", device, "was asked for, and torch sees no GPU", "give 'cpu', or 'auto' for either")
    return place


def dtype_of(dtype: Any) -> torch.dtype:
    """float64 or float32, also by name."""
    known = DTYPES.get(dtype) if isinstance(dtype, str) else dtype
    if known not in DTYPES.values():
        raise InvalidInput("dtype", dtype, "is not supported", "give torch.float64 or torch.float32")
    assert isinstance(known, torch.dtype)
    return known


def lower_of(precision: Any, dtype: torch.dtype) -> torch.dtype | None:
    """The type that products are computed in, where it is not the dtype itself. Raises InvalidInput."""
    if precision not in PRECISIONS:
        raise InvalidInput("precision", precision, "is unknown", f"give one of {', '.join(PRECISIONS)}")
    if precision != "full" and dtype != torch.float32:
        raise InvalidInput("precision", precision, f"is for float32, the dtype is {dtype}", "give dtype torch.float32")
    return torch.bfloat16 if precision == "bf16" else None


@contextmanager
def products_in(precision: str) -> Iterator[None]:
    """Inside, GPUs compute float32 products and convolutions in TF32 if that was asked for, and in float32 else.

    By default torch's convolutions are in TF32, and some of their algorithms give other last bits every time: those are
    not used. Nor is a faster attention that has no derivative, which torch takes for clients that are vectorised.
    """
    cudnn, mha, asked = torch.backends.cudnn, torch.backends.mha, precision == "tf32"
    before = torch.get_float32_matmul_precision(), cudnn.allow_tf32, cudnn.deterministic, mha.get_fastpath_enabled()
    _set_flags("high" if asked else "highest", asked, True, False)
    try:
        yield
    finally:
        _set_flags(*before)


def _set_flags(of_products: str, tf32_in_convolutions: bool, deterministic: bool, faster_attention: bool) -> None:
    torch.set_float32_matmul_precision(of_products)
    torch.backends.cudnn.allow_tf32 = tf32_in_convolutions
    torch.backends.cudnn.deterministic = deterministic
    torch.backends.mha.set_fastpath_enabled(faster_attention)


@contextmanager
def one_thread() -> Iterator[None]:
    """Small kernels on several threads were seen many times slower than on one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
