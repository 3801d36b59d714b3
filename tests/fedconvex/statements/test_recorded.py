"""The two phrases of a verdict beside every number: in calculators' documentation, `bounds` and `bounds_for`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fedconvex.proofs_checks.reporting import recorded as file_of_proofs
from fedconvex.statements import recorded
from fedconvex.statements.recorded import NOT_RECORDED, Phrases, phrases
from fedconvex.theory import fedprox, papers, statement


@pytest.fixture
def another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "verdicts.json"
    monkeypatch.setattr(recorded, "file", lambda: path)
    recorded._entries.cache_clear()
    return path


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    recorded._entries.cache_clear()


def test_the_file_is_that_of_the_proofs() -> None:
    found = recorded.file()
    assert found is not None
    assert found.samefile(file_of_proofs.PATH)
    for identifier, entry in file_of_proofs.recorded().items():
        assert phrases(statement(identifier)) == Phrases(entry["as_printed"], entry["holds"])


def written(**entry: str) -> str:
    return json.dumps({"fedprox.theorem4": {"as_printed": "true", "holds": "as printed", **entry}})


@pytest.mark.parametrize("content", [None, "{", '{"fedprox.theorem4": {"verdict": "proved"}}', written(),
                                     written(content=""), written(content="0123456789abcdef")])  # fmt: skip
def test_nothing_is_claimed_where_nothing_is_recorded(another_file: Path, content: str | None) -> None:
    if content is not None:
        another_file.write_text(content)
    assert phrases(fedprox.theorem4) == NOT_RECORDED
    assert "true" not in str(NOT_RECORDED)


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
