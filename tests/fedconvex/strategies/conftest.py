"""The examples that a strategy generates from a fixed seed, and the number of rejected draws."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.statistics import collector

Predicate = Callable[[Any], bool]


@dataclass(frozen=True)
class Drawn:
    """The examples, and how many draws or parts of them were rejected or repeated on the way."""

    examples: list[Any]
    rejected: int

    @property
    def share_rejected(self) -> float:
        return self.rejected / (len(self.examples) + self.rejected)

    def missing(self, wanted: Mapping[str, Predicate], at_least: int = 5) -> list[str]:
        """The kinds of which there are too few."""
        return [name for name, is_one in wanted.items() if sum(map(is_one, self.examples)) < at_least]


def draw(strategy: st.SearchStrategy[Any], count: int = 200) -> Drawn:
    """Hypothesis with all its health checks, from a fixed seed."""
    examples: list[Any] = []
    statistics: list[Any] = []

    @settings(max_examples=count, database=None, derandomize=True)
    @given(strategy)
    def collect(example: Any) -> None:
        examples.append(example)

    with collector.with_value(statistics.append):
        collect()
    cases = [case for phase in ("generate-phase", "reuse-phase") for case in statistics[0][phase].get("test-cases", [])]
    return Drawn(examples, sum(map(_rejections, cases)))


def _rejections(case: Mapping[str, Any]) -> int:
    """Draws given up, and filters that had to draw again. An overrun is none: Hypothesis tries short ones first."""
    events: Iterable[str] = case["events"]
    return (case["status"] == "invalid") + sum("retried" in event.lower() for event in events)


@pytest.fixture(scope="session")
def drawn() -> Callable[..., Drawn]:
    return draw
