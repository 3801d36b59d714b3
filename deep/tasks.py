"""Tasks: a model, its loss and the clients' samples, as a problem of the core in an arithmetic.

For a network, the point of the problem is the vector of its parameters. A linear layer under a convex loss becomes a
problem of the core, which has exact local solutions and curvatures; its point orders the parameters differently.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.dense import TorchArithmetic
from fedconvex.arithmetic.rationals import Array, to_fraction
from fedconvex.deep.compatibility import (
    require_deterministic,
    require_differentiable,
    require_no_mode,
    require_plain,
    require_running_statistics,
)
from fedconvex.deep.compatibility import require_fit as require_fit
from fedconvex.deep.dictionaries import InputParts, adapted, returns_logits
from fedconvex.deep.disk import Disk
from fedconvex.deep.independence import LOCAL_EVALUATION, require_independent
from fedconvex.deep.local_mode import LocalMode
from fedconvex.deep.losses import TorchCrossEntropy, TorchLogistic, TorchLoss
from fedconvex.deep.networks import FunctionalNetwork, Layout, network_of
from fedconvex.deep.networks.layered import layers_of
from fedconvex.deep.networks.layout import copied, duplicate, twin
from fedconvex.deep.problem import NetworkProblem, training_of
from fedconvex.deep.shards import Shards
from fedconvex.deep.training_mode import training_mode_of
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.problems import Logistic as LogisticProblem
from fedconvex.problems import MultinomialLogistic
from fedconvex.problems.base import Problem
from fedconvex.validation import non_negative, normalised_weights


@dataclass(frozen=True, eq=False)
class Task(ABC):
    """A module, its loss, the clients' samples, and the optimization problem that they define."""

    module: nn.Module
    loss: TorchLoss
    shards: Shards
    problem: Problem
    arithmetic: Arithmetic
    ridge: float

    @abstractmethod
    def start(self) -> Array:
        """The module's initial parameters as a point of the problem, (d,)."""

    @abstractmethod
    def parameters(self, point: Array) -> Tensor:
        """The module's parameters at a point of the problem, flat, in the module's order."""

    def loss_of(self, losses: Tensor) -> float:
        """Σ_k weights_k · (mean of client k's losses) over the clients of this process, from their samples' losses."""
        means = torch.stack([part.mean() for part in losses.split(self.shards.count.tolist())]).cpu()
        owned = getattr(self.problem, "owned", None)  # the core's problems are never distributed
        weights = self.problem.weights if owned is None else self.problem.weights[owned]
        return float(torch.tensor(weights) @ means)

    def penalty(self, point: Array) -> float:
        """(ridge/2)‖θ‖²."""
        theta = self.parameters(point).double()
        return float(self.ridge / 2 * (theta @ theta))

    def module_at(self, state: State) -> nn.Module:
        """A copy of the module with the server's parameters and buffers in that state."""
        found = duplicate(self.module)
        self.load(found, state)
        return found

    def load(self, module: nn.Module, state: State, client: int | None = None) -> None:
        """Set the parameters of `module`, a copy of the task's, to the server's in that state, and its buffers.

        client: one of this process's clients, whose own buffers take the place of the server's.
        """
        Layout.of(module).load(module, self.parameters(state.server))
        if (training := training_of(self.problem)) is not None:
            training.load(module, state, client)


@final
class NetworkTask(Task):
    """A network: the point is its parameters, flat."""

    def start(self) -> Array:
        return Layout.of(self.module).flat(self.module)

    def parameters(self, point: Array) -> Tensor:
        return torch.as_tensor(point)


@final
class LinearTask(Task):
    """A linear layer under a convex loss, as the core's own problem: the point is [weight bias], row by row."""

    def start(self) -> Array:
        weight, bias = Layout.of(self.module).views(Layout.of(self.module).flat(self.module)).values()
        return self.arithmetic.array(torch.cat([weight, bias[:, None]], 1).reshape(-1))

    def parameters(self, point: Array) -> Tensor:
        # torch stores all weights, then all biases; the core's rows are (weights, bias) of one output each.
        matrix = torch.as_tensor(point).reshape(-1, self.shards.inputs[0].numel() + 1)
        return torch.cat([matrix[:, :-1].reshape(-1), matrix[:, -1]])


