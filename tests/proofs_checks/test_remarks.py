"""What papers' remarks say, looked at again: misprints that fail, corrected statements, and no remark that proves."""

from dataclasses import fields, replace
from fractions import Fraction
from itertools import islice

import pytest
from mutations import mutants

from fedconvex.proofs_checks import Remarks, papers_with_proofs, remarks_on
from fedconvex.proofs_checks.evidence import Role
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.verification import load
from fedconvex.proofs_checks.witnesses import replay
from fedconvex.theory import fedprox, nesterov, papers
from fedconvex.verdicts import Verdict

for paper in papers_with_proofs():
    load(paper)
STATEMENTS = {s.identifier: s for name in papers_with_proofs() for s in papers()[name].everything}
SAID = {name: remarks_of(of) for name, of in STATEMENTS.items()}
MISPRINTS = {
    "feddyn.equation3": ["(3)", "(3)"],
    "feddyn.equation15": ["(15)"],
    "feddyn.equation20": ["before (20)"],
    "feddyn.lemma10": ["Lemma 10"],
    "feddyn.lemma19": ["proof of Lemma 19, last line"],
    "fedprox.remark5": ["before Remark 5"],
    "fedprox.corollary9": ["after Corollary 9"],
    "fedprox.equation15": ["A.3, before (15)"],
    "fedsplit.equation17": ["(17)"],
    "fedsplit.equation19": ["(19)"],
    "fedsplit.theorem2": ["Theorem 2"],
    "fedsplit.equation22": ["(22)"],
}


@pytest.mark.parametrize("name", MISPRINTS)
def test_what_is_printed_wrongly_fails(name: str) -> None:
    lines = [misprint.line() for misprint in SAID[name].misprints]
    assert [line.place for line in lines] == MISPRINTS[name]
    assert {(line.role, line.verdict) for line in lines} == {(Role.PRINTED.value, Verdict.REFUTED.value)}


def test_no_other_line_is_called_misprinted() -> None:
    """Whoever adds one has looked at the paper."""
    assert {name for name, said in SAID.items() if said.misprints} == set(MISPRINTS)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", [name for name, said in SAID.items() if said.compared])
def test_formulas_agree_with_the_running_code(name: str) -> None:
    for comparison in SAID[name].compared:
        assert not comparison.as_printed
        assert comparison.line().verdict == Verdict.COMPARED.value, comparison.shown


def test_what_is_refuted_names_what_holds() -> None:
    refuted = {name: said for name, said in SAID.items() if said.refutation is not None}
    assert len(refuted) >= 4
    for name, said in SAID.items():
        assert (said.corrected is None) == (name not in refuted)
        if said.corrected is not None:
            assert said.corrected in STATEMENTS
            assert SAID[said.corrected].refutation is None


def test_corollary_9_is_refuted_with_these_numbers() -> None:
    witness = SAID["fedprox.corollary9"].refutation
    assert witness is not None
    found = replay(witness)
    assert (found.left, found.right) == (Fraction(-383760125, 510976512), Fraction(-6970891, 7984008))


OF_OTHER_LINES = {"feddyn.equation15", "fedprox.corollary9", "fedsplit.equation10"}


@pytest.mark.parametrize("name", [name for name, said in SAID.items() if said.compared and name not in OF_OTHER_LINES])
def test_no_wrong_formula_agrees_with_the_running_code(name: str) -> None:
    """The comparisons take the formula from the statement, and not a copy; and each of them can fail."""
    found = set()
    for description, wrong in islice(mutants(STATEMENTS[name]), 6):
        try:
            lines = [comparison.line() for comparison in remarks_of(wrong).compared]
        except Exception:  # a formula that does not even fit, such as a number for a vector
            continue
        assert {line.verdict for line in lines} != {Verdict.COMPARED.value}, description
        found |= {line.verdict for line in lines}
    assert Verdict.REFUTED.value in found


def test_a_statement_without_remarks_has_empty_ones() -> None:
    found = remarks_of(replace(next(iter(nesterov.PAPER))))  # remarks are registered to the statement itself
    assert found == Remarks()
    assert not any(getattr(found, field.name) for field in fields(found))


def test_a_statement_has_one_maker_of_remarks() -> None:
    with pytest.raises(AssertionError, match=r"fedprox\.theorem4"):
        remarks_on(fedprox.theorem4)(lambda of: Remarks())
