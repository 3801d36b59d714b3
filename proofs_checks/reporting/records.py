"""A verification result as plain data, for printing, caching, JSON and pages."""

from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from fedconvex.claims.display.statements import displayed, printed_beside, setting_phrases
from fedconvex.json_files import fault_in
from fedconvex.proofs_checks.claims import fingerprint_of_proof
from fedconvex.proofs_checks.evidence import EvidenceLine, Role
from fedconvex.proofs_checks.tightness import Tightness
from fedconvex.statements.rendering import assumptions_of
from fedconvex.statements.statement import ClaimType, Statement
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:  # `Result` shows itself by its record
    from fedconvex.proofs_checks.verification import Result


VERDICT = frozenset(verdict.value for verdict in Verdict)
LINE = {f.name: str for f in fields(EvidenceLine)} | {"role": frozenset(r.value for r in Role), "verdict": VERDICT}
TEXTS = ("identifier", "content", "proof", "source", "claim", "words", "formula", "conclusion", "as_printed", "holds",
         "other_reading", "reason", "notes", "vacuous")  # fmt: skip
SHAPE: dict[str, Any] = {  # of a record as a dictionary
    **dict.fromkeys(TEXTS, str), "printed": [str], "printed_plainly": [str], "assumptions": [str], "verdict": VERDICT,
    "evidence": [LINE], "witness": (None, dict.fromkeys(("shows", "program", "found"), str)),
    "corrected": (None, dict.fromkeys(("identifier", "words", "formula"), str)), "kernel": [str], "seconds": float,
    "tightness": (None, {"quotient": float, "exact": (None, str), "how": str, "attained": bool}),
}  # fmt: skip


@final
@dataclass(frozen=True)
class Record:
    """One statement and its result, as text and numbers."""

    identifier: str
    content: str  # the fingerprint of what is claimed and assumed
    proof: str  # that of the proof and of all that it cites; "" where there is none
    source: str
    claim: str
    words: str
    formula: str  # LaTeX
    conclusion: str  # LaTeX; "" where the formula itself is the conclusion
    printed: tuple[str, ...]  # the paper's formula and ours where they differ, with marks, as LaTeX
    printed_plainly: tuple[str, ...]  # the same as plain text
    assumptions: tuple[str, ...]
    verdict: str
    as_printed: str
    holds: str
    other_reading: str
    reason: str
    evidence: tuple[EvidenceLine, ...]
    witness: dict[str, str] | None
    corrected: dict[str, str] | None
    notes: str
    vacuous: str
    tightness: dict[str, Any] | None
    kernel: tuple[str, ...]  # all that the theorem of the kernel assumes, in phrases; () where it has none
    seconds: float

    @property
    def is_another_reading(self) -> bool:
        """Whether it is proved, but not of all that is printed."""
        return self.verdict == Verdict.PROVED.value and ("false" in self.as_printed or "undefined" in self.as_printed)

    def lines(self, role: Role, *verdicts: Verdict) -> list[EvidenceLine]:
        """The lines of this role; with verdicts, those that have one of them."""
        wanted = {verdict.value for verdict in verdicts or Verdict}
        return [line for line in self.evidence if line.role == role.value and line.verdict in wanted]

    @property
    def failing(self) -> list[EvidenceLine]:
        """The lines of the paper that fail as printed."""
        return self.lines(Role.PRINTED, Verdict.REFUTED)

    def to_dictionary(self) -> dict[str, Any]:
        """As nested dictionaries and lists, for JSON."""
        return asdict(self)

    @classmethod
    def from_dictionary(cls, data: Any) -> "Record":
        """The record that `to_dictionary` wrote. Raises ValueError for anything else."""
        if not isinstance(data, dict) or data.keys() != SHAPE.keys():
            raise ValueError("other fields than a record's")
        if (fault := fault_in(data, SHAPE)) is not None:
            raise ValueError(fault)
        evidence = tuple(EvidenceLine(**line) for line in data["evidence"])
        tuples = {name: tuple(of) for name, of in data.items() if isinstance(of, list)}
        return cls(**{**data, **tuples, "evidence": evidence})


def record(result: "Result") -> Record:
    """The result as plain data. Measures the tightness, which may take longer than the proof."""
    of, replayed = result.statement, result.replayed
    shown = displayed(of)
    return Record(
        identifier=of.identifier,
        content=of.content,
        proof=fingerprint_of_proof(of) if result.verdict is Verdict.PROVED else "",
        source=of.source,
        claim=_kind(result),
        words=of.words,
        formula=shown.defined,
        conclusion=shown.conclusion,
        printed=printed_beside(of) or (),
        printed_plainly=printed_beside(of, plain=True) or (),
        assumptions=tuple(assumptions_of(of)),
        verdict=result.verdict.value,
        as_printed=result.as_printed,
        holds=result.holds,
        other_reading=result.other_reading,
        reason=result.reason,
        evidence=result.evidence,
        witness=None if result.witness is None or replayed is None else {
            "shows": result.witness.shows, "program": result.witness.program.strip(), "found": replayed.detail,
        },
        corrected=None if result.corrected is None else _named(result.corrected),
        notes=result.notes,
        vacuous=result.vacuous,
        tightness=None if result.tightness is None else _measured(result.tightness),
        kernel=() if result.theorem is None else tuple(setting_phrases(of, result.theorem.setting)),
        seconds=round(result.seconds, 3),
    )  # fmt: skip


def _kind(result: "Result") -> str:
    """What it claims; an upper bound is called tight where an instance attains it."""
    kind, tightness = result.statement.claim_type, result.tightness
    shown = kind is not ClaimType.TIGHT or (tightness is not None and tightness.attained)
    return (kind if shown else ClaimType.UPPER).value


def _named(of: Statement) -> dict[str, str]:
    return {"identifier": of.identifier, "words": of.words, "formula": displayed(of).defined}


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
    """The counts of a summary line: verdicts of statements, lines of proofs, comparisons, and misprinted lines."""
    return {
        "statements": {v.value: sum(r.verdict == v.value for r in records) for v in Verdict},
        "proof_lines": sum(len(r.lines(Role.PROOF, Verdict.PROVED)) for r in records),
        "comparisons": sum(len(r.lines(Role.COMPARED, Verdict.COMPARED)) for r in records),
        "printed_lines_refuted": sum(len(r.failing) for r in records),
        "seconds": round(sum(r.seconds for r in records), 2),
    }


def summary(records: "list[Record]") -> str:
    """The counts in a sentence."""
    sums = totals(records)
    return (
        f"The kernel replayed {sums['proof_lines']} lines of proofs; {sums['comparisons']} formulas are compared with "
        f"the running code; {sums['printed_lines_refuted']} printed lines fail"
    )
