"""Checks that a model, a loss and samples fit together, made on a few samples before training starts."""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from fedconvex.deep.arrays import moved
from fedconvex.deep.independence import agree
from fedconvex.deep.local_mode import other_generators, own_generators, torchs_generators
from fedconvex.deep.losses import TorchLoss, UserLoss
from fedconvex.deep.memory import is_out_of_memory
from fedconvex.deep.networks.base import Batch
from fedconvex.deep.networks.functional import (
    COMPARED,
    FunctionalNetwork,
    gradients_alone,
    kernels_for,
)
from fedconvex.deep.networks.layout import duplicate
from fedconvex.errors import InvalidInput

if TYPE_CHECKING:
    from fedconvex.deep.dictionaries import InputParts
    from fedconvex.deep.shards import Shards

MISFITS = (RuntimeError, ValueError, IndexError, TypeError)  # torch's errors for wrong shapes and types
BATCH_NORMS = (nn.modules.batchnorm._BatchNorm,)
DROPOUTS = (nn.modules.dropout._DropoutNd,)  # probability: their attribute p
WITH_DROPOUT = (nn.RNNBase, nn.MultiheadAttention)  # probability: their attribute dropout
WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel)
IN_TRAINING = "give local_mode='training'"
NO_CHECKPOINTS = (
    "leave torch.utils.checkpoint out: it computes again in the backward pass, with the module's own parameters"
)
CALLS = 8  # a layer that is left out half of the time is left out, or not, in all of them in 1 % of trials
SIZES = (2, 1)  # a batch of one hides outputs in the wrong order of axes, a batch of two a squeezed batch axis


def require_fit(module: nn.Module, loss: TorchLoss, shards: "Shards") -> None:
    """Raise InvalidInput unless the module accepts the samples, and the loss its outputs and the targets."""
    for size in SIZES:
        inputs, targets = _some(shards, size)
        outputs = _outputs(module, inputs, targets, loss)
        if isinstance(loss, UserLoss):
            _require_losses(loss, outputs, targets)
    width, most = outputs.shape[-1], int(shards.targets.max()) if loss.classes else 0
    if loss.classes and most >= width:
        problem = f"has {width} outputs, the targets go up to class {most}"
        raise InvalidInput("model", type(module).__name__, problem, f"give it {most + 1} outputs or more")
    own = shards.targets.shape[1] if loss.axes and loss.name == "half_square" else 1
    if loss.name in ("logistic", "half_square") and width != own:
        cure = "give it one" if own == 1 else f"give it {own}, as the targets have"
        raise InvalidInput("model", type(module).__name__, f"has {width} outputs, {loss.name} takes {own}", cure)


def require_plain(module: nn.Module) -> None:
    """Raise InvalidInput for modules that cannot be called with other parameters than their own, and for complex ones.

    Those are scripted modules, and wrappers for several devices.
    """
    for name, layer in module.named_modules():
        where = f"layer {name!r}" if name else "it"
        if isinstance(layer, WRAPPERS):
            problem, cure = f"{where} distributes its batches over devices by itself", "give the module inside, .module"
            raise InvalidInput("model", type(module).__name__, problem, cure)
        if isinstance(layer, torch.jit.ScriptModule):
            problem = f"{where} is a scripted module, whose parameters cannot be exchanged"
            raise InvalidInput("model", type(module).__name__, problem, "give the nn.Module of which it was made")
        if isinstance(layer, nn.Embedding | nn.EmbeddingBag) and layer.scale_grad_by_freq:
            problem = f"{where} divides gradients by how often a token occurs in a batch, which no sample's loss knows"
            raise InvalidInput("model", type(module).__name__, problem, "set its scale_grad_by_freq to False")
    for name, parameter in (*module.named_parameters(), *module.named_buffers()):
        if parameter.is_complex():
            raise InvalidInput("model", type(module).__name__, f"has complex numbers in {name}", "give real parameters")
        if parameter.is_meta:
            problem, cure = f"{name} has no numbers: it is on torch's device 'meta'", "make it on the CPU"
            raise InvalidInput("model", type(module).__name__, problem, f"{cure}, or call its to_empty and fill it")


