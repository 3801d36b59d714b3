"""Refusals of terms: they keep the term, and write it as text when they are shown."""

from fedconvex.claims.terms import norm, parameter, server
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed, written


def test_a_refused_term_is_shown_as_text() -> None:
    term = norm(server(1) - server(0)) * parameter("gamma")
    refused = NotPosed("term", term, "is a length", "give its square")
    assert refused.value is term
    assert str(refused) == str(InvalidInput("term", written(term), "is a length", "give its square"))
    assert "‖" in str(refused)
    assert "γ" in str(refused)


def test_what_is_no_term_is_shown_as_it_is() -> None:
    refused = NotPosed("numbers", "L = 2", "are irrational", "give others")
    assert str(refused) == "numbers = L = 2: are irrational; give others"
