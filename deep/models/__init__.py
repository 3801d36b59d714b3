"""The papers' models, their sizes as arguments. Each is a function of its parameters alone: no dropout, no batch norm.

| model | paper |
|---|---|
| `logistic_regression` | FedProx (Synthetic, MNIST, FEMNIST), FedDyn (synthetic) |
| `fully_connected` | FedDyn: 784-200-200-10 (MNIST), 784-100-100-10 (EMNIST-L) |
| `two_layer_cnn` | FedDyn (CIFAR-10, CIFAR-100), after McMahan et al. |
| `character_lstm` | FedProx, FedDyn (Shakespeare) |
| `sentiment_lstm` | FedProx (Sent140) |
| `resnet18` | FedDyn, appendix (CIFAR-10), batch norm replaced by group norm |

A new model is a new function in a module here: every public function of these modules makes a model, and is a name of
this package and of the section [model] of a run's file.
"""

from collections.abc import Callable

from torch import nn

from fedconvex.discovery import public_functions

MODELS: dict[str, Callable[..., nn.Module]] = dict(public_functions(__name__))
# Bound here and not in a `__getattr__`, so that a model may have the name of its module.
globals().update(MODELS)

__all__ = ["MODELS", *MODELS]
