"""`fedconvex …` in this process, as a fixture."""

import sys
from typing import Any

import pytest

from fedconvex.commands import main as cli


def running(*first: str) -> Any:
    """A fixture: exit status, standard output and standard error of the command of these first words and others."""

    @pytest.fixture
    def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
        def once(*others: object) -> tuple[Any, str, str]:
            monkeypatch.setattr(sys, "argv", ["fedconvex", *first, *map(str, others)])
            with pytest.raises(SystemExit) as stop:
                cli.main()
            captured = capsys.readouterr()
            return stop.value.code or 0, captured.out, captured.err

        return once

    return run
