"""The core layer keeps its promise: which tests are in it, and what fails when one breaks it."""

import subprocess
import threading

import pytest
from core_layer import BEYOND_CORE, GUARD, BreaksThePromise

HEAD = "import subprocess, sys, threading\nimport pytest\nfrom hypothesis import given, strategies as st\n"
SWALLOWS = "    try:\n        threading.Thread(target=print).start()\n    except BaseException:\n        pass\n"
A_PROCESS = "subprocess.run([sys.executable, '-c', ''])"

FIXTURE = f"""
@pytest.fixture
def started():
    {A_PROCESS}
def test_one(started): ...
"""
HIDDEN_DRAWS = """
def test_one():
    @given(st.integers())
    def draws(number): ...
    draws()
"""

ROUNDS = """
import fedconvex as fc
def test_one():
    fc.simulate(fc.FedGD(stepsize=1, local_steps=1), fc.LeastSquares(A=[[[1]]], b=[[1]]), rounds=4)
"""


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """A pytest of its own in this process, with the layers and the marks of the project."""
    marks = "\n".join(f"    {name}" for name in ("core", *BEYOND_CORE))
    pytester.makeini(f"[pytest]\nmarkers =\n{marks}\n")
    pytester.makeconftest("pytest_plugins = ('core_layer',)")
    return pytester


def outcomes(inner: pytest.Pytester, *words: str) -> dict[str, int]:
    found = inner.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider", *words).parseoutcomes()
    GUARD.broken.clear()  # what the inner tests broke is not this test's doing
    return found


@pytest.mark.parametrize(
    "broken",
    [
        f"def test_one():\n    {A_PROCESS}",
        "def test_one():\n    threading.Thread(target=print).start()",
        f"def test_one():\n{SWALLOWS}",
        FIXTURE,
        HIDDEN_DRAWS,
    ],
    ids=["process", "thread", "swallowed", "fixture", "Hypothesis"],
)
def test_a_core_test_that_breaks_the_promise_fails(broken: str, inner: pytest.Pytester) -> None:
    inner.makepyfile(HEAD + broken)
    found = outcomes(inner)
    assert found.get("failed", 0) + found.get("errors", 0) == 1, found
    assert "passed" not in found


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", BEYOND_CORE)
def test_a_test_beyond_the_core_may_start_what_it_needs(name: str, inner: pytest.Pytester) -> None:
    inner.makepyfile(f"{HEAD}@pytest.mark.{name}\ndef test_one():\n    threading.Thread(target=int).start()")
    assert outcomes(inner) == {"passed": 1}
    assert outcomes(inner, "-m", "core") == {"deselected": 1}


@pytest.mark.parametrize(("most", "outcome"), [(3, "failed"), (4, "passed")])
def test_work_is_bounded(most: int, outcome: str, inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GUARD, "most_rounds", most)
    inner.makepyfile(ROUNDS)
    assert outcomes(inner) == {outcome: 1}


def test_what_hypothesis_draws_is_no_core_test(inner: pytest.Pytester) -> None:
    inner.makepyfile(HEAD + "@given(st.integers())\ndef test_drawn(n): ...\ndef test_plain(): ...")
    assert outcomes(inner, "-m", "core") == {"passed": 1, "deselected": 1}
    assert outcomes(inner) == {"passed": 2}


def test_a_file_marked_as_a_whole_is_not_even_imported(inner: pytest.Pytester) -> None:
    inner.makepyfile("import pytest\npytestmark = pytest.mark.beyond_core\nraise OSError")
    assert outcomes(inner, "-m", "core") == {}
    assert outcomes(inner) == {"errors": 1}


def test_this_process_is_watched() -> None:
    with pytest.raises(BreaksThePromise, match="start a process"):
        subprocess.run(["true"])
    with pytest.raises(BreaksThePromise, match="start a thread"):
        threading.Thread(target=print).start()
    GUARD.broken.clear()  # this once it was the test's own doing
