"""Proofs may not bring their own axioms, narrower domains, other symbols, or instances in place of a bound."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
import sympy

from fedconvex.proofs_checks.conclusions import part_not_concluded
from fedconvex.proofs_checks.engines.checks import _not_implied
from fedconvex.proofs_checks.engines.hilbert import HilbertVector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.proof import Relation as ProofClaim
from fedconvex.proofs_checks.proof import Role
from fedconvex.proofs_checks.verification import papers_with_proofs, proof_of
from fedconvex.statements.rendering import symbols
from fedconvex.statements.statement import ClaimType
from fedconvex.theory import papers

FOLDER = Path(__file__).resolve().parents[2] / "proofs_checks"
PROOFS = {s.identifier: (s, proof) for paper in papers().values() for s in (*paper, *paper.ours.values())
          if (proof := proof_of(s)) is not None}  # fmt: skip
NARROWER = {
    "fedprox.remark8": "for L = 0 an objective that is bounded below is constant",
}


def free(claim: ProofClaim) -> set[sympy.Symbol]:
    sides = (claim.left, claim.right)
    parts = [part for s in sides for part in (s.parts.values() if isinstance(s, HilbertVector) else (s,))]
    return {symbol for part in parts for symbol in sympy.sympify(part).free_symbols}


@pytest.mark.parametrize("identifier", [i for i, (_, proof) in PROOFS.items() if proof.refutation is None])
def test_the_last_step_is_for_all_parameters_that_the_statement_admits(identifier) -> None:
    statement, proof = PROOFS[identifier]
    last = [step for step in proof.steps if step.role is Role.PROOF][-1]
    parameters = set(statement.calculator.names)
    known = [r for r in last.claim.domain.relations if {str(s) for s in r.free_symbols} <= parameters]
    beyond = _not_implied(Domain(tuple(known)), Domain.of(statement))
    if identifier in NARROWER:
        assert beyond is not None
    else:
        assert beyond is None or proof.extra, beyond


ENDS = {
    "feddyn.equation1", "feddyn.equation7", "fedprox.equation2", "fedprox.remark5sharper", "fedsplit.proposition1",
    "fedsplit.proposition2", "fedsplit.proposition3", "fedsplit.equation5", "fedsplit.equation7",
    "fedsplit.equation10", "fedsplit.equation12", "fedsplit.theorem2corrected",
}  # fmt: skip
WRITTEN = {
    "fedprox.corollary10", "fedprox.theorem11", "fedprox.theorem11sharper", "fedprox.remark8", "fedprox.remark8sharper",
    "fedsplit.theorem1", "fedsplit.equation16", "fedsplit.corollary1", "fedsplit.equation18",
    "fedsplit.corollary1sharper", "fedsplit.equation22",
}  # fmt: skip


def test_no_other_proof_ends_with_something_else_than_its_formula() -> None:
    """Whoever adds to one of these lists has looked at the proof."""
    assert {identifier for identifier, (_, proof) in PROOFS.items() if proof.ends} == ENDS
    assert {identifier for identifier, (_, proof) in PROOFS.items() if proof.written} == WRITTEN
    for identifier in ENDS:
        statement, proof = PROOFS[identifier]
        assert part_not_concluded(statement, replace(proof, ends="")), identifier


@pytest.mark.parametrize("identifier", PROOFS)
def test_a_letter_of_the_paper_is_the_papers_symbol(identifier) -> None:
    statement, proof = PROOFS[identifier]
    letters = symbols({**statement.paper.notation, **statement.calculator.parameters})
    for step in proof.steps:
        for symbol in free(step.claim):
            assert letters.get(str(symbol), symbol) == symbol, f"{step.shown}: another symbol is called {symbol}"


@pytest.mark.parametrize("identifier", [i for i, (_, proof) in PROOFS.items() if proof.refutation is None])
def test_a_bound_is_not_proved_by_instances(identifier) -> None:
    statement, proof = PROOFS[identifier]
    if statement.claim_type is not ClaimType.DEFINITION:
        assert any(step.role is Role.PROOF and step.by.shows_claim for step in proof.steps)


def files() -> list[Path]:
    return [path for paper in papers_with_proofs() for path in sorted((FOLDER / paper).rglob("*.py"))]


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_facts_come_from_the_closed_list(path) -> None:
    """A proof makes no fact of its own, and neither changes one nor a claim in another statement's name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func).rpartition(".")[2] != "Fact", node.lineno
            assert "source" not in [keyword.arg for keyword in node.keywords], node.lineno


def test_there_are_proofs() -> None:
    assert len(PROOFS) > 50
    assert len(files()) > 10
