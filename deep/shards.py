"""All clients' samples, stacked in one tensor on the device, and batches of them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from fedconvex.deep.arrays import as_samples, moved, require_fits
from fedconvex.deep.compatibility import takes_whole_numbers, targets_for
from fedconvex.deep.dictionaries import InputParts
from fedconvex.deep.disk import Disk
from fedconvex.deep.losses import IGNORED, TorchLoss, UserLoss
from fedconvex.deep.networks.base import Batch
from fedconvex.errors import InvalidInput

ALL = slice(None)
WHITE = 255  # the largest uint8, which images in them have for 1


@final
@dataclass(frozen=True, eq=False)
class Shards:
    """The samples of all clients: client k owns rows first_k, …, first_k + count_k − 1 of inputs and targets."""

    inputs: Tensor  # (N, …) as stored, on the device or on disk: `given` has the numbers that the module gets
    targets: Tensor  # (N,); (N, …) of tokens, and vectors
    first: np.ndarray  # (m,)
    count: np.ndarray  # (m,)
    dtype: torch.dtype  # of the samples' weights, and of inputs other than token numbers
    loss: TorchLoss
    whole_numbers: bool = True  # whether the module gets integers as int64: token numbers
    factors: Tensor | None = None  # (N,) of the samples' losses, of mean 1 for each client; None: all 1
    parts: InputParts | None = None  # where the inputs were dictionaries
    on_disk: bool = False  # whether the inputs are mapped from a file, and only batches of them come to the device

    @staticmethod
    def of(
        clients: Sequence[Any],
        loss: TorchLoss,
        device: torch.device,
        dtype: torch.dtype,
        name: str = "clients[{}]",
        parts: InputParts | None = None,
        disk: Disk | None = None,
    ) -> "Shards":
        """Stack one pair (inputs (n_k, …), targets (n_k, …)) of tensors or arrays per client, with weights or without.

        Floating-point inputs are converted to `dtype`; uint8 inputs stay so, other integers, class numbers and integer
        targets of a user's loss become int64 (see `compatibility`). Raises InvalidInput for other structures, empty
        clients, shapes that do not fit, NaN, and numbers too large for `dtype`.

        name: how errors name client k; disk: where the inputs stay, if not on the device.
        """
        if not isinstance(clients, list | tuple) or not clients:
            cure = "give [(X_1, y_1), (X_2, y_2), …]"
            raise InvalidInput("clients", clients, "is not a list with a pair (inputs, targets) per client", cure)
        inputs: list[Tensor] = []
        targets: list[Tensor] = []
        factors: list[Tensor] = []
        for k, pair in enumerate(clients):
            place = name.format(k)
            if not isinstance(pair, tuple | list) or len(pair) not in (2, 3):
                cure = "give (X, y), or (X, y, w) with the samples' weights"
                raise InvalidInput(place, pair, "is not a pair (inputs, targets)", cure)
            # on disk they were compared piece by piece
            X, y, *weights = (
                part if disk is not None and not i else as_samples(part, f"{place}[{i}]") for i, part in enumerate(pair)
            )
            _require_samples(X, y, place, inputs[0].shape[1:] if inputs else None, loss)
            if len(weights) != len(factors[:1]) and k:
                problem = "has weights of its samples, as others do not have"
                problem = problem if weights else "has no weights of its samples, as others have"
                raise InvalidInput(place, len(pair), problem, "give (X, y, w) for all clients, or for none")
            factors += [_factors(w, len(X), f"{place}[2]").to(device, dtype) for w in weights]
            inputs.append(X)
            whole = loss.classes or (isinstance(loss, UserLoss) and not y.is_floating_point())
            targets.append(_on(_targets(y, loss, place), device, torch.int64 if whole else dtype, f"{place}[1]"))
        if len({X.is_floating_point() for X in inputs}) > 1:
            raise InvalidInput("clients", "inputs", "are integers for some and floats for others", "make them alike")
        count = np.array([len(X) for X in inputs], dtype=np.int64)
        stacked = _stacked(inputs, device, dtype, name) if disk is None else disk.joined(inputs)
        of_samples = torch.cat(factors) if factors else None
        first = np.cumsum(count) - count
        return Shards(
            stacked, torch.cat(targets), first, count, dtype, loss, factors=of_samples, parts=parts,
            on_disk=disk is not None,
        )  # fmt: skip

    @property
    def device(self) -> torch.device:
        """Where batches are computed."""
        return self.targets.device

    @property
    def bytes_on_device(self) -> int:
        """What the samples take there; inputs on disk take none."""
        stored = (None if self.on_disk else self.inputs, self.targets, self.factors)
        return sum(part.nbytes for part in stored if part is not None)

    def fitting(self, module: nn.Module) -> "Shards":
        """The shards in the number types that the module and the loss accept: see `compatibility`.

        Integer inputs become floats unless they are token numbers, and so do integer targets if a user's loss accepts
        only floats; uint8 inputs stay as they are, for `given` converts them. Raises InvalidInput for token numbers
        outside the range of the module's embedding.
        """
        floats = self.inputs.is_floating_point()
        found = replace(self, whole_numbers=not floats and takes_whole_numbers(module, self.inputs, self.parts))
        if not (floats or found.whole_numbers or self.inputs.dtype == torch.uint8 or self.on_disk):
            found = replace(found, inputs=self.inputs.to(self.dtype))
        if found.inputs.dtype == torch.uint8 and not found.whole_numbers and found.inputs.ndim == 2:
            _warn_of_flat_images(int(found.inputs.max()))
        if self.inputs.dtype != torch.uint8 and not found.whole_numbers and self.parts is None:
            _warn_of_grey_levels(self.inputs[:64])
        targets = targets_for(module, self.loss, found.given(found.inputs[:2]), self.targets, self.dtype)
        return replace(found, targets=targets)

    def given(self, stored: Tensor) -> Tensor:
        """Stored inputs as the module gets them, on the device.

        Token numbers are int64, images in uint8 are divided by 255, all else are floats.
        """
        stored = moved(stored, self.device)
        if stored.is_floating_point():
            return stored
        if self.whole_numbers:
            return stored.long()
        return self._scale(stored.to(self.dtype))

    def _scale(self, converted: Tensor) -> Tensor:
        """Divides images by 255, in place."""
        return converted.div_(WHITE) if self._are_images else converted

    @property
    def _are_images(self) -> bool:
        return self.inputs.dtype == torch.uint8 and not self.whole_numbers and self.inputs.ndim > 2

    def of_client(self, k: int) -> "Shards":
        """The samples of one client, as views."""
        rows = slice(int(self.first[k]), int(self.first[k] + self.count[k]))
        return replace(self.rows(rows), first=np.zeros(1, dtype=np.int64), count=self.count[k : k + 1])

    def rows(self, rows: "slice | Tensor") -> "Shards":
        """Some samples, whose clients no longer count."""
        here, stored = (rows if isinstance(rows, slice) else rows.to(x.device) for x in (self.targets, self.inputs))
        factors = None if self.factors is None else self.factors[here]
        return replace(self, inputs=self.inputs[stored], targets=self.targets[here], factors=factors)

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """The shape of one sample's input."""
        return tuple(self.inputs.shape[1:])

    @property
    def numbers_per_sample(self) -> int:
        """The number of entries of one sample's input."""
        return prod(self.sample_shape)

    def batch(self, rows: "np.ndarray | Tensor", shares: Tensor) -> Batch:
        """The batch of the samples in these rows (K, B), with their weights, shares (K, B)."""
        found = self.empty_batch(*shares.shape)
        self.fill(found, torch.as_tensor(rows, device=self.inputs.device), shares)
        return found

    def empty_batch(self, clients: int, samples: int) -> Batch:
        """An uninitialised batch for B samples of each of K clients."""
        size = (clients, samples)
        kind = self.given(self.inputs[:0]).dtype
        inputs = torch.empty(size + self.sample_shape, device=self.device, dtype=kind)
        targets = self.targets.new_empty(size + self.targets.shape[1:])
        return Batch(inputs, targets, torch.empty(size, device=self.device, dtype=self.dtype))

    def fill(self, batch: Batch, rows: Tensor, shares: Tensor) -> None:
        """Write the samples of these rows (K, B), with their weights, into the batch.

        rows: on the device, or where the inputs are.
        """
        stored, rows = rows.to(self.inputs.device).reshape(-1), moved(rows, self.device)
        flat, room = rows.reshape(-1), batch.inputs.flatten(0, 1)
        if room.dtype == self.inputs.dtype and room.device == self.inputs.device:
            torch.index_select(self.inputs, 0, stored, out=room)
        else:
            self._scale(room.copy_(moved(self.inputs.index_select(0, stored), self.device)))
        torch.index_select(self.targets, 0, flat, out=batch.targets.flatten(0, 1))
        batch.shares.copy_(shares)
        if self.factors is not None:
            batch.shares.mul_(self.factors[rows])

    def whole(self, members: np.ndarray, part: slice = ALL) -> Batch:
        """The batch of all samples of some clients, padded to the largest client; shares are 1/n_k, 0 in padding.

        part: of every client's samples, those with these numbers.
        """
        first, count = self.first[members], self.count[members]
        begin, end = int(first[0]), int(first[-1] + count[-1])
        # Clients of equal size, stacked without gaps: views, no copies.
        if (count == count[0]).all() and (first == begin + count[0] * np.arange(len(first))).all():
            size = (len(first), int(count[0]))
            shares = torch.full(size, 1 / size[1], device=self.device, dtype=self.dtype)
            if self.factors is not None:
                shares *= self.factors[begin:end].view(size)
            inputs = self.given(self.inputs[begin:end].unflatten(0, size)[:, part])
            return Batch(inputs, self.targets[begin:end].unflatten(0, size)[:, part], shares[:, part])
        # Padding repeats a client's last sample, so that every row is valid input of the network.
        columns = np.arange(count.max())[part]
        rows = first[:, None] + np.minimum(columns, count[:, None] - 1)
        parts = (columns < count[:, None]) / count[:, None]
        return self.batch(rows, torch.as_tensor(parts, device=self.device, dtype=self.dtype))


