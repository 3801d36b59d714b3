"""LSTM classifiers, differentiated by hand: through time, the matrix products of a sequence are joined.

Autograd adds the gradient of the hidden weights up position after position. Here the errors of all positions are kept,
and their product with the hidden states is one product for the whole sequence, as is that with the inputs.

Milliseconds a client's step on one thread of a CPU (7 clients, batch 10, 80 characters): 45 in float32, 117 in float64.
With the kernel of `nn.LSTM`, which takes one client at a time, 28 and 191: each type has its faster route. Steps in
float32 are planned where that is faster still (`planned_lstm`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor, nn

from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.models.recurrent import LSTM, LastStateClassifier
from fedconvex.deep.networks.base import Batch, Network
from fedconvex.deep.networks.functional import FunctionalNetwork
from fedconvex.deep.networks.layered import has_hooks
from fedconvex.deep.networks.layout import Layout, Views
from fedconvex.deep.networks.planned_lstm import PlannedGradient, is_plannable

PLANS = 2  # that are kept: for full batches, and for the last ones of epochs


@final
class RecurrentNetwork(Network):
    """An embedding, LSTM layers and a linear layer on the last state; `is_recurrent` decides which modules are such."""

    def __init__(self, module: LastStateClassifier, loss: TorchLoss) -> None:
        self.module, self.loss, self.layout = module, loss, Layout.of(module)
        self._differentiable = FunctionalNetwork(module, loss)  # for second derivatives
        self._plans: dict[tuple[int, ...], PlannedGradient] = {}

    def losses(self, theta: Tensor, batch: Batch) -> Tensor:
        return self._differentiable.losses(theta, batch)

    def gradients(self, theta: Tensor, batch: Batch) -> Tensor:
        found = theta.new_zeros(len(batch.targets), self.layout.dim)
        parameters, into = self.layout.views(theta.expand(len(found), -1)), self.layout.views(found)
        if theta.device.type == "cpu" and theta.dtype == torch.float32 and torch.backends.mkldnn.is_available():
            self._by_kernel(parameters, batch, into)
        else:
            with torch.no_grad():
                self._differentiate(parameters, batch, into)
        return found

    def step_function(
        self, theta: Tensor, stepsize: float, keep: "float | Tensor", push: Tensor | None, into: Tensor | None = None
    ) -> Callable[[Batch], None]:
        changing = theta if into is None else into

        def move(rows: slice, gradients: Tensor) -> None:
            own = changing[rows]
            if isinstance(keep, Tensor):
                own.mul_(keep[rows])
            elif keep != 1:
                own.mul_(keep)
            own.sub_(gradients, alpha=stepsize)
            if push is not None:
                own.add_(push[rows])

        def step(batch: Batch) -> None:
            if not is_plannable(self.module, theta, batch):
                move(slice(None), self.gradients(theta, batch))
                return
            plan = self._plan(batch)
            for k in range(len(theta)):
                move(slice(k, k + 1), plan.of(theta[k], batch.inputs[k], batch.targets[k], batch.shares[k]))

        return step

    def _plan(self, batch: Batch) -> PlannedGradient:
        """The plan for batches of this size."""
        size = batch.inputs.shape[1:]
        if size not in self._plans:
            if len(self._plans) == PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[size] = PlannedGradient(self.module, self.loss, self.layout, batch)
        return self._plans[size]

    def _by_kernel(self, parameters: Views, batch: Batch, into: Views) -> None:
        """The same, client after client, by the kernel of `nn.LSTM`: oneDNN has one for float32 alone."""
        layers = self.module.lstm.layers
        names = [f"lstm.{name}_l{layer}" for layer in range(layers) for name in NAMES]
        for k in range(len(batch.targets)):
            own = {name: value[k].detach().requires_grad_() for name, value in parameters.items()}
            with torch.enable_grad():
                values = own.get("vectors", self.module.vectors)[batch.inputs[k]]
                zero = values.new_zeros(layers, len(values), own["lstm.weight_hh_l0"].shape[1])
                weights = [own[name] for name in names]
                states: Tensor = torch.lstm(values, (zero, zero), weights, True, layers, 0.0, True, False, True)[0]
                outputs = torch.addmm(own["output.bias"], states[:, -1], own["output.weight"].mT)
                total = (self.loss.values(outputs, batch.targets[k]) * batch.shares[k]).sum()
                gradients = torch.autograd.grad(total, tuple(own.values()))
            for name, gradient in zip(own, gradients, strict=True):
                into[name][k] = gradient

    def _differentiate(self, parameters: Views, batch: Batch, into: Views) -> None:
        """Write the gradients of Σ shares·loss into zeros, (K, *shape) for each parameter."""
        clients, samples, length = batch.inputs.shape
        tokens = batch.inputs.transpose(1, 2).reshape(clients, -1)  # the samples of a position side by side
        vectors = parameters.get("vectors")
        if vectors is None:  # frozen, and the same for all clients
            values = self.module.vectors[tokens]
        else:
            tokens = tokens + vectors.shape[1] * torch.arange(clients, device=tokens.device)[:, None]
            values = vectors.flatten(0, 1)[tokens]
        runs: list[LayerRun] = []
        for layer in range(self.module.lstm.layers):
            runs.append(LayerRun.of(parameters, layer, values, samples))
            values = runs[-1].states[:, 1:].flatten(1, 2)
        last = runs[-1].states[:, -1]
        outputs = torch.baddbmm(parameters["output.bias"][:, None], last, parameters["output.weight"].mT)
        errors = torch.empty_like(outputs)
        for call in self.loss.derivative_calls(outputs, batch.targets, batch.shares, errors):
            call()
        torch.bmm(errors.mT, last, out=into["output.weight"])
        torch.sum(errors, 1, out=into["output.bias"])
        above = last.new_zeros(clients, length, samples, last.shape[-1])
        above[:, -1] = errors @ parameters["output.weight"]
        for layer in range(len(runs) - 1, -1, -1):
            lowest = layer == 0 and vectors is None
            below = runs.pop().backward(above, parameters, into, layer, not lowest)
            if layer:
                assert below is not None
                above = below.unflatten(1, (length, samples))
        if vectors is not None:
            assert below is not None
            of_words = torch.zeros_like(vectors).flatten(0, 1)
            # Not by index_add_, which adds in another order in every call on a GPU.
            of_words.index_put_((tokens.flatten(),), below.flatten(0, 1), accumulate=True)
            into["vectors"].copy_(of_words.view_as(vectors))


@final
@dataclass(frozen=True, eq=False)
class LayerRun:
    """What one LSTM layer computed, (K, T, B, …): position after position, with a zero state and cell before."""

    inputs: Tensor  # (K, T·B, inputs)
    gates: Tensor  # (K, T, B, 4U), after their activations, in nn.LSTM's order
    cells: Tensor  # (K, T + 1, B, U)
    bent: Tensor  # (K, T, B, U): tanh of the cells
    states: Tensor  # (K, T + 1, B, U)

    @staticmethod
    def of(parameters: Views, layer: int, inputs: Tensor, samples: int) -> "LayerRun":
        """Compute the layer's states from its inputs (K, T·B, inputs)."""
        w_input, w_hidden, b_input, b_hidden = (parameters[f"lstm.{name}_l{layer}"] for name in NAMES)
        clients, length, units = len(inputs), inputs.shape[1] // samples, w_hidden.shape[-1]
        gates = torch.baddbmm((b_input + b_hidden)[:, None], inputs, w_input.mT).unflatten(1, (length, samples))
        states = inputs.new_zeros(clients, length + 1, samples, units)
        cells, bent = torch.zeros_like(states), torch.empty_like(states[:, 1:])
        to_gates = w_hidden.mT.contiguous()
        enter, forget, candidate, output = _positions(gates, units)
        both = gates[..., : 2 * units].unbind(1)  # the gates of input and of forgetting
        now, state, cell, curve = (part.unbind(1) for part in (gates, states, cells, bent))
        for t in range(length):
            now[t].baddbmm_(state[t], to_gates)
            both[t].sigmoid_()
            candidate[t].tanh_()
            output[t].sigmoid_()
            torch.mul(forget[t], cell[t], out=cell[t + 1]).addcmul_(enter[t], candidate[t])
            torch.tanh(cell[t + 1], out=curve[t])
            torch.mul(output[t], curve[t], out=state[t + 1])
        return LayerRun(inputs, gates, cells, bent, states)

    def backward(self, above: Tensor, parameters: Views, into: Views, layer: int, below: bool) -> Tensor | None:
        """Write the gradients of the layer's parameters, and return the errors of its inputs if `below`.

        above: the errors of the states, (K, T, B, U), from the layer above; it is overwritten.
        """
        w_input, w_hidden = (parameters[f"lstm.{name}_l{layer}"] for name in NAMES[:2])
        units, length = w_hidden.shape[-1], self.gates.shape[1]
        enter, forget, candidate, output = self.gates.split(units, -1)
        # All that does not depend on later positions, for the whole sequence at once.
        slopes = torch.empty_like(self.gates)
        by_enter, by_forget, by_candidate, by_output = slopes.split(units, -1)
        torch.addcmul(enter, enter, enter, value=-1, out=by_enter).mul_(candidate)  # σ' = σ − σ²
        torch.addcmul(forget, forget, forget, value=-1, out=by_forget).mul_(self.cells[:, :-1])
        torch.mul(candidate, candidate, out=by_candidate)
        torch.addcmul(enter, enter, by_candidate, value=-1, out=by_candidate)
        torch.addcmul(output, output, output, value=-1, out=by_output).mul_(self.bent)
        through = torch.mul(self.bent, self.bent)
        torch.addcmul(output, output, through, value=-1, out=through)
        to_cell = slopes[..., : 3 * units].unflatten(-1, (3, units)).unbind(1)
        to_output, now = by_output.unbind(1), slopes.unbind(1)  # `slopes` become the errors of the gates
        forgotten, passed, of_state = forget.unbind(1), through.unbind(1), above.unbind(1)
        of_cell = torch.zeros_like(self.cells[:, 0])
        for t in range(length - 1, -1, -1):
            of_cell.addcmul_(of_state[t], passed[t])
            to_cell[t].mul_(of_cell.unsqueeze(-2))
            to_output[t].mul_(of_state[t])
            if t:
                of_state[t - 1].baddbmm_(now[t], w_hidden)
                of_cell.mul_(forgotten[t])
        errors, before = slopes.flatten(1, 2), self.states[:, :-1].flatten(1, 2)
        torch.bmm(errors.mT, self.inputs, out=into[f"lstm.weight_ih_l{layer}"])
        torch.bmm(errors.mT, before, out=into[f"lstm.weight_hh_l{layer}"])
        for name in NAMES[2:]:
            torch.sum(errors, 1, out=into[f"lstm.{name}_l{layer}"])
        return errors @ w_input if below else None


def _positions(gates: Tensor, units: int) -> Iterator[tuple[Tensor, ...]]:
    """Each gate at each position, as views: in small steps, even making a view takes noticeable time."""
    return (part.unbind(1) for part in gates.split(units, -1))


NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def is_recurrent(module: nn.Module, loss: TorchLoss, sample_shape: tuple[int, ...]) -> bool:
    """Whether `RecurrentNetwork` computes the module: unchanged, all but the word vectors trained."""
    if type(module) is not LastStateClassifier or not loss.by_hand or len(sample_shape) != 1:
        return False
    if type(module.lstm) is not LSTM or type(module.output) is not nn.Linear or has_hooks(module):
        return False
    trained = {name for name, parameter in module.named_parameters() if parameter.requires_grad}
    return trained | {"vectors"} == set(dict(module.named_parameters()))
