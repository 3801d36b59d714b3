"""Examples a second of `quadratic_problems`, 5 clients, d = 3, exact, beside Hypothesis's own rationals of that number.

python benchmarks/strategies.py
"""

import statistics
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from run import interleaved, median_ratio, record, row

import fedconvex as fc
from fedconvex import strategies

EXAMPLES = 1000
CLIENTS, DIM = 5, 3
REPETITIONS = 5
ENTRIES = CLIENTS * (DIM * (DIM + 1) // 2 + DIM)  # of the H_k and c_k, symmetric ones counted once


def drawing(strategy: st.SearchStrategy[Any], kind: type) -> Any:
    """A call that draws EXAMPLES of them, Hypothesis's health checks on."""

    @settings(max_examples=EXAMPLES, database=None, derandomize=True, deadline=None)
    @given(strategy)
    def draw(example: Any) -> None:
        assert type(example) is kind

    return draw


def main() -> None:
    """Measure and record."""
    sizes = {"min_clients": CLIENTS, "max_clients": CLIENTS, "min_dim": DIM, "max_dim": DIM}
    rationals = st.lists(st.fractions(-3, 3, max_denominator=3), min_size=ENTRIES, max_size=ENTRIES)
    integers = st.lists(st.integers(-9, 9), min_size=ENTRIES, max_size=ENTRIES)
    calls = {
        "ours": drawing(strategies.quadratic_problems(mu=1, L=4, **sizes), fc.Quadratic),
        "rationals": drawing(rationals, list),
        "integers": drawing(integers, list),
    }
    times = interleaved(calls, REPETITIONS)
    rates = {name: [EXAMPLES / seconds for seconds in taken] for name, taken in times.items()}
    median = {name: statistics.median(taken) for name, taken in rates.items()}
    rows = [
        row(
            f"quadratic_problems(mu=1, L=4), {CLIENTS} clients, d = {DIM}, exact: examples a second",
            median["ours"],
            300,
            "1/s",
            peer=f"a list of {ENTRIES} st.fractions",
            peer_value=median["rationals"],
            ratio=median_ratio(rates["ours"], rates["rationals"]),
            at_least=True,
            examples=EXAMPLES,
            repetitions=REPETITIONS,
        )
    ]
    note = f"A list of {ENTRIES} st.integers, of which nothing is made: {median['integers']:.0f} examples a second."
    record("strategies", rows, notes=[note])


if __name__ == "__main__":
    main()
