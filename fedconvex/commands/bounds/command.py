"""The command `fedconvex bounds`: list, show, compute, sweep and draw the papers' formulas."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from fedconvex.commands.terminal import say
from fedconvex.errors import InvalidInput
from fedconvex.json_files import to_json

if TYPE_CHECKING:
    from fedconvex.commands.bounds.formulas import Computable
    from fedconvex.commands.bounds.numbers import PrintedNumber
    from fedconvex.commands.bounds.parameters import Value
    from fedconvex.statements import Paper

PICTURES = (".png", ".pdf", ".svg")
TABLES = (".csv", ".parquet", ".json")
WIDE = 110  # columns of a terminal that fits all four columns of the list
BOUNDS_HELP = """List, show, compute, sweep and draw the bounds in the papers' numbered statements.

[bold]fedconvex bounds fedprox.theorem4[/bold]
[bold]fedconvex bounds fedprox.theorem4 --mu 50 --L 1 --L-minus 0 --B 6/5 --gamma 0 --K 10[/bold]
[bold]fedconvex bounds fedprox.rho --sweep mu=5:80:200 --L 1 --L-minus 0 --B 1.2 --gamma 0 --K 10 --plot[/bold]
[bold]fedconvex bounds ./mypaper.py:theorem1 --L 1[/bold]
[bold]fedconvex bounds feddyn.theorem2 --alpha 25 --L 1 --num-clients 10 --num-active 10 --T 8 --worst-case[/bold]

Without a statement it lists all; without values it shows the statement and its parameters. Numbers are exact \
(1/3, 0.1, 1e-20), sequences are written 0.1,0.2,0. Every printed digit is proved, except in sweeps, which are \
floating point. Exit status: 0 done, 1 the statement guarantees nothing at these values (ρ is not positive), 2 wrong \
input. With --worst-case: 0 the bound holds at these values, proved by the exact worst case; 1 it does not, this is \
not decided, or the statement guarantees nothing there."""


class BoundsCommand(TyperCommand):
    """The command `bounds`, whose option `--plot` may stand alone or with a file name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert an empty value after a `--plot` without a file name: click would take the next word for it."""
        explicit = []
        for word, following in zip(args, [*args, ""][1:], strict=True):
            alone = word == "--plot" and not following.lower().endswith(PICTURES)
            explicit.append("--plot=" if alone else word)
        return super().parse_args(ctx, explicit)


def bounds(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STATEMENT --PARAMETER NUMBER",
            show_default=False,
            help="A paper (fedprox, or a Python file that defines one, which is run), a statement (fedprox.theorem4, "
            "./mypaper.py:theorem1) or a calculator (fedprox.rho_terms), and its parameters, named as in Python.",
        ),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(help="NAME=LOWEST:HIGHEST:COUNT, or NAME=log:LOWEST:HIGHEST:COUNT; repeat it for a grid."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the sweep to FILE.csv, FILE.parquet or FILE.json.")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="[FILE.png]", help="Draw the sweep (default bounds-STATEMENT.png).")
    ] = None,
    worst_case: Annotated[
        bool, typer.Option("--worst-case", help="Compare the bound with the exact worst case, an interval with proof.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print the formula as LaTeX, and nothing else.")] = False,
) -> None:
    """Check which options go together, then list, show, compute, sweep or compare."""
    from fedconvex.commands.bounds.formulas import find, without_file
    from fedconvex.commands.bounds.parameters import defaults, parse, require_complete, split
    from fedconvex.theory import papers

    alone, texts = split(words or [])
    if len(alone) > 1:
        cure = f"a picture ends in {', '.join(PICTURES)}" if plot is not None else "numbers follow their --NAME"
        raise InvalidInput("argument", alone[1], "stands alone", f"give one statement; {cure}")
    alone = [without_file(name) for name in alone]
    if not alone or alone[0].lower() in papers():
        if texts or sweep or out or plot is not None or latex or worst_case:
            named = alone[0] if alone else "none"
            raise InvalidInput("statement", named, "is not one statement", "name one, such as fedprox.theorem4")
        chosen = papers() if not alone else {alone[0].lower(): papers()[alone[0].lower()]}
        _list(list(chosen.values()), as_json)
        return
    entry = find(alone[0])
    if worst_case:
        if sweep or latex:
            raise InvalidInput("--worst-case", entry.identifier, "is about one set of numbers", "leave out the others")
        from fedconvex.commands.bounds.looseness import show

        show(entry, texts, as_json)
        return
    if not sweep:
        for name, value in (("--out", out), ("--plot", plot)):
            if value is not None:
                default = f"bounds-{entry.identifier}.png"
                raise InvalidInput(
                    name, str(value) or default, "is for sweeps", "add --sweep NAME=LOWEST:HIGHEST:COUNT"
                )
    if latex and as_json:
        raise InvalidInput(
            "--latex", entry.identifier, "is given together with --json", "give one: --json has LaTeX, too"
        )
    values = parse(entry, texts)
    if latex:
        say(entry.latex)
    elif sweep:
        _sweep(entry, values, sweep, out, plot, as_json)
    elif not values:
        say(to_json(entry.to_dictionary()) if as_json else entry.text)
    else:
        require_complete(entry, values)
        _compute(entry, {**values, **defaults(entry, values)}, as_json)


def _list(papers: "list[Paper]", as_json: bool) -> None:
    """Print every statement and calculator of the papers."""
    from rich.text import Text

    from fedconvex.commands.bounds.formulas import entries
    from fedconvex.commands.terminal import console
    from fedconvex.display.documents import TableBlock
    from fedconvex.display.text import print_table

    if as_json:
        say(to_json({"statements": [entry.to_dictionary() for paper in papers for entry in entries(paper)]}))
        return
    output = console()
    wide = output.width >= WIDE
    for paper in papers:
        output.print(Text(f"{paper.reference}\n{paper.convention}", style="bold"))
        rows = []
        for entry in entries(paper):
            call = f"{entry.calculator.name}({', '.join(entry.calculator.names)})"
            said = entry.statement.phrases if entry.statement is not None else None
            cells = (entry.claim, call, f"{entry.words} {said}" if said is not None and said.differs else entry.words)
            rows.append((entry.identifier, *(cells if wide else ["\n".join(cells)])))
        headings = ("statement", "claim", "call", "says") if wide else ("statement", "claim, call, says")
        print_table(TableBlock(headings, rows), output)
        output.print()


def _compute(entry: "Computable", values: "dict[str, Value]", as_json: bool) -> None:
    """Print the value, and the left-hand side's if all of its parameters are given."""
    from fedconvex.commands.bounds.numbers import evaluate
    from fedconvex.commands.bounds.parameters import missing
    from fedconvex.statements import Sign

    found = evaluate(entry.calculator, values)
    left = entry.left
    left_values = evaluate(left, values) if left is not None and not missing(left, values) else {}
    signs = [number.sign for number in found.values()]
    if as_json:
        say(to_json(_result(entry, values, found, left_values)))
    else:
        _print(entry, values, found, left_values)
    if entry.positive and signs != [Sign.POSITIVE]:
        raise typer.Exit(1)


