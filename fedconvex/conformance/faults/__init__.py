"""The catalogue of known faults, one module for each family.

`catalogue` searches this folder, so the `FAULTS` of a new module join it. `base` defines a fault, `building_blocks` and
`faulty_solvers` hold the parts from which faults are built, `properties` names what they violate.
"""

from importlib import import_module
from pkgutil import iter_modules

from fedconvex.conformance.faults.base import Fault as Fault


def catalogue() -> tuple[Fault, ...]:
    """Every known fault, in the order of the modules' names; faults of conventions last."""
    found: list[Fault] = []
    for module in iter_modules(__path__, f"{__name__}."):
        found += getattr(import_module(module.name), "FAULTS", ())
    return tuple(sorted(found, key=lambda fault: fault.convention))