def require_running_statistics(module: nn.Module) -> None:
    """Raise InvalidInput for layers that normalise over the batch in evaluation mode, too."""
    for name, layer in module.named_modules():
        if isinstance(layer, BATCH_NORMS) and layer.running_mean is None:
            where = f"layer {name!r}" if name else "it"
            problem = f"{where} has no running statistics, and normalises over the batch in evaluation mode, too"
            problem += ": a sample's loss would depend on the other samples"
            cure = "give it track_running_stats=True, with local_mode='training'; or use nn.GroupNorm"
            raise InvalidInput("model", type(module).__name__, problem, cure)


def require_no_mode(module: nn.Module, frozen: bool) -> None:
    """Raise InvalidInput for layers that compute something else in training mode, in which local steps are not taken.

    frozen: whether layers whose buffers training would change are to compute as in evaluation mode.
    """
    for name, layer in module.named_modules():
        where = f"layer {name!r}" if name else "it"
        if isinstance(layer, BATCH_NORMS) and not frozen:
            problem = f"{where} normalises over the batch: a sample's loss would depend on the other samples"
            cure = f"{IN_TRAINING}, or buffers='frozen', or use nn.GroupNorm"
            raise InvalidInput("model", type(module).__name__, problem, cure)
        for layer_types, argument in ((DROPOUTS, "p"), (WITH_DROPOUT, "dropout")):
            if isinstance(layer, layer_types) and getattr(layer, argument) > 0:
                cure = f"{IN_TRAINING}, or leave it out, or set its {argument} to 0"
                raise InvalidInput("model", type(module).__name__, f"{where} drops at random", cure)


def require_deterministic(module: nn.Module, loss: TorchLoss, shards: "Shards", training: bool = False) -> None:
    """Raise InvalidInput if the module or the loss draws random numbers: if a call changes a generator.

    Unless local steps are in training mode, the module is also called in that mode: in evaluation mode a functional
    dropout, which is no layer of its own, would be left out silently: not the model that the user wrote.
    """
    inputs, targets = _some(shards, 2)
    before, of_others = torchs_generators(inputs.device), other_generators()

    def drawn_elsewhere() -> bool:
        return other_generators() != of_others

    def drawn() -> bool:
        return not all(map(torch.equal, before, torchs_generators(inputs.device))) or drawn_elsewhere()

    with torch.no_grad(), kernels_for(module)():
        outputs = module(inputs)
        chance, changes = False, not drawn() and _changes(duplicate(module), inputs)
        in_training = duplicate(module).train()
        with suppress(Exception), own_generators(inputs.device) if training else nullcontext():
            in_training(inputs)  # a module that fails in this mode is refused elsewhere, or never used in it
            changes |= training and not drawn_elsewhere() and _changes(in_training, inputs)
        if training and drawn_elsewhere():
            problem = "draws random numbers by Python or NumPy, which would differ when a run is resumed"
            raise InvalidInput("model", type(module).__name__, problem, "draw them by torch, as in torch.rand(())")
        if not training:
            # RReLU draws for negative inputs only, and these may have none.
            chance = any(isinstance(part, nn.RReLU) and part.lower != part.upper for part in module.modules())
        if drawn() or chance:
            cure = "leave out what draws them, such as dropout and noise"
            cure += "" if training else f"; {IN_TRAINING}, if it draws in training mode alone"
            raise InvalidInput("model", type(module).__name__, "draws random numbers when it is called", cure)
        if changes:
            problem = "computes something else when it is called again"
            cure = "let it keep no generator or counter of its own; draw random numbers by torch, as in torch.rand(())"
            raise InvalidInput("model", type(module).__name__, problem, cure)
        loss.values(outputs, targets)
        if drawn():
            raise InvalidInput("loss", loss.title, "draws random numbers", "give a function of outputs and targets")


