"""Records written while a run goes on: CSV, or TensorBoard."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from fedconvex.errors import InvalidInput, MissingLibrary
from fedconvex.measurements import OF_CLIENTS
from fedconvex.writing import write_atomically

Write = Callable[[dict[str, Any]], None]


@contextmanager
def log_to(target: "str | PathLike[str] | None", records: Sequence[dict[str, Any]]) -> Iterator[Write]:
    """A function that writes one more record, after those that are there already (of a run that goes on)."""
    if target is None:
        yield lambda record: None
        return
    path = Path(target)
    if not path.absolute().parent.is_dir():
        raise InvalidInput("log", str(path), "lies in a folder that does not exist", "make the folder first")
    if path.suffix.lower() != ".csv":
        yield from _tensorboard(path, records)
        return
    if path.is_dir():
        raise InvalidInput("log", str(path), "is a folder", "give the name of a file")
    names = [name for name in records[0] if name != OF_CLIENTS]
    write_atomically(path, "".join(map(_line(names), [dict(zip(names, names, strict=True)), *records])).encode())
    with path.open("a", encoding="utf-8", newline="") as file:

        def write(record: dict[str, Any]) -> None:
            file.write(_line(names)(record))
            file.flush()

        yield write


def _line(names: Sequence[str]) -> Callable[[dict[str, Any]], str]:
    def line(record: dict[str, Any]) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow([record.get(name, "") for name in names])
        return text.getvalue()

    return line


def _tensorboard(folder: Path, records: Sequence[dict[str, Any]]) -> Iterator[Write]:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingLibrary("tensorboard", "a log that is no .csv file", "deep-logs") from None
    with SummaryWriter(str(folder)) as writer:

        def write(record: dict[str, Any]) -> None:
            for name, value in record.items():
                if name not in ("round", OF_CLIENTS):
                    writer.add_scalar(name, value, record["round"])

        for record in records:
            write(record)
        yield write
