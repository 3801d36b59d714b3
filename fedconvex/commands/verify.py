"""The command `fedconvex verify`: checks the papers' statements by machine, compares with the recorded verdicts."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fedconvex.commands.output_files import require_files, require_writable
from fedconvex.commands.terminal import say
from fedconvex.errors import InvalidInput
from fedconvex.json_files import to_json
from fedconvex.optional import require_library
from fedconvex.safe_text import one_line

if TYPE_CHECKING:
    from fedconvex.proofs_checks.reporting.records import Record
    from fedconvex.statements.statement import Statement

VERIFY_HELP = """Do the papers' statements hold? Proofs that a small kernel replays, line by line.

[bold]fedconvex verify[/bold]
[bold]fedconvex verify fedsplit feddyn.lemma10[/bold]
[bold]fedconvex verify fedprox.equation7 --step 3[/bold]
[bold]fedconvex verify --html verdicts.html --certificates certificates[/bold]
[bold]fedconvex verify mypaper --record[/bold]
[bold]fedconvex verify ./mypaper.py --record[/bold]

For one statement the command prints the verdict with all evidence. PROVED: the kernel has replayed a proof of its \
claim. "As printed" states whether this is the paper's claim, "holds" gives the proved claim where it differs. \
REFUTED: there is a counterexample, a program of at most twenty lines, and a corrected statement. COMPARED: a \
definition, or a formula about data, that agrees with the running code on exact instances; nothing is proved. \
UNKNOWN: none of these. Tightness is the largest ratio of a quantity to its bound that an exact search found; 1 is \
attained. --record writes the verdicts that later runs are compared with, those of a FILE.py beside it. A FILE.json \
is a proof as --certificates writes it; the command replays it, with the proofs in the same folder that it cites. Exit \
status: 0 all verdicts are as recorded (or now recorded), 1 a verdict has changed or a proof is refused, 2 wrong \
input."""


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER | STATEMENT | FILE.py | FILE.json]…",
            show_default=False,
            help="Papers (fedprox), statements (fedprox.theorem4), a Python file with a paper or lemmas of your own, "
            "which is run, or proofs as JSON; without any, every paper with proofs.",
        ),
    ] = None,
    step: Annotated[int | None, typer.Option(help="Show one line of a proof, with all that it uses.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON; - for the terminal.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write one page that needs no network.")] = None,
    latex: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proofs as an appendix, line by line.")
    ] = None,
    certificates: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write every proof as a JSON file that can be replayed."),
    ] = None,
    use_cache: Annotated[
        bool,
        typer.Option("--cache/--no-cache", help="Reuse cached results when their inputs are unchanged."),
    ] = True,
    seconds: Annotated[
        float | None,
        typer.Option(
            show_default=False,
            help="End the search for a federation that violates a claim after so many seconds, whatever was tried.",
        ),
    ] = None,
    tries: Annotated[
        int | None,
        typer.Option(
            show_default=False,
            help="Try so many federations against each claim (500 for lemmas of a file, and with --seconds; else 0).",
        ),
    ] = None,
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="Run every proof again and record the verdicts, to be reviewed; with --kernel rocq what Rocq accepts.",
        ),
    ] = False,
    rocq: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the statements as theorems of Rocq, with proofs, to a new folder."),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="rocq", show_default=False, help="Check the theorems of Rocq with coqc; alone or with --rocq."
        ),
    ] = None,
    unrecorded: Annotated[
        bool,
        typer.Option("--changed", help="With --kernel rocq: check only theorems that are not recorded as checked."),
    ] = False,
    sentences: Annotated[
        bool, typer.Option("--sentences", help="Check what the papers assert in running text; alone or with papers.")
    ] = False,
) -> None:
    """Runs the proofs, prints one statement on a screen or many in a table, and writes what the options name."""
    if sentences:
        from fedconvex.commands.verify_table import print_sentences

        options = [step, json_file, html, latex, certificates, seconds, tries, rocq, kernel]
        if record or unrecorded or any(option is not None for option in options):
            raise InvalidInput("--sentences", True, "stands alone", "name papers only")
        print_sentences(names or [])
        return
    from fedconvex.commands import verify_table as table
    from fedconvex.proofs_checks.falsification import TRIES
    from fedconvex.proofs_checks.reporting import recorded, results
    from fedconvex.validation import integer_at_least, positive

    if seconds is not None:
        positive(seconds, "--seconds")
    if tries is not None:
        integer_at_least(tries, 1, "--tries")
    if named := [name for name in names or [] if name.endswith((".py", ".json"))]:
        from fedconvex.commands.verify_file import replay_files, verify_files

        written = [path for path in (json_file, html, latex, certificates, rocq, kernel) if path is not None]
        proofs = any(name.endswith(".json") for name in named)
        if len(named) != len(names or []) or step is not None or written or (record and proofs):
            cure = "name files only; of the options, give --seconds and --tries, and --record with Python files"
            raise InvalidInput("file", named[0], "is verified alone", cure)
        if proofs:
            replay_files(named)
        else:
            verify_files(named, seconds, tries or TRIES, record)
        return
    # All input is checked before the first proof runs: proofs of a paper take seconds.
    if unrecorded and kernel is None:
        raise InvalidInput("--changed", True, "is about what Rocq checks", "give --kernel rocq as well")
    _require_proofs(names or [])
    if rocq is not None or kernel is not None:
        from fedconvex.commands.verify_rocq import write_and_check

        if kernel not in (None, "rocq"):
            raise InvalidInput("--kernel", kernel, "is unknown", "give rocq")
        if any(option is not None for option in (step, json_file, html, latex, certificates, seconds, tries)):
            raise InvalidInput("--rocq", rocq or "rocq", "stands alone", "leave the other options out")
        if record and kernel is None:
            raise InvalidInput("--record", True, "records what Rocq accepts", "give --kernel rocq as well")
        write_and_check(rocq, results.chosen(names or []), kernel is not None, record, unrecorded)
        return
    if record:
        if step is not None:
            raise InvalidInput("--record", step, "is given together with --step", "record whole statements")
        _require_recordable(names or [])
    chosen = results.chosen(names or [])
    quiet = json_file is not None and str(json_file) == "-"  # standard output is then JSON and nothing else
    files = {"--json": None if quiet else json_file, "--html": html, "--latex": latex}
    require_files(files)
    for option, path, library in (("--html", html, "latex2mathml"), ("--latex", latex, "pylatexenc")):
        if path is not None:
            require_library(library, option)
    if certificates is not None:
        require_writable(certificates, "--certificates")
        for option, path in files.items():
            if path is not None and path.resolve() == certificates.resolve():
                raise InvalidInput("--certificates", certificates, f"is the file of {option}", "name a folder")
    if step is not None:
        if len(chosen) != 1:
            raise InvalidInput("--step", step, f"{len(chosen)} statements were named", "name one statement")
        table.print_step(chosen[0], step)
        return
    origins: list[results.Origin] = []

    def run_proofs() -> "Iterator[Record]":
        # Only proofs that run now are recorded: a cached result was made by some earlier run.
        for found, origin in results.results(chosen, kept=use_cache and not record):
            origins.append(origin)
            yield found

    records = table.show(run_proofs(), len(chosen), quiet)
    saved = _write(records, chosen, json_file, latex, certificates)
    if html is not None:
        from fedconvex.atomic_files import write_atomically
        from fedconvex.report import page_of

        page, _ = page_of(list(zip(chosen, records, origins, strict=True)), use_cache=use_cache)
        write_atomically(html, page.encode())
        saved.append(html)
    changed = recorded.record_verdicts(records, replace_all=not names) if record else recorded.differences(records)
    if not quiet:
        table.print_findings(records, changed, "recorded" if record else "changed")
        for path in saved:
            say(f"saved {one_line(str(path))}")
    broken = False
    if seconds is not None or tries is not None:
        from fedconvex.commands.verify_file import try_to_break

        broken = try_to_break(chosen, seconds, tries or TRIES, quiet)
    if broken or (changed and not record):
        raise typer.Exit(1)


