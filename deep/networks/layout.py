"""A module's trainable parameters as one vector: where each of them lies in it."""

from dataclasses import dataclass
from math import prod
from typing import Any, final

from torch import Tensor, nn

from fedconvex.errors import InvalidInput

Views = dict[str, Tensor]
OF_THE_BATCH = (nn.modules.batchnorm._BatchNorm,)
RANDOM = (nn.modules.dropout._DropoutNd,)


@final
@dataclass(frozen=True)
class Layout:
    """The parameters that have gradients, in the module's order; one that is used twice is there once."""

    shapes: dict[str, tuple[int, ...]]

    @staticmethod
    def of(module: nn.Module) -> "Layout":
        """Raises InvalidInput for a module without trainable parameters, or that is no function of them alone."""
        for name, layer in module.named_modules():
            where = f"layer {name!r}" if name else "it"
            if isinstance(layer, OF_THE_BATCH) and (layer.track_running_stats or layer.training):
                problem = f"{where} normalises over the batch: clients' functions would depend on running statistics"
                raise InvalidInput("model", type(module).__name__, problem, "use nn.GroupNorm")
            if isinstance(layer, RANDOM) and layer.p > 0:
                cure = "leave it out, or set its p to 0"
                raise InvalidInput("model", type(module).__name__, f"{where} drops at random", cure)
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
        """Sets the module's parameters to those of theta (d,)."""
        parameters = dict(module.named_parameters())
        for name, value in self.views(theta).items():
            parameters[name].data.copy_(value)
