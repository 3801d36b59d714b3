"""The guide's list of sentences in running text, with what their checks find."""

from itertools import groupby

from fedconvex.proofs_checks.sentences.findings import SentenceFinding, SentenceVerdict, finding, summary
from fedconvex.theory import papers
from fedconvex.theory.sentences import sentences


def as_markdown() -> str:
    """All of them, by paper."""
    found = [finding(sentence) for sentence in sentences()]
    names = papers()
    parts = [summary(found) + "\n"]
    for paper, group in groupby(found, lambda one: one.sentence.paper):
        own = list(group)
        parts += [f"## {names[paper].short}", "", summary(own), "", *(_entry(one) for one in own)]
    return "\n".join(parts)


def _entry(found: SentenceFinding) -> str:
    sentence = found.sentence
    lines = [f"### `{sentence.identifier}`", "", f"{sentence.place}: “{_plain(sentence.quotation)}”", ""]
    lines += [
        f"*That is:* {_plain(sentence.means)}",
        "",
        f"**{found.verdict.value}** – {_plain('; '.join(found.evidence))}.",
    ]
    if sentence.instead:
        lines += ["", f"*{_heading(found.verdict)}:* {_instead(sentence.instead)}"]
    return "\n".join([*lines, ""])


def _heading(verdict: SentenceVerdict) -> str:
    return "What holds" if verdict is SentenceVerdict.REFUTED else "Note"


def _instead(text: str) -> str:
    """Code in back quotes stays as it is."""
    return "`".join(part if place % 2 else _plain(part) for place, part in enumerate(text.split("`")))


def _plain(text: str) -> str:
    """Signs that Markdown would take for emphasis, escaped."""
    for sign in ("*", "_", "|", "<"):
        text = text.replace(sign, f"\\{sign}")
    return text
