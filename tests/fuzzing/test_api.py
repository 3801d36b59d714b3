"""Hostile values in calls that are otherwise valid: only the package's own errors, and no NaN from finite numbers."""

import inspect
import math
import random
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hostile_values import HOSTILE
from public_calls import OTHERS, RESULTS, PublicCall, is_taken, public_calls, public_names

from fedconvex.errors import FedconvexError

pytestmark = pytest.mark.beyond_core  # computes fixed points and worst cases

CALLS = 700
MANY = 20_000
SECONDS = 3.0  # processor time of one call: a request for endless work is no error of the package


class TooLong(BaseException):
    """The call had its time; no `Exception`, so that nothing takes it for an error of a library."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def has_nan(value: Any, depth: int = 3) -> bool:
    """Whether a NaN is in a result: in its numbers, arrays, and what these are parts of."""
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            return bool(np.isnan(value).any())
        return value.dtype == object and depth > 0 and any(has_nan(v, depth - 1) for v in value.ravel().tolist())
    if type(value).__name__ == "Tensor":
        return value.is_floating_point() and not value.is_meta and bool(value.isnan().any())
    if depth == 0:
        return False
    if isinstance(value, list | tuple):
        return any(has_nan(v, depth - 1) for v in value)
    if isinstance(value, dict):
        return any(has_nan(v, depth - 1) for v in value.values())
    if is_dataclass(value) and not isinstance(value, type):
        return any(has_nan(getattr(value, f.name), depth - 1) for f in fields(value))
    return False


def outcome(call: PublicCall, given: dict[str, Any]) -> tuple[str, str]:
    """What became of a call, in a word, and in detail if it is a failure."""
    try:
        inspect.signature(call.call).bind(**{name: v for name, v in given.items() if name != call.variadic})
        fits = True
    except TypeError:
        fits = False
    nan_given = has_nan(list(given.values()))
    try:
        with limited(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call(**given)
            ours = type(result).__module__.startswith("fedconvex") and not isinstance(result, tuple)
            shown = repr(result) if ours else ""  # Python shows its own numbers, and refuses the longest
    except FedconvexError as error:
        return ("refused", "") if str(error) else ("failed", "an error without words")
    except TooLong:
        return "too long", ""
    except AssertionError as error:  # the package's `testing` says so where a bound does not hold
        return ("refused", "") if call.name.startswith("assert_") else ("failed", repr(error))
    except TypeError as error:
        fits = fits and "unexpected keyword argument 'unknown_argument'" not in str(error)
        return ("refused", "") if not fits else ("failed", "".join(traceback.format_exception(error)[-12:]))
    except Exception as error:
        return "failed", "".join(traceback.format_exception(error)[-12:])
    if has_nan(result) and not nan_given:
        return "failed", f"NaN in {shown[:200]}"
    return "answered", ""


def attacks(number: int, seed: int) -> Iterator[tuple[PublicCall, dict[str, Any], str]]:
    """Calls with one or two arguments replaced; in turn through all arguments, so that none is left out."""
    chance = random.Random(seed)
    places = [(call, name) for call in public_calls() for name in call.arguments]
    chance.shuffle(places)
    for i in range(number):
        call, first = places[i % len(places)]
        given, names = dict(call.arguments), []
        for j in range(chance.choice([1, 1, 1, 2])):
            name = first if j == 0 else chance.choice([*given, "unknown_argument"])
            value = chance.choice(list(HOSTILE))
            given[name] = HOSTILE[value]()
            names.append(f"{name} = {value}")
        yield call, given, f"{call.name}: {', '.join(names)}"


def attacked(number: int, seed: int, monkeypatch: pytest.MonkeyPatch, folder: Any) -> Counter[str]:
    """How many calls were answered and refused; fails with all that ended otherwise."""
    monkeypatch.chdir(folder)
    found: Counter[str] = Counter()
    failures: dict[str, str] = {}
    for call, given, title in attacks(number, seed):
        word, detail = outcome(call, given)
        found[word] += 1
        if word == "failed":
            failures[title] = detail
    summary = "\n\n".join(f"{title}\n{detail}" for title, detail in failures.items())
    assert not failures, f"{len(failures)} of {number} calls failed: {dict(found)}\n{summary}"
    return found


def test_valid_calls_are_answered() -> None:
    """Else the attacks would meet the refusal of another argument first. Calculators may find no numbers."""
    refused = [call.name for call in public_calls() if outcome(call, dict(call.arguments))[0] != "answered"]
    # "not decided" is what an assertion of the package answers about this run
    assert [name for name in refused if "." not in name and name != "assert_bound_holds"] == []


def test_every_public_name_is_called_or_said_to_be_a_result() -> None:
    without_arguments = {"Exact", "Full", "catalogue", "papers_with_proofs", "papers", "paper_names", "own_names"}
    assert {name for name, _ in public_names()} >= RESULTS | OTHERS
    called = {call.name for call in public_calls()}
    assert {name for name, value in public_names() if is_taken(name, value)} <= called | without_arguments


def test_hostile_values(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    found = attacked(CALLS, 1, monkeypatch, tmp_path)
    assert found["refused"] > found["answered"] > 0


# Of these some ended in errors that are not the package's, one in 10^400 numbers in memory.
FOUND_BEFORE = (
    ("worst_case", {"dissimilarity": "largest float"}, "refused"),
    ("synthetic_iid", {"sizes": "a ragged list"}, "refused"),
    ("SGD", {"steps": "an unwritable fraction", "epochs": "a generator"}, "refused"),
    ("FederatedData", {"requested_task": "an empty matrix", "class_labels": "a masked array"}, "refused"),
    ("falsify", {"seed": "an unwritable fraction"}, "refused"),
    ("feddyn.theorem2", {"alpha": "a tensor with a gradient", "L": "a huge integer"}, "refused"),
    ("lyapunov", {"num_clients": "a huge integer"}, "answered"),
    ("trajectories", {"arithmetic": "records"}, "answered"),
    ("fedsplit.equation9", {"A": "subnormal numbers", "b": "a vector"}, "refused"),
)


@pytest.mark.parametrize(("name", "values", "ends"), FOUND_BEFORE, ids=[name for name, _, _ in FOUND_BEFORE])
def test_what_was_found_before(name: str, values: dict[str, str], ends: str) -> None:
    (call,) = (call for call in public_calls() if call.name == name)
    given = dict(call.arguments) | {argument: HOSTILE[value]() for argument, value in values.items()}
    assert outcome(call, given)[0] == ends


@pytest.mark.exhaustive
def test_many_hostile_values(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    found = attacked(MANY, 2, monkeypatch, tmp_path)
    assert found["refused"] > MANY / 4


class TestTheJudge:
    """What the fuzzing must reject."""

    @pytest.mark.parametrize(
        "function",
        [lambda x: x["a"], lambda x: [][1], lambda x: 1 / 0, lambda x: float("nan"), lambda x: [np.array([math.nan])]],
    )
    def test_raw_errors_and_silent_nan_fail(self, function: Any) -> None:
        assert outcome(PublicCall("f", function, {"x": 1}), {"x": 1})[0] == "failed"

    def test_python_s_own_type_errors_pass_only_for_wrong_arguments(self) -> None:
        call = PublicCall("f", lambda x: x + 1, {"x": 1})
        assert outcome(call, {"y": 1})[0] == "refused"
        assert outcome(call, {"x": "1"})[0] == "failed"

    def test_endless_work_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(outcome.__globals__, "SECONDS", 0.1)

        def endless(x: Any) -> None:
            while True:
                pass

        assert outcome(PublicCall("f", endless, {"x": 1}), {"x": 1})[0] == "too long"
