"""Records which theorems Rocq has accepted: `fedconvex verify --kernel rocq --record`."""

import json
from collections.abc import Iterable, Sequence

from fedconvex.atomic_files import write_atomically
from fedconvex.proofs_checks.rocq.accepted import PATH, accepted, digest_of
from fedconvex.proofs_checks.rocq.files import Exported, exported, library
from fedconvex.theory import papers
from fedconvex.theory import statement as statement_of


def digest(theorem: Exported) -> str:
    """The digest of a theorem's text and of those that it cites: where one changes, it has to be checked again."""
    return digest_of(theorem.text, *(digest(exported(statement_of(name))) for name in theorem.cited))


def unrecorded(version: str, theorems: Sequence[Exported]) -> list[Exported]:
    """Those that this version is not recorded to have accepted, with this library and text, and those that they cite.

    Raises FedconvexError for a file that cannot be read.
    """
    found, named = accepted(), {one.identifier: one for one in theorems}
    same = found["rocq"] == version and found["library"] == digest_of(*library().values())
    waiting = [one for one in theorems if not same or found["theorems"].get(one.identifier) != digest(one)]
    needed: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one.identifier not in needed:
            needed.add(one.identifier)
            waiting += [named[name] for name in one.cited]
    return [one for one in theorems if one.identifier in needed]


def record_accepted(version: str, accepted_now: Iterable[Exported], refused: Iterable[Exported] = ()) -> None:
    """Records the accepted theorems, and those of before that are the same today and not refused now; no others.

    Raises FedconvexError for a file that cannot be read.
    """
    now = {one.identifier: digest(one) for one in accepted_now}
    gone = {one.identifier for one in refused}
    of_library, before = digest_of(*library().values()), accepted()
    known = {one.identifier: one for paper in papers().values() for one in paper.everything}
    same = before["theorems"] if before["rocq"] == version and before["library"] == of_library else {}
    kept = {
        name: old
        for name, old in same.items()
        if name not in gone and name in known and digest(exported(known[name])) == old
    }
    content = {"rocq": version, "library": of_library, "theorems": dict(sorted({**kept, **now}.items()))}
    write_atomically(PATH, (json.dumps(content, indent=1) + "\n").encode())
    accepted.cache_clear()
