"""What `fedconvex verify` prints: a growing table, refuted statements with their reasons, totals; one step in full."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fedconvex.commands.terminal import console, say
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.evidence import Role
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.proofs_checks.reporting.records import Record
    from fedconvex.statements.statement import Statement

STYLES = {"proved": "green", "compared": "cyan", "refuted": "bold red", "unknown": "yellow", "assumed": "yellow"}


def show(records: "Iterator[Record]", count: int, quiet: bool = False) -> "list[Record]":
    """Prints results as they come and returns them: a growing table on a terminal, else lines; none if quiet.

    One statement alone is shown with all that is known of it, on one screen.
    """
    if quiet:
        return list(records)
    if count == 1:
        from fedconvex.proofs_checks.reporting.views import screen

        (one,) = records
        say(screen(one))
        return [one]
    table_console = console()
    if not table_console.is_terminal:
        found = []
        for record in records:
            found.append(record)
            say("  ".join(_cells(record)))
        return found
    found = []
    # No refreshing thread: the table changes only when a result arrives.
    with Live(_table(found, count), console=table_console, vertical_overflow="visible", auto_refresh=False) as live:
        for record in records:
            found.append(record)
            live.update(_table(found, count), refresh=True)
    return found


def _table(records: "list[Record]", count: int) -> Table:
    left = f"{len(records)} of {count}" if len(records) < count else f"{count} statements"
    table = Table(box=None, padding=(0, 1), header_style="bold", caption=left, caption_justify="left")
    for heading in ("statement", "kind", "verdict"):
        table.add_column(heading, no_wrap=True)
    for heading in ("lines", "tightness", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for record in records:
        name, claim, verdict, *numbers = _cells(record)
        table.add_row(name, claim, Text(verdict.strip(), STYLES[record.verdict]), *numbers)
    return table


def _cells(record: "Record") -> tuple[str, ...]:
    proof, compared, failing = len(record.lines(Role.PROOF)), len(record.lines(Role.COMPARED)), len(record.failing)
    counts = [f"{n} {word}" for n, word in ((proof, "proved"), (compared, "compared"), (failing, "misprinted")) if n]
    return (
        f"{record.identifier:<26}", f"{record.claim:<19}", f"{record.verdict.upper():<8}", f"{', '.join(counts):>26}",
        f"{_tightness(record):>10}", f"{record.seconds:7.2f}",
    )  # fmt: skip


def _tightness(record: "Record") -> str:
    if record.tightness is None:
        return ""
    exactly_one = record.tightness["exact"] == "1"
    return "attained" if exactly_one else f"{record.tightness['quotient']:.3g}"


def print_findings(records: "list[Record]", changed: list[str], heading: str = "changed") -> None:
    """Prints refuted statements with what holds instead, undecided ones, totals, and each change after the heading."""
    from fedconvex.proofs_checks.reporting.records import summary, totals

    output = console()
    if len(records) == 1:  # `show` has said all of this
        for line in changed:
            _say(output, f"{heading}: {line}", "bold red")
        return
    for record in records:
        if record.verdict == Verdict.REFUTED.value:
            _print_refuted(output, record)
    for record in records:
        if record.is_another_reading:
            _say(output, f"{record.identifier}: as printed {record.as_printed}; holds {record.holds}", "yellow")
    open_ = [r for r in records if r.verdict in (Verdict.UNKNOWN.value, Verdict.ASSUMED.value)]
    for record in open_:
        _say(output, f"{record.identifier} is {record.verdict.upper()}: {record.reason}", "yellow")
    sums = totals(records)
    statements = ", ".join(f"{n} {verdict}" for verdict, n in sums["statements"].items() if n)
    _say(output, f"\n{len(records)} statements: {statements}", "bold")
    _say(output, f"{summary(records)}; {sums['seconds']} s")
    for line in changed:
        _say(output, f"{heading}: {line}", "bold red")


def _print_refuted(output: Console, record: "Record") -> None:
    _say(output, f"\n{record.identifier} ({record.source}) is REFUTED", "bold red")
    _say(output, f"  says: {record.words}")
    if record.witness:
        _say(output, f"  but: {record.witness['shows']}: {record.witness['found']}")
        for line in record.witness["program"].splitlines():
            _say(output, f"      {line}", "dim")
    if record.corrected:
        _say(output, f"  holds: {record.corrected['identifier']}: {record.corrected['words']}", "green")
    if record.notes:
        _say(output, f"  note: {record.notes}")


def print_step(of: "Statement", number: int) -> None:
    """Replays the proof and prints one line of it, with all that it uses. Raises InvalidInput if there is none."""
    from fedconvex.claims.display.plain_text import from_latex, mixed
    from fedconvex.proofs_checks import verify
    from fedconvex.proofs_checks.claims import builder_of, derivation_of
    from fedconvex.proofs_checks.reporting.derivations import shown_lines

    result = verify(of)
    if not result.evidence:
        raise InvalidInput("--step", number, f"{of.identifier} has no lines", "name another statement")
    if not 1 <= number <= len(result.evidence):
        lines = "1 line" if len(result.evidence) == 1 else f"{len(result.evidence)} lines"
        raise InvalidInput("--step", number, f"{of.identifier} has {lines}", "count from 1")
    line = result.evidence[number - 1]
    output = console()
    place = f" ({line.place})" if line.place else ""
    _say(output, f"{of.identifier}, line {number} of {len(result.evidence)}{place}", "bold")
    _say(output, f"  {from_latex(line.shown)}")
    _say(output, f"  because {mixed(line.because)}")
    if line.role == Role.PRINTED.value:
        _say(output, "  as printed; no verdict rests on it")
    if line.role == Role.PROOF.value and builder_of(of) is not None:
        for multiplier, what in shown_lines(of, derivation_of(of))[number - 1].uses:
            _say(output, f"  {from_latex(multiplier)} times: {mixed(what)}")
    _say(output, f"{line.verdict.upper()} by {line.engine}: {line.detail}", STYLES[line.verdict])


def _say(output: Console, line: str, style: str = "") -> None:
    output.print(Text(line, style), soft_wrap=True)
