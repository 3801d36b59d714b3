"""Convolutional models for images (batch, channels, height, width)."""

from collections.abc import Sequence

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

    FedDyn paper, CIFAR-10 and CIFAR-100; hidden=(384, 192) is what its released code has. `size` is the height and
    width. Raises InvalidInput for images that are too small.
    """
    left = ((integer_at_least(size, 1, "size") - 4) // 2 - 4) // 2
    if left < 1:
        raise InvalidInput("size", size, "leaves nothing behind two 5×5 convolutions and poolings", "give 16 or more")
    first, second = filters
    return nn.Sequential(
        nn.Conv2d(channels, first, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(first, second, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(second * left * left, hidden[0]), nn.ReLU(),
        nn.Linear(hidden[0], hidden[1]), nn.ReLU(),
        nn.Linear(hidden[1], classes),
    )  # fmt: skip


class Block(nn.Module):
    """Two 3×3 convolutions with group norm, and the way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int, groups: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.GroupNorm(groups, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.GroupNorm(groups, outputs)
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

    FedDyn paper, appendix (CIFAR-10). `width` counts the first stage's channels, which double from stage to stage.
    """
    layers: list[nn.Module] = [
        nn.Conv2d(channels, width, 3, 1, 1, bias=False),
        nn.GroupNorm(groups, width),
        nn.ReLU(),
    ]
    inputs = width
    for stage in range(4):
        outputs = width * 2**stage
        layers += [Block(inputs, outputs, 1 if stage == 0 else 2, groups), Block(outputs, outputs, 1, groups)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))
