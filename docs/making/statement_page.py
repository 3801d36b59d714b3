"""The guide's list of every statement."""

from collections.abc import Callable, Container

from fedconvex.proofs_checks.reporting.results import in_order
from fedconvex.statements.rendering import formulas_in_markdown, parameters_of
from fedconvex.statements.statement import Paper, Statement
from fedconvex.theory import papers

RESTATED = (
    "Restated: each is a statement in the paper's setting, named after it and not claimed to be in its words; a "
    "verdict on it is none on the paper."
)


def as_markdown(listed: Container[str] | None = None) -> str:
    """All of them; with `listed` only the statements of these identifiers, to compare a page with an older one."""
    sections = (_paper(paper, lambda s: listed is None or s.identifier in listed) for paper in papers().values())
    return "\n".join(section for section in sections if section)


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
