"""Damage to valid files: of their bytes, of their words and numbers, and of what their archives hold."""

import gzip
import io
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
VALUE = re.compile(rb"(?<== )[^\n]+")  # of a key in TOML
PNG_HEAD = 8  # bytes before the first chunk

# Values that readers take for another one, or compute with for ever.
NUMBERS = (
    b"0", b"-0", b"-1", b"1e400", b"1" + b"0" * 400, b"2147483647", b"9007199254740993", b"1e-400", b"nan", b"inf",
    b"1_0", b"0x10", b"+1", b"1.", b".5", b"1e5", b"true", b"", b"00012", b"4294967296", b"9" * 5000,
)  # fmt: skip
WORDS = (
    b"\0", b"\n", b"\r", b"\r\n", b"\t", b"\xff\xfe", b"\xef\xbb\xbf", "\u2028".encode(), "\u202e".encode(), b"\x1b[2J",
    b'"', b"'", b",", b":", b";", b"#", b"[" * 3000, b"{" * 3000, b"(" * 200, b"[", b"]", b"%s%n", b"../../x", b" ",
    b"\\ud800", b"1:1", b"qid:3", b"NaN",
)  # fmt: skip
TOML_VALUES = (
    b"[]", b"{}", b"[[1], [2, [3]]]", b"{a = {b = [1]}}", b'""', b'"x"', b"-1", b"0", b"1.5", b"nan", b"inf", b"true",
    b"10000000000000", b"1" + b"0" * 40, b"1979-05-27", b'["a", 1]', b'"=1/0"', b'"=9**9**9"', b'"=L.__class__"',
    b'"=" + "("', b"[nan]", b'"\\u0000"', b"[" * 2000 + b"]" * 2000, b"20", b"'''a\nb'''", b"-0.0",
)  # fmt: skip
JSON_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, 1e300, 10**400, "", "x", "\ud800", "\x1b[2J", [], {}, [[]], {"a": 1}, "9" * 5000, 2**31 - 1,
    2**63, -0.0, float("nan"), float("inf"), "1/0", "10" * 200, [None], {"": []}, "<script>alert(1)</script>",
)  # fmt: skip


def mutated(content: bytes, rng: random.Random, name: str) -> bytes:
    """The content with one to three damages of the kinds that fit the file's name."""
    own: list[Callable[[bytes, random.Random], bytes]] = []
    if name.endswith(".gz"):
        own = [lambda data, rng: gzip.compress(mutated(gzip.decompress(data), rng, name.removesuffix(".gz")))]
    elif name.endswith(".npz"):
        own = [_member]
    elif name.endswith(".png"):
        own = [_chunk]
    elif name.endswith(".json"):
        own = [_json_value, _number, _word, _key_twice]
    elif name.endswith(".toml"):
        own = [_toml_value, _toml_value, _line]
    elif not name.endswith((".parquet", ".jpg", ".tar", ".bin", "ubyte", ".safetensors")):
        own = [_number, _number, _word, _line]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.choice(own if own and rng.random() < 0.6 else BYTES)
        try:
            content = change(content, rng)
        except Exception:
            content = _flip(content, rng)  # it is damaged too much already to be opened
    return content


def _place(content: bytes, rng: random.Random) -> int:
    return rng.randrange(len(content) + 1)


def _flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8)) if content else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: _place(content, rng)]


def _remove(content: bytes, rng: random.Random) -> bytes:
    start = _place(content, rng)
    return content[:start] + content[start + rng.randint(1, 40) :]


def _double(content: bytes, rng: random.Random) -> bytes:
    start, place = _place(content, rng), _place(content, rng)
    return content[:place] + content[start : start + rng.randint(1, 200)] + content[place:]


def _insert(content: bytes, rng: random.Random) -> bytes:
    start = _place(content, rng)
    return content[:start] + rng.randbytes(rng.randint(1, 40)) + content[start:]


def _extreme(content: bytes, rng: random.Random) -> bytes:
    """A size or an offset becomes 0, the largest, or nearly so."""
    start, width = _place(content, rng), rng.choice((1, 2, 4, 8))
    value = rng.choice((0, 1, 2 ** (8 * width) - 1, 2 ** (8 * width - 1), 2 ** (8 * width - 1) - 1))
    return content[:start] + value.to_bytes(width, rng.choice(("little", "big"))) + content[start + width :]


