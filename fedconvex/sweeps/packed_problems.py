"""Problems, pickled once, on their way to the other processes or machines that work on a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem
from fedconvex.sweeps.grid import Cell, Grid


@final
@dataclass(frozen=True, eq=False)
class PackedProblem:
    """A pickled problem, which the receiving process unpickles when it first needs it.

    Only the dataclass fields of the problem travel, neither its caches nor the unpickled problem. Two packed problems
    are equal if their keys (fingerprints of the problems) are, so that a process can recognise one that it has already.
    """

    key: str
    packed: Any  # the pickle as a uint8 array: joblib maps it into memory, Dask sends it without another pickling

    @cached_property
    def problem(self) -> Problem | CompositeProblem:
        """The problem: the same object, with its caches, at every access in this process."""
        import cloudpickle

        unpacked: Problem | CompositeProblem = cloudpickle.loads(self.packed)
        return unpacked

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackedProblem) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[type, tuple[str, Any]]:
        # without this, pickling would also send `problem`, which cached_property keeps in the instance's __dict__
        return PackedProblem, (self.key, self.packed)


def pack(cells: Sequence[Cell], grid: Grid) -> dict[str, PackedProblem]:
    """The cells' problems by name, ready to send.

    Raises InvalidInput if a problem, a method or a method's options cannot be pickled.
    """
    # A method travels within its cell. Pickling each once here finds the culprit before any run starts.
    for name, cell in {cell.method: cell for cell in cells}.items():
        _pickled(cell, f"methods[{name!r}] with its options", cell.algorithm)
    packed = {}
    for name in dict.fromkeys(cell.problem for cell in cells):
        problem = grid.problems[name]
        pickled = _pickled(_without_caches(problem), f"problems[{name!r}]", problem)
        packed[name] = PackedProblem(grid.problem_keys[name], pickled)
    return packed


def _pickled(value: Any, argument: str, shown: Any) -> np.ndarray:
    import cloudpickle

    try:
        return np.frombuffer(cloudpickle.dumps(value), dtype=np.uint8)
    except Exception as error:  # a user's class may raise anything from its __reduce__ or __getstate__
        problem = f"cannot be sent to other processes ({type(error).__name__}: {error})"
        raise InvalidInput(argument, shown, problem, "give what can be pickled, or jobs=1 and no client") from error


def _without_caches(problem: Problem | CompositeProblem) -> Problem | CompositeProblem:
    """A copy that has the dataclass fields and nothing that the problem has computed and kept."""
    copy: Problem | CompositeProblem = object.__new__(type(problem))
    for field in fields(problem):  # type: ignore[arg-type]
        value = getattr(problem, field.name)
        object.__setattr__(copy, field.name, _without_caches(value) if isinstance(value, Problem) else value)
    return copy
