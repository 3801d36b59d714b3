"""The mode of local steps: its arguments, and what training mode would do with a module's buffers and a transform."""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from fedconvex.deep.memory import is_out_of_memory
from fedconvex.deep.networks.layout import duplicate
from fedconvex.errors import InvalidInput
from fedconvex.names import one_of

Transform = Callable[[Tensor, torch.Generator], Tensor]
LOCAL_MODES = ("evaluation", "training")
AVERAGED, KEPT, FROZEN = CHOICES = ("averaged", "kept", "frozen")


@final
@dataclass(frozen=True)
class LocalMode:
    """The arguments `local_mode`, `buffers` and `transform` of a run, after a check of each."""

    training: bool = False
    buffers: "str | Mapping[str, str]" = AVERAGED
    transform: Transform | None = None

    @staticmethod
    def of(local_mode: Any, buffers: Any, transform: Any) -> "LocalMode":
        """Raises InvalidInput for unknown values, and for those that training mode alone has."""
        if local_mode not in LOCAL_MODES:
            raise InvalidInput("local_mode", local_mode, "is unknown", one_of(str(local_mode), LOCAL_MODES))
        training = local_mode == "training"
        for value in buffers.values() if isinstance(buffers, Mapping) else [AVERAGED if buffers is None else buffers]:
            if value not in CHOICES:
                raise InvalidInput("buffers", value, "is unknown", one_of(str(value), CHOICES))
        cure = "give local_mode='training'"
        if not training and buffers not in (None, FROZEN):
            raise InvalidInput("buffers", buffers, "is for training mode: evaluation mode changes none", cure)
        if transform is not None and not callable(transform):
            raise InvalidInput("transform", transform, "is no function", "give a function (batch, generator) -> batch")
        if not training and transform is not None:
            raise InvalidInput("transform", transform, "is for local steps in training mode", cure)
        return LocalMode(training, AVERAGED if buffers is None else buffers, transform)

    @property
    def freezes(self) -> bool:
        """Whether the layers whose buffers training would change compute as in evaluation mode, all of them."""
        return self.buffers == FROZEN

    def choices(self, changing: list[str]) -> dict[str, str]:
        """What happens to each buffer that training changes, by its name.

        A pattern names buffers or whole layers; the first one that fits decides. Raises InvalidInput for a pattern that
        fits none, a buffer that none fits, and a layer of which only some buffers are frozen.
        """
        if isinstance(self.buffers, str):
            return dict.fromkeys(changing, self.buffers)
        found: dict[str, str] = {}
        for pattern, choice in self.buffers.items():
            fitting = [n for n in changing if fnmatchcase(n, pattern) or fnmatchcase(n.rpartition(".")[0], pattern)]
            if not fitting:
                known = f"training changes {', '.join(changing)}" if changing else "training changes none"
                raise InvalidInput("buffers", pattern, "is the name of no buffer that training changes", known)
            found = dict.fromkeys(fitting, choice) | found
        if missing := [name for name in changing if name not in found]:
            cure = f"add {missing[0]!r}, or '*' for all others"
            raise InvalidInput("buffers", dict(self.buffers), f"does not name buffer {missing[0]!r}", cure)
        for name in changing:
            layer = name.rpartition(".")[0]
            of_layer = {found[n] for n in changing if n.rpartition(".")[0] == layer}
            if FROZEN in of_layer and len(of_layer) > 1:
                problem = f"freezes some buffers of layer {layer!r} and not the others"
                raise InvalidInput("buffers", dict(self.buffers), problem, f"name the layer: {layer!r}")
        return {name: found[name] for name in changing}


