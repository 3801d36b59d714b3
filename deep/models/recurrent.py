"""Recurrent models for sequences of token numbers (batch, length)."""

from typing import Any

import torch
from torch import Tensor, nn

from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least


class LastStateClassifier(nn.Module):
    """A classifier of token sequences: embedding, LSTM, and a linear layer on the last hidden state."""

    def __init__(self, vectors: Tensor, frozen: bool, units: int, layers: int, classes: int) -> None:
        super().__init__()
        units, classes = integer_at_least(units, 1, "units"), integer_at_least(classes, 1, "classes")
        self.vectors = nn.Parameter(vectors, requires_grad=not frozen)
        self.lstm = nn.LSTM(vectors.shape[1], units, integer_at_least(layers, 1, "layers"), batch_first=True)
        self.output = nn.Linear(units, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """(batch, length) token numbers to (batch, classes)."""
        outputs: Tensor = self.output(self.lstm(self.vectors[tokens])[0][:, -1])
        return outputs


def character_lstm(classes: int = 80, embedding: int = 8, units: int = 100, layers: int = 2) -> nn.Module:
    """Next-character model: 80 classes, embedding in 8 dimensions, two LSTM layers of 100 units.

    Use it with the data set `shakespeare`, as the FedProx paper (appendix C.1) and the FedDyn paper do.
    """
    classes, embedding = integer_at_least(classes, 2, "classes"), integer_at_least(embedding, 1, "embedding")
    return LastStateClassifier(torch.randn(classes, embedding), False, units, layers, classes)


def sentiment_lstm(vectors: Any, classes: int = 2, units: int = 256, layers: int = 2) -> nn.Module:
    """Sentiment model: frozen word vectors (words, dimensions), two LSTM layers of 256 units.

    Use it with the data set `sent140` and the vectors of `read_word_vectors`, as the FedProx paper does (appendix C.1).
    Raises InvalidInput for vectors that are not a matrix of finite numbers.
    """
    matrix = torch.as_tensor(vectors, dtype=torch.get_default_dtype())
    if matrix.ndim != 2 or not matrix.numel() or not bool(matrix.isfinite().all()):
        cure = "give one row of finite numbers per word"
        raise InvalidInput("vectors", tuple(matrix.shape), "is not a matrix of word vectors", cure)
    return LastStateClassifier(matrix.clone(), True, units, layers, classes)
