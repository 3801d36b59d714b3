"""`-m explore --examples N --explored=FILE`: a long exploration goes on where an earlier one ended.

FILE names the tests that have passed, each with its examples and the seed that drew them. A test with N examples there
is not repeated, nor one with all the examples that there are; another one is added as soon as it has passed.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fedconvex.atomic_files import write_atomically
from fedconvex.errors import InvalidInput
from fedconvex.locks import locked

STATISTICS = "_hypothesis_stats"  # where Hypothesis puts them on a report
NO_MORE = "nothing left to do"  # it says that where it has drawn all the examples that there are


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The record of each test, by its name; none where there is no file yet."""
    try:
        record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        for entry in record.values():
            is_explored(entry, 1)
    except (OSError, ValueError, AttributeError, TypeError, KeyError) as error:
        raise pytest.UsageError(f"--explored {path}: is no record ({error}); give another file, or delete it") from None
    return record


def is_explored(entry: dict[str, Any] | None, count: int) -> bool:
    return entry is not None and (entry["examples"] >= count or entry["all"])


@contextmanager
def recording(path: Path, seed: str) -> "Iterator[Record]":
    """The record of this exploration alone; what could lose it is an error now, not after hours."""
    try:
        with locked(path, "--explored"):
            read(path)
            yield Record(path, seed)
    except InvalidInput as error:
        raise pytest.UsageError(str(error)) from None


class Record:
    """The plugin of the process that hears of every test: it writes what has passed."""

    def __init__(self, path: Path, seed: str) -> None:
        self.path, self.seed = path, int(seed) if seed.isdigit() else seed  # Hypothesis takes any text
        self.passed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)
        statistics = report.__dict__.get(STATISTICS)
        if report.when == "teardown" and report.passed and report.nodeid in self.passed and statistics:
            self.add(report.nodeid, statistics)

    def add(self, test: str, statistics: str) -> None:
        examples = sum(map(int, re.findall(r"(\d+) passing", statistics)))
        entry = {"examples": examples, "all": NO_MORE in statistics, "seed": self.seed}
        record = dict(sorted((read(self.path) | {test: entry}).items()))
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in record.items())
        write_atomically(self.path, f"{{\n{lines}\n}}\n".encode())
