"""The progress bar counts runs as they finish, on a terminal only."""

import io

import pytest

from fedconvex import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.beyond_core  # the bar has a thread
def test_a_terminal_sees_the_runs_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "SECONDS_BEFORE_SHOWN", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    assert list(progress.with_progress_bar(iter("abc"), "runs", done=2, total=5)) == ["a", "b", "c"]
    assert "runs" in screen.getvalue()
    assert "5/5" in screen.getvalue()
    assert "left" in screen.getvalue()


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    assert list(progress.with_progress_bar("abc", "runs", done=0, total=3)) == ["a", "b", "c"]
    assert screen.getvalue() == ""


def test_elsewhere_nothing_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "SECONDS_BEFORE_SHOWN", -1.0)
    assert list(progress.with_progress_bar("abc", "runs", done=0, total=3)) == ["a", "b", "c"]
    assert list(progress.with_progress_bar("abc", "runs", done=0, total=3, show=False)) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""