def _warn_of_flat_images(largest: int) -> None:
    if largest > WHITE // 2:  # counts and grey levels of a few bits are used as they are
        text = f"the inputs are vectors of bytes up to {largest}, which are not scaled: if they are images, divide them"
        warnings.warn(f"{text} by {WHITE}, for networks hardly learn from such numbers", UserWarning, stacklevel=2)


def _warn_of_grey_levels(some: Tensor) -> None:
    """Images of whole numbers up to 255 that are not in bytes, of which only `given` knows that they are images."""
    if some.ndim > 2 and WHITE // 2 < float(some.max()) <= WHITE and bool((some == some.round().clamp(0)).all()):
        text = f"the inputs are images of whole numbers up to {int(some.max())} in {some.dtype}, which are not scaled"
        warnings.warn(f"{text}: give them in uint8, or divide them by {WHITE}", UserWarning, stacklevel=2)


def _stacked(parts: Sequence[Tensor], device: torch.device, dtype: torch.dtype, name: str) -> Tensor:
    """The clients' inputs on the device, one after another: copied once, so that it never holds them twice."""
    kinds = {part.dtype for part in parts}
    kind = dtype if parts[0].is_floating_point() else torch.uint8 if kinds == {torch.uint8} else torch.int64
    whole = torch.empty((sum(map(len, parts)), *parts[0].shape[1:]), dtype=kind, device=device)
    for k, (part, room) in enumerate(zip(parts, whole.split([len(part) for part in parts]), strict=True)):
        require_fits(part, room.copy_(part), f"{name.format(k)}[0]")
    return whole


