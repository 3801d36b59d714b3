"""Fingerprints of values: hashes of type and content that agree between processes and machines.

They name the files of a sweep, and decide whether a checkpoint belongs to a run. Python's `hash` serves neither: it
differs between processes, and is equal for 1, 1.0 and True.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.sparse import is_sparse, read_only_csr

ARRAY_KINDS = "biufcSU"  # truth values, numbers and text, whose bytes are their content
# Classes that have moved, and the names under which they are in stored runs.
STORED_AS = {
    f"fedconvex.{home}.{name}": f"fedconvex.{home.partition('.')[0]}.{before or name.lower()}.{name}"
    for home, name, before in (
        ("methods.averaging", "FedAvg", ""), ("methods.averaging", "FedGD", ""), ("methods.averaging", "FedNova", ""),
        ("methods.averaging", "FedSGD", ""), ("methods.dane", "FedDANE", ""), ("methods.dane", "FedLin", ""),
        ("methods.server_optimizer", "FedAdagrad", ""), ("methods.server_optimizer", "FedAdam", ""),
        ("methods.server_optimizer", "FedAvgM", ""), ("methods.server_optimizer", "FedYogi", ""),
        ("methods.personal_models", "Ditto", ""), ("methods.personal_models", "PFedMe", ""),
        ("methods.fedprox", "AdaptiveFedProx", "adaptive_fedprox"),
        ("methods.fedsplit", "RegularizedFedSplit", "regularized_fedsplit"),
        ("local_solvers.tolerances", "AcceleratedGradient", "accelerated"),
        ("local_solvers.tolerances", "Newton", "newton_steps"),
    )
}  # fmt: skip
LONG_DOUBLES = "gG"  # excluded: some of their bytes are padding, with arbitrary content


def fingerprint(value: Any, argument: str = "value") -> str:
    """The SHA-256 of a value's type and content, 64 hexadecimal digits.

    Values: None, truth values, int, float, Fraction, flint numbers (fmpz, fmpq, arb), text, bytes, enumerations, NumPy
    numbers and arrays (of numbers, text or the foregoing), torch tensors; lists, tuples, mappings and dataclasses of
    them. Types count: 1, 1.0, True and Fraction(1) differ, and so do 0.0 and −0.0, float32 and float64, a list and a
    tuple. An array's byte order and memory layout and a mapping's order do not count, nor does what a dataclass keeps
    beside its fields. A class counts by its name, not by its code.

    Args:
        argument: the value's name in error messages.

    Raises:
        InvalidInput: a value of any other type; it names the place, such as `method.solver[2]`.
    """
    digest = hashlib.sha256()
    for piece in _pieces(value, argument):
        digest.update(piece)
    return digest.hexdigest()


def _pieces(value: Any, where: str) -> Iterator[bytes]:
    """An unambiguous encoding of the value: every piece of variable length is preceded by its length.

    Without the lengths, ["ab", "c"] and ["a", "bc"] would be encoded alike.
    """
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    kind = STORED_AS.get(kind, kind)
    if isinstance(value, Enum):
        yield _text(kind, value.name)
    elif isinstance(value, np.generic):
        yield from _array_pieces(kind, np.asarray(value), where)
    elif isinstance(value, np.ndarray):
        if np.ma.isMaskedArray(value):
            raise InvalidInput(where, value, "is a masked array", "fill or drop the masked entries")
        yield from _array_pieces("array", value, where)
    elif is_sparse(value):
        kept = read_only_csr(value).sorted_indices()
        yield _text("csr", str(kept.shape))
        for part in (kept.data, kept.indices.astype(np.int64), kept.indptr.astype(np.int64)):
            yield from _array_pieces("array", part, where)
    elif value is None or isinstance(value, bool | str | float):
        # hex keeps every bit of a float, and the sign of zero
        yield _text(kind, value.hex() if isinstance(value, float) else str(value))
    elif isinstance(value, int):
        yield _text(kind, f"{value:x}")
    elif isinstance(value, bytes):
        yield _text(kind, value.hex())
    elif isinstance(value, Fraction):
        yield _text(kind, f"{value.numerator:x}/{value.denominator:x}")
    elif kind.startswith("flint."):
        yield _text(f"flint.{type(value).__name__}", _flint_text(value, where))
    elif kind.startswith("torch.") and hasattr(value, "detach"):
        here = value.detach().cpu()
        if str(here.dtype) == "torch.bfloat16":  # NumPy has no such type: its bits and its name
            kind, here = f"{kind} of bfloat16", here.view(dtype=_int16())
        yield from _array_pieces(kind, here.numpy(), where)
    elif isinstance(value, list | tuple):
        yield _text(kind, str(len(value)))
        for i, entry in enumerate(value):
            yield from _pieces(entry, f"{where}[{i}]")
    elif isinstance(value, Mapping):
        yield _text(kind, str(len(value)))
        # keys of different types have no order, their fingerprints have
        by_key = {fingerprint(key, f"a key of {where}"): key for key in value}
        for digest, key in sorted(by_key.items()):
            yield digest.encode()
            yield from _pieces(value[key], f"{where}[{key!r}]")
    elif is_dataclass(value) and not isinstance(value, type):
        yield _text(kind, str(len(fields(value))))
        for field in fields(value):
            yield _text("field", field.name)
            yield from _pieces(getattr(value, field.name), f"{where}.{field.name}")
    else:
        cure = "give numbers, text, arrays, lists, mappings or dataclasses of them"
        raise InvalidInput(where, value, f"is of type {kind}, whose content is not known", cure)


def _int16() -> Any:
    import torch

    return torch.int16


def _array_pieces(kind: str, array: np.ndarray, where: str) -> Iterator[bytes]:
    if array.dtype == object:
        yield _text(kind, f"object {array.shape}")
        for place, entry in np.ndenumerate(array):
            yield from _pieces(entry, f"{where}{list(place)}")
        return
    if array.dtype.kind not in ARRAY_KINDS or array.dtype.char in LONG_DOUBLES:
        raise InvalidInput(where, array, f"is an array of {array.dtype}", "give an array of numbers or text")
    ordered = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    yield _text(kind, f"{ordered.dtype.str} {ordered.shape}")
    if ordered.size:
        yield ordered.data  # type: ignore[misc] # hashlib takes a buffer as it takes bytes, without a copy


def _flint_text(value: Any, where: str) -> str:
    """The exact content; `str` of a ball would depend on flint's working precision."""
    name = type(value).__name__
    if name == "fmpz":
        return f"{int(value):x}"
    if name == "fmpq":
        return f"{int(value.p):x}/{int(value.q):x}"
    if name == "arb":
        if not value.is_finite():
            return str(value)
        return " ".join(f"{int(n):x}" for part in (value.mid(), value.rad()) for n in part.man_exp())
    raise InvalidInput(where, value, "is a flint number of an unknown kind", "give fmpz, fmpq or arb")


def _text(kind: str, text: str) -> bytes:
    content = text.encode("utf-8", "surrogatepass")
    return f"{kind} {len(content)} ".encode() + content
