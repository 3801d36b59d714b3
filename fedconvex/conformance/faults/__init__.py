"""The catalogue of known faults, a file for each family. The folder is searched: a new file's `FAULTS` join it."""

from importlib import import_module
from pkgutil import iter_modules

from fedconvex.conformance.faults.base import Fault as Fault


def catalogue() -> tuple[Fault, ...]:
    """Every known fault; those of conventions last."""
    found: list[Fault] = []
    for module in iter_modules(__path__, f"{__name__}."):
        found += getattr(import_module(module.name), "FAULTS", ())
    return tuple(sorted(found, key=lambda fault: fault.convention))
