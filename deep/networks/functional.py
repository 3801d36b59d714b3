"""Networks from any module, by `torch.func`: vectorised over clients, differentiated by autograd."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from functools import cached_property, partial
from typing import Any, TypeVar, final

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import conv2d

from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.memory import TensorMemory, is_out_of_memory
from fedconvex.deep.networks.base import Batch, DescentStep, Network
from fedconvex.deep.networks.layered import has_hooks, in_sequence
from fedconvex.deep.networks.layout import Layout, Views, aliases_of, twin

T = TypeVar("T")
LARGEST_SCALE = 2.0**16  # of losses in float16, that of torch's GradScaler at the beginning
COMPARED = 8  # samples of each of two clients whose gradients by vmap are compared with plain ones
# The relative differences that rounding may make in a gradient, by the type of the products.
TOLERANCES = {torch.float64: 1e-8, torch.float32: 1e-3}


@final
class FunctionalNetwork(Network):
    """The module called with each client's parameters; frozen parameters and buffers are shared by all clients.

    lower: the type of matrix products and convolutions under torch's autocast, which chooses the operations where that
    is safe; parameters, gradients and steps keep their type. None: everything in the parameters' type.
    """

    def __init__(self, module: nn.Module, loss: TorchLoss, lower: torch.dtype | None = None) -> None:
        self.module, self.loss, self.layout, self.lower = module, loss, Layout.of(module), lower
        self._never_called = twin(module)
        place, full = next(module.parameters()).device.type, next(module.parameters()).dtype
        aliases, kernels, padding = aliases_of(module), kernels_for(module), padding_rows(module)

        def one(parameters: Views, inputs: Tensor, targets: Tensor) -> Tensor:
            for name, row in padding.items():  # vmap's derivative leaves it out for the first client alone
                parameters = parameters | {name: torch.where(row, parameters[name].detach(), parameters[name])}
            if aliases:  # torch's own tie_weights fails to restore a module that is registered under two names
                parameters = parameters | {alias: parameters[name] for alias, name in aliases.items()}
            cast = nullcontext() if place == "meta" else torch.autocast(place, lower, enabled=lower is not None)
            with cast, kernels():
                outputs = functional_call(module, parameters, (inputs,), tie_weights=False)
            return loss.values(outputs.to(full), targets)

        fast = channels_last(module, self.layout) if lower is None else None

        def alone(parameters: Views, inputs: Tensor, targets: Tensor) -> Tensor:
            assert fast is not None
            return loss.values(fast(parameters, inputs), targets)

        self._is_called = fast is None  # for a client alone, the module itself is called
        self._of_one: Callable[..., Any] = one if fast is None else alone
        self._of_clients: Callable[..., Any] = vmap(one)
        self._working: dict[int, int] = {}  # by the size of batches
        # False where vmap has no rule, where it has failed or was wrong, and where it was measured to be slower.
        self._together = not any(isinstance(part, nn.RNNBase) for part in module.modules())
        self.compared: set[int] = set()  # sizes of batches for which vmap's gradients were compared with plain ones

    @property
    def takes_several(self) -> bool:
        return self._together

    def take_one_by_one(self) -> None:
        """From now on, compute client after client."""
        self._together = False

    def working_numbers(self, theta: Tensor, batch: Batch) -> int:
        size = batch.shares.shape[1]
        if size not in self._working:
            alone = Batch(batch.inputs[:1], batch.targets[:1], batch.shares[:1])
            with TensorMemory() as counter:
                self._gradients(self.layout.views(theta[:1]), alone)
            self._working[size] = counter.peak // theta.element_size()
        return self._working[size]

    def losses(self, theta: Tensor, batch: Batch) -> Tensor:
        if theta.shape[0] > 1:
            return self._losses(self.layout.views(theta), batch)
        # The same parameters for all clients: one call on all samples, no vmap.
        found: Tensor = self._of_one(
            self.layout.views(theta[0]), batch.inputs.flatten(0, 1), batch.targets.flatten(0, 1)
        )
        return found.view(batch.shares.shape)

    def gradients(self, theta: Tensor, batch: Batch) -> Tensor:
        gradients = self._gradients(self.layout.views(theta.expand(len(batch.targets), -1)), batch)
        return torch.cat([part.flatten(1) if part.ndim > 1 else part[:, None] for part in gradients], 1)

    def step_function(self, step: DescentStep) -> Callable[[Batch], None]:
        theta = step.theta
        if len(theta) == 1 and self._is_called and theta.device.type == "cpu":
            # As the plain loop calls it: exchanging the parameters in every step would take longer than small steps.
            own = parameters_in(self._copy, self.layout, theta[0])

            def gradients(batch: Batch) -> tuple[Tensor, ...]:
                return gradients_alone(self._copy, own, self.loss, self.lower, batch)

            return step_of_gradients(gradients, self.layout, step)
        views = self.layout.views(theta)
        return step_of_gradients(lambda batch: self._gradients(views, batch), self.layout, step)

    @cached_property
    def _copy(self) -> nn.Module:
        """A copy of the module whose parameters are those of the client that steps."""
        return deepcopy(self._never_called)

    def _losses(self, parameters: Views, batch: Batch) -> Tensor:
        if batch.targets.shape[0] == 1:  # one client: vmap would only slow its convolutions down
            alone = {name: value[0] for name, value in parameters.items()}
            single: Tensor = self._of_one(alone, batch.inputs[0], batch.targets[0])
            return single[None]
        return self._by_route(
            lambda: self._vectorised(parameters, batch), lambda: self._one_after_the_other(parameters, batch)
        )

    def _by_route(self, together: Callable[[], T], one_by_one: Callable[[], T]) -> T:
        """What is computed of several clients: together, or one after the other once that has failed."""
        if self._together:
            try:
                return together()
            except Exception as error:
                if is_out_of_memory(error):
                    raise
                # If this fails as well, the error is about the model, and vmap was not to blame.
                found = one_by_one()
                self._leave_vmap(str(error).splitlines()[0] if str(error) else type(error).__name__)
                return found
        return one_by_one()

    def _vectorised(self, parameters: Views, batch: Batch) -> Tensor:
        # The fused kernels of attention take one client at a time, and have no second derivative.
        with sdpa_kernel(SDPBackend.MATH):
            together: Tensor = self._of_clients(parameters, batch.inputs, batch.targets)
        return together

    def _leave_vmap(self, reason: str) -> None:
        self._together = False
        name = type(self.module).__name__
        text = f"{name} cannot be vectorised over clients ({reason}): they are computed one after another"
        warnings.warn(text, RuntimeWarning, stacklevel=2)

    def _one_after_the_other(self, parameters: Views, batch: Batch) -> Tensor:
        own = {name: value.unbind() for name, value in parameters.items()}
        return torch.stack(
            [
                self._of_one({name: values[k] for name, values in own.items()}, batch.inputs[k], batch.targets[k])
                for k in range(len(batch.targets))
            ]
        )

    def _gradients(self, parameters: Views, batch: Batch) -> tuple[Tensor, ...]:
        """One (K, *shape) gradient per parameter.

        Clients share no parameters, so the gradient of the sum of their losses has each client's own gradient as a row.
        """
        if len(batch.targets) == 1:
            return self._differentiated(self._losses, parameters, batch)
        if self._together:
            self.compare(parameters, batch)
        return self._gradients_by_route(parameters, batch)

    def _gradients_by_route(self, parameters: Views, batch: Batch) -> tuple[Tensor, ...]:
        return self._by_route(
            lambda: self._differentiated(self._vectorised, parameters, batch),
            lambda: self._gradients_one_by_one(parameters, batch),
        )

    def _gradients_one_by_one(self, parameters: Views, batch: Batch) -> tuple[Tensor, ...]:
        """The same, with the activations of one client in memory at a time."""
        found = []
        for k in range(len(batch.targets)):
            own = {name: value[k : k + 1] for name, value in parameters.items()}
            alone = Batch(batch.inputs[k : k + 1], batch.targets[k : k + 1], batch.shares[k : k + 1])
            found.append(self._differentiated(self._losses, own, alone))
        return tuple(torch.cat(parts) for parts in zip(*found, strict=True))

    def _differentiated(
        self, losses_of: Callable[[Views, Batch], Tensor], parameters: Views, batch: Batch
    ) -> tuple[Tensor, ...]:
        with torch.enable_grad():
            # Leaves of their own: as views of one vector, each would be differentiated through that vector.
            leaves = {name: value.detach().requires_grad_() for name, value in parameters.items()}
            total = (losses_of(leaves, batch) * batch.shares).sum()
            return scaled_gradients(total, tuple(leaves.values()), self.lower)

    def compare(self, parameters: Views, batch: Batch) -> None:
        """Compare vmap's gradients of two clients on a few samples with plain ones, once for each number of samples.

        Where they differ, clients are computed one after another from then on.
        """
        size = min(batch.shares.shape[1], COMPARED)
        if size in self.compared or not self._together or batch.shares.is_meta:  # which has no numbers to compare
            return
        two = {name: value[:2] for name, value in parameters.items()}
        shares = torch.full_like(batch.shares[:2, :size], 1 / size)
        some = Batch(batch.inputs[:2, :size], batch.targets[:2, :size], shares)
        found = self._gradients_by_route(two, some)
        self.compared.add(size)
        if self._together:
            name = self.differing(found, self._gradients_one_by_one(two, some))
            if name is not None:
                self._leave_vmap(f"torch's vmap computes another gradient of {name}")

    def differing(self, found: Sequence[Tensor], plain: Sequence[Tensor]) -> str | None:
        """The first parameter whose gradients differ by more than rounding, or None."""
        tolerance = TOLERANCES[plain[0].dtype] if self.lower is None else 0.1
        largest = max(float(part.abs().max()) for part in plain if part.numel())
        for name, one, other in zip(self.layout.shapes, found, plain, strict=True):
            if not other.isfinite().all() or not other.numel():
                continue
            if not float((one - other).abs().max()) <= tolerance * (float(other.abs().max()) + 0.01 * largest):
                return name
        return None


def padding_rows(module: nn.Module) -> dict[str, Tensor]:
    """Embeddings' parameters with a padding token: which row is that token's, (words, 1) booleans.

    Without those that another layer shares, which may train the row.
    """
    shared = aliases_of(module).values()
    found = {}
    for prefix, layer in module.named_modules():
        name = f"{prefix}.weight" if prefix else "weight"
        if type(layer) is nn.Embedding and layer.padding_idx is not None and layer.weight.requires_grad:
            rows = torch.arange(layer.num_embeddings, device=layer.weight.device) == layer.padding_idx
            if name not in shared:
                found[name] = rows[:, None]
    return found


def parameters_in(module: nn.Module, layout: Layout, theta: Tensor) -> list[nn.Parameter]:
    """The module's parameters, in the layout's order, as views of theta (d,), whose changes they follow from now on."""
    parameters = dict(module.named_parameters())
    for name, value in layout.views(theta).items():
        parameters[name].data = value
    return [parameters[name] for name in layout.shapes]


def gradients_alone(
    module: Callable[[Tensor], Tensor],
    parameters: Sequence[Tensor],
    loss: TorchLoss,
    lower: torch.dtype | None,
    batch: Batch,
) -> tuple[Tensor, ...]:
    """One (1, *shape) gradient per parameter of a module that is called with the samples of one client.

    module: calls the module with these parameters, which are leaves.
    """
    inputs = batch.inputs[0]
    with torch.enable_grad():
        with torch.autocast(inputs.device.type, lower, enabled=True) if lower is not None else nullcontext():
            outputs = module(inputs)
        losses = loss.values(outputs.to(parameters[0].dtype), batch.targets[0])
        found = scaled_gradients((losses * batch.shares[0]).sum(), parameters, lower)
    return tuple(part[None] for part in found)


def scaled_gradients(total: Tensor, leaves: Sequence[Tensor], lower: torch.dtype | None) -> tuple[Tensor, ...]:
    """The gradients of a loss; in float16, of the loss times a power of 2, divided by it: fewer numbers become 0.

    Where one overflows, the same gradients are computed again with a smaller power: no step is left out, and no scale
    is carried from step to step, which a resumed run would have to know.
    """
    if lower != torch.float16:
        found = torch.autograd.grad(total, leaves, materialize_grads=True)
        return tuple(part.to_dense() if part.is_sparse else part for part in found)
    scale = LARGEST_SCALE
    while True:
        found = torch.autograd.grad(total * scale, leaves, retain_graph=scale > 1, materialize_grads=True)
        # One number is read: each that is read waits until the device has done what it was asked for.
        if scale == 1 or bool(torch.stack([part.isfinite().all() for part in found]).all()):
            return tuple(part / scale for part in found)
        scale /= 16


def step_of_gradients(
    gradients_of: Callable[[Batch], tuple[Tensor, ...]], layout: Layout, step: DescentStep
) -> Callable[[Batch], None]:
    """`Network.step_function` from the gradients of a batch, one (K, *shape) for each parameter."""
    changing, keep, toward = step.changing, step.keep, step.toward
    targets = tuple(layout.views(changing).values())

    def made(batch: Batch) -> None:
        gradients = gradients_of(batch)
        if isinstance(keep, Tensor) or keep != 1:
            changing.mul_(keep)
        if toward is not None:
            changing.lerp_(toward.center, toward.part)
        # The targets are views of `changing`: no flat gradient is assembled.
        for target, gradient in zip(targets, gradients, strict=True):
            target.sub_(gradient, alpha=step.stepsize)
        if step.push is not None:
            changing.add_(step.push)

    return made


def kernels_for(module: nn.Module) -> Callable[[], AbstractContextManager[object]]:
    """The contexts in which the module is to be called where it is differentiated: on a device, with fewer kernels."""
    if next(module.parameters()).device.type == "cpu":
        return nullcontext
    return partial(repeatable, any(isinstance(part, nn.RNNBase) for part in module.modules()))


@contextmanager
def repeatable(recurrent: bool) -> Iterator[None]:
    """Within this context, recurrent layers and attention are computed by kernels of torch's own.

    Those of cuDNN for recurrent layers have no derivative in evaluation mode, no second derivative in any mode, and
    draw dropout from a generator of their own that is seeded once; fused attention adds up its derivative in another
    order in every call.
    """
    cudnn = torch.backends.cudnn
    before = cudnn.enabled
    cudnn.enabled = before and not recurrent
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        cudnn.enabled = before


# Sequences of convolutions on a CPU, one client at a time, with the channels of a pixel side by side in memory.
# Torch's max-pooling takes eleven times as long in the usual order, and ReLU after pooling has a quarter of the work.
# The values are those of the module: the largest of numbers that are cut off at 0 is the largest, cut off at 0.

LAST = torch.channels_last
Step = Callable[[Views, Tensor], Tensor]


def channels_last(module: nn.Module, layout: Layout) -> Step | None:
    """The module as a function of parameters and inputs (B, channels, height, width), if that is faster; else None.

    It is for sequences with Conv2d layers in float32 on a CPU; other types were not measured to be faster.
    """
    parts = [*in_sequence(module, "")]
    first = next(module.parameters())
    if first.device.type != "cpu" or first.dtype != torch.float32 or has_hooks(module):
        return None
    if not any(type(part) is nn.Conv2d for _, part in parts):
        return None
    # A layer that is used twice, or shares parameters, has names that the layout lacks.
    names = {f"{prefix}{name}" for prefix, part in parts for name, p in part.named_parameters() if p.requires_grad}
    if names != layout.shapes.keys():
        return None
    steps = [_step(prefix, part) for prefix, part in _pooled_first(parts)]

    def compute(parameters: Views, inputs: Tensor) -> Tensor:
        values = inputs.contiguous(memory_format=LAST) if inputs.ndim == 4 else inputs
        for step in steps:
            values = step(parameters, values)
        return values

    return compute


def _pooled_first(parts: list[tuple[str, nn.Module]]) -> list[tuple[str, nn.Module]]:
    """The parts, with ReLU after the max-pooling that follows it."""
    found = list(parts)
    for i in range(len(found) - 1):
        if type(found[i][1]) is nn.ReLU and type(found[i + 1][1]) is nn.MaxPool2d:
            found[i], found[i + 1] = found[i + 1], found[i]
    return found


def _step(prefix: str, part: nn.Module) -> Step:
    if type(part) is nn.Conv2d and part.padding_mode == "zeros":
        return partial(_convolved, prefix, part)
    own = [name for name, p in part.named_parameters() if p.requires_grad]
    if not own:
        return lambda parameters, values: part(values)
    return lambda parameters, values: functional_call(
        part, {name: parameters[f"{prefix}{name}"] for name in own}, (values,), tie_weights=False
    )


def _convolved(prefix: str, part: nn.Conv2d, parameters: Views, values: Tensor) -> Tensor:
    weight: Tensor = parameters.get(f"{prefix}weight", part.weight)
    bias = None if part.bias is None else parameters.get(f"{prefix}bias", part.bias)
    weight = weight.contiguous(memory_format=LAST)
    return conv2d(values, weight, bias, part.stride, part.padding, part.dilation, part.groups)
