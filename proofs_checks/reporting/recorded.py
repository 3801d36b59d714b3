"""The verdicts that were reviewed by hand, in verdicts.json: a change of mind is noticed."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fedconvex.errors import FedconvexError
from fedconvex.proofs_checks.proof import CheckOutcome, Role, Step
from fedconvex.proofs_checks.reporting.records import Record, record
from fedconvex.proofs_checks.verification import Result, StepResult, proof_of
from fedconvex.statements.statement import Statement
from fedconvex.verdicts import Verdict

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


def as_recorded(of: Statement, entry: dict[str, Any]) -> Record | None:
    """The recorded verdict with the statement and its proof, none of whose steps is run.

    None where the entry does not tell the verdict of each step: it is for another proof, or the statement is refuted
    (then its counterexample is to be computed again). Of a proved statement only printed lines can fail.
    """
    proof = proof_of(of)
    if proof is None or proof.refutation is not None or entry["verdict"] != Verdict.PROVED.value:
        return None
    steps: dict[str, int] = entry["steps"]
    printed = sum(step.role is Role.PRINTED for step in proof.steps)
    failing = steps.get(Verdict.REFUTED.value, 0)
    if failing not in (0, printed) or failing + steps.get(Verdict.PROVED.value, 0) != len(proof.steps):
        return None
    evidence = tuple(StepResult(step, _outcome(step, failing > 0), 0.0) for step in proof.steps)
    return record(
        Result(
            of, Verdict.PROVED, "as recorded", evidence, notes=proof.notes, extra=proof.extra, vacuous=proof.vacuous,
            tightness=proof.tightness,
        )
    )  # fmt: skip


def _outcome(step: Step, printed_fail: bool) -> CheckOutcome:
    fails = printed_fail and step.role is Role.PRINTED
    return CheckOutcome(Verdict.REFUTED if fails else Verdict.PROVED, "as recorded")


def differences(records: Iterable[Record]) -> list[str]:
    """What is not as it was recorded, in words."""
    known = recorded()
    lines = []
    for found in records:
        before, now = known.get(found.identifier), entry(found)
        if before is None:
            lines.append(f"{found.identifier}: {found.verdict}, but no verdict is recorded")
        elif before != now:
            lines.append(f"{found.identifier}: {_words(now)}, but recorded is {_words(before)}")
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
