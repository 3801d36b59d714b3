"""The methods, one file each or one file a family: what clients solve and remember, what the server does with answers.

A new method is a new file here. `METHODS` holds every final subclass of `Method` by name, and each one is an attribute
of this package and of `fedconvex`.
"""

from collections.abc import Mapping
from typing import Any

from fedconvex.discovery import final_classes
from fedconvex.methods.base import Cohort as Cohort
from fedconvex.methods.base import Method as Method
from fedconvex.methods.base import State as State

_FOUND = final_classes(__name__, "Method")
METHODS: Mapping[str, type[Method]] = _FOUND
__all__ = sorted(["METHODS", "Cohort", "Method", "State", *METHODS])


def __getattr__(name: str) -> Any:
    return _FOUND.attribute(__name__, name)
