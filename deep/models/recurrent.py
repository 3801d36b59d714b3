"""Recurrent models for sequences of token numbers (batch, length).

The LSTM is written out in tensor operations, because PyTorch's own cannot be vectorised over clients with different
parameters. Names, shapes, order and initial values of the parameters are those of `nn.LSTM`.
"""

from typing import Any

import torch
from torch import Tensor, nn

from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least


class LSTM(nn.Module):
    """Stacked LSTM layers: (batch, length, inputs) to the last layer's hidden states (batch, length, units)."""

    def __init__(self, inputs: int, units: int, layers: int) -> None:
        super().__init__()
        units, self.layers = integer_at_least(units, 1, "units"), integer_at_least(layers, 1, "layers")
        for layer in range(self.layers):
            for name, shape in (
                ("weight_ih", (4 * units, inputs if layer == 0 else units)),
                ("weight_hh", (4 * units, units)),
                ("bias_ih", (4 * units,)),
                ("bias_hh", (4 * units,)),
            ):
                # nn.LSTM's initial distribution; its names let parameters be copied between the two.
                values = torch.empty(shape).uniform_(-(units**-0.5), units**-0.5)
                self.register_parameter(f"{name}_l{layer}", nn.Parameter(values))

    def forward(self, x: Tensor) -> Tensor:
        """The last layer's hidden states at all positions."""
        for layer in range(self.layers):
            x = self._layer(
                x, *(getattr(self, f"{n}_l{layer}") for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
            )
        return x

    def _layer(self, x: Tensor, w_input: Tensor, w_hidden: Tensor, b_input: Tensor, b_hidden: Tensor) -> Tensor:
        from_inputs = x @ w_input.T + (b_input + b_hidden)  # one product for all positions
        hidden = x.new_zeros(x.shape[0], w_hidden.shape[1])
        cell, states = hidden, []
        for t in range(x.shape[1]):
            # nn.LSTM's order of the four gates: input, forget, cell, output.
            enter, forget, candidate, output = (from_inputs[:, t] + hidden @ w_hidden.T).chunk(4, -1)
            cell = forget.sigmoid() * cell + enter.sigmoid() * candidate.tanh()
            hidden = output.sigmoid() * cell.tanh()
            states.append(hidden)
        return torch.stack(states, 1)


class LastStateClassifier(nn.Module):
    """A classifier of token sequences: embedding, LSTM, and a linear layer on the last hidden state."""

    def __init__(self, vectors: Tensor, frozen: bool, units: int, layers: int, classes: int) -> None:
        super().__init__()
        units, classes = integer_at_least(units, 1, "units"), integer_at_least(classes, 1, "classes")
        self.vectors = nn.Parameter(vectors, requires_grad=not frozen)
        self.lstm = LSTM(vectors.shape[1], units, layers)
        self.output = nn.Linear(units, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """(batch, length) token numbers to (batch, classes)."""
        outputs: Tensor = self.output(self.lstm(self.vectors[tokens])[:, -1])
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
