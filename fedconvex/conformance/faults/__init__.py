"""The catalogue of known faults, one module for each family.

`catalogue` and `families` search this folder, so the `FAULTS` and `FAMILIES` of a new module join them. `base` defines
a fault and a family of faults with an unknown number, `building_blocks` and `faulty_solvers` hold the parts from which
faults are built, `properties` names what they violate.
"""

from importlib import import_module
from pkgutil import iter_modules

from fedconvex.conformance.faults.base import Fault as Fault
from fedconvex.conformance.faults.base import FaultFamily as FaultFamily


def catalogue() -> tuple[Fault, ...]:
    """Every known fault, in the order of the modules' names; faults of conventions last."""
    found: list[Fault] = []
    for module in iter_modules(__path__, f"{__name__}."):
        found += getattr(import_module(module.name), "FAULTS", ())
    return tuple(sorted(found, key=lambda fault: fault.convention))


def families() -> tuple[FaultFamily, ...]:
    """The faults with an unknown number, in the same order."""
    found: list[FaultFamily] = []
    for module in iter_modules(__path__, f"{__name__}."):
        found += getattr(import_module(module.name), "FAMILIES", ())
    return tuple(sorted(found, key=lambda family: family.convention))