def require_differentiable(network: FunctionalNetwork, module: nn.Module, shards: "Shards") -> None:
    """Raise InvalidInput unless gradients are those of plain autograd; let the network leave vmap where its are not.

    They are compared at other parameters than the module's own, which torch.func's calls give back after the call.
    """
    trial, place = duplicate(module), shards.device
    with torch.no_grad():
        theta = network.layout.flat(module)[None].mul(1.01).add_(0.01)
    rows = torch.arange(min(COMPARED, len(shards.targets)), device=shards.inputs.device)
    if shards.whole_numbers and shards.inputs.numel():  # the least and the largest token, which may mean padding
        rows = torch.cat([_extremes(shards.inputs).to(rows), rows])[: len(rows)]
    order = torch.stack([rows.flip(0), rows]).cpu().numpy()
    batch = shards.batch(order, torch.full(order.shape, 1 / len(rows), dtype=shards.dtype, device=place))
    one = Batch(batch.inputs[:1], batch.targets[:1], batch.shares[:1])
    try:
        with kernels_for(trial)():
            network.layout.load(trial, theta[0])
            own = dict(trial.named_parameters())
            plain = gradients_alone(
                trial, [own[name] for name in network.layout.shapes], network.loss, network.lower, one
            )
            found = network.gradients(theta, one)
    except Exception as error:
        if is_out_of_memory(error):  # batches of a run may be smaller than these
            return
        problem = f"cannot be differentiated: {_first_line(error)}"
        cure = NO_CHECKPOINTS if "checkpoint" in str(error) else "use functions that torch.autograd.grad differentiates"
        raise InvalidInput("model", type(module).__name__, problem, cure) from error
    parts = network.layout.views(found).values()
    if (name := network.differing([*parts], plain)) is not None:
        problem = f"computes another gradient of {name} where it is called with other parameters than its own"
        raise InvalidInput("model", type(module).__name__, problem, NO_CHECKPOINTS)
    try:
        network.compare(network.layout.views(theta.repeat(2, 1)), batch)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise


def _changes(module: nn.Module, inputs: Tensor) -> bool:
    """Whether calls with the same buffers and states of torch's generators differ: a module has other memories, too."""
    kept = {name: value.clone() for name, value in module.named_buffers()}
    found = []
    for _ in range(CALLS):
        for name, value in module.named_buffers():
            value.copy_(kept[name])
        with own_generators(inputs.device):
            found.append(module(inputs))
    return all(isinstance(one, Tensor) for one in found) and not all(
        one.shape == found[0].shape and agree(one, found[0]) for one in found[1:]
    )


def takes_whole_numbers(module: nn.Module, inputs: Tensor, parts: "InputParts | None" = None) -> bool:
    """Whether the module accepts integer inputs as int64, which are token numbers then; otherwise they become floats.

    parts: of packed inputs. Raises InvalidInput for token numbers outside the range of the module's embeddings.
    """
    named = {"": inputs} if parts is None else parts.columns(inputs)
    if (error := _index_error(module, inputs, named.values())) is not None:
        ranges = ", ".join(f"{name} {int(x.min())} to {int(x.max())}".strip() for name, x in named.items())
        problem = f"does not accept the samples' numbers {ranges}: {error}"
        raise InvalidInput("model", type(module).__name__, problem, "give it as many vectors as there are tokens")
    return _is_taken(module, moved(inputs[:1], next(module.parameters()).device).long())


def targets_for(module: nn.Module, loss: TorchLoss, inputs: Tensor, targets: Tensor, dtype: torch.dtype) -> Tensor:
    """The targets, with integers converted to `dtype` if a user's loss can be differentiated only with floats.

    inputs: the first two samples, or the only one.
    """
    if targets.is_floating_point() or not isinstance(loss, UserLoss):
        return targets
    first = slice(0, 2)
    try:
        with torch.no_grad():
            outputs = module(inputs)
    except MISFITS:  # `require_fit` reports it
        return targets
    _require_classes(loss, outputs, targets)
    for given in (targets, targets.to(dtype)):
        if _is_differentiated(loss, outputs, given[first]):
            return given
    return targets


def _some(shards: "Shards", size: int) -> tuple[Tensor, Tensor]:
    # Data of a single sample give it twice.
    rows = torch.arange(size).clamp(max=len(shards.targets) - 1)
    return shards.given(shards.inputs[rows]), shards.targets[rows]


def _outputs(module: nn.Module, inputs: Tensor, targets: Tensor, loss: TorchLoss) -> Tensor:
    """The module's outputs (B, C), for tokens (B, …, C); raises InvalidInput for any other shape."""
    try:
        with torch.no_grad():
            outputs = module(inputs)
    except MISFITS as error:
        problem = f"does not take samples of shape {tuple(inputs.shape[1:])}: {_first_line(error)}"
        raise InvalidInput("model", type(module).__name__, problem, "give a model for these samples") from None
    if not isinstance(outputs, Tensor):
        raise InvalidInput("model", type(module).__name__, f"returns {_without_logits(outputs)}", "return the logits")
    of_tokens = loss.axes > 0 and loss.classes
    fits = outputs.shape[:-1] == targets.shape if of_tokens else outputs.ndim == 2 or (loss.axes and outputs.ndim > 2)
    if not fits or len(outputs) != len(inputs):
        problem = f"gives {tuple(outputs.shape)} for {_samples(len(inputs))}"
        if of_tokens:
            problem = f"{problem} with targets {tuple(targets.shape)}"
            cure = (
                f"give {(*targets.shape, 'classes')}, classes last; for a class per sample, targets ({len(targets)},)"
            )
            raise InvalidInput("model", type(module).__name__, problem, cure.replace("'", ""))
        raise InvalidInput("model", type(module).__name__, problem, "give (batch, outputs)")
    return outputs


