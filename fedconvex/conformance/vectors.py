"""Models as flat vectors: what implementations return, as float64 arrays."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.buffers import is_buffer
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.errors import short_text

WHOLE = ("int", "uint", "bool")  # beginnings of the names of number types


class Unusable(Exception):
    """A return value that ends the run."""

    def __init__(self, finding: ConformanceFinding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def vector(value: Any, dim: int) -> tuple[np.ndarray, set[str]]:
    """The model as a (dim,) float64 vector, and the names of its number types. Raises `Unusable`.

    A model is a vector, or a module, a dict of arrays (a state_dict) or a list of arrays, which are joined in order.
    """
    composed = is_composed(value)
    try:
        parts = [_array(part) for part in (_parts(value) if composed else [value])]
    except (TypeError, ValueError) as error:
        cure = f"return a ({dim},) array of real numbers"
        raise Unusable(ConformanceFinding(findings.NOT_NUMBERS, cure, short_text(error))) from None
    if composed and sum(array.size for array, _ in parts) > dim:  # a counter of steps by a name of its own
        parts = [part for part in parts if part[0].ndim > 0] or parts
    found = np.concatenate([array.reshape(-1) for array, _ in parts]) if composed else parts[0][0]
    if found.shape != (dim,):
        cure = "return all parameters as one flat vector, or as a module, a dict or a list of arrays"
        raise Unusable(ConformanceFinding(findings.SHAPE, cure, f"{found.shape} instead of ({dim},)"))
    return found.copy(), {name for _, name in parts}


def is_composed(value: Any) -> bool:
    """Whether the model is given by its parts: a module, a dict, or a list of arrays."""
    if isinstance(value, Mapping):
        return len(value) > 0
    if isinstance(value, list | tuple):
        return len(value) > 0 and all(hasattr(part, "shape") for part in value)
    return callable(getattr(value, "parameters", None))


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        # a state_dict also has buffers: statistics and counters, which a server may have averaged as it does the rest
        given = [part for name, part in value.items() if not is_buffer(name)]
        kinds = [str(getattr(part, "dtype", "")).removeprefix("torch.") for part in given]
        floats = [part for part, kind in zip(given, kinds, strict=True) if not kind.startswith(WHOLE)]
        return floats or given
    return value if isinstance(value, list | tuple) else list(value.parameters())


def _array(value: Any) -> tuple[np.ndarray, str]:
    """The array in float64, and the name of its own number type."""
    if hasattr(value, "detach"):
        name = str(value.dtype).removeprefix("torch.")
        if name.startswith("complex"):
            raise TypeError(f"numbers of type {name}")
        return value.detach().cpu().double().numpy(), name
    array = np.asarray(value)
    # text would be read as numbers, and complex numbers lose their imaginary parts with a warning only
    if array.dtype.kind in "cSUmM":
        raise TypeError(f"values of type {array.dtype.name}")
    return array.astype(np.float64), array.dtype.name