def _replace(content: bytes, rng: random.Random, what: re.Pattern[bytes], by: tuple[bytes, ...]) -> bytes:
    found = list(what.finditer(content))
    if not found:
        return _flip(content, rng)
    start, end = rng.choice(found).span()
    return content[:start] + rng.choice(by) + content[end:]


def _number(content: bytes, rng: random.Random) -> bytes:
    return _replace(content, rng, NUMBER, NUMBERS)


def _toml_value(content: bytes, rng: random.Random) -> bytes:
    return _replace(content, rng, VALUE, TOML_VALUES)


def _word(content: bytes, rng: random.Random) -> bytes:
    start = _place(content, rng)
    return content[:start] + rng.choice(WORDS) + content[start:]


def _line(content: bytes, rng: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    one = rng.choice(lines)
    if rng.random() < 0.5:
        lines.remove(one)
    else:
        lines.insert(rng.randrange(len(lines) + 1), one)
    return b"".join(lines)


def _key_twice(content: bytes, rng: random.Random) -> bytes:
    """An entry of an object comes a second time, with another value."""
    found = list(re.finditer(rb'"[^"\\]+": ', content))
    if not found:
        return _flip(content, rng)
    one = rng.choice(found)
    return content[: one.start()] + one[0] + rng.choice((b"0, ", b"[], ", b'"a", ')) + content[one.start() :]


def _json_value(content: bytes, rng: random.Random) -> bytes:
    """A value somewhere in the tree becomes another one, or is nested deeply."""
    whole = {"": json.loads(content)}
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [whole]
    while waiting:
        inside = waiting.pop()
        keys = range(len(inside)) if isinstance(inside, list) else list(inside)
        places += [(inside, key) for key in keys]
        waiting += [inside[key] for key in keys if isinstance(inside[key], list | dict)]
    inside, key = rng.choice(places)
    if rng.random() < 0.1:
        inside[key] = "@"
        deep = rng.choice((b"[", b'{"a": ')) * 20_000
        return json.dumps(whole[""]).encode().replace(b'"@"', deep)
    inside[key] = rng.choice(JSON_VALUES)
    return json.dumps(whole[""], ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _member(content: bytes, rng: random.Random) -> bytes:
    """A member of a ZIP archive changes, goes, or comes twice; the checksums are right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    place = rng.randrange(len(members))
    name, data = members[place]
    match rng.randrange(6):
        case 0:
            members.pop(place)
        case 1:
            members.append((name + rng.choice(("x", ".npy", "\0")), data))
        case 2:
            members[place] = (name, rng.choice(members)[1])
        case 3:
            header = rng.choice((b"(1000000000, 1000000)", b"(0,)", b"()", b"(-1,)", b"(3,)", b"(True,)", b"(5.0,)"))
            members[place] = (name, re.sub(rb"\([\d, ]*\)", header, data, count=1))
        case 4:
            kind = rng.choice(
                (b"'<f4'", b"'|O'", b"'<U3'", b"'<c16'", b"'>f8'", b"'|b1'", b"'<M8[s]'", b"[('a', '<f8')]")
            )
            members[place] = (name, re.sub(rb"'[<|>]\w+'", kind, data, count=1))
        case _:
            members[place] = (name, rng.choice(BYTES)(data, rng))
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data)
    return written.getvalue()


def _chunk(content: bytes, rng: random.Random) -> bytes:
    """A chunk of a PNG file changes, goes, or comes twice; the checksums are right."""
    chunks, place = [], PNG_HEAD
    while place + 12 <= len(content):
        size = int.from_bytes(content[place : place + 4], "big")
        chunks.append((content[place + 4 : place + 8], content[place + 8 : place + 8 + size]))
        place += 12 + size
    if not chunks:
        return _flip(content, rng)
    place = rng.randrange(len(chunks))
    kind, data = chunks[place]
    match rng.randrange(4):
        case 0:
            chunks.pop(place)
        case 1:
            chunks.insert(rng.randrange(len(chunks) + 1), chunks[place])
        case 2:
            text = b"a\0\0" + zlib.compress(bytes(2**21))
            chunks.insert(
                1, rng.choice(((b"zTXt", text), (b"iCCP", text), (b"gAMA", b""), (b"tRNS", b""), (b"PLTE", b"1")))
            )
        case _:
            chunks[place] = (kind, rng.choice(BYTES)(data, rng))
    return content[:PNG_HEAD] + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


BYTES = (_flip, _cut, _remove, _double, _insert, _extreme)
