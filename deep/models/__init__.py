"""The papers' models, their sizes as arguments. Each is a function of its parameters alone: no dropout, no batch norm.

| model | paper |
|---|---|
| `logistic_regression` | FedProx (Synthetic, MNIST, FEMNIST), FedDyn (synthetic) |
| `fully_connected` | FedDyn: 784-200-200-10 (MNIST), 784-100-100-10 (EMNIST-L) |
| `two_layer_cnn` | FedDyn (CIFAR-10, CIFAR-100), after McMahan et al. |
| `character_lstm` | FedProx, FedDyn (Shakespeare) |
| `sentiment_lstm` | FedProx (Sent140) |
| `resnet18` | FedDyn, appendix (CIFAR-10), batch norm replaced by group norm |
"""

from fedconvex.deep.models.convolutional import resnet18 as resnet18
from fedconvex.deep.models.convolutional import two_layer_cnn as two_layer_cnn
from fedconvex.deep.models.dense import fully_connected as fully_connected
from fedconvex.deep.models.dense import logistic_regression as logistic_regression
from fedconvex.deep.models.recurrent import character_lstm as character_lstm
from fedconvex.deep.models.recurrent import sentiment_lstm as sentiment_lstm
