"""The catalogue of known faults, one module for each subject.

`catalogue` and `families` search this folder, so the `FAULTS` and `FAMILIES` of a new module join them. `base` defines
faults, families of faults with an unknown number, and the rules that both violate, with their names; `building_blocks`
and `faulty_solvers` hold the parts from which faults are built.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from fedconvex.conformance.faults.base import Fault as Fault
from fedconvex.conformance.faults.base import FaultFamily as FaultFamily


def catalogue() -> tuple[Fault, ...]:
    """Every known fault, in the order of the modules' names; faults of conventions last."""
    return _found("FAULTS")


def families() -> tuple[FaultFamily, ...]:
    """The faults with an unknown number, in the same order."""
    return _found("FAMILIES")


def _found(name: str) -> tuple[Any, ...]:
    modules = [import_module(module.name) for module in iter_modules(__path__, f"{__name__}.")]
    return tuple(sorted((one for m in modules for one in getattr(m, name, ())), key=lambda one: one.convention))
