"""Convolutional models for images (batch, channels, height, width)."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least


def two_layer_cnn(
    classes: int = 10,
    channels: int = 3,
    size: int = 32,
    filters: Sequence[int] = (64, 64),
    hidden: Sequence[int] = (394, 192),
) -> nn.Sequential:
    """Two 5×5 convolutions, each with ReLU and 2×2 max-pooling, then two hidden layers with ReLU.

    Use it for the FedDyn paper's experiments on CIFAR-10 and CIFAR-100; its released code has hidden=(384, 192). `size`
    is the height and width of the images. Raises InvalidInput for images that are too small, and for sizes that are not
    integers >= 1.
    """
    classes, channels = integer_at_least(classes, 1, "classes"), integer_at_least(channels, 1, "channels")
    # Each convolution takes 4 off height and width, each pooling halves them.
    left = ((integer_at_least(size, 1, "size") - 4) // 2 - 4) // 2
    if left < 1:
        raise InvalidInput("size", size, "leaves nothing after two 5×5 convolutions and poolings", "give 16 or more")
    (first, second), hidden = _two(filters, "filters"), _two(hidden, "hidden")
    return nn.Sequential(
        nn.Conv2d(channels, first, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(first, second, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(second * left * left, hidden[0]), nn.ReLU(),
        nn.Linear(hidden[0], hidden[1]), nn.ReLU(),
        nn.Linear(hidden[1], classes),
    )  # fmt: skip


def _two(sizes: Any, argument: str) -> list[int]:
    if isinstance(sizes, str) or not isinstance(sizes, Sequence) or len(sizes) != 2:
        raise InvalidInput(argument, sizes, "is not a pair of sizes", "give such as [64, 64]")
    return [integer_at_least(size, 1, f"{argument}[{i}]") for i, size in enumerate(sizes)]


class Block(nn.Module):
    """A residual block: two 3×3 convolutions with group norm, and a shortcut around them."""

    def __init__(self, inputs: int, outputs: int, stride: int, groups: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.GroupNorm(groups, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.GroupNorm(groups, outputs)
        # The attributes' names are those of the parameters in saved models: they must not change.
        self.around: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.around = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.GroupNorm(groups, outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        """(batch, inputs, h, w) to (batch, outputs, h/stride, w/stride)."""
        out = self.norm2(self.conv2(self.norm1(self.conv1(x)).relu()))
        result: Tensor = (out + self.around(x)).relu()
        return result


def resnet18(classes: int = 10, channels: int = 3, width: int = 64, groups: int = 2) -> nn.Sequential:
    """ResNet-18 for small images: a 3×3 stem without pooling, and group norm where it had batch norm.

    Use it for the FedDyn paper's appendix (CIFAR-10); on a CPU it is slow. `width` is the number of channels of the
    first stage, which doubles from stage to stage.
    Raises InvalidInput for sizes that are not integers >= 1, and for groups that do not divide the width.
    """
    classes, channels = integer_at_least(classes, 1, "classes"), integer_at_least(channels, 1, "channels")
    width, groups = integer_at_least(width, 1, "width"), integer_at_least(groups, 1, "groups")
    if width % groups:
        raise InvalidInput("groups", groups, f"does not divide the width {width}", "give a divisor of it")
    layers: list[nn.Module] = [
        nn.Conv2d(channels, width, 3, 1, 1, bias=False),
        nn.GroupNorm(groups, width),
        nn.ReLU(),
    ]
    inputs = width
    # Four stages of two blocks; all but the first halve height and width.
    for stage in range(4):
        outputs = width * 2**stage
        layers += [Block(inputs, outputs, 1 if stage == 0 else 2, groups), Block(outputs, outputs, 1, groups)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))
