"""The slow layer: what the README's test command leaves to `pytest -m slow`, and how a test keeps some of its cases.

`@pytest.mark.slow` is for a test that takes more than a second of CPU time. `@pytest.mark.sample(3)` is for a test with
many cases, or for a class or a file of them: of each test's cases three, evenly spread, run by default; the others are
slow. Which they are depends on the order of the cases alone, so that every run by default is the same.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def some_of(cases: Sequence[T], count: int) -> list[T]:
    """`count` of the cases, evenly spread: for a test whose cases an exhaustive test tries all, and more thoroughly.

    As slow tests the others would only repeat that.
    """
    return [cases[i] for i in sorted(spread(count, len(cases)))]


def meeting(*axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Few of all combinations, in which every two values of different axes meet: most faults need no third one."""
    sizes, pairs = [len(axis) for axis in axes], list(combinations(range(len(axes)), 2))
    left = {(a, i, b, j) for a, b in pairs for i in range(sizes[a]) for j in range(sizes[b])}
    found: list[tuple[int, ...]] = []
    while left:
        a, i, b, j = min(left)
        places = dict.fromkeys(range(len(axes)), -1) | {a: i, b: j}
        for axis in (axis for axis, place in places.items() if place < 0):  # each where most pairs are still left
            placed = [(other, place) for other, place in places.items() if place >= 0]
            met = [sum(pair(axis, p, *other) in left for other in placed) for p in range(sizes[axis])]
            places[axis] = met.index(max(met))
        found.append(tuple(places.values()))
        left -= {(a, places[a], b, places[b]) for a, b in pairs}
    return [tuple(axis[place] for axis, place in zip(axes, places, strict=True)) for places in sorted(found)]


def pair(axis: int, place: int, other: int, its: int) -> tuple[int, int, int, int]:
    return (axis, place, other, its) if axis < other else (other, its, axis, place)


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
