"""The slow layer: what the README's test command leaves to `pytest -m slow`, and how a test keeps some of its cases.

`@pytest.mark.slow` is for a test that takes more than a second of CPU time. `@pytest.mark.sample(3)` is for a test with
many cases, or for a class or a file of them: of each test's cases three, evenly spread, run by default; the others are
slow. Which they are depends on the order of the cases alone, so that every run by default is the same.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")


def some_of(cases: Sequence[T], count: int) -> list[T]:
    """`count` of the cases, evenly spread: for a test whose cases an exhaustive test tries all, and more thoroughly.

    As slow tests the others would only repeat that.
    """
    return [cases[i] for i in sorted(spread(count, len(cases)))]


def spread(count: int, total: int) -> set[int]:
    """`count` of the indices 0 … total − 1, evenly spread, the first among them."""
    return {i * total // count for i in range(count)} if count else set()


@pytest.hookimpl(tryfirst=True)  # before the core layer looks for `slow`
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sample") is not None and item.get_closest_marker("exhaustive") is None:
            cases[item.nodeid.partition("[")[0]].append(item)
    for of_one_test in cases.values():
        mark = of_one_test[0].get_closest_marker("sample")
        assert mark is not None
        kept = spread(*mark.args, len(of_one_test))
        for i, item in enumerate(of_one_test):
            if i not in kept:
                item.add_marker("slow")
