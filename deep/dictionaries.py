"""Models that take several named inputs, or return an object with logits, as models of one tensor.

A dictionary of inputs is packed into one tensor, a row for each sample, and the model is called with its parts: so
everything that computes with samples (batches, memory, checks, checkpoints) sees one tensor.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from math import prod
from typing import Any, final

import torch
from torch import Tensor, nn

from fedconvex.deep.local_mode import Transform, name_of
from fedconvex.errors import InvalidInput

EXACT = 2**24  # whole numbers up to this one are numbers of float32, too
FORWARD = "_fedconvex_forward"  # the class attribute that marks an adapted module's class


@final
@dataclass(frozen=True)
class InputParts:
    """How a dictionary of inputs lies in one tensor (n, numbers): the parts side by side, flattened.

    Whole numbers stay whole if all parts are; beside floating-point parts they are stored as floats, exactly.
    """

    shapes: dict[str, tuple[int, ...]]
    kinds: dict[str, torch.dtype]  # torch.bool and torch.int64 for whole numbers, torch.float64 for the others

    @staticmethod
    def of(inputs: Mapping[str, Tensor]) -> "InputParts":
        """The layout of a client's inputs, tensors (n, …) by name."""
        kinds = {
            name: torch.float64 if x.is_floating_point() else torch.bool if x.dtype == torch.bool else torch.int64
            for name, x in inputs.items()
        }
        return InputParts({name: tuple(x.shape[1:]) for name, x in inputs.items()}, kinds)

    def packed(self, inputs: Mapping[str, Tensor], place: str) -> Tensor:
        """Inputs of this layout as one tensor. Raises InvalidInput for others; place: how errors name the client."""
        if inputs.keys() != self.shapes.keys():
            known = ", ".join(map(repr, self.shapes))
            raise InvalidInput(place, sorted(inputs), f"has other inputs than {known}", "give the same to all clients")
        found, mixed = [], len({kind.is_floating_point for kind in self.kinds.values()}) > 1
        number = len(next(iter(inputs.values())))
        for name, part in inputs.items():
            where = f"{place}[{name!r}]"
            if tuple(part.shape) != (number, *self.shapes[name]):
                expected = f"({number}, {', '.join(map(str, self.shapes[name]))})"
                cure = f"give {expected}: sequences of one length, such as padding='max_length'"
                raise InvalidInput(where, tuple(part.shape), "has samples of another shape", cure)
            if part.is_floating_point() != self.kinds[name].is_floating_point:
                raise InvalidInput(where, part.dtype, "has other numbers than the first client", "make them alike")
            if part.dtype == torch.uint8 and part.ndim > 2:
                raise InvalidInput(where, part.dtype, "are images in bytes beside other inputs", "give floats: x / 255")
            if mixed and not part.is_floating_point() and bool((part.long().abs() > EXACT).any()):
                problem = "has whole numbers above 2^24 beside floating-point inputs"
                raise InvalidInput(where, int(part.max()), problem, "give them as floats, or number them anew")
            found.append(part.flatten(1) if part.ndim > 1 else part[:, None])
        kind = torch.int64 if not any(k.is_floating_point for k in self.kinds.values()) else torch.float64
        floats = {part.dtype for part in found if part.is_floating_point()}
        return torch.cat([part.to(kind if len(floats) != 1 else max(floats, key=str)) for part in found], 1)

    def unpacked(self, rows: Tensor) -> dict[str, Tensor]:
        """The parts of packed rows (n, numbers), by name."""
        found = {}
        for name, columns in self.columns(rows).items():
            part, kind = columns.reshape(len(rows), *self.shapes[name]), self.kinds[name]
            found[name] = part if kind.is_floating_point else part.to(kind)
        return found

    def columns(self, rows: Tensor) -> dict[str, Tensor]:
        """The columns of each part in packed rows (n, numbers), by name."""
        return dict(zip(self.shapes, rows.split([prod(shape) for shape in self.shapes.values()], 1), strict=True))

    def transform(self, given: Transform) -> Transform:
        """A transform of dictionaries as one of packed rows."""

        @wraps(given)
        def of_rows(rows: Tensor, generator: torch.Generator) -> Tensor:
            before: Any = self.unpacked(rows)
            after: Any = given(before, generator)
            if not isinstance(after, Mapping):
                problem = f"makes a {type(after).__name__} of a dictionary of inputs"
                raise InvalidInput("transform", name_of(given), problem, "return such a dictionary")
            found: Tensor = self.packed(after, "transform").to(rows.dtype)
            return found

        return of_rows


def adapted(model: nn.Module, parts: InputParts | None) -> nn.Module:
    """A model that shares the given one's layers and parameters, takes packed rows, and returns the logits alone.

    It keeps the names of the class, of layers and of parameters, which errors and arguments mention. parts: None for a
    model that takes one tensor.
    """
    kind = type(model)
    in_order = parts is not None and all(name.isdigit() for name in parts.shapes)
    names = None if parts is None or in_order else _by_keyword(model, tuple(parts.shapes))

    def forward(self: nn.Module, rows: Tensor) -> Any:
        inputs: Any = rows if parts is None else parts.unpacked(rows)
        if in_order:
            found = kind.forward(self, *inputs.values())
        else:
            found = kind.forward(self, **inputs) if names else kind.forward(self, inputs)
        logits = found if isinstance(found, Tensor) else logits_of(found)
        return found if logits is None else logits

    found = copy(model)
    try:
        found.__class__ = type(kind.__name__, (kind,), {"forward": forward, FORWARD: kind})
    except TypeError as error:
        problem = f"cannot be adapted to a dictionary of inputs: {str(error).splitlines()[0]}"
        raise InvalidInput("model", kind.__name__, problem, "give an nn.Module with a forward of its own") from error
    return found


def restored(model: nn.Module) -> nn.Module:
    """The model as its user knows it, after `adapted`; others as they are."""
    kind = getattr(type(model), FORWARD, None)
    if kind is not None:
        model.__class__ = kind
    return model


def logits_of(found: Any) -> Tensor | None:
    """The logits of what a model returns, an object or dictionary; None where there are none."""
    logits = found.get("logits") if isinstance(found, Mapping) else getattr(found, "logits", None)
    return logits if isinstance(logits, Tensor) else None


def returns_logits(model: nn.Module, inputs: Tensor) -> bool:
    """Whether the model returns no tensor, but an object or dictionary with logits."""
    try:
        with torch.no_grad():
            found: Any = model(inputs)
    except Exception:  # `require_fit` reports it
        return False
    return not isinstance(found, Tensor) and logits_of(found) is not None


def _by_keyword(model: nn.Module, names: tuple[str, ...]) -> bool:
    """Whether the model takes the inputs by keyword; if not, as a dictionary. Raises InvalidInput for neither."""
    takes = signature(model.forward).parameters.values()
    if any(p.kind is Parameter.VAR_KEYWORD for p in takes):
        return True
    known = [p.name for p in takes if p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]
    missing = [name for name in names if name not in known]
    if not missing:
        return True
    if sum(p.default is Parameter.empty for p in takes) == 1 and len(missing) == len(names):
        return False
    problem = f"does not take the input {missing[0]!r}; its forward takes {', '.join(known)}"
    raise InvalidInput("model", type(model).__name__, problem, "rename the input, or leave it out of the samples")
