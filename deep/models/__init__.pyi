"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""

from collections.abc import Callable

from torch import nn

from fedconvex.deep.models.convolutional import resnet18 as resnet18
from fedconvex.deep.models.convolutional import two_layer_cnn as two_layer_cnn
from fedconvex.deep.models.dense import fully_connected as fully_connected
from fedconvex.deep.models.dense import logistic_regression as logistic_regression
from fedconvex.deep.models.recurrent import character_lstm as character_lstm
from fedconvex.deep.models.recurrent import sentiment_lstm as sentiment_lstm

MODELS: dict[str, Callable[..., nn.Module]]
__all__ = [
    "MODELS",
    "character_lstm",
    "fully_connected",
    "logistic_regression",
    "resnet18",
    "sentiment_lstm",
    "two_layer_cnn",
]
