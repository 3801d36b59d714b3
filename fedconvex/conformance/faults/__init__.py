"""The catalogue of known faults, a file for each family. The folder is searched: a new file's `FAULTS` join it."""

from importlib import import_module
from pkgutil import iter_modules

from fedconvex.conformance.faults.base import Fault as Fault


def catalogue() -> tuple[Fault, ...]:
    """Every known fault, the most specific names first."""
    found: list[Fault] = []
    for module in iter_modules(__path__, f"{__name__}."):
        found += getattr(import_module(module.name), "FAULTS", ())
    return tuple(found)
