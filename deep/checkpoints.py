"""Checkpoints of deep runs: one safetensors file with tensors and JSON, from which nothing can be executed.

A run continues from its checkpoint bit for bit, so a file of another run, or of other library versions, is refused.
The file also says which instruction sets, and which GPU, computed it: others may round otherwise.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, final

import torch
from torch import Tensor

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.instruction_sets import distinct, instruction_sets, require_same
from fedconvex.arithmetic.rationals import Array
from fedconvex.atomic_files import require_place, require_room_for, write_atomically
from fedconvex.deep.identities import RunIdentity
from fedconvex.deep.memory import OutOfMemory, is_out_of_memory
from fedconvex.deep.processes import Processes
from fedconvex.errors import InvalidInput, MissingLibrary, ResumedElsewhere
from fedconvex.fingerprints import fingerprint
from fedconvex.locks import locked
from fedconvex.memory import require
from fedconvex.methods.base import State
from fedconvex.validation import integer_at_least, truth_value

T = TypeVar("T")
FORMAT = "5"
LIBRARIES = ("fedconvex", "numpy", "torch")


@final
@dataclass(frozen=True, eq=False)
class DeepCheckpoint:
    """The file that holds a run's state and records, and the identity that it must have been written with."""

    path: Path
    identity: RunIdentity
    every: int
    arithmetic: Arithmetic
    processes: Processes | None  # the first one reads and writes for all
    here: list[dict[str, str]]  # the kinds of machines of this run's processes
    exactly: bool = False  # whether other instruction sets are refused
    # The kinds of machines that computed the rounds so far: `load` adds those of the file, so that `save` keeps them.
    computed_with: list[dict[str, str]] = field(default_factory=list)
    # How the run computes, see `routes.route_of`: `load` adds the file's, `save` keeps it.
    route: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def at(
        path: "str | PathLike[str]",
        identity: RunIdentity,
        every: Any,
        arithmetic: Arithmetic,
        processes: Processes | None = None,
        device: torch.device | None = None,
        exactly: bool = False,
    ) -> "DeepCheckpoint":
        """A checkpoint at the path, after a test that it can be written.

        Raises InvalidInput for a path that cannot be written to, MissingLibrary without safetensors.
        """
        if not isinstance(path, str | PathLike) or "\0" in str(path):  # type: ignore[redundant-expr]
            raise InvalidInput("checkpoint", path, "is not the path of a file", "give such as 'run.safetensors'")
        file = Path(path)
        require_place(file, "checkpoint")
        require_room_for(file, "checkpoint")
        _safetensors()  # a missing library is reported before the first round, not after the last
        number = integer_at_least(every, 1, "checkpoint_every")
        own = instruction_sets(device or torch.device("cpu")) | {"processes": str(processes.size if processes else 1)}
        here = [own] if processes is None else distinct(processes.of_all(own))
        return DeepCheckpoint(file, identity, number, arithmetic, processes, here, truth_value(exactly, "exactly"))

    def save(self, state: State, records: list[dict[str, Any]]) -> None:
        """Writes state and records; the previous checkpoint is replaced only when the new one is complete.

        Raises OutOfMemory where the state does not fit into memory a second time; the previous checkpoint stays.
        """
        try:
            self._save(state, records)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise OutOfMemory(
                f"memory ran out while the state of round {len(records) - 1} was gathered and written; the last "
                f"checkpoint in {self.path} is complete: continue from it on a machine with more memory, on more of "
                "them, or with a method whose clients keep no memory"
            ) from error

    def _save(self, state: State, records: list[dict[str, Any]]) -> None:
        if self.processes is not None:
            whole = self.processes.whole(state)  # a sum over all processes, so all must arrive here
            if whole is None:
                return
            state = whole
        tensors = {"server": state.server}
        tensors |= {f"shared/{name}": value for name, value in state.shared.items()}
        tensors |= {f"memory/{name}": value for name, value in state.memory.items()}
        stored = {name: torch.as_tensor(value).detach().cpu().contiguous() for name, value in tensors.items()}
        # The format's metadata are texts only: everything that is not a tensor goes in as JSON.
        about = {
            "format": FORMAT,
            "run": json.dumps(self.identity.saved),
            "versions": json.dumps(_versions()),
            "computed_with": json.dumps(distinct(self.computed_with, self.here)),
            "route": json.dumps(self.route),
            "records": json.dumps(records),
        }
        about["content"] = _content(stored, about)
        write_atomically(self.path, _safetensors().save(stored, about))

    def load(self, rounds: int) -> tuple[State, list[dict[str, Any]]] | None:
        """The saved state and records, or None if there is no file.

        rounds: how many rounds the run is to have; a checkpoint of more is refused.
        Raises InvalidInput as `_load` does, on every process.
        """
        found = self._of_first(lambda: self._load(rounds))
        if found is None:
            return None
        tensors, records, route = found
        self.route.update(route)
        state = self._decoded(tensors)
        return (state if self.processes is None else self.processes.own(state)), records

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keeps other runs from the file. Raises InUse, on every process, where another run has it."""
        with ExitStack() as lock:
            self._of_first(lambda: lock.enter_context(locked(self.path, "checkpoint")))
            yield

    def _of_first(self, work: Callable[[], T]) -> T:
        """What the first process's work returns or refuses, on every process: the others would wait for ever."""
        if self.processes is None:
            return work()
        found: Any = None
        if self.processes.rank == 0:
            try:
                found = work()
            except (InvalidInput, ResumedElsewhere) as error:  # the latter where warnings are errors
                found = error
        found = self.processes.from_first(found)
        if isinstance(found, Exception):
            raise found
        result: T = found
        return result

    def _load(self, rounds: int) -> tuple[dict[str, Tensor], list[dict[str, Any]], dict[str, Any]] | None:
        """The saved tensors, records and route, or None if there is no file.

        Raises InvalidInput for a damaged file, a file that is not a checkpoint, one of another run (naming what
        differs) or of other library versions, one computed with other instruction sets if `exactly` (otherwise a
        warning, ResumedElsewhere), and one with more than `rounds` rounds.
        """
        if not self.path.exists():
            return None
        about, tensors = self._read()
        if about.get("format") != FORMAT:
            raise self._refused(f"has format {about.get('format')}, this version reads format {FORMAT}")
        if about.get("content") != _content(tensors, about):
            raise self._refused("is damaged: its content is not what was written")
        try:
            run, there, records = (json.loads(about[name]) for name in ("run", "versions", "records"))
            differing = self.identity.differences(run)
            rows = [dict(record) for record in records]
            route = dict(json.loads(about["route"]))
            there = dict(there)
            computed_with = json.loads(about.get("computed_with", "null"))
        except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
            raise self._refused("is no checkpoint of a run, or is damaged") from None
        if differing:
            whole = (
                " (a schedule is compared as a whole, later rounds included)" if "participation" in differing else ""
            )
            raise self._refused(f"belongs to a run with another {', '.join(differing)}{whole}")
        for library, here in _versions().items():
            if there.get(library) != here:
                problem = f"was written with {library} {there.get(library)}, this is {here}"
                raise self._refused(f"{problem}: the last digits of a run depend on it")
        if len(rows) - 1 > rounds:
            cure = f"request {len(rows) - 1} rounds or more, or give another path"
            raise InvalidInput("rounds", rounds, f"{self.path} already holds round {len(rows) - 1} of this run", cure)
        require_same("checkpoint", self.path, computed_with, self.here, self.exactly)
        self.computed_with[:] = computed_with or []
        return tensors, rows, route

    def _read(self) -> tuple[dict[str, str], dict[str, Tensor]]:
        from safetensors import SafetensorError, safe_open

        try:
            size = self.path.stat().st_size
            require(2 * size, "checkpoint", self.path, "its tensors", "delete it to start anew, or give another path")
            with safe_open(self.path, "pt") as file:
                # Copies: the library's tensors are views of the mapped file, which the next checkpoint replaces.
                tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - no mapping
                return dict(file.metadata() or {}), tensors
        except OSError as error:
            raise self._refused(f"cannot be read: {error.strerror or error}") from error
        except SafetensorError as error:
            raise self._refused("is no checkpoint of a run, or is damaged") from error

    def _decoded(self, tensors: Mapping[str, Tensor]) -> State:
        arrays = {name: self._array(tensor) for name, tensor in tensors.items()}
        parts: dict[str, dict[str, Any]] = {"shared": {}, "memory": {}}
        for name, value in arrays.items():
            group, _, part = name.partition("/")
            if part:
                parts[group][part] = value
        return State(arrays["server"], parts["shared"], parts["memory"])

    def _array(self, tensor: Tensor) -> Array:
        # Other arithmetics than torch's compute on NumPy arrays; a copy is writable, which the library's view is not.
        return self.arithmetic.array(tensor) if self.arithmetic.name == "torch" else tensor.numpy().copy()

    def _refused(self, problem: str) -> InvalidInput:
        return InvalidInput("checkpoint", self.path, problem, "delete it to start anew, or give another path")


def _content(tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> str:
    """The fingerprint of the file's content, which reveals damage."""
    return fingerprint([dict(tensors), {name: text for name, text in about.items() if name != "content"}])


def _versions() -> dict[str, str]:
    found = {library: version(library) for library in LIBRARIES}
    try:
        return found | {"numba": version("numba")}
    except PackageNotFoundError:  # then nothing is compiled, and sums may be rounded in another order
        return found | {"numba": "none"}


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError:
        raise MissingLibrary("safetensors", "a checkpoint", "deep") from None
    return safetensors.torch
