"""The recorded verdicts, in verdicts.json: a person reviews each change, so that a verdict never changes unnoticed."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fedconvex.atomic_files import require_room_for, write_atomically
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.json_files import fault_in, read_json
from fedconvex.locks import locked
from fedconvex.proofs_checks.claims import builder_of, derivation_of, fingerprint_of_proof
from fedconvex.proofs_checks.evidence import CodeComparison, EvidenceLine, FailingLine, Role
from fedconvex.proofs_checks.readings import words_of
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.reporting.derivations import evidence_of
from fedconvex.proofs_checks.reporting.records import Record, record
from fedconvex.proofs_checks.verification import Result, load
from fedconvex.statements.recorded import is_of
from fedconvex.statements.statement import Statement
from fedconvex.theory.others import is_from_elsewhere
from fedconvex.verdicts import Verdict

SHAPE = {
    str: {
        **dict.fromkeys(("verdict?", "as_printed?", "holds?", "corrected?", "content?", "proof?"), str),
        "lines?": {str: int},
    }
}
PHRASES = {"as_printed", "holds"}
PATH = Path(__file__).parents[1] / "verdicts.json"


def entry(record: Record) -> dict[str, Any]:
    """What is recorded of a result: verdict, phrases, lines of each verdict, the corrected statement, fingerprints."""
    lines: dict[str, int] = {}
    for line in record.evidence:
        lines[line.verdict] = lines.get(line.verdict, 0) + 1
    found: dict[str, Any] = {"verdict": record.verdict, "as_printed": record.as_printed, "holds": record.holds}
    found["lines"] = dict(sorted(lines.items()))
    found |= {"corrected": record.corrected["identifier"]} if record.corrected else {}
    return found | {name: of for name, of in (("content", record.content), ("proof", record.proof)) if of}


def recorded() -> dict[str, dict[str, Any]]:
    """The entry of every recorded statement, by identifier. Raises FedconvexError for a file that cannot be read."""
    return _entries(PATH, "the recorded verdicts")


def _entries(path: Path, what: str) -> dict[str, dict[str, Any]]:
    try:
        found: dict[str, dict[str, Any]] = read_json(path)
    except (OSError, ValueError) as error:
        raise FedconvexError(f"{what} cannot be read: {error}") from error
    if (fault := fault_in(found, SHAPE)) is not None:
        raise FedconvexError(f"{what} cannot be read: {fault}")
    return found


def beside(paper: str) -> Path:
    """The verdicts of a paper from elsewhere: in mypaper.verdicts.json, beside its mypaper.py."""
    from fedconvex.theory import module_of

    return Path(str(module_of(paper).__file__)).with_suffix(".verdicts.json")


def recorded_beside(paper: str) -> dict[str, dict[str, Any]]:
    """The recorded entries of a paper from elsewhere; none where there is no file."""
    return recorded_in(beside(paper))


def recorded_in(path: Path) -> dict[str, dict[str, Any]]:
    """The entries in such a file. Raises FedconvexError for one that cannot be read."""
    return _entries(path, f"the verdicts in {path}") if path.exists() else {}


def as_recorded(of: Statement, entry: dict[str, Any]) -> Record | None:
    """A result made from the entry and the statement's proof, which is not replayed. Use it to show many results fast.

    None where the entry is of another claim or another proof, or does not determine every line's verdict: of a refuted
    statement the counterexample has to be computed.
    """
    load(of.paper.name)
    remarks = remarks_of(of)
    has_proof = builder_of(of) is not None
    possible = Verdict.PROVED if has_proof else Verdict.COMPARED if remarks.compared else None
    if remarks.refutation is not None or possible is None or entry.get("verdict") != possible.value:
        return None
    if not entry.keys() >= PHRASES or not is_of(entry, of) or entry.get("proof", "") != fingerprint_of_proof(of):
        return None
    proof = evidence_of(of, derivation_of(of)) if has_proof else ()
    compared = tuple(_unlooked(line, Role.COMPARED, Verdict.COMPARED) for line in remarks.compared)
    misprints = tuple(_unlooked(line, Role.PRINTED, Verdict.REFUTED) for line in remarks.misprints)
    counts = {"compared": len(compared), "proved": len(proof), "refuted": len(misprints)}
    if entry.get("lines") != {name: n for name, n in counts.items() if n}:
        return None
    other = words_of(remarks.reading, line_fails=True)[2] if remarks.reading else ""
    return record(
        Result(
            of, Verdict(entry["verdict"]), "as recorded", (*proof, *compared, *misprints), notes=remarks.notes,
            vacuous=remarks.vacuous, tightness=remarks.tightness, as_printed=entry["as_printed"], holds=entry["holds"],
            other_reading=other,
        )
    )  # fmt: skip


def _unlooked(line: CodeComparison | FailingLine, role: Role, verdict: Verdict) -> EvidenceLine:
    return EvidenceLine(line.shown, line.because, line.place, role.value, verdict.value, "exact numbers", "as recorded")


def differences(records: Iterable[Record]) -> list[str]:
    """For each result that differs from its recorded verdict: both, in words."""
    known = recorded()
    lines = []
    for found in records:
        name = found.identifier.partition(".")[0]
        if is_from_elsewhere(name):
            expected = expected_verdict(recorded_beside(name).get(found.identifier, {}), found.content)
            if found.verdict != expected:
                lines.append(f"{found.identifier}: {found.verdict}, but recorded or expected is {expected}")
            continue
        before, now = known.get(found.identifier), entry(found)
        if before is None:
            lines.append(f"{found.identifier}: {found.verdict}, but no verdict is recorded")
        elif before != now:
            lines.append(f"{found.identifier}: {_words(now)}, but recorded is {_words(before)}")
    return lines


def expected_verdict(entry: dict[str, Any], content: str) -> str:
    """The recorded verdict where the entry is of this content, as of a lemma that is known to be open; else PROVED."""
    known: str = entry.get("verdict", "") if entry.get("content") == content else ""
    return known or Verdict.PROVED.value


def record_verdicts(records: Iterable[Record], *, replace_all: bool) -> list[str]:
    """Writes the verdicts of these results to verdicts.json and returns what changed, in words.

    Use it after a new or changed proof, and review the changes as you review code. The file is replaced in one step: an
    interrupted run leaves the old one whole.

    Args:
        records: fresh results, not cached ones.
        replace_all: whether these are all statements, so that entries of other statements are dropped.

    Raises:
        FedconvexError: not all statements are replaced, and the file cannot be read.
        InvalidInput: the file cannot be written.
    """
    records = list(records)
    elsewhere = {name for r in records if is_from_elsewhere(name := r.identifier.partition(".")[0])}
    lines = [line for name in sorted(elsewhere) for line in _record_beside(name, records)]
    records = [record for record in records if record.identifier.partition(".")[0] not in elsewhere]
    return lines + (_record(records, replace_all) if records else [])


def _record_beside(paper: str, records: list[Record]) -> list[str]:
    path = beside(paper)
    require_room_for(path, "--record")
    with locked(path, "--record"):
        known = recorded_beside(paper)
        new = {r.identifier: entry(r) for r in records if r.identifier.partition(".")[0] == paper}
        write_recorded(path, known | new)
    return [f"{name}: {_words(new[name])}" for name in new if new[name] != known.get(name)]


def write_recorded(path: Path, entries: dict[str, dict[str, Any]]) -> None:
    """Writes the entries to a file, in one step."""
    require_room_for(path, "--record")
    write_atomically(path, _as_text(entries).encode())


def _record(records: list[Record], replace_all: bool) -> list[str]:
    require_recordable()
    with locked(PATH, "--record"):  # else two processes would each keep the other's old entries
        try:
            known = recorded()
        except FedconvexError:
            if not replace_all:  # the entries that are to stay cannot be known
                raise
            known = {}
        new = {record.identifier: entry(record) for record in records}
        write_atomically(PATH, _as_text(new if replace_all else known | new).encode())
    changed = [name for name in new if new[name] != known.get(name)]
    before = {name: f"before: {_words(known[name])}" if name in known else "new" for name in changed}
    lines = [f"{name}: {_words(new[name])}; {before[name]}" for name in changed]
    dropped = sorted(known.keys() - new.keys()) if replace_all else []
    return lines + [f"{name}: dropped, there is no such statement" for name in dropped]


def require_recordable() -> None:
    """Raises InvalidInput where verdicts.json cannot be written, as in an installation for all users."""
    try:
        require_room_for(PATH, "--record")
    except InvalidInput as error:
        cure = "install fedconvex from a checkout that you may write to (pip install -e .), and record there"
        raise InvalidInput("--record", PATH, error.problem, cure) from None


def as_text(records: Iterable[Record]) -> str:
    """The content of verdicts.json for these results: one statement a line, so that a change is one line of a diff."""
    return _as_text({record.identifier: entry(record) for record in records})


def _as_text(entries: dict[str, dict[str, Any]]) -> str:
    lines = (f" {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in sorted(entries.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _words(found: dict[str, Any]) -> str:
    lines = ", ".join(f"{count} {verdict}" for verdict, count in found.get("lines", {}).items())
    corrected = f"; {found['corrected']} instead" if "corrected" in found else ""
    phrases = f"; as printed: {found['as_printed']}; holds: {found['holds']}" if found.keys() >= PHRASES else ""
    of = "".join(f"; {name} {found[name]}" for name in ("content", "proof") if name in found)
    return f"{found.get('verdict', 'no verdict')} (lines: {lines or 'none'}{corrected}{phrases}{of})"
