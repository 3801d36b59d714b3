"""Checkpoints of deep runs: one safetensors file, tensors and JSON, whole or not there at all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array
from fedconvex.atomic_files import remove_leftovers, require_room_for, write_atomically
from fedconvex.deep.identities import RunIdentity
from fedconvex.deep.processes import Processes
from fedconvex.errors import InvalidInput, MissingLibrary
from fedconvex.fingerprints import fingerprint
from fedconvex.methods.base import State
from fedconvex.validation import integer_at_least

FORMAT = "3"
LIBRARIES = ("fedconvex", "numpy", "torch")


@final
@dataclass(frozen=True, eq=False)
class DeepCheckpoint:
    """A file that holds a run's state and records."""

    path: Path
    identity: RunIdentity
    every: int
    arithmetic: Arithmetic
    processes: Processes | None  # of which the first one writes and reads

    @staticmethod
    def at(
        path: "str | PathLike[str]",
        identity: RunIdentity,
        every: Any,
        arithmetic: Arithmetic,
        processes: Processes | None = None,
    ) -> "DeepCheckpoint":
        """Raises InvalidInput for a path that cannot be written to; removes what killed runs left beside it."""
        if not isinstance(path, str | PathLike) or "\0" in str(path):  # type: ignore[redundant-expr]
            raise InvalidInput("checkpoint", path, "is not the path of a file", "give such as 'run.safetensors'")
        file = Path(path)
        if file.is_dir() or not file.absolute().parent.is_dir():
            problem = "is a folder" if file.is_dir() else "lies in a folder that does not exist"
            raise InvalidInput("checkpoint", file, problem, "give the path of a file in an existing folder")
        require_room_for(file, "checkpoint")
        if processes is None or processes.rank == 0:
            remove_leftovers(file)
        _safetensors()
        return DeepCheckpoint(file, identity, integer_at_least(every, 1, "checkpoint_every"), arithmetic, processes)

    def save(self, state: State, records: list[dict[str, Any]]) -> None:
        """Replaces what was there only when all is written."""
        if self.processes is not None:
            state = self.processes.whole(state)
            if self.processes.rank > 0:
                return
        tensors = {"server": state.server}
        tensors |= {f"shared/{name}": value for name, value in state.shared.items()}
        tensors |= {f"memory/{name}": value for name, value in state.memory.items()}
        stored = {name: torch.as_tensor(value).detach().cpu().contiguous() for name, value in tensors.items()}
        about = {
            "format": FORMAT,
            "run": json.dumps(self.identity.saved),
            "versions": json.dumps(_versions()),
            "records": json.dumps(records),
        }
        about["content"] = _content(stored, about)
        write_atomically(self.path, _safetensors().save(stored, about))

    def load(self, rounds: int) -> tuple[State, list[dict[str, Any]]] | None:
        """The state and the records so far; None where there is no file: as `_load` says."""
        if self.processes is None:
            return self._decoded(self._load(rounds))
        found: Any = None
        if self.processes.rank == 0:
            try:
                found = self._load(rounds)
            except InvalidInput as error:
                found = error
        found = self.processes.from_first(found)
        if isinstance(found, InvalidInput):
            raise found
        saved = self._decoded(found)
        return None if saved is None else (self.processes.own(saved[0]), saved[1])

    def _load(self, rounds: int) -> tuple[dict[str, Tensor], list[dict[str, Any]]] | None:
        """The tensors and the records so far; None where there is no file.

        Raises InvalidInput for a damaged file, one that is no checkpoint, one of another run (naming what differs) or
        of other versions of the libraries, and one that holds more than `rounds` rounds.
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
        except (KeyError, ValueError, TypeError):
            raise self._refused("is no checkpoint of a run, or is damaged") from None
        if differing:
            whole = " (a schedule counts as a whole, rounds to come included)" if "participation" in differing else ""
            raise self._refused(f"belongs to a run with another {', '.join(differing)}{whole}")
        for library, here in _versions().items():
            if there.get(library) != here:
                problem = f"was written with {library} {there.get(library)}, this is {here}"
                raise self._refused(f"{problem}: the last digits of a run depend on it")
        if len(rows) - 1 > rounds:
            cure = f"ask for {len(rows) - 1} rounds or more, or give another path"
            raise InvalidInput("rounds", rounds, f"{self.path} already holds round {len(rows) - 1} of this run", cure)
        return tensors, rows

    def _read(self) -> tuple[dict[str, str], dict[str, Tensor]]:
        try:
            content = self.path.read_bytes()
            length = int.from_bytes(content[:8], "little")
            header = json.loads(content[8 : 8 + length]) if length <= len(content) else {}
            about = dict(header["__metadata__"])
            return about, _safetensors().load(content)
        except OSError as error:
            raise self._refused(f"cannot be read: {error.strerror}") from error
        except Exception as error:  # whatever the library raises for bytes that are none of its own
            raise self._refused("is no checkpoint of a run, or is damaged") from error

    def _decoded(
        self, saved: tuple[dict[str, Tensor], list[dict[str, Any]]] | None
    ) -> tuple[State, list[dict[str, Any]]] | None:
        if saved is None:
            return None
        arrays = {name: self._array(tensor) for name, tensor in saved[0].items()}
        parts: dict[str, dict[str, Any]] = {"shared": {}, "memory": {}}
        for name, value in arrays.items():
            group, _, part = name.partition("/")
            if part:
                parts[group][part] = value
        return State(arrays["server"], parts["shared"], parts["memory"]), saved[1]

    def _array(self, tensor: Tensor) -> Array:
        return self.arithmetic.array(tensor) if self.arithmetic.name == "torch" else tensor.numpy().copy()

    def _refused(self, problem: str) -> InvalidInput:
        return InvalidInput("checkpoint", self.path, problem, "delete it to start anew, or give another path")


def _content(tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> str:
    """The fingerprint of all that is in the file."""
    return fingerprint([dict(tensors), {name: text for name, text in about.items() if name != "content"}])


def _versions() -> dict[str, str]:
    found = {library: version(library) for library in LIBRARIES}
    try:
        return found | {"numba": version("numba")}
    except PackageNotFoundError:  # nothing is in machine code then
        return found | {"numba": "none"}


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError:
        raise MissingLibrary("safetensors", "a checkpoint", "deep") from None
    return safetensors.torch