def task_of(
    model: Any,
    clients: Sequence[Any],
    loss: TorchLoss,
    weights: Any,
    ridge: Any,
    device: torch.device,
    dtype: torch.dtype,
    owned: np.ndarray | None = None,
    lower: torch.dtype | None = None,
    local: LocalMode = LOCAL_EVALUATION,
    parts: InputParts | None = None,
    disk: Disk | None = None,
) -> Task:
    """Build the task, after checks that model, loss and samples fit together. Raises InvalidInput.

    owned: the clients of this process, None for all; lower: see `networks.functional`; local: the mode of local steps;
    parts: of packed inputs, where they were dictionaries; disk: where inputs stay, if not on the device. The user's
    model is not changed.
    """
    if not isinstance(model, nn.Module):
        raise InvalidInput("model", model, "is not a torch module", "give an nn.Module, see fedconvex.deep.models")
    module = _copied(model).to(device, dtype).eval()
    Layout.of(module)  # refuses modules without trainable parameters
    require_running_statistics(module)
    if not local.training:
        require_no_mode(module, local.freezes)
    if parts is not None:
        module = adapted(module, parts)
        if local.transform is not None:
            local = replace(local, transform=parts.transform(local.transform))
    shards = Shards.of(clients, loss, device, dtype, parts=parts, disk=disk).fitting(module)
    if parts is None and returns_logits(module, shards.given(shards.inputs[:1])):
        module = adapted(module, None)
        shards = shards.fitting(module)
    ridge = non_negative(ridge, "ridge")
    by_samples = isinstance(weights, str) and weights == "samples"
    if isinstance(weights, str) and not by_samples:
        raise InvalidInput("weights", weights, "is unknown", "give 'samples' for n_k/n, or a number for each client")
    require_fit(module, loss, shards)
    require_deterministic(module, loss, shards, local.training)
    require_independent(module, loss, shards, local)
    training = None
    if local.training:
        training = training_mode_of(module, loss, shards.given(shards.inputs[:2]), local, lower)
    # Every process checks all clients and counts their samples, then keeps its own: errors are the same everywhere.
    count = shards.count.tolist()
    if owned is not None:
        own = [clients[k] for k in owned]
        shards = Shards.of(own, loss, device, dtype, parts=parts, disk=disk).fitting(module)
    shares = normalised_weights(count if by_samples else weights, len(count))
    alike = owned is None and training is None and shards.factors is None and (disk is None or not disk.required)
    if alike and is_convex(module, loss, shards):
        # On a CPU in NumPy's float64, whatever the dtype: the compiled solvers exist only there.
        arithmetic = arithmetics.get("float") if device.type == "cpu" else TorchArithmetic(device, dtype)
        problem = _linear_problem(loss, shards, module, ridge, shares)
        return LinearTask(twin(module), loss, shards, problem, arithmetic, float(ridge))
    kept = twin(module)
    for layer in module.modules():
        if isinstance(layer, nn.Embedding | nn.EmbeddingBag):
            layer.sparse = False  # the same gradients, in the form of all others
    network = network_of(module, loss, shards.sample_shape, lower)
    if isinstance(network, FunctionalNetwork):
        require_differentiable(network, kept, shards)
    of_network = NetworkProblem(network, shards, to_fraction(ridge), tuple(shares), owned, training=training)
    return NetworkTask(kept, loss, shards, of_network, TorchArithmetic(device, dtype), float(ridge))


def _copied(model: nn.Module) -> nn.Module:
    require_plain(model)
    if any(map(is_lazy, (*model.parameters(), *model.buffers()))):
        problem = "has parameters whose shapes are not known yet"
        raise InvalidInput("model", type(model).__name__, problem, "call it once, on a few samples")
    try:
        return copied(model)
    except (RuntimeError, TypeError) as error:  # such as a lock, or a tensor in an object of the user's
        problem = f"cannot be copied: {str(error).splitlines()[0]}"
        raise InvalidInput(
            "model", type(model).__name__, problem, "let it store only parameters and buffers"
        ) from error


def is_convex(module: nn.Module, loss: TorchLoss, shards: Shards) -> bool:
    """Whether the module is one linear layer with a bias, and the core has a problem for it and the loss."""
    layers = layers_of(module, loss, shards.sample_shape)
    if layers is None or len(layers) != 1 or layers[0].activation is not None or layers[0].bias is None:
        return False
    outputs = Layout.of(module).shapes[layers[0].weight][0]
    return (isinstance(loss, TorchCrossEntropy) and outputs > 1) or (isinstance(loss, TorchLogistic) and outputs == 1)


def _linear_problem(loss: TorchLoss, shards: Shards, module: nn.Module, ridge: Any, weights: Any) -> Problem:
    stored = shards.inputs.split(shards.count.tolist())
    A = [shards.given(part).flatten(1).double().cpu().numpy() for part in stored]
    y = [part.cpu().numpy() for part in shards.targets.split(shards.count.tolist())]
    if isinstance(loss, TorchCrossEntropy):
        outputs = next(iter(Layout.of(module).shapes.values()))[0]
        return MultinomialLogistic(A=A, y=y, num_classes=outputs, ridge=ridge, weights=weights)
    # A column of ones is the bias; MultinomialLogistic appends its own.
    return LogisticProblem(A=[np.column_stack([a, np.ones(len(a))]) for a in A], y=y, ridge=ridge, weights=weights)
