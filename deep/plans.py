"""The memory of a run before anything is copied: rounds on torch's `meta` device, whose tensors have shapes alone."""

import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

from fedconvex import memory
from fedconvex.arithmetic.dense import TorchArithmetic
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.deep.dictionaries import adapted, returns_logits
from fedconvex.deep.disk import Disk
from fedconvex.deep.footprint import Footprint, footprint
from fedconvex.deep.local_mode import LocalMode
from fedconvex.deep.losses import TorchLoss, UserLoss
from fedconvex.deep.memory import Budget
from fedconvex.deep.networks import network_of
from fedconvex.deep.networks.layout import copied
from fedconvex.deep.problem import NetworkProblem
from fedconvex.deep.shards import Shards
from fedconvex.deep.tasks import NetworkTask, is_convex
from fedconvex.deep.torch_data import GivenSamples
from fedconvex.deep.training_mode import training_mode_of
from fedconvex.errors import TooLarge
from fedconvex.runs.rounds import Rounds
from fedconvex.runs.simulator import Simulator

META = torch.device("meta")
LOOKED_AT = 0.25  # of the available memory: a run whose samples take less is not planned for its own sake
OPS = torch.ops.aten


@final
@dataclass(frozen=True)
class Plan:
    """What a run computes with, as far as its memory depends on it. `footprint` estimates, `require` refuses."""

    model: nn.Module
    given: GivenSamples
    loss: TorchLoss
    ridge: Any
    device: torch.device
    dtype: torch.dtype
    local: LocalMode
    lower: torch.dtype | None
    disk: Disk | None
    rounds_of: Callable[[NetworkTask], Rounds]
    simulator_of: Callable[[Rounds], Simulator]
    rounds: int
    measures: Sequence[str]

    def footprint(self, budget: Budget | None = None) -> Footprint | None:
        """The estimate; None for linear models under convex losses, and where it cannot be made.

        budget: of batches; None: that of a run that meets no limit.
        """
        try:
            with warnings.catch_warnings(), _OnMeta(), torch.no_grad():
                warnings.simplefilter("ignore")
                task = self._task(Budget() if budget is None else budget)
                if task is None:
                    return None
                rounds = self.rounds_of(task)
                found = footprint(
                    task, self.simulator_of(rounds), rounds.start(task.start()), self.rounds, self.measures
                )
                if not self.given.tests:
                    return found
                held = self._shards(self.given.tests)
                return replace(found, samples=found.samples + held.bytes_on_device)
        except Exception:  # arguments that do not fit together, which are reported with the samples; unusual models
            return None

    @property
    def bytes_of_samples(self) -> int:
        """The least that the samples take where they are stored."""
        clients = self.given.clients if isinstance(self.given.clients, list | tuple) else []
        tuples = [one for one in (*clients, *self.given.tests) if isinstance(one, list | tuple)]
        return sum(int(getattr(part, "nbytes", 0)) for one in tuples for part in one)  # lists are no large data

    def require(self, available: int) -> None:
        """Raise TooLarge, with what would fit, if the run does not fit into so many bytes even in the least batches."""
        if self.bytes_of_samples < LOOKED_AT * available:
            return
        least = self.footprint(Budget(1))
        if least is None or least.total <= available:
            return
        disk = self.disk or Disk(Path(tempfile.gettempdir()))
        alternatives = {
            "dtype='float32'": replace(self, dtype=torch.float32),
            "storage='disk'": replace(self, disk=disk),
            "storage='disk', dtype='float32'": replace(self, disk=disk, dtype=torch.float32),
        }
        for cure, other in alternatives.items():
            found = other.footprint(Budget(1))
            if (other.disk, other.dtype) != (self.disk, self.dtype) and found and found.total <= available:
                cure = f"give {cure}, which takes {memory.readable(found.total)}"
                break
        else:
            cure = "give fewer samples or clients, or a smaller model: with all samples on disk it is still too large"
        problem = f"takes {least} in the smallest batches, {memory.readable(available)} are left"
        where = "the device's memory" if self.device.type != "cpu" else "memory"
        raise TooLarge("clients", f"{len(self.given.clients)} clients", f"{problem} in {where}", cure)

    def _task(self, budget: Budget) -> NetworkTask | None:
        module = copied(self.model).to(META, self.dtype).eval()
        parts = self.given.parts
        module = module if parts is None else adapted(module, parts)
        shards = self._fitting(module, self._shards(self.given.clients))
        if parts is None and returns_logits(module, shards.given(shards.inputs[:1])):
            module = adapted(module, None)
        required = self.disk is not None and self.disk.required
        alike = not (self.local.training or required or shards.factors is not None)
        if alike and is_convex(module, self.loss, shards):
            return None
        training = None
        if self.local.training:  # without the transform, which may draw on another device
            local = LocalMode(training=True)
            training = training_mode_of(module, self.loss, shards.given(shards.inputs[:2]), local, self.lower)
        count = len(shards.count)
        network = network_of(module, self.loss, shards.sample_shape, self.lower)
        problem = NetworkProblem(
            network, shards, to_fraction(self.ridge), (to_fraction(1) / count,) * count, None, budget, training
        )
        budget.kind = self.device.type
        return NetworkTask(module, self.loss, shards, problem, TorchArithmetic(META, self.dtype), float(self.ridge))

    def _shards(self, clients: Sequence[Any]) -> Shards:
        """The samples' shapes and types, as `Shards.of` stores them."""
        loss, kinds = self.loss, {_array(pair[0]).dtype for pair in clients}
        floats = any(kind.is_floating_point for kind in kinds)
        kind = self.dtype if floats else torch.uint8 if kinds == {torch.uint8} else torch.int64
        count = np.array([len(pair[1]) for pair in clients], dtype=np.int64)
        first, of_first = _array(clients[0][0]), _array(clients[0][1])
        whole = loss.classes or (isinstance(loss, UserLoss) and not of_first.is_floating_point())
        total = int(count.sum())
        targets = torch.empty((total, *of_first.shape[1:]), dtype=torch.int64 if whole else self.dtype, device=META)
        factors = torch.empty(total, dtype=self.dtype, device=META) if len(clients[0]) > 2 else None
        return Shards(
            torch.empty((total, *first.shape[1:]), dtype=kind, device=META), targets, np.cumsum(count) - count, count,
            self.dtype, loss, factors=factors, parts=self.given.parts, on_disk=self.disk is not None,
        )  # fmt: skip

    def _fitting(self, module: nn.Module, shards: Shards) -> Shards:
        if shards.inputs.is_floating_point():
            return replace(shards, whole_numbers=False)
        try:
            module(shards.inputs[:1].long())
        except (RuntimeError, ValueError, IndexError, TypeError):  # no token numbers
            bytes_ = shards.inputs.dtype == torch.uint8 or shards.on_disk
            inputs = shards.inputs if bytes_ else shards.inputs.to(self.dtype)
            return replace(shards, whole_numbers=False, inputs=inputs)
        return shards


def available_on(device: torch.device) -> int:
    """The bytes that are left in the device's memory, with those that torch keeps for later tensors."""
    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + kept
    return memory.available()


@final
class _OnMeta(TorchDispatchMode):
    """Within it, code that reads numbers, or makes small tensors on the host, runs on shapes: what it reads is 1."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, Tensor)]
        if not any(tensor.device == META for tensor in tensors):
            return func(*args, **kwargs)
        if func is OPS._local_scalar_dense.default:
            return torch.ones((), dtype=args[0].dtype).item()
        if func is OPS.equal.default:
            return True
        place = kwargs.get("device")
        if func is OPS._to_copy.default and place is not None and torch.device(place) != META:
            return torch.ones(args[0].shape, dtype=kwargs.get("dtype") or args[0].dtype)
        args, kwargs = tree_map_only(Tensor, lambda x: x if x.device == META else x.to(META), (args, kwargs))
        return func(*args, **kwargs)


def _array(values: Any) -> Tensor:
    """An empty tensor of the values' type and shape."""
    if isinstance(values, Tensor):
        return torch.empty(values.shape, dtype=values.dtype, device=META)
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    return torch.empty(array.shape, dtype=torch.from_numpy(np.empty(0, array.dtype)).dtype, device=META)