def changing_buffers(module: nn.Module, inputs: Tensor) -> list[str]:
    """The names of the buffers that a call in training mode changes. Raises InvalidInput where such a call fails."""
    trial = duplicate(module).train()
    with torch.no_grad(), own_generators(inputs.device):
        for parameter in trial.parameters():
            parameter.mul_(1.01).add_(0.01)  # so that buffers that follow the parameters have to move
        try:
            trial(inputs)
        except Exception as error:
            problem = f"cannot be called in training mode: {str(error).splitlines()[0]}"
            raise InvalidInput("model", type(module).__name__, problem, "give local_mode='evaluation'") from error
    return [name for name, value in trial.named_buffers() if not torch.equal(value, module.get_buffer(name))]


def frozen_in(module: nn.Module, names: list[str]) -> None:
    """Put the layers that own these buffers into evaluation mode."""
    for name in names:
        # Of the layer alone: `eval` would reach the layers inside, too.
        module.get_submodule(name.rpartition(".")[0]).training = False


def transformed(transform: Transform, inputs: Tensor, seed: int) -> Tensor:
    """The transform of a batch, with a generator of that seed. Raises InvalidInput if it fails or changes the shape."""
    try:
        found: Any = transform(inputs, generator_on(inputs.device, seed))
    except Exception as error:
        if isinstance(error, InvalidInput) or is_out_of_memory(error):
            raise
        problem = f"fails on a batch {tuple(inputs.shape)}: {type(error).__name__}: {error}"
        raise InvalidInput("transform", name_of(transform), problem, "correct it") from error
    if not isinstance(found, Tensor) or (found.shape, found.dtype) != (inputs.shape, inputs.dtype):
        made = f"{tuple(found.shape)} in {found.dtype}" if isinstance(found, Tensor) else f"a {type(found).__name__}"
        problem = f"makes {made} of a batch {tuple(inputs.shape)} in {inputs.dtype}"
        raise InvalidInput("transform", name_of(transform), problem, "return a batch of the same shape and type")
    return found


def generator_on(device: torch.device, seed: int) -> torch.Generator:
    """A generator of that seed whose numbers are drawn on the device."""
    return torch.Generator(device).manual_seed(seed)


def require_seeded(transform: Transform, inputs: Tensor) -> None:
    """Raise InvalidInput unless the transform keeps shapes and draws from its generator alone; inputs: some samples."""
    before, of_others = torchs_generators(inputs.device), other_generators()
    with own_generators(inputs.device):
        once, again = (transformed(transform, inputs.clone(), 0) for _ in range(2))
        drawn = not all(map(torch.equal, before, torchs_generators(inputs.device)))
    if once.is_floating_point() and not once.isfinite().all() and inputs.isfinite().all():
        problem = f"makes numbers that are not finite of a batch {tuple(inputs.shape)}"
        raise InvalidInput("transform", name_of(transform), problem, "correct it")
    if drawn or other_generators() != of_others or not torch.equal(once, again):
        problem = "draws random numbers of its own, which would differ when a run is resumed"
        cure = "draw from its second argument, as in torch.rand(…, generator=generator)"
        raise InvalidInput("transform", name_of(transform), problem, cure)


def seed_torch(device: torch.device, seed: int) -> None:
    """Seed the generators that layers on the device draw from.

    `torch.manual_seed` seeds those of every device, which takes as long as a small step.
    """
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.default_generators[device.index or 0].manual_seed(seed)


def torchs_generators(place: torch.device) -> list[Tensor]:
    """The states of torch's random number generators, on the host and on the device."""
    states = [torch.get_rng_state()]
    return [*states, torch.cuda.get_rng_state(place)] if place.type == "cuda" else states


def other_generators() -> tuple[Any, ...]:
    """The states of Python's and NumPy's global generators, from which no seed of a run draws."""
    kind, numbers, *rest = np.random.get_state()  # noqa: NPY002 - it is looked at, not drawn from
    return random.getstate(), kind, np.asarray(numbers).tobytes(), *rest


def name_of(function: Any) -> str:
    """The name of a function, for errors and identities."""
    return str(getattr(function, "__name__", type(function).__name__))


@contextmanager
def own_generators(device: torch.device) -> Iterator[None]:
    """Restores torch's generators, which layers such as dropout draw from, at the end."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        yield
