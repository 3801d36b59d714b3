"""The verdicts that were reviewed by hand, in verdicts.json: a change of mind is noticed."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fedconvex.errors import FedconvexError
from fedconvex.proofs_checks.reporting.records import Record

PATH = Path(__file__).parents[1] / "verdicts.json"


def entry(record: Record) -> dict[str, Any]:
    """What is recorded of a result: the verdict, what holds instead, and how many steps have which verdict."""
    steps: dict[str, int] = {}
    for step in record.steps:
        steps[step.verdict] = steps.get(step.verdict, 0) + 1
    found: dict[str, Any] = {"verdict": record.verdict, "steps": dict(sorted(steps.items()))}
    return found | ({"corrected": record.corrected["identifier"]} if record.corrected else {})


def recorded() -> dict[str, dict[str, Any]]:
    """By identifier."""
    try:
        found: dict[str, dict[str, Any]] = json.loads(PATH.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FedconvexError(f"the recorded verdicts cannot be read: {error}") from error
    return found


def differences(records: Iterable[Record]) -> list[str]:
    """What is not as it was recorded, in words."""
    known = recorded()
    lines = []
    for record in records:
        before, now = known.get(record.identifier), entry(record)
        if before is None:
            lines.append(f"{record.identifier}: {record.verdict}, but no verdict is recorded")
        elif before != now:
            lines.append(f"{record.identifier}: {_words(now)}, but recorded is {_words(before)}")
    return lines


def as_text(records: Iterable[Record]) -> str:
    """The content of verdicts.json for these results, to be reviewed before it is committed."""
    lines = (
        f" {json.dumps(r.identifier)}: {json.dumps(entry(r))}" for r in sorted(records, key=lambda r: r.identifier)
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _words(found: dict[str, Any]) -> str:
    steps = ", ".join(f"{count} {verdict}" for verdict, count in found["steps"].items())
    corrected = f"; {found['corrected']} instead" if "corrected" in found else ""
    return f"{found['verdict']} (steps: {steps or 'none'}{corrected})"
