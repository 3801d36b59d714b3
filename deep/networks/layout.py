"""A module's trainable parameters as one vector, and the position of each of them in it."""

from copy import deepcopy
from dataclasses import dataclass
from math import prod
from typing import Any, final

from torch import Tensor, nn
from torch.utils._pytree import tree_flatten

from fedconvex.errors import InvalidInput

Views = dict[str, Tensor]


@final
@dataclass(frozen=True)
class Layout:
    """The shapes of the parameters that are trained, by name, in the module's order; a shared parameter counts once."""

    shapes: dict[str, tuple[int, ...]]

    @staticmethod
    def of(module: nn.Module) -> "Layout":
        """The layout of a module. Raises InvalidInput for a module without trainable parameters."""
        shapes = {name: tuple(p.shape) for name, p in module.named_parameters() if p.requires_grad}
        if not shapes:
            raise InvalidInput("model", type(module).__name__, "has no trainable parameters", "give one that has")
        return Layout(shapes)

    @property
    def dim(self) -> int:
        """d, the number of trainable parameters."""
        return sum(map(prod, self.shapes.values()))

    def views(self, theta: Tensor) -> Views:
        """Every parameter as a (K, *shape) view of theta (K, d), or (*shape) of (d,)."""
        found, begin = {}, 0
        for name, shape in self.shapes.items():
            end = begin + prod(shape)
            found[name] = theta[..., begin:end].unflatten(-1, shape) if shape else theta[..., begin]
            begin = end
        return found

    def flat(self, module: nn.Module) -> Tensor:
        """The module's parameters as one vector (d,)."""
        from torch import cat

        parameters = dict(module.named_parameters())
        return cat([parameters[name].detach().reshape(-1) for name in self.shapes])

    def load(self, module: nn.Module, theta: Any) -> None:
        """Set the module's parameters to those of theta (d,)."""
        parameters = dict(module.named_parameters())
        for name, value in self.views(theta).items():
            parameters[name].data.copy_(value)


def aliases_of(module: nn.Module) -> dict[str, str]:
    """Further names of shared trainable parameters, mapped to their names in the layout.

    A module registered under two names counts once (named_modules does not repeat it); only parameters that different
    modules share have further names.
    """
    first: dict[nn.Parameter, str] = {}
    found: dict[str, str] = {}
    for prefix, layer in module.named_modules():
        for attribute, parameter in layer._parameters.items():
            if parameter is None or not parameter.requires_grad:
                continue
            name = f"{prefix}.{attribute}" if prefix else attribute
            if first.setdefault(parameter, name) != name:
                found[name] = first[parameter]
    return found


def copied(module: nn.Module) -> nn.Module:
    """A copy in which what was computed from parameters, such as a stored activation, is numbers alone."""
    memo: dict[int, Any] = {}
    for layer in module.modules():
        for part in tree_flatten(vars(layer))[0]:
            if isinstance(part, Tensor) and part.grad_fn is not None:
                memo[id(part)] = part.detach().clone()
    return deepcopy(module, memo)


def twin(module: nn.Module) -> nn.Module:
    """A module of its own with the same tensors as parameters and buffers.

    It can be copied at any time: what a call stores in the one that is called, such as an activation in an attribute,
    belongs to autograd or to vmap, and has no copies.
    """
    shared: dict[int, Any] = {id(tensor): tensor for tensor in (*module.parameters(), *module.buffers())}
    return deepcopy(module, shared)


def duplicate(module: nn.Module) -> nn.Module:
    """A copy with parameters of its own; on a GPU, those of recurrent layers lie side by side, as cuDNN asks for."""
    found = deepcopy(module)
    for part in found.modules():
        if isinstance(part, nn.RNNBase):
            part.flatten_parameters()
    return found
