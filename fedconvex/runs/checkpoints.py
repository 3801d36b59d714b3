"""Checkpoints of `simulate`: a run's state in an NPZ file, from which an interrupted run resumes exactly.

The file holds numbers and text only (`allow_pickle=False`) and is replaced atomically, so that a killed process leaves
the old file or the new one. A fingerprint of everything that determines the run refuses the checkpoint of another. The
file also says which instruction sets computed it: another processor may round otherwise.
"""

import json
import os
import zipfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fedconvex import npz_files
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.instruction_sets import distinct, instruction_sets, require_same
from fedconvex.arithmetic.rationals import Array
from fedconvex.atomic_files import require_place, write_atomically
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.fingerprints import fingerprint
from fedconvex.locks import locked
from fedconvex.methods.base import State
from fedconvex.optional import version_of
from fedconvex.runs.measurements import COUNTS

FORMAT = 1
LIBRARIES = ("fedconvex", "numpy", "numba", "python-flint")  # on their versions the last digits of a run may depend


def libraries_of(arithmetic: str) -> tuple[str, ...]:
    """The libraries on whose versions the last digits of a run in that arithmetic may depend."""
    return (*LIBRARIES, "torch") if arithmetic == "torch" else LIBRARIES


@dataclass(frozen=True, eq=False)
class Run:
    """The progress of a run: its state, the server's points so far, and one record per round."""

    state: State
    points: list[Array]
    recorded: list[dict[str, Any]]

    @property
    def round(self) -> int:
        """The number of rounds done."""
        return len(self.points) - 1

    def columns(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """The records as one array per name."""
        return {name: np.array([record[name] for record in self.recorded]) for name in names}


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The file of a `Run`: how often it is written, and the fingerprint of the run that it belongs to."""

    path: Path
    every: int
    fingerprint: str  # of everything that determines the run
    arithmetic: Arithmetic
    columns: Sequence[str]  # of the records
    exactly: bool = False  # whether other instruction sets are refused
    # The kinds of machines that computed the rounds so far: `load` adds those of the file, so that `save` keeps them.
    computed_with: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        require_place(self.path, "checkpoint")
        if self.arithmetic.certainty is Certainty.ENCLOSED:
            raise InvalidInput("checkpoint", self.path, "balls are not saved", "use 'float' or 'exact' arithmetic")

    def held(self) -> AbstractContextManager[None]:
        """Keeps other processes from the file; one in a folder that this process cannot write to is only read."""
        if self.path.exists() and not os.access(self.path.absolute().parent, os.W_OK):
            return nullcontext()
        return locked(self.path, "checkpoint")

    def save(self, run: Run) -> None:
        """Writes the run to the file, atomically."""
        arrays = {"server": self._encode(run.state.server), "points": self._encode(self.arithmetic.rows(run.points))}
        for group, parts in (("shared", run.state.shared), ("memory", run.state.memory)):
            arrays |= {f"{group}/{name}": self._encode(values) for name, values in parts.items()}
        arrays |= {f"recorded/{name}": values for name, values in run.columns(self.columns).items()}
        about = {"format": FORMAT, "run": self.fingerprint, "versions": self._versions, "content": fingerprint(arrays)}
        about["computed_with"] = distinct(self.computed_with, self._here)
        arrays["about"] = _text(json.dumps(about))
        write_atomically(self.path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]

    def load(self, rounds: int) -> Run | None:
        """The saved run; None where there is no file.

        Raises InvalidInput for a damaged file, one that is no checkpoint, one of another run, one written with other
        versions of the libraries, with other instruction sets if `exactly` (otherwise a warning, ResumedElsewhere),
        and one with more than `rounds` rounds.
        """
        if not self.path.exists():
            return None
        try:
            with zipfile.ZipFile(self.path) as archive:
                names = npz_files.names_of(archive, "checkpoint", self.path, "delete it to start anew")
                members = zip(names, archive.namelist(), strict=True)
                arrays = {name: npz_files.array(archive, member) for name, member in members}
            about = json.loads(arrays.pop("about").tobytes().decode())
            self._require_same(about)
            if about["content"] != fingerprint(arrays):
                raise self._refused("is damaged: its content is not what was written")
            run = self._decoded(arrays)
        except (InvalidInput, MemoryError):
            raise
        except Exception as error:  # on damaged bytes NumPy, zipfile and JSON raise nearly any exception
            raise self._refused("is no checkpoint of a run, or is damaged") from error
        if run.round > rounds:
            cure = f"request {run.round} rounds or more, or give another path"
            raise InvalidInput("rounds", rounds, f"{self.path} already holds round {run.round} of this run", cure)
        if self._is_rounded:
            there = about.get("computed_with")
            require_same("checkpoint", self.path, there, self._here, self.exactly)
            self.computed_with[:] = there or []
        return run

    def _require_same(self, about: dict[str, Any]) -> None:
        if about["format"] != FORMAT:
            raise self._refused(f"has format {about['format']}, this version reads format {FORMAT}")
        if about["run"] != self.fingerprint:
            raise self._refused(
                "belongs to another run: method, problem, participation, local solver, stragglers, start, seed, "
                "arithmetic or measurements differ"
            )
        for library, here in self._versions.items():
            there = about["versions"].get(library)
            if there != here:
                raise self._refused(
                    f"was written with {library} {there}, this is {here}: the last digits of a run depend on it"
                )

    @property
    def _here(self) -> list[dict[str, str]]:
        return [instruction_sets(getattr(self.arithmetic, "device", None))]

    @property
    def _is_rounded(self) -> bool:
        """Whether floating-point numbers are in the records: exact points depend on no processor."""
        return self.arithmetic.certainty is Certainty.NUMERIC or len(self.columns) > len(COUNTS)

    @property
    def _versions(self) -> dict[str, str]:
        return {library: version_of(library) for library in libraries_of(self.arithmetic.name)}

    def _refused(self, problem: str) -> InvalidInput:
        return InvalidInput("checkpoint", self.path, problem, "delete it to start anew, or give another path")

    def _decoded(self, arrays: dict[str, np.ndarray]) -> Run:
        groups: dict[str, dict[str, Any]] = {"shared": {}, "memory": {}}
        for name, values in arrays.items():
            group, _, part = name.partition("/")
            if group in groups:
                groups[group][part] = self._decode(values)
        server, points = self._decode(arrays["server"]), list(self._decode(arrays["points"]))
        if any(tuple(point.shape) != tuple(server.shape) for point in points):
            raise self._refused("is damaged: its points have another dimension than its server's point")
        columns = {name: arrays[f"recorded/{name}"] for name in self.columns}
        recorded = [{name: values[t] for name, values in columns.items()} for t in range(len(points) - 1)]
        return Run(State(server, groups["shared"], groups["memory"]), points, recorded)

    def _encode(self, values: Array) -> np.ndarray:
        """Numbers as float64, or as text where they are exact."""
        if self.arithmetic.certainty is Certainty.NUMERIC:
            return np.asarray(self.arithmetic.to_float(values))
        entries = [str(value) for value in values.ravel().tolist()]
        return _text(json.dumps({"shape": values.shape, "entries": entries}))

    def _decode(self, values: np.ndarray) -> Array:
        if self.arithmetic.certainty is Certainty.NUMERIC:
            return self.arithmetic.array(values)
        saved = json.loads(values.tobytes().decode())
        entries = np.array([Fraction(entry) for entry in saved["entries"]], dtype=object)
        return self.arithmetic.array(entries.reshape(saved["shape"]))


def _text(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)
