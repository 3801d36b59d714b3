"""The verdict on every statement of the FedProx paper, and faults that its proofs must notice."""

import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest
from mutations import mutants, survivors

from fedconvex.proofs_checks.engines.checks import Combination, Inequality, Special
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.proof import Relation, Role
from fedconvex.proofs_checks.verification import Result, proof_of, verify_all
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox
from fedconvex.verdicts import Verdict

PAPERS, OURS = tuple(fedprox.PAPER), tuple(fedprox.PAPER.ours.values())
EVERY = (*PAPERS, *OURS)
REFUTED = {"fedprox.corollary9"}
REFUTED_STEPS = {"before Remark 5", "A.3, before (15)", "after Corollary 9"}
ATTAINED = {"equation3", "equation5", "equation6", "equation7", "equation9", "equation11", "equation12", "corollary10",
            "theorem4convexeveryone"}  # fmt: skip
SAMPLE = 5  # mutants of each formula; all of them are a matter of minutes

DISPLAYED = {
    "equation7": ["before (7)", "(7), first line", "(7), second line", "(7)"],
    "equation8": ["(8), first line", "(8), second line", "(8), third line"],
    "equation11": ["after (9), first inequality", "after (9), second inequality", "(11), first line",
                   "(11), second line", "(11), third line"],
    "equation13": ["(13), first line", "(13), second line", "(13), third line", "(13), fourth line"],
    "equation14": ["(14)"],
    "theorem4": ["after (14)"],
    "corollary10": ["proof of Corollary 10, first line, =", "proof of Corollary 10, first line, ≤",
                    "proof of Corollary 10, second line", "proof of Corollary 10, third line"],
}  # fmt: skip


@cache
def results() -> dict[str, Result]:
    return {result.statement.identifier: result for result in verify_all(EVERY)}


def name_of(statement: Statement) -> str:
    return statement.identifier.partition(".")[2]


@pytest.mark.parametrize("statement", EVERY, ids=name_of)
def test_verdict(statement: Statement) -> None:
    result = results()[statement.identifier]
    expected = Verdict.REFUTED if statement.identifier in REFUTED else Verdict.PROVED
    assert result.verdict is expected, result.reason
    for found in result.evidence:
        of_print = found.step.role is Role.PRINTED and found.step.place in REFUTED_STEPS
        wanted = Verdict.REFUTED if of_print else Verdict.PROVED
        assert found.outcome.verdict is wanted, (found.step.place, found.outcome.detail)


@pytest.mark.parametrize("name", DISPLAYED)
def test_every_displayed_line_is_there(name: str) -> None:
    places = [found.step.place for found in results()[f"fedprox.{name}"].evidence]
    assert [place for place in places if place in DISPLAYED[name]] == DISPLAYED[name]


@pytest.mark.beyond_core  # starts a process
def test_the_refuted_corollary_has_a_witness_and_a_correction() -> None:
    result = results()["fedprox.corollary9"]
    assert result.corrected is fedprox.corollary9corrected
    assert result.witness is not None
    program = f"{result.witness.program}\nprint(left > right, left, right)"
    ran = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "True -383760125/510976512 -6970891/7984008\n"
    assert len([line for line in result.witness.program.splitlines() if line.strip()]) <= 20


@pytest.mark.parametrize("statement", EVERY, ids=name_of)
def test_how_much_of_a_bound_is_used(statement: Statement) -> None:
    """Never more than all; all of it where it is said to be attained, or nearly."""
    tightness = results()[statement.identifier].tightness
    if tightness is None:
        assert statement.claim_type.value not in ("upper bound", "tight") or statement.identifier in REFUTED
        return
    assert 0 < tightness.quotient <= 1
    if name_of(statement) in ATTAINED:
        assert tightness.quotient == 1
    elif tightness.attained:
        assert tightness.quotient > 0.99
    assert tightness.how


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("statement", EVERY, ids=name_of)
def test_a_wrong_formula_is_not_proved(statement: Statement) -> None:
    number = sum(1 for _ in mutants(statement))
    assert survivors(statement, every=-(-number // SAMPLE)) == []


@pytest.mark.parametrize("name", ["equation5", "equation7", "equation8", "equation13", "theorem4convex", "remark8"])
def test_a_wrong_multiplier_is_noticed(name: str) -> None:
    proof = proof_of(fedprox.PAPER.find(name))
    assert proof is not None
    tried = 0
    for step in proof.steps:
        if isinstance(step.by, Combination):
            for n, (multiplier, fact) in enumerate(step.by.facts):
                if fact.expression != 0:
                    wrong = (*step.by.facts[:n], (multiplier + 1, fact), *step.by.facts[n + 1 :])
                    assert replace(step.by, facts=wrong).run(step.claim).verdict is Verdict.UNKNOWN
                    tried += 1
    assert tried > 1


def test_a_claim_in_the_other_direction_is_not_proved() -> None:
    for name in ("remark5", "theorem4convex", "corollary7sharper"):
        proof = proof_of(fedprox.PAPER.find(name))
        assert proof is not None
        for step in proof.steps:
            if isinstance(step.by, Inequality) and step.role is Role.PROOF:
                other = replace(step.claim, left=step.claim.right, right=step.claim.left)
                assert step.by.run(other).verdict is not Verdict.PROVED


def test_a_special_case_outside_of_what_is_known_is_refused() -> None:
    proof = proof_of(fedprox.equation16)
    assert proof is not None
    (step,) = proof.steps
    assert isinstance(step.by, Special)
    assert step.by.run(step.claim).verdict is Verdict.PROVED
    anywhere = replace(step.claim, domain=Domain())
    assert step.by.run(anywhere).verdict is Verdict.UNKNOWN  # K >= 4B², L > 0 and B >= 1 are needed
    ((mu, value),) = step.by.values
    assert replace(step.by, values=((mu, value - value),)).run(step.claim).verdict is Verdict.UNKNOWN  # μ = 0
    assert replace(step.by, values=((mu, 2 * value),)).run(step.claim).verdict is Verdict.UNKNOWN
    backwards = Relation(step.claim.right, "<=", step.claim.left, step.claim.domain)
    assert step.by.run(backwards).verdict is Verdict.UNKNOWN


def test_a_hypothesis_that_is_not_shown_is_missed() -> None:
    """Theorem 11 may use Theorem 4 only as it shows the dissimilarity from the variance."""
    proof = proof_of(fedprox.theorem11)
    assert proof is not None
    step = proof.steps[-1]
    assert isinstance(step.by, Special)
    assert [name for name, _ in step.by.discharges()] == ["Dissimilarity"]
    ((hypothesis, shown),) = step.by.shown
    weaker = replace(shown, right=2 * shown.right)
    assert replace(step.by, shown=((hypothesis, weaker),)).run(step.claim).verdict is Verdict.UNKNOWN
