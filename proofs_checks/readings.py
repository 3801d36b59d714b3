"""What a verdict says of the paper's words: two phrases, one for the statement as printed, one for what holds.

A verdict is about the reading that can be proved. Where that is not what the paper prints, a remark says so as data
(`Reading`), and every output shows both phrases beside the verdict. "false" is never only said: a printed line that
fails at given numbers, or a program, must show it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from fedconvex.proofs_checks.witnesses import Witness, replay
from fedconvex.statements.statement import ClaimType, Statement, key_of
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.proofs_checks.remarks import Remarks

UNDECIDED = "undecided"
RESTATED = "restated, not in the paper's words"
COMPARED = "of the code that runs, on instances"
ROOM = 100  # characters of a phrase: outputs show it on one line


@final
@dataclass(frozen=True)
class Reading:
    """How a proved statement differs from what the paper prints.

    Attributes:
        as_printed: of the printed words: true, false or undefined, and for which reading or because of which misprint.
        holds: what is proved instead: the reading, or the statement with its misprint repaired.
        witness: a program that shows "false", where no line of `Remarks.misprints` does.
    """

    as_printed: str
    holds: str
    witness: Witness | None = None

    def __post_init__(self) -> None:
        for phrase in (self.as_printed, self.holds):
            assert 0 < len(phrase) <= ROOM, phrase
            assert "\n" not in phrase, phrase
        assert self.as_printed.startswith(("true", "false", "undefined")), self.as_printed


def is_ours(of: Statement) -> bool:
    """Whether the statement corrects or sharpens the paper, which does not print it."""
    return key_of(of.number) in of.paper.ours


def words(
    of: Statement, remarks: "Remarks", verdict: Verdict, *, corrected: Verdict | None, line_fails: bool
) -> tuple[str, str, str]:
    """The phrases (as printed, what holds) that a verdict allows, and the program's counterexample to another reading.

    Of a formula with several parts, of which the claim is about some, no more is said.

    Args:
        corrected: the verdict of the corrected statement; None where no remark names one.
        line_fails: whether a line fails as printed.
    """
    as_printed, holds, other = _words(of, remarks, verdict, corrected=corrected, line_fails=line_fails)
    if verdict is not Verdict.PROVED or not (unused := of.stated.unused):
        return as_printed, holds, other
    about = ", ".join(name for name in of.stated.value._fields if name not in unused)
    return as_printed, f"{holds}; of {about} alone", other


def _words(
    of: Statement, remarks: "Remarks", verdict: Verdict, *, corrected: Verdict | None, line_fails: bool
) -> tuple[str, str, str]:
    match verdict:
        case Verdict.REFUTED if remarks.corrected and corrected is Verdict.PROVED:
            return "false", f"the corrected statement {remarks.corrected}", ""
        case Verdict.REFUTED:
            return "false", UNDECIDED, ""
        case Verdict.ASSUMED:
            return "assumed", "if the assumed steps do", ""
        case Verdict.UNKNOWN:
            return UNDECIDED, UNDECIDED, ""
    if remarks.reading is not None:
        as_printed, holds, other = words_of(remarks.reading, line_fails)
        if verdict is Verdict.PROVED or not as_printed.startswith("true"):
            return as_printed, holds, other
        return UNDECIDED, COMPARED, other
    if verdict is Verdict.COMPARED:
        undecided = RESTATED if of.restated else UNDECIDED
        return "a definition" if of.claim_type is ClaimType.DEFINITION else undecided, COMPARED, ""
    if is_ours(of):
        return "not in the paper", "as stated", ""
    if of.restated:
        return RESTATED, "as stated", ""
    return "true", "as printed, up to constants" if of.claim_type is ClaimType.ASYMPTOTIC else "as printed", ""


def words_of(reading: Reading, line_fails: bool) -> tuple[str, str, str]:
    """The reading's phrases; "false" only with a counterexample."""
    if reading.witness is None:
        is_shown = line_fails or "false" not in reading.as_printed
        return reading.as_printed if is_shown else UNDECIDED, reading.holds, ""
    found = replay(reading.witness)
    if found.verdict is not Verdict.REFUTED:
        return UNDECIDED, reading.holds, ""
    return reading.as_printed, reading.holds, f"{reading.witness.shows}: {found.detail}"
