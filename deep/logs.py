"""Logs of a run, written while it is running: a CSV file, or a folder for TensorBoard."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

from fedconvex.atomic_files import require_place, require_room_for, write_atomically
from fedconvex.deep.loggers import TensorBoard, started, summary_writer
from fedconvex.errors import InvalidInput
from fedconvex.locks import locked

Write = Callable[[dict[str, Any]], None]


def require_log(target: "str | PathLike[str] | None") -> None:
    """Raises InvalidInput for a path that cannot be written to, MissingLibrary for a folder without TensorBoard."""
    if target is None:
        return
    # A path with a null character raises ValueError in every call of the operating system.
    if not isinstance(target, str | PathLike) or "\0" in str(target):  # type: ignore[redundant-expr]
        raise InvalidInput("log", target, "is not the path of a file or folder", "give such as 'run.csv'")
    path = Path(target)
    if _is_table(path) or not path.absolute().parent.is_dir():
        require_place(path, "log")
        require_room_for(path, "log")
        return
    if path.is_file():
        raise InvalidInput("log", path, "is a file, and not .csv", "give the name of a folder for TensorBoard")
    require_room_for(path / "events" if path.is_dir() else path, "log")
    summary_writer("a log that is no .csv file")


def only_writer(target: "str | PathLike[str] | None") -> AbstractContextManager[None]:
    """Keeps other runs from the table meanwhile, raising InUse; TensorBoard gives every run a file of its own."""
    return locked(Path(target), "log") if target is not None and _is_table(Path(target)) else nullcontext()


@contextmanager
def log_to(target: "str | PathLike[str] | None", records: Sequence[dict[str, Any]]) -> Iterator[Write]:
    """Yields a function that logs one more record, after writing those of a continued run; without target a no-op."""
    if target is None:
        yield lambda record: None
        return
    path = Path(target)
    if not _is_table(path):
        yield from _tensorboard(path, records)
        return
    # The file is rewritten from the checkpoint's records: a killed run may have logged rounds that will be repeated.
    names = [name for name, value in records[0].items() if not isinstance(value, list)]
    text = io.StringIO()
    table = _table(text, names)
    table.writeheader()
    table.writerows(records)
    write_atomically(path, text.getvalue().encode())
    with path.open("a", encoding="utf-8", newline="") as file:
        table = _table(file, names)

        def write(record: dict[str, Any]) -> None:
            table.writerow(record)
            file.flush()  # a row must not be lost if the run is killed

        yield write


def _is_table(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _table(file: TextIO, names: Sequence[str]) -> "csv.DictWriter[str]":
    return csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")


def _tensorboard(folder: Path, records: Sequence[dict[str, Any]]) -> Iterator[Write]:
    with started([TensorBoard(folder)], {}, records) as writing:
        yield writing.write
