"""Wrappers that hang, exit, print, draw, return whole numbers, miss a package: a line of the report, never a crash."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.conformance import Report, check, findings
from fedconvex.conformance.guard import TimeIsUp, _limited
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds


def right_round(problem: Any, x: Any, active: Any) -> Any:
    weights = problem.weights[active] / problem.weights[active].sum()
    return weights @ np.stack([x - 0.1 * problem.A[k].T @ (problem.A[k] @ x - problem.b[k]) for k in active])


def checked(round: Callable[..., Any] = right_round, **changed: Any) -> Report:
    functions = {"init": lambda problem, x0: x0.copy(), "round": round, "server_model": lambda x: x}
    return check(fc.FedSGD(stepsize=0.1), **{**functions, **changed})


def detail_of(report: Report, name: str) -> str:
    assert not report.passed
    return next(finding.detail for finding in report.diagnosis if finding.name == name)


def for_ever(*given: Any) -> Any:
    while True:
        pass


def for_ever_in_spite_of_exceptions(*given: Any) -> Any:
    while True:
        with suppress(Exception):
            for_ever()


@pytest.mark.parametrize("hanging", [for_ever, for_ever_in_spite_of_exceptions])
def test_code_that_does_not_come_back_is_ended(hanging: Callable[..., Any]) -> None:
    report = checked(hanging, time_limit=0.05)
    assert "round 1 of 'one client'" in detail_of(report, findings.HANGS)
    assert len(report.runs[0].points) == 1  # what was seen before is kept
    assert all(not run.points for run in report.runs[1:])  # no other run waits as long again
    json = report.to_dict()
    assert json["passed"] is False
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_waiting_for_what_never_comes_is_ended() -> None:
    lock = threading.Lock()
    lock.acquire()
    assert detail_of(checked(init=lambda problem, x0: lock.acquire(), time_limit=0.05), findings.HANGS)


def test_in_a_thread_of_a_program_code_is_ended_as_well() -> None:
    found: list[Report] = []
    thread = threading.Thread(target=lambda: found.append(checked(for_ever, time_limit=0.05)))
    thread.start()
    thread.join()
    assert detail_of(found[0], findings.HANGS)


def test_somebody_elses_alarm_stays_set() -> None:
    """A test suite's own limit goes on counting; one that is sooner than the check's counts alone."""
    before = signal.signal(signal.SIGALRM, lambda number, frame: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1000)
        with pytest.raises(TimeIsUp), _limited(0.01):
            for_ever()
        remaining, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < remaining <= 1000
        with _limited(2000):
            assert signal.getsignal(signal.SIGALRM) is not None
            assert signal.getitimer(signal.ITIMER_REAL)[0] <= remaining
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), 1e7, "a minute"])
def test_a_time_limit_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked(time_limit=limit)
    assert refused.value.argument == "time_limit"


def test_the_default_lets_right_code_pass_and_none_does_too() -> None:
    assert checked().passed
    assert checked(time_limit=None).passed


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> Callable[..., Any]:
    def round(problem: Any, x: Any, active: Any) -> Any:
        raise error

    return round


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("round", "name", "words"),
    [
        (raising(KeyError("lr")), findings.RAISES, "round 1 of 'one client': KeyError: 'lr'; test_bad_input.py, line "),
        (raising(SystemExit(2)), findings.RAISES, "SystemExit: 2"),
        (lambda *given: os._exit(0), findings.RAISES, "SystemExit: 0"),
        (raising(GeneratorExit()), findings.RAISES, "GeneratorExit"),
        (raising(Speechless()), findings.RAISES, "Speechless: (its text cannot be shown)"),
        (raising(RecursionError("too deep\nand more")), findings.RAISES, "RecursionError: too deep"),
        (lambda problem, x: x, findings.RAISES, "TypeError"),
        (lambda *given: __import__("no_such_framework"), findings.MISSING_PACKAGE, "'no_such_framework'"),
    ],
)
def test_the_tracebacks_last_line_is_in_the_report(round: Callable[..., Any], name: str, words: str) -> None:
    report = checked(round)
    assert words in detail_of(report, name)
    assert words in report.report()


def test_ctrl_c_is_the_users_and_ends_the_check() -> None:
    with pytest.raises(KeyboardInterrupt):
        checked(raising(KeyboardInterrupt()))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (lambda x: x.astype(np.int64), findings.INTEGERS),
        (lambda x: x > 0, findings.INTEGERS),
        (lambda x: {"weight": x.astype(int)}, findings.INTEGERS),
        (lambda x: x.astype(complex), findings.NOT_NUMBERS),
        (lambda x: x.astype(str), findings.NOT_NUMBERS),
        (lambda x: [1.0, "2"], findings.NOT_NUMBERS),
        (lambda x: {"weight": x, "bias": x}, findings.SHAPE),
        (lambda x: [x, [x]], findings.NOT_NUMBERS),
        (lambda x: np.zeros((0,)), findings.SHAPE),
    ],
)
def test_models_of_other_types_are_reported(value: Callable[..., Any], name: str) -> None:
    assert detail_of(checked(server_model=value), name)


def test_a_model_may_be_given_by_its_parts() -> None:
    assert checked(server_model=lambda x: {"first": x[:1], "second": x[1:].reshape(1, 1)}).passed
    assert checked(server_model=lambda x: [x[:1], x[1:]]).passed
    assert checked(server_model=lambda x: x.tolist()).passed
    # buffers: also where a server has averaged them as it does the rest, or where they have names of their own
    for name, counter in (("num_batches_tracked", 3), ("0.num_batches_tracked", 3.0), ("steps", 2.5)):
        report = checked(server_model=lambda x, name=name, value=counter: {"weight": x, name: np.array(value)})
        assert report.passed, report.report()


def test_prints_are_said_and_keep_the_standard_output_clean(capsys: pytest.CaptureFixture[str]) -> None:
    def round(problem: Any, x: Any, active: Any) -> Any:
        print(f"round with {len(active)} clients")  # noqa: T201 - what is to be found
        return right_round(problem, x, active)

    report = checked(round)
    assert report.passed  # a note, no fault
    assert [note for note in report.notes if note.startswith(f"{findings.PRINTS} ('round with 1 clients')")]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "round with 3 clients" in printed.err


@pytest.mark.parametrize("generator", ["numpy.random", "random", "torch"])
def test_a_random_wrapper_is_told_where_its_draws_come_from(generator: str) -> None:
    import random

    import torch

    draw = {
        "numpy.random": lambda: np.random.rand(),  # noqa: NPY002 - what is to be found
        "random": random.random,
        "torch": lambda: float(torch.rand(())),
    }[generator]
    report = checked(lambda problem, x, active: right_round(problem, x, active) + 1e-3 * draw())
    assert detail_of(report, findings.NOT_DETERMINISTIC).endswith(f"; it draws from {generator}")


def test_no_alarm_without_a_signal_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    monkeypatch.delattr(signal, "setitimer")
    assert detail_of(checked(for_ever, time_limit=0.05), findings.HANGS)
    assert checked().passed


def test_a_program_without_a_console_may_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)

    def round(problem: Any, x: Any, active: Any) -> Any:
        print("here", flush=True)  # noqa: T201 - what is to be found
        return right_round(problem, x, active)

    assert checked(round).passed