def _without_logits(found: Any) -> str:
    """What a model returned that is no tensor and has no logits, in words."""
    names = sorted(map(str, found)) if isinstance(found, Mapping) else []
    having = f" with {', '.join(names)}" if names else ""
    return f"a {type(found).__name__}{having}, which has no logits"


def _require_losses(loss: UserLoss, outputs: Tensor, targets: Tensor) -> None:
    try:
        with torch.enable_grad():
            values: Any = loss.values(outputs.detach().requires_grad_(), targets)
    except MISFITS as error:
        shapes = f"outputs {tuple(outputs.shape)} and targets {tuple(targets.shape)}"
        problem = f"does not take {shapes}: {_first_line(error)}"
        raise InvalidInput("loss", loss.title, problem, "give a function (outputs, targets)") from error
    if not isinstance(values, Tensor) or values.shape != targets.shape[:1]:
        shape = f"shape {tuple(values.shape)}" if isinstance(values, Tensor) else f"a {type(values).__name__}"
        problem = f"gives {shape} for {_samples(len(targets))}"
        # torch's losses average over the batch by default: modules as an attribute, functions as an argument.
        reduces = getattr(loss.function, "reduction", "none") != "none" or "torch.nn.functional" in _module_of(loss)
        example = f', such as {loss.title.partition("(")[0]}(…, reduction="none")' if reduces else ""
        if isinstance(values, Tensor) and values.ndim > 1 and len(values) == len(targets):
            example = ", such as their mean, losses.flatten(1).mean(1)"
        raise InvalidInput("loss", loss.title, problem, f"give one loss per sample{example}")
    if not values.requires_grad:
        problem = "cannot be differentiated in the outputs"
        raise InvalidInput("loss", loss.title, problem, "compute it from them with torch's functions")


def _module_of(loss: UserLoss) -> str:
    return str(getattr(loss.function, "__module__", ""))


def _index_error(module: nn.Module, inputs: Tensor, parts: Iterable[Tensor]) -> str | None:
    """The error for token numbers outside the module's embeddings, or None.

    Only the samples with the least and the largest number of each part are tried, and on the CPU: on a GPU an index
    out of range makes the whole process unusable.
    """
    if not inputs.numel():
        return None
    rows = torch.cat([_extremes(part) for part in parts])
    here = module if next(module.parameters()).device.type == "cpu" else deepcopy(module).cpu()
    extremes = inputs[rows].cpu().long()
    try:
        with torch.no_grad():
            here(extremes)
    except IndexError as error:
        # If the module accepts these numbers as floats, they are values and not tokens.
        floats = extremes.to(next(here.parameters()).dtype)
        return None if _is_taken(here, floats) else _first_line(error)
    except Exception:  # any other error is not about tokens; `require_fit` reports it
        return None
    return None


def _extremes(values: Tensor) -> Tensor:
    """The places of the samples with the least and the largest number."""
    return torch.tensor([int(place) // values[0].numel() for place in (values.argmin(), values.argmax())])


def _require_classes(loss: UserLoss, outputs: Any, targets: Tensor) -> None:
    """Raise InvalidInput for class numbers that the loss does not take; tried on the CPU, as token numbers are."""
    if not isinstance(outputs, Tensor) or not targets.numel():
        return
    extremes = targets[_extremes(targets)].cpu()
    try:
        with torch.no_grad():
            loss.values(outputs[:1].cpu().repeat_interleave(2, 0), extremes)
    except IndexError as error:
        problem = f"does not take the targets {int(targets.min())} to {int(targets.max())}: {_first_line(error)}"
        raise InvalidInput("loss", loss.title, problem, "give the model an output for each class") from error
    except Exception:  # any other error is not about classes, or of a loss that is elsewhere
        return


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


def _samples(count: int) -> str:
    return "one sample" if count == 1 else f"{count} samples"


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
