"""Other statements with the names of the package's: they inherit no verdict, proof, remark or record, and stay usable.

Such a statement comes from a user's `Paper(name="feddyn")`, or from a change of a formula whose verdict is old.
"""

from dataclasses import replace
from functools import wraps
from itertools import islice
from typing import Any

import pytest
from mutations import mutants

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import Remarks, papers_with_proofs, verify
from fedconvex.proofs_checks.claims import builder_of
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.reporting import cache
from fedconvex.proofs_checks.reporting.recorded import as_recorded, differences, recorded
from fedconvex.proofs_checks.reporting.records import record
from fedconvex.proofs_checks.reporting.results import results
from fedconvex.proofs_checks.rocq.accepted import checked_by
from fedconvex.proofs_checks.sentences.findings import finding
from fedconvex.proofs_checks.verification import load
from fedconvex.statements.recorded import NOT_RECORDED
from fedconvex.statements.statement import Paper, Statement
from fedconvex.testing.bounds import observable
from fedconvex.theory import feddyn, fedprox, fedsplit, papers
from fedconvex.theory.others import is_own
from fedconvex.theory.sentences import sentences
from fedconvex.verdicts import Verdict

for name in papers_with_proofs():
    load(name)
EVERY = {s.identifier: s for name in papers_with_proofs() for s in papers()[name].everything}


def namesake(of: Statement, **changes: Any) -> Statement:
    """A statement of another paper with the same name and letters."""
    paper = Paper(of.paper.name, "Mine", "I (2026)", of.paper.convention, of.paper.notation, of.paper.letters)
    return replace(of, paper=paper, **changes)


def doubled(of: Statement) -> Statement:
    """The namesake with twice the bound."""
    formula = of.calculator.formula
    twice = wraps(formula)(lambda **given: 2 * formula(**given))
    return namesake(of, calculator=replace(of.calculator, formula=twice))


@pytest.mark.beyond_core
@pytest.mark.sample(40)
@pytest.mark.parametrize("name", EVERY)
def test_only_what_says_the_same_has_the_recorded_phrases(name: str) -> None:
    of = EVERY[name]
    assert of.content
    assert namesake(of).phrases == of.phrases != NOT_RECORDED
    for description, wrong in islice(mutants(of), 2):
        other = namesake(of, calculator=wrong.calculator, left=wrong.left)
        assert other.phrases == NOT_RECORDED, description
        assert other.__doc__ is not None
        assert other.__doc__.endswith("As printed: not checked. Holds: not checked.")
        assert as_recorded(other, recorded()[name]) is None


@pytest.mark.parametrize(
    "of", [feddyn.equation17, fedprox.theorem4, fedprox.equation15, fedsplit.theorem1, fedsplit.equation17]
)
def test_nothing_registered_is_inherited(of: Statement) -> None:
    """Of a false statement, of one with another reading, of one that is refuted."""
    other = doubled(of)
    assert not is_own(other)
    assert builder_of(other) is None
    assert remarks_of(other) == Remarks()
    assert observable(other) is None
    found = verify(other)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, "there is no proof yet")
    assert record(found).proof == checked_by(other.identifier, other.content) == ""
    assert "not checked" in str(other)


def test_a_kept_or_recorded_result_is_not_that_of_a_namesake(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.ENVIRONMENT_VARIABLE, str(tmp_path))
    of = fedprox.equation6
    cache.store(record(verify(of)))
    both = [found.verdict for found, _ in results([of, doubled(of)], records=True)]
    assert both == ["proved", "unknown"]


def test_another_claim_or_proof_than_the_recorded_one_is_a_difference() -> None:
    right = record(verify("fedprox.equation6"))
    assert differences([right]) == []
    for part in ("content", "proof"):
        (line,) = differences([replace(right, **{part: "0123456789abcdef"})])
        assert f"{part} 0123456789abcdef" in line


def test_a_changed_sentence_has_no_finding() -> None:
    with pytest.raises(KeyError):
        finding(replace(sentences("feddyn")[0], quotation="what nobody has written"))


def test_a_namesake_can_be_used() -> None:
    at = {"t": 3, "kappa": 4, "initial_distance": 1, "num_clients": 2}
    assert doubled(fedsplit.theorem1)(**at) == 2 * fedsplit.theorem1(**at)
    with pytest.raises(InvalidInput):
        doubled(fedsplit.theorem1)(**{**at, "t": -1})
