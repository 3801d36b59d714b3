"""On the command line an error is one line; `--traceback` shows the rest."""

import errno
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from program_runner import ran

from fedconvex.commands.errors import NO_ANSWER, UNFINISHED, WRONG_INPUT, run
from fedconvex.commands.main import HELP, app, main
from fedconvex.errors import InvalidInput, NoMinimizer

# For every command: what it refuses itself, what the parser refuses, what it finds to be missing.
WRONG = {
    "audit": ("audit nowhere.csv", "audit diabetes --clients many", "audit"),
    "recommend": ("recommend nowhere.csv", "recommend diabetes --rounds many", "recommend"),
    "diagnose": ("diagnose diabetes nowhere.csv --method fedprox:mu=1", "diagnose diabetes --rounds 1", "diagnose"),
    "conform": ("conform nowhere.py:FedDyn", "conform a.py:B --seed 1", "conform"),
    "bounds": ("bounds fedprox.theorem99", "bounds fedprox.rho --mu 1", "bounds fedprox.rho --mu many"),
    "landscape": ("landscape nobody", "landscape FedProx FedDyn"),
    "verify": ("verify nobody", "verify --step first", "verify fedprox --step 1"),
    "worst-case": ("worst-case fedprox:nu=2 --L 1", "worst-case fedprox:mu=2", "worst-case fedprox:mu=2 --L 1 --T 2"),
    "design": ("design fedprox --mu 1 --L 4", "design fedsplit --mu 1", "design fedsplit --mu 1 --L 4 --K 2"),
    "reproduce": ("reproduce nobody", "reproduce", "reproduce all --jobs many"),
    "report": ("report --nothing",),
    "deep": ("deep run nowhere.toml", "deep run", "deep nothing"),
}  # fmt: skip
LINES = [line for lines in WRONG.values() for line in lines]


def commands() -> set[str]:
    return set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("line", [*LINES, "nobody", "--nothing"])
def test_an_error_is_one_line(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, line.split()) == WRONG_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fedconvex: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err


@pytest.mark.parametrize("line", ["bounds nobody", "audit --nothing"])
@pytest.mark.parametrize(("rank", "waits"), [("0", 0), ("1", 1)])
def test_the_first_of_several_processes_reports_before_another_ends(
    line: str, rank: str, waits: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other waits to be ended, without a word; where nobody ends it, it reports."""
    said: list[str] = []
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setattr(time, "sleep", lambda seconds: said.append(capsys.readouterr().err))
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        assert run(app, line.split()) == WRONG_INPUT
        quiet = {signal.getsignal(number) for number in before} == {signal.SIG_DFL}
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
    assert said == [""] * waits
    assert quiet == bool(waits)
    assert capsys.readouterr().err.count("fedconvex: ") == 1


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("line", [lines[0] for lines in WRONG.values()])
@pytest.mark.parametrize("place", [0, -1])
def test_the_traceback_is_shown_on_request(line: str, place: int, capsys: pytest.CaptureFixture[str]) -> None:
    words = line.split()
    words.insert(place if place == 0 else len(words), "--traceback")
    assert run(app, words) == WRONG_INPUT
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert err.splitlines()[-1].startswith("fedconvex: ")


def test_every_command_is_tried() -> None:
    assert commands() - {"report"} == WRONG.keys() - {"report"}


def test_the_exit_statuses_are_those_of_the_help() -> None:
    assert "1 it does not, or there is no answer; 2 wrong input; 3 not finished" in HELP
    assert (NO_ANSWER, WRONG_INPUT, UNFINISHED) == (1, 2, 3)


def other(error: BaseException) -> typer.Typer:
    """A command line whose only command fails."""
    broken = typer.Typer()

    @broken.command()
    def fail() -> None:
        raise error

    return broken


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (InvalidInput("x", 1, "is odd", "give 2"), WRONG_INPUT, "x = 1: is odd; give 2"),
        (NoMinimizer("it falls\nfor ever"), NO_ANSWER, "it falls for ever"),
        (OSError(28, "No space left on device"), UNFINISHED, "[Errno 28] No space left on device"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), UNFINISHED, ""),
        (ZeroDivisionError("division by zero"), UNFINISHED, "ZeroDivisionError: division by zero; this is a fault of"),
        (typer.Abort(), UNFINISHED, "stopped"),
        (typer.Exit(1), NO_ANSWER, ""),
    ],
)
def test_how_a_command_ends(
    error: Exception, status: int, says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # typer replaces it where a pipe is closed
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    assert run(other(error), []) == status
    err = capsys.readouterr().err
    assert err.count("\n") == bool(says)
    assert err.startswith(f"fedconvex: {says}" if says else "")


def test_a_fault_of_ours_asks_for_the_traceback_and_then_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    run(other(ZeroDivisionError("here")), [])
    assert "--traceback" in capsys.readouterr().err
    run(other(ZeroDivisionError("here")), ["--traceback"])
    assert "raise error" in capsys.readouterr().err


def test_help_shows_what_to_type_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["--help"]) == 0
    out = capsys.readouterr().out
    assert "fedconvex audit diabetes" in out
    assert "--traceback" in out
    assert all(name in out for name in commands())
    assert run(app, []) == WRONG_INPUT
    assert "fedconvex audit diabetes" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_commands_help_says_what_it_is_for_and_how_it_ends(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, [name, "--help"]) == 0
    out = " ".join(capsys.readouterr().out.replace("│", " ").split())
    if name != "deep":  # a group: its commands say it
        assert f"fedconvex {name}" in out
        assert "Exit status" in out


def test_a_terminal_that_lacks_signs_gets_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True) for _ in range(2)]
    monkeypatch.setattr(sys, "argv", ["fedconvex", "bounds", "fedprox"])
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    with pytest.raises(SystemExit) as stop:
        main()
    assert (stop.value.code, streams[1].buffer.getvalue()) == (0, b"")  # type: ignore[attr-defined]
    assert rb"\u03b3" in streams[0].buffer.getvalue()  # type: ignore[attr-defined]


def test_the_traceback_and_a_long_message_are_safe(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(other(InvalidInput("x", "\x1b[31m", "\u202e" + "y" * 10**6, "c")), ["--traceback"]) == WRONG_INPUT
    err = capsys.readouterr().err
    assert not [c for c in err if not c.isprintable() and c != "\n"]
    assert r"x = \u001b[31m: \u202ey" in err
    assert len(err) < 10_000


@pytest.mark.beyond_core  # starts a process
def test_a_pipe_that_is_closed_before_the_last_words_is_no_verdict() -> None:
    """Those are written when the command has ended, with the status 0 here."""
    program = "from fedconvex.commands import errors; errors.run = lambda *_: print() or 0; errors.main(None)"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (UNFINISHED, "")


@pytest.mark.beyond_core  # starts a process
def test_ctrl_c_during_an_import_that_loses_it_ends_the_program(tmp_path: Path) -> None:
    loses = "import signal\ntry:\n    signal.raise_signal(signal.SIGINT)\nexcept BaseException:\n    pass\n"
    (tmp_path / "loses.py").write_text(loses)
    program = "import signal, sys; from fedconvex.__main__ import interrupt; signal.signal(signal.SIGINT, interrupt); "
    assert ran(f"{program} sys.path.insert(0, sys.argv[1]); import loses", tmp_path).returncode == -signal.SIGINT
