"""The guide's page of verdicts: `python -m fedconvex.proofs_checks.reporting.markdown > docs/verdicts.md`."""

import sys
from itertools import groupby

from fedconvex.proofs_checks.proof import Role
from fedconvex.proofs_checks.reporting.records import Record, StepRecord, totals
from fedconvex.verdicts import Verdict

HEAD = """# Every verdict

Made by `python -m fedconvex.proofs_checks.reporting.markdown` from the proofs that run; what the verdicts mean, and how
to look at a proof, is said in [verify.md](verify.md). "As printed" is said of the paper's words, "holds" of what is
proved: the two differ where the paper has a misprint or can be read in two ways. "Used" is the largest part of a bound
that an exact search has found to be used; 1 is attained. Of a definition there is nothing to prove; it is compared with
the code that runs.

```python
from fedconvex.proofs_checks import verify

print(verify("fedprox.equation6").verdict)
```
"""


def as_markdown(records: list[Record]) -> str:
    """The page for these records: a summary line, then for each paper a table and remarks."""
    sums = totals(records)
    counts = ", ".join(f"{n} {verdict}" for verdict, n in sums["statements"].items() if n)
    decided = f"Of {sums['displayed_steps']} displayed steps {sums['displayed_steps_decided']} are decided by machine"
    failing = f"{sums['printed_lines_refuted']} printed lines fail; {sums['steps']['assumed']} steps are assumed"
    lines = [HEAD, f"{len(records)} statements: {counts}. {decided}; {failing}.", ""]
    for paper, some in groupby(records, key=lambda r: r.source.partition(",")[0]):
        lines += [f"## {paper}", "", *_paper(list(some))]
    return "\n".join(lines)


def _paper(records: list[Record]) -> list[str]:
    lines = ["| statement | verdict | as printed | holds | steps | used | says |", "|---|---|---|---|---|---|---|"]
    for r in records:
        steps = f"{r.count(Verdict.PROVED)} of {len(r.steps)}"
        cells = (f"`{r.identifier}`", r.verdict, r.as_printed, r.holds, steps, _used(r), r.words)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    lines.append("")
    for record in records:
        lines += _remarks(record)
    return lines


def _remarks(record: Record) -> list[str]:
    """Counterexample, corrected statement, misprinted lines and notes; empty for a plain "proved"."""
    failing = [s for s in record.steps if s.role == Role.PRINTED.value and s.verdict == Verdict.REFUTED.value]
    if record.verdict == Verdict.PROVED.value and not (failing or record.notes or record.vacuous):
        return []
    lines = [f"### `{record.identifier}`: {record.verdict}", ""]
    if record.verdict != Verdict.PROVED.value:
        lines += [f"{record.reason}.", ""]
    if record.witness:
        lines += ["```python", record.witness["program"], "```", ""]
    if record.corrected:
        lines += [f"What holds, `{record.corrected['identifier']}`: {record.corrected['words']}", ""]
        lines += [f"$$ {record.corrected['formula']} $$", ""]
    lines += [f"A counterexample to the other reading: {record.other_reading}\n"] if record.other_reading else []
    lines += [line for step in failing for line in _failing(step)]
    lines += [f"{record.notes}\n"] if record.notes else []
    lines += [f"Promises nothing: {record.vacuous}\n"] if record.vacuous else []
    return lines


def _failing(step: StepRecord) -> list[str]:
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
