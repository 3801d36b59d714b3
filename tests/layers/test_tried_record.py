"""A test that passed with the same texts is not tried again; with others, or after it failed, it is."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tried_record
from tried_record import NAME, Renewed, digest, read


def report(test: str, text: str, passed: bool = True, when: str = "call") -> Any:
    return SimpleNamespace(nodeid=test, user_properties=[(NAME, digest(text))], passed=passed, when=when)


def test_the_record_has_what_passed(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    for reports in ([report("a", "1"), report("b", "1", False), report("c", "1", when="setup")], [report("d", "2")]):
        renewed = Renewed(path)
        for one in reports:
            renewed.pytest_runtest_logreport(one)
        renewed.pytest_sessionfinish()
    assert read(path) == {digest("a"): digest("1"), digest("d"): digest("2")}


def test_other_texts_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any, tried_before: Callable[..., bool]
) -> None:
    renewed = Renewed(tmp_path / "record.json")
    renewed.pytest_runtest_logreport(report(request.node.nodeid, "text"))
    renewed.pytest_sessionfinish()
    monkeypatch.setattr(request.config.option, "try_again", None)
    assert not tried_before("text")  # the project's record has no such test
    monkeypatch.setattr(tried_record, "RECORD", renewed.path)
    assert [tried_before(text) for text in ("text", "other", "text")] == [True, False, True]
    assert not tried_before("te", "xt")
    monkeypatch.setattr(request.config.option, "try_again", renewed.path)
    assert not tried_before("text")
