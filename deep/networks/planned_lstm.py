"""Gradients of an LSTM classifier in float32 on a CPU, one client at a time: calls on fixed memory, planned once.

Compiled loops between BLAS's products. Where BLAS has wider vectors than torch's products (see `products`), this takes
two thirds of the time of oneDNN's kernel, which `nn.LSTM` calls; elsewhere that kernel is used.
"""

from functools import partial
from typing import final

import torch
from torch import Tensor

from fedconvex.deep.calls import Call
from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.models.recurrent import LastStateClassifier
from fedconvex.deep.networks.base import Batch
from fedconvex.deep.networks.layout import Layout, Views
from fedconvex.deep.networks.products import added_product_calls, blas_is_faster, product_calls
from fedconvex.optional import is_installed

MOST = 2**23  # numbers that a plan may hold, as it stays: full batches of large clients are left to the kernel


def is_plannable(module: LastStateClassifier, theta: Tensor, batch: Batch) -> bool:
    """Whether steps on such batches are planned, since that is faster."""
    if theta.device.type != "cpu" or theta.dtype != torch.float32 or not blas_is_faster() or not is_installed("numba"):
        return False
    return 8 * module.lstm.layers * module.output.in_features * batch.inputs[0].numel() <= MOST


@final
class PlannedGradient:
    """The gradient of one client's loss for batches of one size; `of` computes it."""

    def __init__(self, module: LastStateClassifier, loss: TorchLoss, layout: Layout, batch: Batch) -> None:
        """batch: one of that size."""
        self.samples, self.length = batch.inputs.shape[1:]
        self.theta, self.gradient = (torch.zeros(1, layout.dim, dtype=torch.float32) for _ in range(2))
        self.tokens = torch.zeros(self.length, self.samples, dtype=torch.int64)
        self.targets, self.shares = torch.zeros_like(batch.targets[:1]), torch.zeros_like(batch.shares[:1])
        self.parameters, self.into = layout.views(self.theta), layout.views(self.gradient)
        vectors = self.parameters.get("vectors")  # None: frozen
        words, places = module.vectors.detach() if vectors is None else vectors[0], self.tokens.flatten()
        values = words.new_zeros(1, len(places), words.shape[1])
        self.calls: list[Call] = [partial(torch.index_select, words, 0, places, out=values[0])]
        layers = []
        for layer in range(module.lstm.layers):
            layers.append(_Layer(self.parameters, self.into, layer, values, self.samples))
            self.calls += layers[-1].forward()
            values = layers[-1].outputs
        above = torch.zeros_like(values)
        self.calls += self._last(loss, values[:, -self.samples :], above)
        for layer in range(len(layers) - 1, -1, -1):
            below = torch.zeros_like(layers[layer].inputs) if layer or vectors is not None else None
            self.calls += layers[layer].backward(above, below)
            above = above if below is None else below
        if vectors is not None:
            of_words = self.into["vectors"][0]
            self.calls += [of_words.zero_, partial(of_words.index_add_, 0, places, above[0])]

    def _last(self, loss: TorchLoss, last: Tensor, above: Tensor) -> list[Call]:
        """The linear layer on the last states (1, B, U), the loss, and their errors, written into the last of `above`.

        The errors of all other positions are zeroed.
        """
        weight, bias = self.parameters["output.weight"], self.parameters["output.bias"]
        outputs = last.new_zeros(1, self.samples, bias.shape[-1])
        errors = torch.empty_like(outputs)
        return [
            partial(outputs.copy_, bias[:, None]),
            *added_product_calls(outputs, last, weight.mT, 1.0, 1.0),
            *loss.derivative_calls(outputs, self.targets, self.shares, errors),
            *product_calls(errors.mT, last, self.into["output.weight"]),
            partial(torch.sum, errors, 1, out=self.into["output.bias"]),
            above.zero_,
            *product_calls(errors, weight, above[:, -self.samples :]),
        ]

    def of(self, theta: Tensor, inputs: Tensor, targets: Tensor, shares: Tensor) -> Tensor:
        """Σ_i shares_i ∇loss_i, (d,), at theta (d,) for inputs (B, T); it is valid until the next call."""
        self.theta.copy_(theta)
        self.tokens.copy_(inputs.T)
        self.targets.copy_(targets)
        self.shares.copy_(shares)
        for call in self.calls:
            call()
        return self.gradient[0]


