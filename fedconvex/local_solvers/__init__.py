"""The local solvers, one file each: how a client solves its subproblem, exactly or by steps.

A new local solver is a new file here. `LOCAL_SOLVERS` holds every final subclass of `LocalSolver` by name, and each one
is an attribute of this package and of `fedconvex`.
"""

from collections.abc import Mapping
from typing import Any

from fedconvex.discovery import final_classes
from fedconvex.local_solvers.base import Answers as Answers
from fedconvex.local_solvers.base import LocalSolver as LocalSolver

_FOUND = final_classes(__name__, "LocalSolver")
LOCAL_SOLVERS: Mapping[str, type[LocalSolver]] = _FOUND
__all__ = sorted(["LOCAL_SOLVERS", "Answers", "LocalSolver", *LOCAL_SOLVERS])


def __getattr__(name: str) -> Any:
    return _FOUND.attribute(__name__, name)
