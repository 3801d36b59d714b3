"""`fedconvex …` in this process, as a fixture."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from fedconvex.commands import main as cli


class Command:
    """Exit status, standard output and standard error of the command with these words."""

    def __init__(self, once: Callable[..., tuple[Any, str, str]]) -> None:
        self.once = once

    def __call__(self, *words: object) -> tuple[Any, str, str]:
        return self.once(*words)

    def prints(self, *words: object, status: int = 0) -> str:
        """Standard output of the command, which ends with this status."""
        ended, out, err = self.once(*words)
        assert ended == status, err
        return out

    def refuses(self, *words: object) -> str:
        """The one line on standard error that the command prints of wrong input, and nothing else."""
        ended, out, err = self.once(*words)
        assert (ended, out) == (2, "")
        assert err.startswith("fedconvex: ")
        assert err.count("\n") == 1, err
        return err


def running(*first: str) -> Any:
    """A fixture: the command of these first words and others."""

    @pytest.fixture
    def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
        def once(*others: object) -> tuple[Any, str, str]:
            monkeypatch.setattr(sys, "argv", ["fedconvex", *first, *map(str, others)])
            with pytest.raises(SystemExit) as stop:
                cli.main()
            captured = capsys.readouterr()
            return stop.value.code or 0, captured.out, captured.err

        return Command(once)

    return run
