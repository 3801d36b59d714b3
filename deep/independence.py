"""Checks that a sample's loss depends on that sample and the parameters alone: not on other samples, nor on the mode.

A network that mixes samples has no objective Σ_i loss_i, and one that computes something else in training than in
evaluation mode, in which runs compute, is not the model that the user trains elsewhere.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten

from fedconvex.deep.devices import products_in
from fedconvex.deep.local_mode import LocalMode, changing_buffers, frozen_in
from fedconvex.deep.losses import TorchLoss, UserLoss
from fedconvex.deep.memory import is_out_of_memory
from fedconvex.deep.networks.layout import duplicate
from fedconvex.errors import InvalidInput

if TYPE_CHECKING:
    from fedconvex.deep.shards import Shards

# Relative: batches of one and of two are rounded differently.
TOLERANCES = {torch.float64: 1e-8, torch.float32: 1e-3}
CURE = "use layers whose outputs depend on the sample and the parameters alone, such as nn.GroupNorm"
MORE = 8  # samples: of two, a layer with room for some of a batch, as in mixtures of experts, drops none
LOCAL_EVALUATION = LocalMode()
Call = tuple[str, list[Tensor], list[Tensor]]  # a layer's name, inputs and outputs


def require_independent(
    module: nn.Module, loss: TorchLoss, shards: "Shards", local: LocalMode = LOCAL_EVALUATION
) -> None:
    """Raise InvalidInput if a sample's output or loss depends on another sample in the batch, or on the mode.

    In evaluation mode, that is; and on the mode only if local steps are not in training mode.
    """
    pair = _different_samples(shards)
    if pair is None:
        return
    trial = _without_zeros(module)
    with torch.no_grad(), products_in("full"):
        _require_separate(module, trial, loss, *pair)
        more = torch.arange(MORE).clamp(max=len(shards.inputs) - 1)
        if len(shards.inputs) > 2:
            try:
                _require_separate(module, trial, loss, shards.given(shards.inputs[more]), shards.targets[more])
            except RuntimeError as error:  # there may be room for smaller batches alone
                if not is_out_of_memory(error):
                    raise
        if not local.training:
            _require_one_mode(module, trial, pair[0], local.freezes)


def _require_separate(module: nn.Module, trial: nn.Module, loss: TorchLoss, inputs: Tensor, targets: Tensor) -> None:
    def singles() -> list[Tensor]:
        return [trial(one) for one in inputs.split(1)]

    whole = trial(inputs)
    if not agree(whole, torch.cat(singles())):
        where = _first_difference(trial, lambda: trial(inputs), singles)
        problem = f"{where} mixes samples: the output for one depends on the others in its batch"
        raise InvalidInput("model", type(module).__name__, problem, CURE)
    if isinstance(loss, UserLoss):
        apart = [loss.values(*one) for one in zip(whole.split(1), targets.split(1), strict=True)]
        if not agree(loss.values(whole, targets), torch.cat(apart)):
            problem = "mixes samples: the loss of one depends on the others in its batch"
            raise InvalidInput("loss", loss.title, problem, "give a function that treats samples separately")


def _require_one_mode(module: nn.Module, trial: nn.Module, inputs: Tensor, frozen: bool) -> None:
    """Raise InvalidInput if `trial`, a copy of the module, computes something else in training mode.

    A buffer that training changes and on which outputs depend counts, too, even if the change is too small to be seen:
    its later values would be other ones than those that the run keeps. frozen: the layers with such buffers are
    computed as in evaluation mode.
    """
    in_training, later = duplicate(trial).train(), duplicate(trial).train()
    if frozen:
        for trained in (in_training, later):
            frozen_in(trained, changing_buffers(module, inputs))
    for parameter in later.parameters():
        parameter.mul_(1.01).add_(0.01)  # so that buffers that follow the parameters have to move
    try:
        result = in_training(inputs)
        later(inputs)
    except Exception:  # a module that has no training mode needs none
        return
    for name, value in later.named_buffers():
        kept = trial.get_buffer(name)
        if value.is_floating_point() and not torch.equal(value, kept) and _depends_on(trial, name, inputs):
            layer, _, buffer = name.rpartition(".")
            problem = f"{_named(layer)} changes its buffer {buffer!r} in training, which runs keep as it is"
            raise InvalidInput(
                "model",
                type(module).__name__,
                problem,
                f"{CURE}, and no running statistics; or give local_mode='training'",
            )
    evaluated = trial(inputs)
    if not (isinstance(result, Tensor) and result.shape == evaluated.shape and agree(result, evaluated)):
        where = _first_difference(trial, lambda: trial.eval()(inputs), lambda: [trial.train()(inputs)])
        problem = f"{where} computes something else in training mode than in evaluation mode, which runs use"
        raise InvalidInput("model", type(module).__name__, problem, CURE)


def _depends_on(trial: nn.Module, name: str, inputs: Tensor) -> bool:
    value, outputs = trial.get_buffer(name), trial(inputs)
    kept = value.clone()
    value.mul_(1.5).add_(0.5)
    changed = trial(inputs)
    value.copy_(kept)
    return not torch.equal(outputs, changed)


def _different_samples(shards: "Shards") -> tuple[Tensor, Tensor] | None:
    """Two samples with different inputs, and their targets; None if there are none."""
    first = shards.inputs[:1]
    for begin in range(0, len(shards.inputs), 128):
        part = shards.inputs[begin : begin + 128]
        others = (part != first).flatten(1).any(1).nonzero()
        if len(others):
            rows = torch.tensor([0, begin + int(others[0])])
            return shards.given(shards.inputs[rows]), shards.targets[rows]
    if not first.is_floating_point() or shards.parts is not None:  # made-up tokens might lie outside the vocabulary
        return None
    return torch.cat([first, 2 * first + 1]), shards.targets[torch.zeros(2, dtype=torch.int64)]


def _without_zeros(module: nn.Module) -> nn.Module:
    """A copy with small numbers for parameters that are 0 throughout: a layer that starts at 0 hides what it does."""
    trial, generator = duplicate(module), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in trial.parameters():
            if parameter.is_floating_point() and not parameter.any():
                noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                parameter.copy_(noise / max(1, parameter.shape[-1] if parameter.ndim else 1) ** 0.5)
    return trial


def agree(one: Tensor, other: Tensor) -> bool:
    """Whether two results are equal up to rounding."""
    tolerance = TOLERANCES.get(one.dtype, 1e-2)
    largest = float(one.abs().nan_to_num(0, 0, 0).max()) if one.numel() else 0.0
    return torch.allclose(one, other, rtol=0, atol=tolerance * largest, equal_nan=True)


def _first_difference(trial: nn.Module, one: Callable[[], Any], other: Callable[[], Any]) -> str:
    """The first layer that maps equal inputs to different outputs in two computations; `other` may be in two parts."""
    calls, parts = list(_calls(trial, one)), list(_calls(trial, other))
    batches = len(parts) // len(calls) if calls and len(parts) % len(calls) == 0 else 0
    for i, (name, inputs, outputs) in enumerate(calls):
        there = [parts[i + k * len(calls)] for k in range(batches)]
        if not there or any(call[0] != name for call in there):
            break
        if _same(inputs, [call[1] for call in there]) and not _same(outputs, [call[2] for call in there]):
            return _named(name)
    return "it"


def _calls(trial: nn.Module, compute: Callable[[], Any]) -> Iterator[Call]:
    """Every layer's calls during a computation, in the order in which they end."""
    seen: list[Call] = []

    def hook(name: str) -> Callable[..., None]:
        return lambda layer, given, result: seen.append((name, _tensors(given), _tensors(result)))

    handles = [layer.register_forward_hook(hook(name)) for name, layer in trial.named_modules()]
    try:
        compute()
    finally:
        for handle in handles:
            handle.remove()
    return iter(seen)


def _tensors(given: Any) -> list[Tensor]:
    return [part.clone() for part in tree_flatten(given)[0] if isinstance(part, Tensor)]


def _same(whole: list[Tensor], parts: list[list[Tensor]]) -> bool:
    """Whether tensors of a batch are those of its parts, joined along whichever axis is the batch's."""
    return all(len(part) == len(whole) for part in parts) and all(
        any(agree(x, joined) for joined in _joined([part[i] for part in parts]) if joined.shape == x.shape)
        for i, x in enumerate(whole)
    )


def _joined(parts: list[Tensor]) -> Iterator[Tensor]:
    yield parts[0]
    if len(parts) > 1:
        for axis in range(parts[0].ndim):
            with suppress(RuntimeError):
                yield torch.cat(parts, axis)


def _named(layer: str) -> str:
    owner = layer.partition("parametrizations")[0].rstrip(".") if "parametrizations" in layer else layer
    return f"layer {owner!r}" if owner else "it"
