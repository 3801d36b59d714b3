"""Whether a model, a loss and samples fit, found on a few samples before any work."""

from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from fedconvex.deep.losses import TorchLoss, UserLoss
from fedconvex.errors import InvalidInput

if TYPE_CHECKING:
    from fedconvex.deep.shards import Shards

MISFITS = (RuntimeError, ValueError, IndexError, TypeError)  # what torch raises for shapes and types that do not fit
SIZES = (2, 1)  # of one sample a wrong axis is not seen, of two one that is lost


def require_fit(module: nn.Module, loss: TorchLoss, shards: "Shards") -> None:
    """The module takes the samples, and the loss what it gives and their targets; else InvalidInput."""
    for size in SIZES:
        inputs, targets = _some(shards, size)
        outputs = _outputs(module, inputs)
        if isinstance(loss, UserLoss):
            _require_losses(loss, outputs, targets)
    width, most = outputs.shape[1], int(shards.targets.max()) if loss.classes else 0
    if loss.classes and most >= width:
        problem = f"has {width} outputs, the targets go up to class {most}"
        raise InvalidInput("model", type(module).__name__, problem, f"give it {most + 1} outputs or more")
    if loss.name in ("logistic", "half_square") and width != 1:
        raise InvalidInput("model", type(module).__name__, f"has {width} outputs, {loss.name} takes 1", "give it one")


def require_no_chance(module: nn.Module, loss: TorchLoss, shards: "Shards") -> None:
    """Neither draws random numbers, the module not in training either: torch's generators stay where they are.

    In a run modules are in evaluation mode, where dropout that is no layer of its own would be left out in silence.
    """
    inputs, targets = _some(shards, 2)
    before = _generators(inputs.device)

    def drawn() -> bool:
        return not all(map(torch.equal, before, _generators(inputs.device)))

    with torch.no_grad():
        outputs = module(inputs)
        in_training = deepcopy(module).train()
        with suppress(Exception):  # it is never trained in this mode
            in_training(inputs)
        if drawn():
            cure = "leave out what does, such as dropout and noise"
            raise InvalidInput("model", type(module).__name__, "draws random numbers when it is called", cure)
        loss.values(outputs, targets)
        if drawn():
            raise InvalidInput("loss", loss.title, "draws random numbers", "give a function of outputs and targets")


def inputs_for(module: nn.Module, inputs: Tensor, dtype: torch.dtype) -> Tensor:
    """Token numbers as they are; other whole numbers, which the module takes as floats alone, in `dtype`.

    Raises InvalidInput for token numbers that are too large or too small for the module.
    """
    if inputs.is_floating_point():
        return inputs
    if (error := _index_error(module, inputs)) is not None:
        problem = f"does not take the numbers {int(inputs.min())} to {int(inputs.max())} that samples have: {error}"
        raise InvalidInput("model", type(module).__name__, problem, "give it as many vectors as there are tokens")
    return inputs if _is_taken(module, inputs[:1]) else inputs.to(dtype)


def targets_for(module: nn.Module, loss: TorchLoss, inputs: Tensor, targets: Tensor, dtype: torch.dtype) -> Tensor:
    """Whole numbers as they are, class numbers for one; in `dtype` where a user's loss takes them as floats alone."""
    if targets.is_floating_point() or not isinstance(loss, UserLoss):
        return targets
    first = slice(0, 2)
    try:
        with torch.no_grad():
            outputs = module(inputs[first])
    except MISFITS:  # said by `require_fit`
        return targets
    for given in (targets, targets.to(dtype)):
        if _is_differentiated(loss, outputs, given[first]):
            return given
    return targets


def _some(shards: "Shards", size: int) -> tuple[Tensor, Tensor]:
    rows = torch.arange(size).clamp(max=len(shards.targets) - 1)
    return shards.inputs[rows], shards.targets[rows]


def _outputs(module: nn.Module, inputs: Tensor) -> Tensor:
    """What the module gives, (B, outputs)."""
    try:
        with torch.no_grad():
            outputs = module(inputs)
    except MISFITS as error:
        problem = f"does not take samples of shape {tuple(inputs.shape[1:])}: {_first_line(error)}"
        raise InvalidInput("model", type(module).__name__, problem, "give a model for these samples") from None
    if not isinstance(outputs, Tensor) or outputs.ndim != 2 or len(outputs) != len(inputs):
        shape = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        problem = f"gives {shape} for {_samples(len(inputs))}"
        raise InvalidInput("model", type(module).__name__, problem, "give (batch, outputs)")
    return outputs


def _require_losses(loss: UserLoss, outputs: Tensor, targets: Tensor) -> None:
    try:
        with torch.enable_grad():
            values: Any = loss.values(outputs.detach().requires_grad_(), targets)
    except MISFITS as error:
        shapes = f"outputs {tuple(outputs.shape)} and targets {tuple(targets.shape)}"
        problem = f"does not take {shapes}: {_first_line(error)}"
        raise InvalidInput("loss", loss.title, problem, "give a function (outputs, targets)") from error
    if not isinstance(values, Tensor) or values.shape != targets.shape:
        shape = f"shape {tuple(values.shape)}" if isinstance(values, Tensor) else f"a {type(values).__name__}"
        problem = f"gives {shape} for {_samples(len(targets))}"
        raise InvalidInput("loss", loss.title, problem, "give one loss per sample")
    if not values.requires_grad:
        problem = "cannot be differentiated in the outputs"
        raise InvalidInput("loss", loss.title, problem, "compute it from them with torch's functions")


def _index_error(module: nn.Module, inputs: Tensor) -> str | None:
    """Why the extreme tokens are none, if they are none; asked on the CPU, as a GPU's answer would be its last."""
    if not inputs.numel():
        return None
    per_sample = inputs[0].numel()
    rows = torch.tensor([int(place) // per_sample for place in (inputs.argmin(), inputs.argmax())])
    here = module if inputs.device.type == "cpu" else deepcopy(module).cpu()
    extremes = inputs[rows].cpu()
    try:
        with torch.no_grad():
            here(extremes)
    except IndexError as error:
        floats = extremes.to(next(here.parameters()).dtype)
        return None if _is_taken(here, floats) else _first_line(error)
    except Exception:  # of no interest here
        return None
    return None


def _is_taken(module: nn.Module, inputs: Tensor) -> bool:
    try:
        with torch.no_grad():
            module(inputs)
    except MISFITS:
        return False
    return True


def _is_differentiated(loss: TorchLoss, outputs: Any, targets: Tensor) -> bool:
    try:
        with torch.enable_grad():
            leaf = outputs.detach().requires_grad_()
            torch.autograd.grad(loss.values(leaf, targets).sum(), leaf)
    except (*MISFITS, AttributeError):
        return False
    return True


def _generators(place: torch.device) -> list[Tensor]:
    """Where torch's random numbers stand."""
    states = [torch.get_rng_state()]
    return [*states, torch.cuda.get_rng_state(place)] if place.type == "cuda" else states


def _samples(count: int) -> str:
    return "one sample" if count == 1 else f"{count} samples"


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
