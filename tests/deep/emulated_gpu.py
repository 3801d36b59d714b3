"""A stand-in for a GPU on machines without one: a device whose tensors hide CPU tensors.

As on a GPU, code must copy numbers to the host before it reads them, and operations on tensors of two devices fail.
Speed, rounding and memory are not those of a GPU.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

NAME = "standin"
OPS = torch.ops.aten
INDEXING = {OPS.index.Tensor, OPS.index_put.default, OPS.index_put_.default, OPS._index_put_impl_.default}
MAY_MIX = INDEXING | {OPS.copy_.default, OPS._to_copy.default}  # indices may be on the host; copies are what fetches


class StandIn(torch.Tensor):
    """A tensor of the device."""

    __module__ = "torch"  # the package asks whose a tensor is

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> "StandIn":
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=f"{NAME}:0",
            requires_grad=held.requires_grad,
        )
        made.held = held
        return made

    def tolist(self) -> list[Any]:
        return self.held.tolist()

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})


class Dispatching(TorchDispatchMode):
    """Inside, tensors that are asked for on the device are made there."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})


def _computed(func: Any, args: Any, kwargs: Any) -> Any:
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    here = [tensor for tensor in tensors if isinstance(tensor, StandIn)]
    elsewhere = [tensor for tensor in tensors if not isinstance(tensor, StandIn) and tensor.dim() > 0]
    _require_one_device(func, args, here, elsewhere)
    if func is OPS.copy_.default:
        stays = isinstance(args[0], StandIn)
    else:
        place = kwargs.get("device")
        stays = bool(here) if place is None else torch.device(place).type == NAME
        kwargs = kwargs if place is None else {**kwargs, "device": torch.device("cpu")}
    held_args, held_kwargs = tree_map_only(StandIn, lambda tensor: tensor.held, (args, kwargs))
    result = func(*held_args, **held_kwargs)
    if not stays:
        return result
    if torch.Tag.inplace_view in func.tags:  # the shape that torch knows changes, too
        with no_dispatch(), _shapes_alone():
            func(*args, **kwargs)
    known = {id(tensor.held): tensor for tensor in here}  # what was changed in place is itself
    return tree_map_only(torch.Tensor, lambda t: known[id(t)] if id(t) in known else StandIn(t), result)


def _require_one_device(func: Any, args: Any, here: list[Any], elsewhere: list[Any]) -> None:
    if here and elsewhere and func not in MAY_MIX:
        raise RuntimeError(f"{func} on tensors of two devices")
    if func in INDEXING and here and elsewhere:
        values = [args[2]] if len(args) > 2 else []
        if any(isinstance(x, StandIn) != isinstance(args[0], StandIn) for x in values if x.dim() > 0):
            raise RuntimeError(f"{func} with values of another device")
        if not isinstance(args[0], StandIn) and any(isinstance(x, StandIn) for x in args[1]):
            raise RuntimeError(f"{func} with indices on the device, of a tensor on the host")


@contextmanager
def _shapes_alone() -> Iterator[None]:
    before = torch._C._meta_in_tls_dispatch_include()
    torch._C._set_meta_in_tls_dispatch_include(True)
    try:
        yield
    finally:
        torch._C._set_meta_in_tls_dispatch_include(before)


class _Backend(_DummyBackendModule):
    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]


@cache
def device() -> torch.device:
    """Makes the device known to torch, for the rest of the process."""
    _setup_privateuseone_for_python_backend(NAME, _Backend())
    return torch.device(NAME, 0)
