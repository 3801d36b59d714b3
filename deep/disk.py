"""Clients' samples that are larger than memory: read once, piece by piece, into a temporary file that is mapped.

A step reads the rows of its batch from the file, of which the system keeps in memory what there is room for; the
batches, and so the run, are those of the same samples in memory. Targets and weights are held in memory.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_unflatten

from fedconvex import memory
from fedconvex.deep.arrays import as_samples, require_fits
from fedconvex.errors import InvalidInput
from fedconvex.names import one_of

PIECE = 2**23  # bytes of samples that are read, checked and written at once
RESERVED = 2**28  # bytes of the disk that are left to others: a stream may have no end
STORAGES = ("auto", "memory", "disk")
AUTO, MEMORY, DISK = STORAGES


@final
@dataclass(frozen=True)
class Disk:
    """Where the samples are stored: the files in this folder are deleted with the tensors that are mapped to them.

    required: whether the user chose it; if not, linear models stay problems of the core, which are held in memory.
    """

    folder: Path
    required: bool = True

    def joined(self, parts: Sequence[Tensor]) -> Tensor:
        """The parts as one tensor on disk: without a copy if they are consecutive rows of one file."""
        first, end = parts[0], parts[0].data_ptr()
        for part in parts:
            if part.data_ptr() != end or part.untyped_storage().data_ptr() != first.untyped_storage().data_ptr():
                with SampleFile(self) as file:
                    for one in parts:
                        for rows in one.split(rows_at_once(one)):
                            file.append(rows, "clients")
                    return file.mapped()
            end += part.nbytes
        size = (sum(map(len, parts)), *first.shape[1:])
        return first.as_strided(size, first.stride())


@final
class SampleFile(AbstractContextManager["SampleFile"]):
    """A temporary file of rows of one shape and type, open within the context; what is mapped of it stays."""

    def __init__(self, disk: Disk) -> None:
        self._disk, self._count = disk, 0
        try:
            self._file = tempfile.TemporaryFile(dir=disk.folder, prefix="fedconvex-samples-")  # noqa: SIM115
        except OSError as error:
            problem = f"takes no file: {error.strerror}"
            raise InvalidInput("storage", str(disk.folder), problem, "give a folder that is yours") from error
        self._like: Tensor | None = None

    def append(self, rows: Tensor, place: str) -> None:
        """Write rows (n, …) at the end. Raises InvalidInput for others than before; place: how errors name the client.

        Also where the folder has no room left.
        """
        like = self._like = rows[:0].clone() if self._like is None else self._like
        if rows.dtype != like.dtype:
            kinds = f"are {rows.dtype} here and {like.dtype} before".replace("torch.", "")
            raise InvalidInput(f"{place}[0]", "inputs", kinds, "make them alike")
        if rows.shape[1:] != like.shape[1:]:
            expected = f"(n_k, {', '.join(map(str, like.shape[1:]))})"
            problem = "has samples of another shape"
            raise InvalidInput(f"{place}[0]", tuple(rows.shape), problem, f"give {expected}")
        if shutil.disk_usage(self._disk.folder).free < rows.nbytes + RESERVED:
            raise self._full()
        try:
            self._file.write(np.ascontiguousarray(rows.numpy()).data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise self._full() from error
        self._count += len(rows)

    def _full(self) -> InvalidInput:
        problem = f"has no room left after {memory.readable(self._file.tell())} of samples"
        cure = "give a folder with more room, and streams that end"
        return InvalidInput("storage", str(self._disk.folder), problem, cure)

    def __len__(self) -> int:
        return self._count

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def mapped(self) -> Tensor:
        """All rows, (N, …), as a tensor in the file's memory map; the file goes with it."""
        assert self._like is not None
        self._file.flush()
        shape = (self._count, *self._like.shape[1:])
        kind = self._like.numpy().dtype
        return torch.from_numpy(np.memmap(self._file, kind, "r+", shape=shape))


def disk_of(storage: Any, clients: Any, test: Any) -> Disk | None:
    """Where the argument `storage` puts the samples; None: in memory, or on the device. Raises InvalidInput."""
    if isinstance(storage, os.PathLike):
        folder = Path(storage)
        if not folder.is_dir():
            raise InvalidInput("storage", str(folder), "is no folder", "give one that exists")
        return Disk(folder)
    if storage not in STORAGES:
        raise InvalidInput("storage", storage, "is unknown", f"{one_of(str(storage), STORAGES)}, or a folder as a Path")
    given = [*(clients if isinstance(clients, list | tuple) else []), *([] if test is None else [test])]
    if storage == DISK or (storage == AUTO and any(map(_is_memory_mapped, given))):
        return Disk(Path(tempfile.gettempdir()), required=storage == DISK)
    return None


def rows_at_once(rows: Any) -> int:
    """The number of rows of an array that are read at once."""
    return max(1, PIECE * len(rows) // max(1, int(getattr(rows, "nbytes", 0))))


def array_pieces(given: Any, place: str) -> Iterator[Any]:
    """A client's arrays, (inputs, targets) or with weights, or a dictionary of columns, some samples at a time.

    inputs: an array, or a dictionary of arrays. Raises InvalidInput for anything else.
    """
    if not isinstance(given, Mapping) and not (isinstance(given, tuple | list) and len(given) in (2, 3)):
        cure = "give (X, y), or (X, y, w) with the samples' weights"
        raise InvalidInput(place, given, "is not a pair (inputs, targets)", cure)
    tree = _as_dictionary(given) if isinstance(given, Mapping) else tuple(map(_as_dictionary, given))
    columns, whole = tree_flatten(tree, is_leaf=_is_column)
    columns = [column if hasattr(column, "shape") else np.asarray(column) for column in columns]
    lengths = {len(column) if column.ndim else 0 for column in columns}
    if len(lengths) != 1 or 0 in lengths:
        yield tree_unflatten(columns, whole)  # which is reported where its shapes are compared
        return
    step = min(map(rows_at_once, columns))
    for begin in range(0, lengths.pop(), step):
        yield tree_unflatten([column[begin : begin + step] for column in columns], whole)


def _as_dictionary(given: Any) -> Any:
    return dict(given) if isinstance(given, Mapping) else given


def _is_column(value: Any) -> bool:
    return hasattr(value, "shape") or (isinstance(value, list) and not any(hasattr(x, "shape") for x in value))


def stored_rows(values: Any, dtype: torch.dtype, name: str) -> Tensor:
    """Inputs as a file has them: floats in `dtype`, bytes as bytes, other whole numbers as int64.

    Raises InvalidInput for what are no finite numbers of that type.
    """
    rows = as_samples(values, name)
    kind = dtype if rows.is_floating_point() else torch.uint8 if rows.dtype == torch.uint8 else torch.int64
    return require_fits(rows, rows.to("cpu", kind), name)


def _is_memory_mapped(given: Any) -> bool:
    inputs = given[0] if isinstance(given, list | tuple) and len(given) else given
    return any(isinstance(x, np.memmap) for x in (inputs.values() if isinstance(inputs, Mapping) else [inputs]))
