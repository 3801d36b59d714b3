"""The theorems that Rocq has accepted, in accepted.json: by which version, and the digests of the texts it checked.

`fedconvex verify --kernel rocq --record` writes the file, and a person reviews each change. Tests compare the digests
with what the export writes today, so that no text passes for checked that is not.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedconvex.atomic_files import write_atomically
from fedconvex.errors import FedconvexError
from fedconvex.json_files import fault_in, read_json

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.files import Exported

SHAPE = {"rocq": str, "library": str, "theorems": {str: str}}
PATH = Path(__file__).parent / "accepted.json"


def digest_of(*texts: str) -> str:
    """The digest by which a text is recorded."""
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]


def record_accepted(version: str, accepted: "Iterable[Exported]") -> None:
    """Records these theorems as accepted, and those of before whose texts are the same; no others.

    Raises FedconvexError for a file that cannot be read.
    """
    from fedconvex.proofs_checks.rocq.files import exported, library
    from fedconvex.theory import papers

    now = {one.identifier: digest_of(one.text) for one in accepted}
    of_library, before = digest_of(*library().values()), _read()
    same = before["rocq"] == version and before["library"] == of_library
    known = {one.identifier: one for paper in papers().values() for one in paper.everything}
    kept = {
        name: digest
        for name, digest in before["theorems"].items()
        if same and name not in now and name in known and digest_of(exported(known[name]).text) == digest
    }
    content = {"rocq": version, "library": of_library, "theorems": dict(sorted({**kept, **now}.items()))}
    write_atomically(PATH, (json.dumps(content, indent=1) + "\n").encode())
    _read.cache_clear()


def checked_by(identifier: str) -> str:
    """The version of Rocq that has accepted the statement's theorem, or nothing. Raises FedconvexError as above."""
    found = _read()
    return str(found["rocq"]) if identifier in found["theorems"] else ""


@cache
def _read() -> dict[str, Any]:
    try:
        found: dict[str, Any] = read_json(PATH)
    except (OSError, ValueError) as error:
        raise FedconvexError(f"the theorems that Rocq has accepted cannot be read: {error}") from error
    if (fault := fault_in(found, SHAPE)) is not None:
        raise FedconvexError(f"the theorems that Rocq has accepted cannot be read: {fault}")
    return found
