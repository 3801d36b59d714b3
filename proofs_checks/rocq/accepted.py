"""The theorems that Rocq has accepted, in accepted.json: by which version, and the digests of the texts it checked.

`fedconvex verify --kernel rocq --record` writes the file, and a person reviews each change. Tests compare the digests
with what the export writes today, so that no text passes for checked that is not.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from fedconvex.errors import FedconvexError
from fedconvex.json_files import fault_in, read_json
from fedconvex.theory import statement

SHAPE = {"rocq": str, "library": str, "theorems": {str: str}}
PATH = Path(__file__).parent / "accepted.json"


def digest_of(*texts: str) -> str:
    """The digest by which a text is recorded."""
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]


def checked_by(identifier: str, content: str) -> str:
    """The version of Rocq that has accepted the theorem of the statement with that content, or nothing.

    Raises FedconvexError for a file that cannot be read.
    """
    found = accepted()
    known = identifier in found["theorems"] and statement(identifier).content == content
    return str(found["rocq"]) if known else ""


@cache
def accepted() -> dict[str, Any]:
    """What is recorded. Raises FedconvexError for a file that cannot be read."""
    try:
        found: dict[str, Any] = read_json(PATH)
    except (OSError, ValueError) as error:
        raise FedconvexError(f"the theorems that Rocq has accepted cannot be read: {error}") from error
    if (fault := fault_in(found, SHAPE)) is not None:
        raise FedconvexError(f"the theorems that Rocq has accepted cannot be read: {fault}")
    return found
