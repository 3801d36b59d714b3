"""A proof uses what its statement assumes, and no more: at all its points, with its constants."""

from dataclasses import replace

import pytest

from fedconvex.proofs_checks import hypotheses, proof_of, verify
from fedconvex.statements import assumptions as known
from fedconvex.statements.assumptions import Assumption, Given
from fedconvex.statements.rendering import markdown
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn, fedprox, papers
from fedconvex.verdicts import Verdict


def with_other(statement: Statement, *others: Assumption) -> Statement:
    """The statement with these assumptions in the place of the one that has the first one's name in its own."""
    kinds = tuple(type(other).__name__ for other in others)
    kept = [a for a in statement.assumptions if not type(a).__name__.startswith(kinds)]
    assert len(kept) < len(statement.assumptions)
    return replace(statement, assumptions=(*kept, *others))


@pytest.mark.parametrize(("statement", "at_one_point"), [
    (fedprox.theorem6, known.Dissimilarity()),
    (fedprox.remark8, known.BoundedVariance()),
    (fedprox.remark8sharper, known.BoundedVariance()),
])  # fmt: skip
def test_what_is_assumed_at_one_point_is_not_used_in_every_round(statement, at_one_point) -> None:
    """F = (x ∓ 1)²/2, p = ½, ε = 1, B = √2, μ = 50, K = 100: from 1/1000, where B(w) > B, f grows in expectation."""
    assert verify(replace(statement)).verdict is Verdict.PROVED
    found = verify(with_other(statement, at_one_point))
    assert found.verdict is Verdict.UNKNOWN
    assert "at one point only" in found.reason


@pytest.mark.parametrize("name", ["theorem2", "theorem4", "equation20"])
def test_joining_rounds_is_noticed_where_nothing_of_one_point_is_used(name) -> None:
    statement = feddyn.PAPER.find(name)
    found = verify(replace(statement, assumptions=(*statement.assumptions, known.NotStationary())))
    assert found.verdict is Verdict.UNKNOWN
    assert "at one point only" in found.reason


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("number", range(3))
def test_a_rate_is_proved_for_its_own_alpha_only(number) -> None:
    """One client x²/2, alpha = 10⁶: the mean of 200 rounds is far above what the second formula says."""
    first, (choice,) = feddyn.theorem1.cases[number][:1], feddyn.theorem1.cases[number][1].conditions
    larger = Given(replace(choice, bound=lambda L: 10**6 * L))
    cases = list(feddyn.theorem1.cases)
    cases[number] = (*first, larger)
    assert verify(replace(feddyn.theorem1, cases=tuple(cases))).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("statement", [feddyn.theorem1, feddyn.theorem5], ids=["theorem1", "theorem5"])
def test_what_a_case_assumes_is_told_with_the_statement(statement) -> None:
    for text in (str(statement), markdown(statement)):
        for which in ("first", "second", "third"):
            assert f"for the {which} formula also every" in text
        assert "convex and" in text
    assert str(statement).count("alpha = ") == 3


def unknown_names() -> set[str]:
    """Names by which the rules on hypotheses speak of an assumption that no class has."""
    implied = {other for others in hypotheses.IMPLIED.values() for other in others}
    ordered = {*hypotheses.LARGER_IS_STRONGER, *hypotheses.SMALLER_IS_STRONGER}
    return {name for name in {*hypotheses.IMPLIED, *implied, *ordered} if not hasattr(known, name)}


def test_the_rules_speak_of_assumptions_by_the_names_of_their_classes(monkeypatch) -> None:
    assert unknown_names() == set()
    monkeypatch.setitem(hypotheses.IMPLIED, "Convex", {"WeaklyConvex": hypotheses.IMPLIED["Convex"]})
    assert unknown_names() == {"WeaklyConvex"}


def test_the_hypotheses_that_proofs_use_are_assumptions_that_exist() -> None:
    """A class that is renamed without its name in the facts would leave proofs with hypotheses that nobody can make."""
    for paper in papers().values():
        for proof in filter(None, map(proof_of, paper.everything)):
            for step in proof.steps:
                for alternatives, _ in step.by.assumes():
                    assert any(hasattr(known, name) for name in alternatives), step.shown
