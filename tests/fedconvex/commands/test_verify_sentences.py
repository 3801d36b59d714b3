"""`fedconvex verify --sentences` as a user runs it."""

from collections.abc import Iterator
from typing import Any

import pytest

from fedconvex.commands.errors import NO_ANSWER, WRONG_INPUT, run
from fedconvex.commands.main import app
from fedconvex.proofs_checks.sentences import findings
from fedconvex.proofs_checks.sentences.findings import Comparison, SentenceCheck, SentenceVerdict
from fedconvex.theory.sentences import sentences


def test_the_sentences_of_a_paper_are_printed_with_their_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["verify", "FedSplit", "--sentences"]) == 0
    out = capsys.readouterr().out
    for one in sentences("fedsplit"):
        assert f"{one.identifier}  " in out
    assert "fedsplit.nearly_optimal  not decidable as said" in out
    assert f"{len(sentences('fedsplit'))} sentences: " in out
    assert "fedprox." not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dane"], "has no sentences here; name one of feddyn, fedprox, fedsplit"),
        (["fedprox", "--step", "1"], "stands alone; name papers only"),
        (["--record"], "stands alone"),
    ],
)
def test_wrong_input(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["verify", "--sentences", *words]) == WRONG_INPUT
    assert message in capsys.readouterr().err.replace("\n", " ")


def test_a_check_that_fails_has_its_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> Iterator[Any]:
        yield Comparison("one and two", 1, ">", 2)

    findings.check_of(sentences("feddyn")[0])
    wrong = SentenceCheck(fails, SentenceVerdict.SHOWN, {"any": 0})
    monkeypatch.setitem(findings._CHECKS, sentences("feddyn")[0].identifier, wrong)
    assert run(app, ["verify", "feddyn", "--sentences"]) == NO_ANSWER
    assert "the check fails" in capsys.readouterr().out
