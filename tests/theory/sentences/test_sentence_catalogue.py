"""The catalogue of sentences: their form, and what is refused."""

import pytest

from fedconvex.errors import InvalidInput
from fedconvex.statements.sentences import LONGEST_QUOTATION, Sentence
from fedconvex.theory import paper_names
from fedconvex.theory.sentences import sentences


def test_each_sentence_has_a_name_of_its_own_in_its_paper() -> None:
    for paper in ("feddyn", "fedprox", "fedsplit"):
        assert paper in paper_names()
        assert {one.paper for one in sentences(paper)} == {paper}
    names = [one.identifier for one in sentences()]
    assert len(names) == len(set(names)) >= 40


def test_each_sentence_says_where_it_stands_and_what_it_means() -> None:
    for one in sentences():
        assert all((one.place, one.quotation, one.means)), one.identifier
        assert one.means.endswith((".", ".)")), one.identifier
        assert one.instead == "" or one.instead[-1] == ".", one.identifier


def test_a_long_quotation_is_refused() -> None:
    with pytest.raises(InvalidInput, match="quote at most 25 words"):
        Sentence("fedprox.long", "", "word " * (LONGEST_QUOTATION + 1), "")


def test_a_paper_without_sentences_is_refused() -> None:
    with pytest.raises(InvalidInput, match="name one of feddyn, fedprox, fedsplit"):
        sentences("dane")
