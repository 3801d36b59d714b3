"""`fedconvex verify FILE.py`: the lemmas of one's own in a file, with federations that try to break them."""

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import typer

from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.phrases import phrases
from fedconvex.claims.display.plain_text import GREEK, from_latex
from fedconvex.claims.on_runs.random_parameters import NoFederation
from fedconvex.claims.settings import NotASetting
from fedconvex.proofs_checks.falsification import falsify
from fedconvex.proofs_checks.own_lemmas import LemmaResult, checked, lemmas_in
from fedconvex.statements.letters import Letters
from fedconvex.validation import positive
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement

WIDTH = 110


def verify_files(files: list[str], seconds: float) -> None:
    """Checks every lemma of the files and prints what is claimed, what is assumed, and the verdict.

    Exit status 1 where a lemma is not proved.
    """
    positive(seconds, "--seconds")
    lemmas = [(name, lemma) for file in files for name, lemma in lemmas_in(Path(file)).items()]
    proved = True
    for name, lemma in lemmas:
        result = checked(name, lemma, seconds)
        typer.echo(shown(result) + "\n")
        proved = proved and result.verdict is Verdict.PROVED
    if not proved:
        raise typer.Exit(1)


def try_to_break(statements: "list[Statement]", seconds: float, quiet: bool) -> bool:
    """Looks for federations that break the statements' claims and prints what it finds; whether it found one."""
    positive(seconds, "--seconds")
    broken = False
    for statement in statements:
        found: object = None
        try:
            if statement.claim is None:
                continue
            found = falsify(statement, seconds)
            said = "no federation breaks it" if found is None else f"a federation breaks it: {found}"
        except (NotASetting, NoFederation) as error:
            said = f"no federation was tried: {error}"
        broken = broken or found is not None
        if not quiet:
            typer.echo(f"{statement.identifier}: {said}")
    return broken


def shown(result: LemmaResult) -> str:
    """The lemma on a screen, in the standard letters."""
    letters = Letters()
    display = Display.of(letters, {name: symbol_of(name) for name in result.lemma.setting.signs})
    lines = [f"{result.name} is {result.verdict.value.upper()}: {result.reason}"]
    lines += _wrapped("claims", from_latex(display.latex(result.lemma.claim)))
    lines += _wrapped("assumes", "; ".join(phrases(result.lemma.setting, display, plain=True)))
    if result.counterexample is not None:
        lines += ["broken by", *(f"    {line}" for line in str(result.counterexample).splitlines())]
    return "\n".join(lines)


def symbol_of(name: str) -> str:
    r"""A parameter's LaTeX: that of a Greek letter for its name, as \alpha_{0} for alpha_0; else the name as it is."""
    letter, _, index = name.partition("_")
    if letter not in GREEK:
        return name
    return rf"\{letter}" + (f"_{{{index}}}" if index else "")


def _wrapped(label: str, text: str) -> list[str]:
    return [fill(text, WIDTH, initial_indent=f"{label:<12}", subsequent_indent=" " * 12, break_on_hyphens=False)]
