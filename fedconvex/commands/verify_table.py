"""What `fedconvex verify` prints: a line for each result, what is refuted and why, totals; one step in full."""

from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from fedconvex.commands.terminal import console, say
from fedconvex.display.documents import Paragraph
from fedconvex.display.text import text
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.evidence import Role
from fedconvex.proofs_checks.reporting import views
from fedconvex.proofs_checks.reporting.records import summary, totals
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.proofs_checks.reporting.records import Record
    from fedconvex.proofs_checks.sentences.findings import SentenceFinding
    from fedconvex.statements.statement import Statement

STYLES = {"proved": "green", "compared": "cyan", "refuted": "bold red", "unknown": "yellow", "assumed": "yellow"}

HEADINGS = ("statement", "kind", "verdict", "lines", "tightness", "seconds")
SENTENCE = 110  # columns
WIDTHS = ("{:<26}", "{:<19}", "{:<8}", "{:>26}", "{:>10}", "{:>7}")


def show(records: "Iterator[Record]", count: int, quiet: bool = False) -> "list[Record]":
    """Prints a line for each result as it comes, and returns the results; no line if quiet.

    One statement alone is shown with all that is known of it, on one screen.
    """
    if quiet:
        return list(records)
    if count == 1:
        (one,) = records
        say(views.screen(one))
        return [one]
    output, found = console(), []
    if output.is_terminal:
        _say(output, "  ".join(map(str.format, WIDTHS, HEADINGS)), "bold")
    for record in records:
        found.append(record)
        _say(output, "  ".join(map(str.format, WIDTHS, _cells(record))), STYLES[record.verdict] * output.is_terminal)
    return found


def _cells(record: "Record") -> tuple[str, ...]:
    proof, compared, failing = len(record.lines(Role.PROOF)), len(record.lines(Role.COMPARED)), len(record.failing)
    counts = [f"{n} {word}" for n, word in ((proof, "proved"), (compared, "compared"), (failing, "misprinted")) if n]
    seconds = f"{record.seconds:.2f}"
    return record.identifier, record.claim, record.verdict.upper(), ", ".join(counts), _tightness(record), seconds


def _tightness(record: "Record") -> str:
    if record.tightness is None:
        return ""
    exactly_one = record.tightness["exact"] == "1"
    return "attained" if exactly_one else f"{record.tightness['quotient']:.3g}"


def print_findings(records: "list[Record]", changed: list[str], heading: str = "changed") -> None:
    """Prints refuted statements with what holds instead, undecided ones, totals, and each change after the heading."""
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
    says = Paragraph(record.words, "says")
    but = [Paragraph(f"{record.witness['shows']}: {record.witness['found']}", "but")] if record.witness else []
    _say(output, text([says, *but, *views.program(record), *views.instead(record), *views.notes(record)]))


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


def print_sentences(papers: list[str]) -> None:
    """Prints the sentences of these papers, or of all, with verdicts; exit status 1 where a check fails."""
    from fedconvex.proofs_checks.sentences.findings import SentenceVerdict, finding, summary
    from fedconvex.theory.sentences import sentences

    found = []
    for sentence in sentences(*(name.strip().lower() for name in papers)):
        found.append(finding(sentence))
        say(sentence_shown(found[-1]) + "\n")
    say(summary(found))
    if any(one.verdict is SentenceVerdict.FAILED for one in found):
        raise typer.Exit(1)


def sentence_shown(found: "SentenceFinding") -> str:
    """One sentence on a few lines."""
    sentence = found.sentence
    lines = [
        f"“{sentence.quotation}” ({sentence.place})",
        f"means: {sentence.means}",
        f"found: {'; '.join(found.evidence)}",
    ]
    lines += [f"holds: {sentence.instead}"] if sentence.instead else []
    text = [fill(line, SENTENCE, initial_indent="  ", subsequent_indent="    ") for line in lines]
    return "\n".join([f"{sentence.identifier}  {found.verdict.value}", *text])
