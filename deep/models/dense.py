"""Linear and fully connected models."""

from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least


def logistic_regression(features: int, classes: int) -> nn.Sequential:
    """Multinomial logistic regression on (batch, …) of `features` numbers: (features + 1)·classes parameters.

    Use it where the papers' convex theorems are to hold: with cross-entropy the runner treats it as a problem of the
    core, with exact local solutions and curvatures.
    """
    return fully_connected([features, classes])


def fully_connected(sizes: Sequence[int]) -> nn.Sequential:
    """Linear layers sizes[0] → sizes[1] → … with ReLU between them, on (batch, …) of sizes[0] numbers.

    Use it for MNIST and tables; [784, 200, 200, 10] is the FedDyn paper's model. Its gradients are computed by hand,
    which is faster than autograd for many small clients. Raises InvalidInput for fewer than two sizes, or one below 1.
    """
    if len(sizes) < 2:
        raise InvalidInput("sizes", sizes, "needs inputs and outputs", "give such as [784, 200, 200, 10]")
    checked = [integer_at_least(size, 1, f"sizes[{i}]") for i, size in enumerate(sizes)]
    layers: list[nn.Module] = [nn.Flatten()]  # so that images are accepted as well as vectors
    for inputs, outputs in pairwise(checked):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])  # no ReLU after the last layer
