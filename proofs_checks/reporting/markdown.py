"""The guide's page of verdicts; `python -m fedconvex.proofs_checks.reporting.markdown` prints it."""

import sys
from itertools import groupby

from fedconvex.proofs_checks.evidence import EvidenceLine, Role
from fedconvex.proofs_checks.reporting.records import Record, summary, totals
from fedconvex.proofs_checks.rocq.accepted import checked_by
from fedconvex.verdicts import Verdict

HEAD = """# Every verdict

Made by `python -m fedconvex.proofs_checks.reporting.markdown` from the proofs that run; [verify.md](verify.md) explains
the verdicts and how to inspect a proof. "As printed" is about the paper's words, "holds" about the proved claim: they
differ where the paper has a misprint or is ambiguous. "Lines" are those of the proof that the kernel replays. "Used" is
the largest ratio of the bounded quantity to its bound that an exact search has found; 1 is attained.
"Rocq" names the version of the proof assistant that has checked the same theorem from definitions.
"Compared" is no proof: a definition, or a formula about data, that agrees with the running code on exact instances.

```python
from fedconvex.proofs_checks import verify

print(verify("fedprox.equation6").verdict)
```
"""


def as_markdown(records: list[Record]) -> str:
    """The page for these records: a summary line, then for each paper a table and remarks."""
    sums = totals(records)
    counts = ", ".join(f"{n} {verdict}" for verdict, n in sums["statements"].items() if n)
    lines = [HEAD, f"{len(records)} statements: {counts}. {summary(records)}.", ""]
    for paper, some in groupby(records, key=lambda r: r.source.partition(",")[0]):
        lines += [f"## {paper}", "", *_paper(list(some))]
    return "\n".join(lines)


def _paper(records: list[Record]) -> list[str]:
    lines = [
        "| statement | verdict | Rocq | as printed | holds | lines | used | says |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in records:
        proof = len(r.lines(Role.PROOF))
        checked = checked_by(r.identifier, r.content)
        cells = (f"`{r.identifier}`", r.verdict, checked, r.as_printed, r.holds, str(proof or ""), _used(r), r.words)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    lines.append("")
    for record in records:
        lines += _remarks(record)
    return lines


def _remarks(record: Record) -> list[str]:
    """Counterexample, corrected statement, misprinted lines and notes; empty for a plain "proved"."""
    decided = record.verdict in (Verdict.PROVED.value, Verdict.COMPARED.value)
    if decided and not (record.failing or record.notes or record.vacuous):
        return []
    lines = [f"### `{record.identifier}`: {record.verdict}", ""]
    if not decided:
        lines += [f"{record.reason}.", ""]
    if record.witness:
        lines += ["```python", record.witness["program"], "```", ""]
    if record.corrected:
        lines += [f"What holds, `{record.corrected['identifier']}`: {record.corrected['words']}", ""]
        lines += [f"$$ {record.corrected['formula']} $$", ""]
    lines += [f"A counterexample to the other reading: {record.other_reading}\n"] if record.other_reading else []
    lines += [line for step in record.failing for line in _failing(step)]
    lines += [f"{record.notes}\n"] if record.notes else []
    lines += [f"Guarantees nothing: {record.vacuous}\n"] if record.vacuous else []
    return lines


def _failing(step: EvidenceLine) -> list[str]:
    return [f"As printed at {step.place} it fails: $ {step.shown} $", ""]


def _used(record: Record) -> str:
    if record.tightness is None:
        return ""
    return str(record.tightness["exact"] or f"{record.tightness['quotient']:.4g}")


if __name__ == "__main__":
    from fedconvex.proofs_checks import verify_all
    from fedconvex.proofs_checks.reporting.records import record
    from fedconvex.proofs_checks.reporting.results import chosen

    sys.stdout.write(as_markdown([record(result) for result in verify_all(chosen())]))