def _on(values: Tensor, device: torch.device, dtype: torch.dtype, name: str) -> Tensor:
    """The values on the device in that type; raises InvalidInput if finite numbers overflow in it."""
    return require_fits(values, values.to(device, dtype), name)


def _factors(weights: Tensor, number: int, place: str) -> Tensor:
    """Weights of a client's samples, scaled to mean 1: f_k stays a mean, and batches stay unbiased."""
    if weights.ndim != 1 or len(weights) != number:
        problem = f"is not one weight for each of {number} samples"
        raise InvalidInput(place, tuple(weights.shape), problem, f"give shape ({number},)")
    found = weights.double()
    if bool((found < 0).any()) or not float(found.sum()) > 0:
        raise InvalidInput(place, found.tolist()[:3], "are not weights >= 0 with a positive sum", "correct the weights")
    return found / found.mean()


def _require_samples(X: Tensor, y: Tensor, place: str, shape: Any, loss: TorchLoss) -> None:
    if not len(X.shape) or len(X) == 0:
        raise InvalidInput(place, tuple(X.shape), "has no samples", "leave the client out")
    if y.ndim != 1 + loss.axes or len(y) != len(X):
        problem = f"is not one target for each of {len(X)} samples"
        raise InvalidInput(f"{place}[1]", tuple(y.shape), problem, f"give shape ({len(X)},)")
    if X.ndim < 2 or (shape is not None and X.shape[1:] != shape):
        expected = f"(n_k, {', '.join(map(str, shape))})" if shape is not None else "(n_k, …)"
        raise InvalidInput(f"{place}[0]", tuple(X.shape), "has samples of another shape", f"give {expected}")


def _targets(y: Tensor, loss: TorchLoss, place: str) -> Tensor:
    if loss.axes and loss.classes:
        counted = (y != IGNORED).flatten(1).any(1)
        if not bool(counted.all()):
            problem = f"has {IGNORED} for all tokens, which do not count"
            raise InvalidInput(f"{place}[1]", f"sample {int(counted.int().argmin())}", problem, "leave the sample out")
    numbers = y[y != IGNORED] if loss.axes else y
    if loss.classes and (bool((numbers < 0).any()) or bool((numbers != numbers.round()).any())):
        raise InvalidInput(f"{place}[1]", y.tolist()[:3], "are not class numbers 0, 1, …", "number the classes")
    if loss.name == "logistic" and not bool(((y == 1) | (y == -1)).all()):
        raise InvalidInput(f"{place}[1]", y.tolist()[:3], "are not all −1 or +1", "map the two classes to −1, +1")
    return y
