"""The papers' models have the papers' sizes, and compute what PyTorch's own layers compute."""

import pytest
import torch
from torch import nn
from torch.func import functional_call, vmap

from fedconvex.deep import models
from fedconvex.errors import InvalidInput


def trainable(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def lstm_size(inputs: int, units: int, layers: int) -> int:
    return trainable(nn.LSTM(inputs, units, layers))


@pytest.mark.parametrize(
    ("model", "size"),
    [
        (models.logistic_regression(60, 10), 61 * 10),
        (models.fully_connected([784, 200, 200, 10]), 785 * 200 + 201 * 200 + 201 * 10),
        (models.fully_connected([784, 100, 100, 10]), 785 * 100 + 101 * 100 + 101 * 10),
        (models.two_layer_cnn(), 76 * 64 + 1601 * 64 + 1601 * 394 + 395 * 192 + 193 * 10),
        (models.two_layer_cnn(hidden=(384, 192)), 76 * 64 + 1601 * 64 + 1601 * 384 + 385 * 192 + 193 * 10),
        (models.two_layer_cnn(classes=7, channels=1, size=28), 26 * 64 + 1601 * 64 + 1025 * 394 + 395 * 192 + 193 * 7),
        (models.character_lstm(), 80 * 8 + lstm_size(8, 100, 2) + 101 * 80),
        (models.sentiment_lstm(torch.randn(9, 300)), lstm_size(300, 256, 2) + 257 * 2),
        (models.resnet18(), 11_173_962),  # batch norm has as many parameters as group norm
        (models.resnet18(classes=100), 11_220_132),
    ],
)
def test_sizes(model: nn.Module, size: int) -> None:
    assert trainable(model) == size


def test_word_vectors_are_not_trained() -> None:
    vectors = torch.randn(9, 5)
    model = models.sentiment_lstm(vectors, units=4)
    assert not model.vectors.requires_grad
    vectors += 1
    assert not torch.equal(model.vectors, vectors)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (models.logistic_regression(6, 3), torch.randn(2, 4, 2, 3)),
        (models.fully_connected([6, 5, 3]), torch.randn(2, 4, 6)),
        (models.two_layer_cnn(3, 1, 16, (2, 3), (5, 4)), torch.randn(2, 4, 1, 16, 16)),
        (models.resnet18(3, 1, 4, 2), torch.randn(2, 4, 1, 8, 8)),
    ],
)
def test_clients_can_have_parameters_of_their_own(model: nn.Module, inputs: torch.Tensor) -> None:
    several = {n: torch.stack([p.detach(), p.detach() + 0.1]) for n, p in model.named_parameters()}
    together = vmap(lambda p, x: functional_call(model, p, (x,)))(several, inputs)
    for k in range(2):
        alone = functional_call(model, {n: p[k] for n, p in several.items()}, (inputs[k],))
        torch.testing.assert_close(together[k], alone, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: models.fully_connected([5]), "sizes"),
        (lambda: models.fully_connected([5, 0]), r"sizes\[1\]"),
        (lambda: models.two_layer_cnn(size=15), "size"),
        (lambda: models.character_lstm(classes=1), "classes"),
        (lambda: models.sentiment_lstm([1.0]), "vectors"),
        (lambda: models.sentiment_lstm([[float("nan")]]), "vectors"),
    ],
)
def test_bad_sizes(make, culprit: str) -> None:
    with pytest.raises(InvalidInput, match=culprit):
        make()
