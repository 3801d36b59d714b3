"""The methods, one file each, algebra only. The folder is searched: a new file is all that a new method takes."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from fedconvex.methods.base import Cohort as Cohort
from fedconvex.methods.base import Method as Method
from fedconvex.methods.base import State as State


def discover() -> dict[str, type[Method]]:
    """Every final method of this folder, by name."""
    found = {}
    for module in iter_modules(__path__, f"{__name__}."):
        for value in vars(import_module(module.name)).values():
            is_method = isinstance(value, type) and issubclass(value, Method) and value.__module__ == module.name
            if is_method and getattr(value, "__final__", False):
                found[value.__name__] = value
    return dict(sorted(found.items()))


METHODS = discover()

__all__ = sorted(["METHODS", "Cohort", "Method", "State", *METHODS])


def __getattr__(name: str) -> Any:
    if name in METHODS:
        return METHODS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
