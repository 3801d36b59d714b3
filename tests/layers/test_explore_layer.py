"""Hypothesis draws the same examples in every run, with `-m explore` those of a fresh seed that the header names."""

import json
import re
import signal
from pathlib import Path

import pytest
from explore_layer import CHOSEN
from explored_record import is_explored, read

from fedconvex.locks import locked

DRAWS = """
try:
    import constants
except ImportError:
    pass
from hypothesis import given, settings, strategies as st

drawn = []
@given(st.integers())
def test_drawn(number):
    drawn.append(number)
def test_last():
    print("drawn:", drawn)
"""
RECORD = Path(__file__).parents[1] / "explored.json"

pytestmark = pytest.mark.beyond_core  # starts processes


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """A pytest of its own, with this layer alone."""
    pytester.makeini("[pytest]\nmarkers =\n    explore\n")
    here = str(Path(__file__).parent)
    pytester.makeconftest(f"import sys\nsys.path.insert(0, {here!r})\npytest_plugins = ('explore_layer',)")
    pytester.makepyfile(DRAWS)
    return pytester


def output(inner: pytest.Pytester, *words: str) -> str:
    done = inner.runpytest_subprocess("-s", "-p", "no:xdist", "-p", "no:cacheprovider", *words)
    assert done.ret == 0
    return done.stdout.str()


def drawn(text: str) -> str:
    (line,) = re.findall(r"drawn: (\[.*\])", text)
    return line


@pytest.mark.slow
def test_the_same_is_drawn_in_every_run_unless_one_explores(inner: pytest.Pytester) -> None:
    first, second = (output(inner) for _ in range(2))
    assert drawn(first) == drawn(second)
    assert "exploring" not in first
    explored = output(inner, "-m", "explore or not explore")
    assert drawn(explored) != drawn(first)
    (seed,) = re.findall(r"exploring with (--hypothesis-seed=\d+)", explored)
    assert drawn(output(inner, "-m", "explore or not explore", seed)) == drawn(explored)


@pytest.mark.slow
def test_the_same_is_drawn_whatever_modules_are_loaded(inner: pytest.Pytester) -> None:
    """Except by an exploration, for which Hypothesis looks for constants in all modules."""
    ways = ((), ("-m", "explore or not explore", "--hypothesis-seed=1"))
    fixed, explored = (drawn(output(inner, *words)) for words in ways)
    inner.makepyfile(constants=f"NUMBERS = {[10**9 + 7 * k for k in range(100)]}")
    assert drawn(output(inner, *ways[0])) == fixed
    assert drawn(output(inner, *ways[1])) != explored


@pytest.mark.slow
def test_so_many_examples_are_drawn_as_asked_for_whatever_a_test_sets(inner: pytest.Pytester) -> None:
    words = ("-m", "explore or not explore", "--hypothesis-seed=1", "--examples", "250")
    inner.makepyfile(DRAWS.replace("@given", "@settings(max_examples=5, derandomize=True)\n@given"))
    assert drawn(output(inner, *words[:2])).count(",") < 5
    assert drawn(output(inner, *words)).count(",") == 249


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-m", "explore", "--examples", "0"), "give 1 or more"),
        (("-m", "explore", "--examples", "-3"), "give 1 or more"),
        (("--examples", "5"), "add -m explore"),
        (("-m", "not explore", "--examples", "5"), "add -m explore"),
        (("-m", "explore", "--explored", "new.json"), "add --examples 20000"),
        (("-m", "explore", "--examples", "5", "--explored", "tox.ini"), "is no record"),
        (("-m", "explore", "--examples", "5", "--explored", "list.json"), "is no record"),
        (("-m", "explore", "--examples", "5", "--explored", "lacks.json"), "is no record"),
        (("-m", "explore", "--examples", "5", "--explored", "folder"), "is no record"),
        (("-m", "explore", "--examples", "5", "--explored", "nowhere/new.json"), "nowhere"),
        (("-m", "explore", "--examples", "5", "--explored", "held.json"), "works on it since"),
    ],
)
def test_what_nobody_can_explore_is_refused_before_any_work(
    inner: pytest.Pytester, words: tuple[str, ...], told: str
) -> None:
    (inner.path / "folder").mkdir()
    (inner.path / "list.json").write_text("[1]")
    (inner.path / "lacks.json").write_text('{"tests/test_a.py::test_a": {"seed": 1}}')
    with locked(inner.path / "held.json", "--explored"):
        done = inner.runpytest_subprocess("-p", "no:xdist", "-p", "no:cacheprovider", *words)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    said = done.stderr.str()
    assert words[-2] in said
    assert words[-1] in said
    assert told in said
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=str)
def test_a_long_exploration_goes_on_where_it_ended(inner: pytest.Pytester, processes: tuple[str, ...]) -> None:
    """What has passed with as many examples is not repeated, nor what has passed with all there are."""
    tests = """
        from unittest import SkipTest
        import pytest
        from hypothesis import given, strategies as st
        @given(st.booleans())
        def test_two(truth):
            pass
        @pytest.mark.parametrize("k", [1, 2])
        @given(st.integers())
        def test_many(k, number):
            pass
        @given(st.integers())
        def test_false(number):
            assert number < 1000
        @given(st.integers())
        def test_skipped(number):
            raise SkipTest
    """

    def explore(examples: int) -> dict[str, int]:
        words = ("-m", "explore", "--hypothesis-seed=1", "--explored", "done.json", "--examples", str(examples))
        return inner.runpytest_subprocess(*processes, "-p", "no:cacheprovider", *words).parseoutcomes()

    inner.makepyfile(tests)
    record = inner.path / "done.json"
    everything = explore(30)
    assert (everything["passed"], everything["failed"], everything["skipped"]) == (3, 1, 1)
    found = {name.partition("::")[2]: entry for name, entry in json.loads(record.read_text()).items()}
    assert found == {
        "test_many[1]": {"examples": 30, "all": False, "seed": 1},
        "test_many[2]": {"examples": 30, "all": False, "seed": 1},
        "test_two": {"examples": 2, "all": True, "seed": 1},
    }
    assert "passed" not in explore(30)
    assert explore(31)["passed"] == 2
    assert {entry["examples"] for entry in json.loads(record.read_text()).values()} == {2, 31}


