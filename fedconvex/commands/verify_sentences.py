"""`fedconvex verify --sentences`: what the papers assert in running text, with what the checks find."""

from textwrap import fill

import typer

from fedconvex.commands.terminal import say
from fedconvex.proofs_checks.sentences.findings import SentenceFinding, SentenceVerdict, finding, summary
from fedconvex.theory.sentences import sentences

WIDTH = 110


def print_sentences(papers: list[str]) -> None:
    """Prints the sentences of these papers, or of all, with verdicts; exit status 1 where a check fails."""
    found = []
    for sentence in sentences(*(name.strip().lower() for name in papers)):
        found.append(finding(sentence))
        say(shown(found[-1]) + "\n")
    say(summary(found))
    if any(one.verdict is SentenceVerdict.FAILED for one in found):
        raise typer.Exit(1)


def shown(found: SentenceFinding) -> str:
    """One sentence on a few lines."""
    sentence = found.sentence
    lines = [
        f"“{sentence.quotation}” ({sentence.place})",
        f"means: {sentence.means}",
        f"found: {'; '.join(found.evidence)}",
    ]
    lines += [f"holds: {sentence.instead}"] if sentence.instead else []
    text = [fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ") for line in lines]
    return "\n".join([f"{sentence.identifier}  {found.verdict.value}", *text])
