"""Device, number type, precision and number of threads of a run."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch

from fedconvex.errors import InvalidInput

PRECISIONS = ("full", "tf32", "bf16", "fp16")
LOWER = {"bf16": torch.bfloat16, "fp16": torch.float16}
DTYPES = {"float64": torch.float64, "float32": torch.float32}


def device_of(device: Any) -> torch.device:
    """The device of that name; "cuda" without a GPU is an error, and is never replaced by the CPU."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError):
        raise InvalidInput("device", device, "is unknown", "give 'cpu', 'cuda' or 'auto'") from None
    # Other devices (mps, xpu) lack float64 or operations of the runner, or were never tested.
    if place.type not in ("cpu", "cuda"):
        raise InvalidInput("device", device, "is not supported", "give 'cpu', 'cuda' or 'auto'")
    if place.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput("device", device, "is not available: torch finds no GPU", "give 'cpu', or 'auto' for either")
    if place.type == "cuda" and (place.index or 0) >= (found := torch.cuda.device_count()):
        raise InvalidInput("device", device, f"is not there: torch finds {found} GPUs", "count them from cuda:0")
    return place


def dtype_of(dtype: Any, model: Any = None) -> torch.dtype:
    """torch.float64 or torch.float32, given as such or by name; None: the type of the model's parameters."""
    if dtype is None and isinstance(model, torch.nn.Module):
        kinds = {part.dtype for part in (*model.parameters(), *model.buffers()) if part.is_floating_point()}
        if not kinds and any(part.is_complex() for part in model.parameters()):
            return torch.float64  # `require_plain` refuses it
        if len(kinds) != 1 or not kinds <= set(DTYPES.values()):
            found = " and ".join(sorted(str(kind).removeprefix("torch.") for kind in kinds)) or "no numbers"
            raise InvalidInput(
                "dtype", dtype, f"is not given, and the model has {found}", "give 'float64' or 'float32'"
            )
        (only,) = kinds
        return only
    known = DTYPES.get(dtype) if isinstance(dtype, str) else torch.float64 if dtype is None else dtype
    if known not in DTYPES.values():
        raise InvalidInput("dtype", dtype, "is not supported", "give torch.float64 or torch.float32")
    assert isinstance(known, torch.dtype)
    return known


def lower_of(precision: Any, dtype: torch.dtype) -> torch.dtype | None:
    """The half-precision type in which matrix products are to be computed, or None. Raises InvalidInput."""
    if precision not in PRECISIONS:
        raise InvalidInput("precision", precision, "is unknown", f"give one of {', '.join(PRECISIONS)}")
    if precision != "full" and dtype != torch.float32:
        raise InvalidInput(
            "precision", precision, f"requires float32, the dtype is {dtype}", "give dtype torch.float32"
        )
    return LOWER.get(precision)


@contextmanager
def products_in(precision: str) -> Iterator[None]:
    """Within this context, GPUs compute float32 products and convolutions in TF32 for "tf32", in float32 otherwise.

    Torch's defaults are changed where they would spoil a run: convolutions in TF32; algorithms of convolutions whose
    last bits differ from call to call, or that a measurement of time chooses; and a fast path of attention that has no
    derivative, which torch takes when clients are vectorised.
    """
    cudnn, mha, in_tf32 = torch.backends.cudnn, torch.backends.mha, precision == "tf32"
    before = _digits(), (cudnn.deterministic, cudnn.benchmark, mha.get_fastpath_enabled())
    # These are settings of the whole process: the caller's are restored at the end.
    _set_digits(("high" if in_tf32 else "highest", in_tf32, ["tf32" if in_tf32 else "ieee"] * len(_with_digits())))
    _set_algorithms(True, False, False)
    try:
        yield
    finally:
        _set_digits(before[0])
        _set_algorithms(*before[1])


def _with_digits() -> list[Any]:
    """What torch 2.9 and later let one set the digits of, by newer names; torch before it has none of them."""
    backends: Any = torch.backends
    parts = ((backends.cuda, "matmul"), (backends.cudnn, "conv"), (backends.cudnn, "rnn"), (backends.mkldnn, "matmul"))
    owners = [getattr(backend, part, None) for backend, part in parts]
    return [owner for owner in owners if hasattr(owner, "fp32_precision")]


def _digits() -> tuple[str, bool, list[str]]:
    """The settings of digits by their older and by their newer names.

    Torch refuses to read an older name that contradicts a newer one, which was set: torch's default takes its place.
    """
    products, in_convolutions, newer = "highest", True, [owner.fp32_precision for owner in _with_digits()]
    with suppress(RuntimeError):
        products = torch.get_float32_matmul_precision()
    with suppress(RuntimeError):
        in_convolutions = torch.backends.cudnn.allow_tf32
    return products, in_convolutions, newer


def _set_digits(settings: tuple[str, bool, list[str]]) -> None:
    products, in_convolutions, newer = settings
    torch.set_float32_matmul_precision(products)
    torch.backends.cudnn.allow_tf32 = in_convolutions
    # The older names leave to a setting for all what they do not set to TF32: the newer ones have the last word.
    for owner, digits in zip(_with_digits(), newer, strict=True):
        owner.fp32_precision = digits


def _set_algorithms(deterministic: bool, measured: bool, fast_attention: bool) -> None:
    torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = deterministic, measured
    torch.backends.mha.set_fastpath_enabled(fast_attention)


def wait_for(device: torch.device) -> None:
    """Returns when the device has done what it was asked for: before that, a clock tells how long asking took."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this context, torch uses one CPU thread: small kernels were measured many times slower on several."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
