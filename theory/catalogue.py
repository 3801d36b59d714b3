"""The page of the guide that lists every statement; `python -m fedconvex.theory.catalogue` prints it."""

import sys
from collections.abc import Callable, Container

from fedconvex.statements.rendering import formulas_in_markdown, parameters_of
from fedconvex.statements.statement import Paper, Statement, key_of
from fedconvex.theory import papers

ORDER = ("definition", "assumption", "proposition", "theorem", "corollary", "lemma", "remark", "equation")
HEAD = """# Every statement

Made by `python -m fedconvex.theory.catalogue` from the running code: each formula below is the statement's claim, or
what the calculator computes, in the paper's notation and in the order in which it is written. "Up to constants" marks
what stands inside O(·), ≲ or ≈ in the paper: such a number is no bound. Where a paper prints another formula, both are
given, and the difference is underlined. [bounds.md](bounds.md) explains the calculators.

Call a statement by its calculator's name or by its number:

```python
from fedconvex.theory import fedprox

given = dict(mu=50, L=1, L_minus=0, B=1.2, gamma=0, K=10)
assert fedprox.rho(**given) == fedprox.theorem4(**given) > 0
```
"""
RESTATED = (
    "Restated: each is a statement in the paper's setting, named after it and not claimed to be in its words; a "
    "verdict on it is none on the paper."
)


def as_markdown(listed: Container[str] | None = None) -> str:
    """The whole page; with `listed` only the statements of these identifiers, to compare a page with an older one."""
    sections = (_paper(paper, lambda s: listed is None or s.identifier in listed) for paper in papers().values())
    return "\n".join([HEAD, *(section for section in sections if section)])


def in_order(paper: Paper) -> list[Statement]:
    """A paper's statements by kind and number."""

    def place(statement: Statement) -> tuple[int, float, str]:
        kind, _, number = statement.number.lower().partition(" ")
        # "Theorem 2.1.15" comes by its last number, because a book's chapters are not mixed here.
        digits = "".join(c for c in number.partition(" ")[0] if c.isdigit() or c == ".")
        major = float(digits.split(".")[-1]) if digits else 0.0
        return (ORDER.index(kind) if kind in ORDER else len(ORDER), major, key_of(statement.number))

    return sorted(paper, key=place)


def _paper(paper: Paper, wanted: Callable[[Statement], bool]) -> str:
    theirs, ours = list(filter(wanted, in_order(paper))), list(filter(wanted, paper.ours.values()))
    entries = [RESTATED, ""] if paper.restated and theirs else []
    entries += [_statement(statement) for statement in theirs]
    if ours:
        entries += ["Not in the paper: corrected, or sharper. Each is proved ([verify.md](verify.md)).", ""]
        entries += [_statement(statement) for statement in ours]
    head = [f"## {paper.short}", "", f"{paper.reference}. Objective: {paper.convention}.", ""]
    return "\n".join([*head, *entries]) if entries else ""


def _statement(statement: Statement) -> str:
    call = f"`{statement.calculator.name}({', '.join(statement.calculator.names)})`"
    page = f", page {statement.page}" if statement.page else ""
    lines = [f"### `{statement.identifier}`", "", f"{statement.number}{page}; {statement.claim_type.value}; {call}"]
    lines += ["", statement.words, "", *formulas_in_markdown(statement), str(statement.phrases), ""]
    letters = [f"`{name}` ${p.latex_symbol()}$ {p.meaning}" for name, p in parameters_of(statement).items()]
    return "\n".join([*lines, "; ".join(letters) + ".", ""])


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
