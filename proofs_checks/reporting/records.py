"""A verification result as plain data, for printing, caching, JSON and pages."""

from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from fedconvex.claims.display.phrases import setting_phrases
from fedconvex.claims.display.statements import displayed
from fedconvex.proofs_checks.engines.tightness import Tightness
from fedconvex.proofs_checks.proof import Role
from fedconvex.statements.rendering import assumptions_of
from fedconvex.statements.statement import Statement
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:  # `Result` shows itself by its record
    from fedconvex.proofs_checks.verification import Result, StepResult


@final
@dataclass(frozen=True)
class StepRecord:
    """One step of a proof and its outcome, as text and numbers."""

    shown: str
    because: str
    place: str
    role: str
    verdict: str
    engine: str
    detail: str
    seconds: float
    certified: bool  # there is a certificate that anyone can check again


@final
@dataclass(frozen=True)
class Record:
    """One statement and its result, as text and numbers."""

    identifier: str
    source: str
    claim: str
    words: str
    formula: str  # LaTeX
    conclusion: str  # LaTeX; "" where the formula itself is the conclusion
    assumptions: tuple[str, ...]
    verdict: str
    as_printed: str
    holds: str
    other_reading: str
    reason: str
    steps: tuple[StepRecord, ...]
    witness: dict[str, str] | None
    corrected: dict[str, str] | None
    notes: str
    extra: str
    vacuous: str
    tightness: dict[str, Any] | None
    kernel: tuple[str, ...]  # all that the theorem of the kernel assumes, in phrases; () where it has none
    seconds: float

    @property
    def is_another_reading(self) -> bool:
        """Whether it is proved, but not of all that is printed."""
        return self.verdict == Verdict.PROVED.value and ("false" in self.as_printed or "undefined" in self.as_printed)

    def count(self, *verdicts: Verdict, displayed: bool = False) -> int:
        """The number of steps with one of these verdicts; with `displayed`, of those that the paper displays."""
        wanted = {verdict.value for verdict in verdicts}
        return sum(step.verdict in wanted for step in self.steps if step.place or not displayed)

    def to_dictionary(self) -> dict[str, Any]:
        """As nested dictionaries and lists, for JSON."""
        return asdict(self)

    @classmethod
    def from_dictionary(cls, data: dict[str, Any]) -> "Record":
        """The record that `to_dictionary` wrote. Raises ValueError, TypeError or KeyError for anything else."""
        if data.keys() != {f.name for f in fields(cls)}:
            raise ValueError("other fields than a record's")
        steps = tuple(StepRecord(**step) for step in data["steps"])
        return cls(**{**data, "steps": steps, "assumptions": tuple(data["assumptions"]),
                      "kernel": tuple(data["kernel"])})  # fmt: skip


def record(result: "Result") -> Record:
    """The result as plain data. Measures the tightness, which may take longer than the proof."""
    of, replayed = result.statement, result.replayed
    return Record(
        identifier=of.identifier,
        source=of.source,
        claim=of.claim_type.value,
        words=of.words,
        formula=displayed(of).defined,
        conclusion=displayed(of).conclusion,
        assumptions=tuple(assumptions_of(of)),
        verdict=result.verdict.value,
        as_printed=result.as_printed,
        holds=result.holds,
        other_reading=result.other_reading,
        reason=result.reason,
        steps=tuple(map(_step, result.evidence)),
        witness=None if result.witness is None or replayed is None else {
            "shows": result.witness.shows, "program": result.witness.program.strip(), "found": replayed.detail,
        },
        corrected=None if result.corrected is None else _named(result.corrected),
        notes=result.notes,
        extra=result.extra,
        vacuous=result.vacuous,
        tightness=None if result.tightness is None else _measured(result.tightness),
        kernel=() if result.theorem is None else tuple(setting_phrases(of, result.theorem.setting)),
        seconds=round(result.seconds, 3),
    )  # fmt: skip


def _named(of: Statement) -> dict[str, str]:
    return {"identifier": of.identifier, "words": of.words, "formula": displayed(of).defined}


def _step(result: "StepResult") -> StepRecord:
    step, outcome = result.step, result.outcome
    return StepRecord(
        shown=step.shown,
        because=step.because,
        place=step.place,
        role=step.role.value,
        verdict=outcome.verdict.value,
        engine=step.by.engine,
        detail=outcome.detail,
        seconds=round(result.seconds, 4),
        certified=outcome.certificate is not None,
    )


def _measured(tightness: Tightness) -> dict[str, Any]:
    quotient = tightness.quotient
    exact = isinstance(quotient, int | Fraction)
    return {
        "quotient": float(quotient),
        "exact": str(quotient) if exact and len(str(quotient)) < 30 else None,  # longer fractions tell a reader nothing
        "how": tightness.how,
        "attained": tightness.attained,
    }


def totals(records: "list[Record]") -> dict[str, Any]:
    """The counts of a summary line: verdicts of statements, of all steps, and of the steps that the papers display."""
    displayed = [step for r in records for step in r.steps if step.place]
    decided = [s for s in displayed if s.verdict in (Verdict.PROVED.value, Verdict.REFUTED.value)]
    return {
        "statements": {v.value: sum(r.verdict == v.value for r in records) for v in Verdict},
        "steps": {v.value: sum(r.count(v) for r in records) for v in Verdict},
        "printed_lines_refuted": sum(
            s.verdict == Verdict.REFUTED.value and s.role == Role.PRINTED.value for s in displayed
        ),
        "displayed_steps": len(displayed),
        "displayed_steps_decided": len(decided),
        "certificates": sum(step.certified for r in records for step in r.steps),
        "seconds": round(sum(r.seconds for r in records), 2),
    }
