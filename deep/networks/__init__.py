"""Networks as functions of their parameters, evaluated for many clients at once."""

import torch
from torch import nn

from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.networks.base import Batch as Batch
from fedconvex.deep.networks.base import DescentStep as DescentStep
from fedconvex.deep.networks.base import Network as Network
from fedconvex.deep.networks.base import Toward as Toward
from fedconvex.deep.networks.functional import FunctionalNetwork as FunctionalNetwork
from fedconvex.deep.networks.layered import LayeredNetwork, layers_of
from fedconvex.deep.networks.layout import Layout as Layout


def network_of(
    module: nn.Module, loss: TorchLoss, sample_shape: tuple[int, ...], lower: torch.dtype | None = None
) -> Network:
    """The fastest implementation of the module: by hand if it is fully connected, else by `torch.func`.

    lower: see `FunctionalNetwork`.
    """
    layers = layers_of(module, loss, sample_shape) if lower is None else None
    return FunctionalNetwork(module, loss, lower) if layers is None else LayeredNetwork(module, layers, loss)
