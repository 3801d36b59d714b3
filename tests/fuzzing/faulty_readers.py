"""Readers that do what no reader may, on damaged files: the test must find each of them."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kinds_of_files import Folder, Kind, file

CONTENT = b"valid"
# What the test reports of each of them.
FAULTY = {
    "raises.bin": "raised KeyError",
    "aborts.bin": "ended the process (-6)",
    "hangs.bin": "ended the process (-24)",
    "takes_memory.bin": "raised MemoryError",
    "guesses.bin": "read other values",
    "believes.bin": "took what a strict reader refuses",
}


def raises(content: bytes) -> Any:
    raise KeyError(content)


def aborts(content: bytes) -> Any:
    os.abort()


def hangs(content: bytes) -> Any:
    while True:
        pass


def takes_memory(content: bytes) -> Any:
    return bytes(3 * 2**30)


def guesses(content: bytes) -> Any:
    return content + b"?"


def plain(path: Path) -> Any:
    return path.read_bytes()


def strict(path: Path) -> Any:
    raise ValueError("it is damaged")


def damaged_only(name: str, fault: Callable[[bytes], Any]) -> Callable[[Folder], Any]:
    def read(folder: Folder) -> Any:
        content = (folder / name).read_bytes()
        return content if content == CONTENT else fault(content)

    return read


def faulty() -> Mapping[str, Kind]:
    faults = (raises, aborts, hangs, takes_memory, guesses)
    readers = {f"{fault.__name__}.bin": damaged_only(f"{fault.__name__}.bin", fault) for fault in faults}
    readers["believes.bin"] = damaged_only("believes.bin", bytes)
    compared = {"guesses.bin": plain, "believes.bin": strict}
    return {name: Kind(name, file(name, CONTENT), read, compared.get(name)) for name, read in readers.items()}
