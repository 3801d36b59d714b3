"""Each sentence is decided by its check, which rejects a changed sentence; what counts as evidence; the page."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from documents import making

from fedconvex.claims.claim import ClaimSetting, at_most
from fedconvex.proofs_checks.kernel.proofs import Nonnegative
from fedconvex.proofs_checks.library import by, lemma
from fedconvex.proofs_checks.sentences import findings
from fedconvex.proofs_checks.sentences.fedprox_sampling import drawn_in_turn
from fedconvex.proofs_checks.sentences.findings import (
    Comparison,
    Evidence,
    Proves,
    SentenceVerdict,
    check_of,
    decides,
    finding,
    judged,
    shown,
)
from fedconvex.statements.sentences import Sentence
from fedconvex.theory.sentences import sentences

SENTENCE = Sentence("fedprox.example", "nowhere", "one is less than two", "1 < 2.")
TRUE = Comparison("one and two", 1, "<", 2)
LEMMA = Proves("0 ≤ 1", lemma(ClaimSetting(), at_most(0, 1), by(Nonnegative(at_most(0, 1).right))))
each = pytest.mark.parametrize("sentence", sentences(), ids=lambda one: one.identifier)


@each
def test_the_check_decides_the_sentence(sentence: Sentence) -> None:
    found = finding(sentence)
    assert found.verdict is not SentenceVerdict.FAILED, found.evidence


@each
def test_the_check_rejects_the_changed_sentence(sentence: Sentence) -> None:
    check = check_of(sentence)
    found = judged(sentence, check.verdict, tuple(check.check(**check.altered)))
    assert found.verdict is SentenceVerdict.FAILED, found.evidence


@each
def test_what_is_refuted_or_open_says_what_holds(sentence: Sentence) -> None:
    known = check_of(sentence).verdict in (SentenceVerdict.REFUTED, SentenceVerdict.OPEN)
    assert bool(sentence.instead) is known


def test_every_check_is_of_a_sentence() -> None:
    for sentence in sentences():
        check_of(sentence)
    assert findings._CHECKS.keys() == {one.identifier for one in sentences()}


def test_most_sentences_are_decided() -> None:
    counts = Counter(check_of(one).verdict for one in sentences())
    assert counts.total() - counts[SentenceVerdict.OPEN] >= 40
    assert counts[SentenceVerdict.FAILED] == 0


# evidence


@pytest.mark.parametrize("number", [0.5, "1", None])
def test_numbers_that_may_be_rounded_are_no_evidence(number: Any) -> None:
    with pytest.raises(TypeError, match="proves nothing"):
        Comparison("half", number, "<", 1)


def test_proved_rests_on_the_kernel_alone() -> None:
    assert judged(SENTENCE, SentenceVerdict.PROVED, (LEMMA,)).verdict is SentenceVerdict.PROVED
    assert judged(SENTENCE, SentenceVerdict.PROVED, (LEMMA, TRUE)).verdict is SentenceVerdict.FAILED
    assert judged(SENTENCE, SentenceVerdict.SHOWN, (LEMMA, TRUE)).verdict is SentenceVerdict.SHOWN


def test_no_evidence_and_evidence_that_does_not_hold_decide_nothing() -> None:
    for evidence in ((), (TRUE, Comparison("one and two", 1, ">", 2))):
        for verdict in SentenceVerdict:
            assert judged(SENTENCE, verdict, evidence).verdict is SentenceVerdict.FAILED


def test_a_lemma_that_the_kernel_refuses_does_not_hold() -> None:
    wrong = at_most(1, 0)
    refused = Proves("1 ≤ 0", lemma(ClaimSetting(), wrong, by(Nonnegative(wrong.left))))
    assert not refused.holds
    assert LEMMA.holds


def test_a_check_without_a_change_or_for_a_decided_sentence_is_refused() -> None:
    def check(bound: int = 2) -> Iterator[Evidence]:
        yield Comparison("one", 1, "<", bound)

    with pytest.raises(ValueError, match="cannot fail"):
        decides("fedprox.example", SentenceVerdict.SHOWN)(check)
    check_of(sentences("fedprox")[0])
    with pytest.raises(ValueError, match="has a check already"):
        decides("fedprox.table1", SentenceVerdict.SHOWN, bound=0)(check)


def test_a_verdict_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(SentenceVerdict.REFUTED)


def test_numbers_are_shown_exactly_if_they_are_short() -> None:
    assert shown(Fraction(2, 3)) == "2/3"
    assert shown(Fraction(2**200, 3**200)) == "6.0499e-36…"


# the numbers themselves, by hand


def test_distinct_draws_in_turn_favour_the_light_devices() -> None:
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    sets = drawn_in_turn((half, quarter, quarter), 2)
    assert sets == {frozenset({0, 1}): Fraction(5, 12), frozenset({0, 2}): Fraction(5, 12), frozenset({1, 2}): half / 3}
    assert sum(p for chosen, p in sets.items() if 0 in chosen) / 2 == Fraction(5, 12) < half


# the page


@pytest.mark.beyond_core  # takes seconds
def test_the_page_has_every_sentence() -> None:
    text = making("sentence_page").as_markdown()
    for one in sentences():
        assert f"### `{one.identifier}`\n" in text
