"""A figure that is damaged, or too large for memory, is wrong input of the report."""

import struct
import zlib
from pathlib import Path

import pytest

from fedconvex.errors import InvalidInput
from fedconvex.report.experiments import _thumbnail


def png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    head = (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    pixels = (b"IDAT", zlib.compress(bytes(6)))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (head, *chunks, pixels, (b"IEND", b""))
    )


def test_a_small_picture_is_shown(tmp_path: Path) -> None:
    (tmp_path / "figure.png").write_bytes(png(2, 2))
    assert _thumbnail(tmp_path / "figure.png").startswith("data:image/png;base64,")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (png(8_000, 8_000), "it has 8000 × 8000 pixels"),
        (png(2, 2, (b"zTXt", b"a\0\0" + zlib.compress(bytes(2**21)))), "is no picture"),
        (png(2, 2, (b"IHDR", b"")), "is no picture"),
        (b"", "is no picture"),
    ],
    ids=["large", "text that unpacks to too much", "header cut short", "empty"],
)
def test_other_pictures_are_refused(content: bytes, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "figure.png").write_bytes(content)
    with pytest.raises(InvalidInput, match=complaint):
        _thumbnail(tmp_path / "figure.png")
