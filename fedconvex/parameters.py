"""Dataclass fields that are numbers of the mathematics, so that they can be taken into any arithmetic."""

from dataclasses import field, fields, replace
from typing import Any, TypeVar

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.errors import InvalidInput

T = TypeVar("T")


def number(**options: Any) -> Any:
    """A dataclass field that `in_arithmetic` converts (unlike counts, which stay integers)."""
    return field(metadata={"number": True}, **options)


def in_arithmetic(parameters: T, arithmetic: Arithmetic) -> T:
    """The same frozen dataclass with every `number()` field as a scalar of that arithmetic."""
    converted = {}
    for f in fields(parameters):  # type: ignore[arg-type]
        if f.metadata.get("number"):
            value = getattr(parameters, f.name)
            try:
                converted[f.name] = arithmetic.scalar(value)
            except InvalidInput as error:
                raise InvalidInput(f.name, value, error.problem, error.cure) from None
    if all(value is getattr(parameters, name) for name, value in converted.items()):
        return parameters
    return replace(parameters, **converted)  # type: ignore[type-var]