def _require_proofs(names: list[str]) -> None:
    """Refuses papers without proofs, and unknown names with the nearest names that have proofs."""
    from difflib import get_close_matches

    from fedconvex.proofs_checks.verification import papers_with_proofs
    from fedconvex.theory import paper as find
    from fedconvex.theory import paper_names, papers

    proved = papers_with_proofs()
    for given in names:
        name = given.strip().lower()
        paper = name.partition(".")[0]
        own = find(paper) if paper in proved else None  # no other paper is imported for a name that is right
        if own is not None and name in (paper, *(s.identifier for s in own.everything)):
            continue
        if paper in paper_names() and paper not in proved:
            cure = f"name one of {', '.join(proved)}; fedconvex bounds {paper} shows its statements"
            raise InvalidInput("paper", paper, "has no proofs here", cure)
        known = [s.identifier for one in proved for s in papers()[one].everything]
        near = get_close_matches(name, [*proved, *known], n=3, cutoff=0.5) or proved
        raise InvalidInput("statement", given, "is unknown", f"did you mean {', '.join(near)}?")


def _require_recordable(names: list[str]) -> None:
    from fedconvex.proofs_checks.reporting.recorded import require_recordable
    from fedconvex.theory.others import is_from_elsewhere

    if not names or not all(is_from_elsewhere(name.strip().lower().partition(".")[0]) for name in names):
        require_recordable()


def _write(
    records: "list[Record]",
    chosen: "list[Statement]",
    json_file: Path | None,
    latex: Path | None,
    certificates: Path | None,
) -> list[Path]:
    from fedconvex.atomic_files import write_atomically
    from fedconvex.proofs_checks.reporting.records import totals

    saved: list[Path] = []
    if json_file is not None:
        content = {"statements": [r.to_dictionary() for r in records], "totals": totals(records)}
        text = to_json(content)
        if str(json_file) == "-":
            say(text)
        else:
            write_atomically(json_file, text.encode())
            saved.append(json_file)
    if latex is not None:
        from fedconvex.display.latex import document
        from fedconvex.proofs_checks.reporting.views import appendix

        write_atomically(latex, document(appendix(records)).encode())
        saved.append(latex)
    if certificates is not None:
        from fedconvex.proofs_checks.export.proof_files import write_proofs

        write_proofs(certificates, chosen)
        saved.append(certificates)
    return saved
