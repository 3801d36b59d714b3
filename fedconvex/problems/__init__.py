"""The problems: the clients' functions with their weights, a file for each family.

A new problem is a new file here; `base.Problem` lists what it must offer. `PROBLEMS` holds every final subclass of
`Problem` by name, and each one is an attribute of this package and of `fedconvex`.
"""

from collections.abc import Mapping
from typing import Any

from fedconvex.discovery import final_classes
from fedconvex.problems.base import Clients as Clients
from fedconvex.problems.base import Problem as Problem
from fedconvex.problems.base import Subproblem as Subproblem

_FOUND = final_classes(__name__, "Problem")
PROBLEMS: Mapping[str, type[Problem]] = _FOUND
__all__ = sorted(["PROBLEMS", "Clients", "Problem", "Subproblem", *PROBLEMS])


def __getattr__(name: str) -> Any:
    return _FOUND.attribute(__name__, name)