def _sweep(
    entry: "Computable", values: "dict[str, Value]", texts: list[str], out: Path | None, plot: str | None, as_json: bool
) -> None:
    """Evaluate the sweep, print or save its table, draw it, and print remarks on standard error."""
    from fedconvex.atomic_files import replaces, write_atomically
    from fedconvex.commands.bounds.sweep import file_content, notes, print_table, run_sweep
    from fedconvex.commands.output_files import require_file, saved
    from fedconvex.commands.terminal import console
    from fedconvex.optional import require_library

    if out is not None:
        require_file(out, "--out", TABLES)
        if out.suffix.lower() == ".parquet":
            require_library("pyarrow", "writing a Parquet file")
    picture = Path(plot or f"bounds-{entry.identifier}.png") if plot is not None else None
    if picture is not None:
        require_file(picture, "--plot", PICTURES)
    result = run_sweep(entry, values, texts)
    files = {}
    if out is not None:
        files[out] = file_content(result, out.suffix.lower())
    if picture is not None:
        from fedconvex.commands.bounds.figure import picture_of

        if (drawn := picture_of(result, picture.suffix.lower())) is not None:
            files[picture] = drawn
    # both files are computed before either is written
    lost = {path: replaces(path, content) for path, content in files.items()}
    for path, content in files.items():
        write_atomically(path, content)
    if as_json:
        say(to_json(result.to_dictionary()))
    elif out is None:
        print_table(result, console() if sys.stdout.isatty() else None)
    for note in (*notes(result), *(saved({path: replaced}) for path, replaced in lost.items())):
        say(note, err=True)
    if entry.positive and not result.is_positive.any():
        raise typer.Exit(1)


def _print(
    entry: "Computable", values: "dict[str, Value]", found: "dict[str, PrintedNumber]", left: "dict[str, PrintedNumber]"
) -> None:
    from fedconvex.commands.bounds.formulas import option
    from fedconvex.commands.bounds.parameters import missing, written
    from fedconvex.statements import ClaimType, Sign

    say(f"{entry.identifier}  ({entry.source}; {entry.claim})")
    say(f"  {entry.words}")
    if entry.statement is not None:
        say(f"  {entry.statement.phrases}")
    given = {name: written(value) for name, value in values.items()}
    say("  " + ", ".join(f"{n} = {v if isinstance(v, str) else ','.join(v)}" for n, v in given.items()))
    rows = {"left side": next(iter(left.values()))} if left else {}
    rows |= {"right side": next(iter(found.values()))} if entry.left is not None else found
    width = max(map(len, rows))
    signed = entry.positive or (entry.statement is not None and entry.statement.claim_type is ClaimType.CONDITION)
    for name, number in rows.items():
        sign = f"  ({_sign_text(number.sign)})" if signed else ""
        say(f"{name:<{width}} {number.text}{sign}")
    if entry.left is not None and not left:
        lacking = ", ".join(map(option, missing(entry.left, values)))
        say(f"The left side needs {lacking} too.")
    if entry.positive and next(iter(found.values())).sign is not Sign.POSITIVE:
        say(f"{entry.identifier} guarantees nothing here: it needs {entry.calculator.name} > 0.")


def _sign_text(sign: Any) -> str:
    return "its sign is not decided" if sign.value is None else f"{sign.name.lower()}, proved"


def _result(
    entry: "Computable", values: "dict[str, Value]", found: "dict[str, PrintedNumber]", left: "dict[str, PrintedNumber]"
) -> dict[str, Any]:
    """A computed statement for JSON: its value, or its parts."""
    from fedconvex.commands.bounds.parameters import written

    numbers = {name: number.to_dictionary() for name, number in found.items()}
    single = numbers.get(entry.calculator.name) if len(numbers) == 1 else None
    empty = dict.fromkeys(("value", "lower", "upper", "exact", "sign"))
    return {
        "statement": entry.identifier,
        "source": entry.source,
        "claim": entry.claim,
        **entry.phrases,
        "arguments": {name: written(value) for name, value in values.items()},
        **(single or empty),
        "parts": None if single else numbers,
        "left": next(iter(left.values())).to_dictionary() if left else None,
    }
