"""The arithmetics in which methods and problems are computed; the same code runs in each of them.

* `"float"`: NumPy float64, fast; results are NUMERIC.
* `"exact"`: rational numbers (flint `fmpq` inside, `fractions.Fraction` for the user); results are EXACT.
* `"ball"`: flint `arb` balls that contain the true value; results are ENCLOSED.
* `"torch"`: float64 torch tensors; results are NUMERIC.

`base` declares what an arithmetic offers, `dense` and `flint` implement it. The other modules are numerical tools:
conversions (`rationals`, `balls`, `decimals`), linear equations (`linear_systems`), certificates (`definiteness`,
`krawczyk`), `newton`, `lengths`, and the machine on which all this runs (`machine_code`, `processor`).
"""

from functools import cache
from typing import Any

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.errors import InvalidInput
from fedconvex.names import one_of

NAMES = ("float", "exact", "ball", "torch")


def get(name: "str | Arithmetic", precision: int = 128) -> Arithmetic:
    """The arithmetic of this name; only balls have a `precision`, in bits."""
    if isinstance(name, Arithmetic):
        return name
    if not isinstance(name, str) or name not in NAMES:  # type: ignore[redundant-expr]
        raise InvalidInput("arithmetic", name, "is unknown", one_of(name, NAMES))
    if name == "exact":
        return _exact()
    if name in ("float", "torch"):
        from fedconvex.arithmetic.dense import NumpyArithmetic, TorchArithmetic

        return NumpyArithmetic() if name == "float" else TorchArithmetic()
    from fedconvex.arithmetic.flint import BallArithmetic

    return BallArithmetic(precision=precision)


@cache
def _exact() -> Arithmetic:
    from fedconvex.arithmetic.flint import ExactArithmetic

    return ExactArithmetic()


def of(values: Any) -> Arithmetic:
    """The arithmetic of an array, judged by the types of its entries."""
    if type(values).__module__.startswith("torch"):
        from fedconvex.arithmetic.dense import TorchArithmetic

        return TorchArithmetic(values.device)
    flat = values.ravel().tolist() if hasattr(values, "ravel") else _flatten(values)
    kinds = {type(v).__name__ for v in flat}
    if "arb" in kinds:
        return get("ball", precision=max(128, working_precision()))
    if kinds & {"Fraction", "fmpq", "fmpz"}:
        return get("exact")
    return get("float")


def _flatten(values: Any) -> list[Any]:
    if isinstance(values, list | tuple):
        return [entry for value in values for entry in _flatten(value)]
    return [values]


def working_precision() -> int:
    """The bits of flint's balls at present."""
    from flint import ctx

    return int(ctx.prec)
