"""Reads users' files, plain or gzipped, within a size limit and with errors that name the path and the line."""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.errors import InvalidInput
from fedconvex.memory import FREE, require

CHUNK = 2**20
BLOCK = 2**26  # bytes of contents for which memory is asked at once; a buffer that grows leaves an eighth empty
TEXT_BLOCK = 2**22  # bytes of text, likewise
AS_OBJECTS = 20  # bytes that a byte of text takes in Python: cells of two characters are objects of 50 bytes
SMALLER = "give a smaller file, or a machine with more memory"
MAX_LINE = 2**27  # bytes; a file without line ends must not fill the memory before it is refused


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a text file, numbered from 1. Raises InvalidInput if the file cannot be read to its end."""
    number, size, asked = 0, 0, TEXT_BLOCK // AS_OBJECTS
    try:
        with open_bytes(path) as stream:
            while line := stream.readline(MAX_LINE):
                number, size = number + 1, size + len(line)
                if size > asked:
                    asked = size + TEXT_BLOCK
                    purpose = f"the text from line {number} on"
                    require(AS_OBJECTS * max(TEXT_BLOCK, len(line)), "path", path, purpose, SMALLER)
                if len(line) == MAX_LINE:
                    raise bad_file(path, f"line {number}: is longer than {MAX_LINE} bytes", "break it into lines")
                if size > MAX_BYTES:
                    raise _too_large(path)
                yield number, line
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error, f"after line {number}: ") from error


def contents(path: Path) -> bytes:
    """All bytes of a file. Raises InvalidInput if it cannot be read, is empty or is larger than `MAX_BYTES`."""
    try:
        with open_bytes(path) as stream:
            # one byte more than allowed: a small gzip file may unpack to any size
            data = buffered(stream, MAX_BYTES + 1).getvalue()
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from error
    except MemoryError:
        raise bad_file(path, "does not fit into the memory", "give a smaller file") from None
    if not data:
        raise bad_file(path, "the file is empty", "give a file with data")
    if len(data) > MAX_BYTES:
        raise _too_large(path)
    return data


def buffered(stream: IO[bytes], limit: int = MAX_BYTES) -> io.BytesIO:
    """At most `limit` bytes of the stream, in memory that grows with the bytes that arrive, not with the limit.

    The result's `getvalue` and `getbuffer` make no second copy.
    """
    # stream.read(limit) would allocate `limit` bytes at once, also for a short file whose header lies about its size.
    data, asked = io.BytesIO(), FREE
    for piece in chunks(stream, limit):
        if data.tell() >= asked:  # a few bytes may unpack to gigabytes
            asked = data.tell() + BLOCK
            require(BLOCK + data.tell() // 8, "path", getattr(stream, "name", "a stream"), "the file's bytes", SMALLER)
        data.write(piece)
    return data


def chunks(stream: IO[bytes], limit: int) -> Iterator[bytes]:
    """At most `limit` bytes of the stream, one mebibyte at a time."""
    while limit > 0 and (piece := stream.read(min(limit, CHUNK))):
        limit -= len(piece)
        yield piece


def _too_large(path: Path) -> InvalidInput:
    return bad_file(path, f"holds more than {MAX_BYTES / 2**30:.0f} GiB", "give a smaller file")


def open_bytes(path: Path) -> IO[bytes]:
    """The opened file, decompressed if its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def unreadable(path: Path, error: Exception, where: str = "") -> InvalidInput:
    """The error for a file that cannot be read; `where` states how far reading came."""
    match error:
        case EOFError():
            return bad_file(path, f"{where}the gzip data is truncated", "download or copy the file again")
        case gzip.BadGzipFile() | zlib.error():
            problem = f"{where}the gzip data is damaged ({error})"
            return bad_file(path, problem, "copy the file again, or drop .gz from its name if it is not compressed")
        case FileNotFoundError():
            return bad_file(path, "there is no such file", "check the path, relative to " + os.fspath(Path.cwd()))
        case IsADirectoryError():
            return bad_file(path, "is a directory", "give a file in it")
        case PermissionError():
            return bad_file(path, "may not be read", "change its permissions")
        case _:
            return bad_file(path, f"{where}cannot be read ({error})", "check the file and its disk")
