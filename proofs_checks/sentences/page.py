"""The page of the guide that lists the sentences with what their checks find."""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from fedconvex.proofs_checks.sentences.findings import SentenceFinding, SentenceVerdict, finding
from fedconvex.theory import papers
from fedconvex.theory.sentences import sentences

HEAD = """# Unnumbered sentences

Made by `python -m fedconvex.proofs_checks.sentences` from the checks that run. Papers also assert things in running
text, footnotes and captions, with no number and no proof. Each entry quotes such a sentence, states its precise
meaning, and gives the verdict of a check with its evidence: numbers without rounding, and lemmas that
[the kernel](verify.md#the-kernel) proves. `fedconvex verify --sentences PAPER` prints those of one paper.

| verdict | meaning |
|---|---|
| proved | the kernel proves it |
| shown by an instance | the sentence asserts a possibility, and an exact instance shows it |
| refuted | an exact instance, or the kernel, contradicts it; the entry gives a corrected sentence |
| holds on these instances | checked without rounding on these instances, and not proved |
| not decidable as said | the reason is given, with what can be computed |

Each check also runs on a changed sentence, which it must reject.

```python
from fedconvex.proofs_checks.sentences import finding
from fedconvex.theory.sentences import sentences

for sentence in sentences("fedsplit"):
    print(sentence.identifier, finding(sentence).verdict.value)
```
"""


def as_markdown() -> str:
    """The whole page."""
    found = [finding(sentence) for sentence in sentences()]
    names = papers()
    parts = [HEAD, summary(found) + "\n"]
    for paper, group in groupby(found, lambda one: one.sentence.paper):
        own = list(group)
        parts += [f"## {names[paper].short}", "", summary(own), "", *(_entry(one) for one in own)]
    return "\n".join(parts)


def summary(found: Iterable[SentenceFinding]) -> str:
    """How many sentences have which verdict, in one line."""
    counts = Counter(one.verdict for one in found)
    listed = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in SentenceVerdict if counts[verdict])
    return f"{counts.total()} sentences: {listed}."


def _entry(found: SentenceFinding) -> str:
    sentence = found.sentence
    lines = [f"### `{sentence.identifier}`", "", f"{sentence.place}: “{_plain(sentence.quotation)}”", ""]
    lines += [f"*That is:* {_plain(sentence.means)}", "", f"**{found.verdict.value}** – {_plain(evidence(found))}."]
    if sentence.instead:
        lines += ["", f"*{_heading(found.verdict)}:* {_instead(sentence.instead)}"]
    return "\n".join([*lines, ""])


def evidence(found: SentenceFinding) -> str:
    """What the check computed, in one line."""
    return "; ".join(found.evidence)


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
