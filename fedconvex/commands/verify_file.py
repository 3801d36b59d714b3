"""`fedconvex verify FILE.py`: the lemmas of one's own in a file, with federations that try to break them."""

from pathlib import Path
from textwrap import fill

import typer

from fedconvex.claims.display import Display
from fedconvex.claims.phrases import phrases
from fedconvex.claims.plain_text import from_latex
from fedconvex.proofs_checks.own_lemmas import LemmaResult, checked, lemmas_in
from fedconvex.statements.letters import Letters
from fedconvex.validation import positive
from fedconvex.verdicts import Verdict

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


def shown(result: LemmaResult) -> str:
    """The lemma on a screen, in the standard letters."""
    letters = Letters()
    display = Display.of(letters, {name: name for name in result.lemma.setting.signs})
    lines = [f"{result.name} is {result.verdict.value.upper()}: {result.reason}"]
    lines += _wrapped("claims", from_latex(display.latex(result.lemma.claim)))
    lines += _wrapped("assumes", "; ".join(phrases(result.lemma.setting, display, plain=True)))
    if result.counterexample is not None:
        lines += ["broken by", *(f"    {line}" for line in str(result.counterexample).splitlines())]
    return "\n".join(lines)


def _wrapped(label: str, text: str) -> list[str]:
    return [fill(text, WIDTH, initial_indent=f"{label:<12}", subsequent_indent=" " * 12, break_on_hyphens=False)]