@pytest.mark.slow
def test_a_killed_exploration_loses_nothing_that_has_passed(inner: pytest.Pytester) -> None:
    inner.makepyfile("""
        import os, pathlib, signal
        from hypothesis import given, strategies as st
        @given(st.integers())
        def test_first(number):
            pass
        @given(st.integers())
        def test_second(number):
            if not pathlib.Path("spared").exists():
                os.kill(os.getpid(), signal.SIGKILL)
    """)
    words = ("-p", "no:xdist", "-p", "no:cacheprovider", "-m", "explore", "--explored", "done.json", "--examples", "20")
    assert inner.runpytest_subprocess(*words, "--hypothesis-seed=any text").ret == -signal.SIGKILL
    (entry,) = json.loads((inner.path / "done.json").read_text()).values()
    assert entry == {"examples": 20, "all": False, "seed": "any text"}
    (inner.path / "spared").touch()
    assert inner.runpytest_subprocess(*words).parseoutcomes() == {"passed": 1, "deselected": 1}
    assert len(json.loads((inner.path / "done.json").read_text())) == 2
    assert [file.name for file in inner.path.iterdir() if "fedconvex" in file.name] == []


@pytest.mark.slow
def test_many_examples_may_take_longer_than_a_test_that_hangs(inner: pytest.Pytester) -> None:
    inner.makepyfile("""
        from hypothesis import given, strategies as st
        @given(st.integers())
        def test_hangs(number):
            while True:
                pass
    """)
    limits = ("-o", "faulthandler_timeout=0.5", "-o", "faulthandler_exit_on_timeout=true")
    words = ("-p", "no:xdist", "-p", "no:cacheprovider", "-m", "explore", *limits)
    assert inner.runpytest_subprocess(*words).ret == 1
    inner.makepyfile(DRAWS)
    done = inner.runpytest_subprocess(*words, "--examples", "4000")
    assert done.parseoutcomes() == {"passed": 1, "deselected": 1}
    assert float(re.findall(r"in ([\d.]+)s", done.stdout.str())[-1]) > 0.5  # else nothing was tried


def test_what_is_recorded_as_explored_are_tests_with_twenty_thousand_examples() -> None:
    """A name in the record that no test has any more is deleted there by hand."""
    here = Path(__file__).parents[2]
    for name, entry in read(RECORD).items():
        file, _, test = name.partition("::")
        function = test.partition("[")[0].rpartition("::")[2]
        assert f"def {function}(" in (here / file).read_text(encoding="utf-8"), name
        assert is_explored(entry, 20_000), name


def test_only_what_hypothesis_draws_is_explored(inner: pytest.Pytester) -> None:
    assert "1 passed, 1 deselected" in output(inner, "-m", "explore")


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [("explore", True), ("explore and not slow", True), ("core", False), ("not explore", False), ("", False)],
)
def test_one_explores_who_asks_for_it(expression: str, chosen: bool) -> None:
    assert (CHOSEN.search(expression) is not None) == chosen
