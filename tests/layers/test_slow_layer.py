"""Of a test with `sample(count)` so many cases run by default, evenly spread; no case is in no layer or in two."""

from itertools import combinations, product

import pytest
from slow_layer import meeting, some_of, spread

CASES = """
import pytest

@pytest.mark.sample(2)
@pytest.mark.parametrize("case", range(7))
def test_many(case): ...

@pytest.mark.sample(1)
class TestMany:
    @pytest.mark.parametrize("case", range(3))
    def test_one(self, case): ...
    @pytest.mark.parametrize("case", [0, pytest.param(1, marks=pytest.mark.exhaustive), 2])
    def test_two(self, case): ...

@pytest.mark.slow
def test_slow(): ...
def test_fast(): ...
"""
DEFAULT = ["test_many[0]", "test_many[3]", "TestMany::test_one[0]", "TestMany::test_two[0]", "test_fast"]


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nmarkers =\n    slow\n    sample(count)\n    exhaustive\n")
    pytester.makeconftest("pytest_plugins = ('slow_layer',)")
    pytester.makepyfile(test_cases=CASES)
    return pytester


def selected(inner: pytest.Pytester, *words: str) -> list[str]:
    found = inner.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider", "--collect-only", "-q", *words)
    return [line.partition("::")[2] for line in found.outlines if "::" in line]


def test_a_few_cases_of_each_test_run_by_default(inner: pytest.Pytester) -> None:
    assert selected(inner, "-m", "not slow and not exhaustive") == DEFAULT


def test_every_test_is_in_one_layer(inner: pytest.Pytester) -> None:
    layers = [selected(inner, "-m", name) for name in ("not slow and not exhaustive", "slow", "exhaustive")]
    assert sorted(name for layer in layers for name in layer) == sorted(selected(inner))
    assert layers[2] == ["TestMany::test_two[1]"]


@pytest.mark.parametrize(
    ("count", "total", "kept"), [(1, 5, {0}), (2, 5, {0, 2}), (5, 5, {0, 1, 2, 3, 4}), (9, 3, {0, 1, 2}), (0, 3, set())]
)
def test_what_is_kept_is_spread_evenly(count: int, total: int, kept: set[int]) -> None:
    assert spread(count, total) == kept
    assert some_of(range(total), count) == sorted(kept)


@pytest.mark.parametrize("sizes", [(4, 3, 3, 2), (1, 1), (5, 1, 7), (2, 2, 2, 2, 2, 2)])
def test_every_two_values_meet_in_few_cases(sizes: tuple[int, ...]) -> None:
    cases = meeting(*map(range, sizes))
    for (a, first), (b, second) in combinations(enumerate(sizes), 2):
        assert {(case[a], case[b]) for case in cases} == set(product(range(first), range(second)))
    assert len(set(cases)) == len(cases) <= 2 * max(sizes) ** 2
