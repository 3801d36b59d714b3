"""The two phrases of a verdict beside every number: in calculators' documentation, `bounds` and `bounds_for`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fedconvex.proofs_checks.reporting import recorded as file_of_proofs
from fedconvex.statements import recorded
from fedconvex.statements.recorded import NOT_RECORDED, Phrases, phrases
from fedconvex.theory import fedprox, papers


@pytest.fixture
def another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "verdicts.json"
    monkeypatch.setattr(recorded, "file", lambda: path)
    recorded.phrases.cache_clear()
    recorded._entries.cache_clear()
    return path


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    recorded.phrases.cache_clear()
    recorded._entries.cache_clear()


def test_the_file_is_that_of_the_proofs() -> None:
    found = recorded.file()
    assert found is not None
    assert found.samefile(file_of_proofs.PATH)
    for identifier, entry in file_of_proofs.recorded().items():
        assert phrases(identifier) == Phrases(entry["as_printed"], entry["holds"])


@pytest.mark.parametrize("content", [None, "{", '{"fedprox.theorem4": {"verdict": "proved"}}'])
def test_nothing_is_claimed_where_nothing_is_recorded(another_file: Path, content: str | None) -> None:
    if content is not None:
        another_file.write_text(content)
    assert phrases("fedprox.theorem4") == NOT_RECORDED
    assert "true" not in str(NOT_RECORDED)


def test_a_paper_without_proofs_is_not_called_true() -> None:
    """As while a paper is being added."""
    assert phrases("a_new_paper.theorem1") == NOT_RECORDED


def test_documentation_says_what_holds() -> None:
    line = "As printed: false for Theorem 4's ρ. Holds: of the algorithm, not of Theorem 4's ρ."
    assert (fedprox.convex_choice.__doc__ or "").endswith(line)
    assert line in str(fedprox.corollary7)
    assert line in fedprox.corollary7._repr_markdown_()
    for paper in papers().values():
        for of in paper.everything:
            assert (of.__doc__ or "").endswith(str(of.phrases)), of.identifier


def test_only_other_readings_differ() -> None:
    assert fedprox.corollary7.phrases.differs
    assert fedprox.equation15.phrases.differs  # true, but not of what the paper derives it from
    assert not fedprox.theorem4.phrases.differs
    assert not fedprox.rho_sharp.phrases.differs
    assert not NOT_RECORDED.differs
