"""`fedconvex verify FILE.py`: the lemmas of one's own in a file, with federations that try to break them."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.display.letters import Display
from fedconvex.claims.display.phrases import phrases
from fedconvex.claims.on_runs.random_parameters import NoFederation
from fedconvex.claims.settings import NotASetting
from fedconvex.claims.terms import parameters_in, without_names
from fedconvex.commands.terminal import say
from fedconvex.display.text import labelled
from fedconvex.errors import LONGEST_SENTENCE, InvalidInput, short_text
from fedconvex.proofs_checks.falsification import search
from fedconvex.proofs_checks.own_lemmas import LemmaResult, checked, contents_in, lemmas_in
from fedconvex.safe_text import one_line

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement

WIDTH = 110
RECORD = ".verdicts.json"  # in the place of .py


def verify_files(files: list[str], seconds: float | None, tries: int, record: bool = False) -> None:
    """Checks every lemma and statement of the files and prints what is claimed, what is assumed, and the verdict.

    With `record` the verdicts are written beside each file, to mypaper.verdicts.json, with which later runs compare.
    Exit status 1 where a verdict is not the recorded one, or without a record where it is not PROVED.
    """
    from fedconvex.proofs_checks.reporting.recorded import expected_verdict, recorded_in, write_recorded

    found = {Path(file): lemmas_in(Path(file)) for file in files}
    before = {path: recorded_in(path.with_suffix(RECORD)) for path in found}
    right = True
    for path, lemmas in found.items():
        now, contents = {}, contents_in(path)
        for name, lemma in lemmas.items():
            result = checked(name, lemma, seconds, tries=tries)
            say(shown(result))
            now[name] = {"verdict": result.verdict.value, "content": contents[name]}
            expected = expected_verdict(before[path].get(name, {}), contents[name])
            if result.verdict.value != expected and name in before[path]:
                same = before[path][name].get("content") == contents[name]
                say(f"recorded is {expected}" if same else "recorded is another claim of this name")
            right = right and result.verdict.value == expected
            say("")
        if record:
            write_recorded(path.with_suffix(RECORD), now)
            say(f"recorded {len(now)} verdicts in {one_line(str(path.with_suffix(RECORD)))}")
    if not (right or record):
        raise typer.Exit(1)


def try_to_break(statements: "list[Statement]", seconds: float | None, tries: int, quiet: bool) -> bool:
    """Looks for federations that break the statements' claims and prints what it finds; whether it found one."""
    broken = False
    for statement in statements:
        found: object = None
        try:
            if statement.claim is None:
                continue
            ended = search(statement.claim, statement.setting, seconds, tries=tries)
            found = ended.counterexample
            said = f"{ended}: {found}" if found else str(ended)
        except (NotASetting, NoFederation) as error:
            said = f"no federation was tried: {error}"
        broken = broken or found is not None
        if not quiet:
            say(f"{statement.identifier}: {said}")
    return broken


def replay_files(files: list[str]) -> None:
    """Replays proofs from JSON files and prints what each proves and from what. Exit status 1 where one is refused."""
    from fedconvex.proofs_checks.export.proof_files import replayed
    from fedconvex.proofs_checks.kernel import Refused

    if other := [file for file in files if not file.endswith(".json")]:
        raise InvalidInput("file", other[0], "is no JSON file", "verify Python files and proofs one after the other")
    refused = False
    for file in files:
        try:
            found = replayed(Path(file))
        except Refused as error:
            refused = True
            say(f"{one_line(file)} is UNKNOWN: the kernel refuses it: {short_text(str(error), LONGEST_SENTENCE)}")
        else:
            # Without the names that a stranger's file may give to things, which could be those of other things.
            plain = without_names(found)
            say(f"{one_line(file)} is PROVED\n" + said(plain.claim, plain.setting))
    if refused:
        raise typer.Exit(1)


def shown(result: LemmaResult) -> str:
    """The lemma on a screen, in the standard letters."""
    lines = [f"{result.name} is {result.verdict.value.upper()}: {result.reason}"]
    lines.append(said(result.lemma.claim, result.lemma.setting))
    if result.counterexample is not None:
        lines += ["broken by", *(f"    {line}" for line in str(result.counterexample).splitlines())]
    return "\n".join(lines)


def said(claim: Claim, setting: ClaimSetting) -> str:
    """What is claimed and assumed, in the standard letters, and what names mean."""
    names = parameters_in((claim, setting)) | setting.signs.keys() | {claim.rounds} - {""}
    display = Display.standard(names)
    shown, *meanings = display.stated(claim)
    where = "; ".join(meaning.removeprefix("where ") for meaning in meanings)
    assumed = "; ".join(phrases(setting, display, plain=True))
    found = {"claims": shown, "where": where, "assumes": assumed}
    return "\n".join(line for label, words in found.items() for line in labelled(label, words, WIDTH))