@final
class _Layer:
    """One layer: its memory, position after position, and its calls. Shapes as in `recurrent.LayerRun`, with K = 1."""

    def __init__(self, parameters: Views, into: Views, layer: int, inputs: Tensor, samples: int) -> None:
        self.inputs, self.into, self.end, self.samples = inputs, into, f"_l{layer}", samples
        self.of_inputs, self.of_states, *self.biases = (
            parameters[f"lstm.{name}_l{layer}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        units, count = self.of_states.shape[-1], inputs.shape[1]
        self.gates = inputs.new_zeros(1, count, 4 * units)
        # a state and a cell of zeros come before the first position's
        self.states, self.cells = (inputs.new_zeros(1, count + samples, units) for _ in range(2))
        self.bent = inputs.new_zeros(1, count, units)
        self.outputs = self.states[:, samples:]
        self.positions = range(0, count, samples)

    def at(self, values: Tensor, begin: int) -> Tensor:
        """The rows of a position's samples."""
        return values[:, begin : begin + self.samples]

    def forward(self) -> list[Call]:
        from fedconvex.deep import compiled_lstm  # late: numba takes a second to load

        bias = torch.zeros_like(self.biases[0])
        # The products of all positions read the transposes, which BLAS multiplies with faster.
        turned, turned_too = (weight.mT.contiguous() for weight in (self.of_inputs, self.of_states))
        calls: list[Call] = [
            partial(torch.add, *self.biases, out=bias),
            partial(turned.copy_, self.of_inputs.mT),
            partial(turned_too.copy_, self.of_states.mT),
            *product_calls(self.inputs, turned, self.gates),
        ]
        for begin in self.positions:
            gates, state, cell = (self.at(part, begin) for part in (self.gates, self.states, self.cells))
            if begin:
                calls += added_product_calls(gates, state, turned_too, 1.0, 1.0)
            after = (self.at(part, begin) for part in (self.cells[:, self.samples :], self.bent, self.outputs))
            calls.append(partial(compiled_lstm.forward, *_arrays(gates, bias, cell, *after)))
        return calls

    def backward(self, above: Tensor, below: Tensor | None) -> list[Call]:
        """Calls that write the gradients, given the errors of the states, which they overwrite; those of the inputs go
        to `below`.
        """
        from fedconvex.deep import compiled_lstm

        of_cells = self.bent.new_zeros(1, self.samples, self.bent.shape[-1])
        calls: list[Call] = [of_cells.zero_]
        for begin in reversed(self.positions):
            gates, *parts = (self.at(part, begin) for part in (self.gates, self.cells, self.bent, above))
            calls.append(partial(compiled_lstm.backward, *_arrays(gates, *parts, of_cells)))
            if begin:
                before = self.at(above, begin - self.samples)
                calls += added_product_calls(before, gates, self.of_states, 1.0, 1.0)
        errors, states = self.gates, self.states[:, : -self.samples]
        calls += product_calls(errors.mT, self.inputs, self.into[f"lstm.weight_ih{self.end}"])
        calls += product_calls(errors.mT, states, self.into[f"lstm.weight_hh{self.end}"])
        bias, same = (self.into[f"lstm.{name}{self.end}"] for name in ("bias_ih", "bias_hh"))
        calls += [partial(torch.sum, errors, 1, out=bias), partial(same.copy_, bias)]
        return calls if below is None else [*calls, *product_calls(errors, self.of_inputs, below)]


def _arrays(*parts: Tensor) -> list[object]:
    """What is in tensors (1, …), for compiled loops."""
    return [part[0].numpy() for part in parts]
