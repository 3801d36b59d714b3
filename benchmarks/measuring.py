"""What measuring everything in every round costs, beside the rounds themselves.

python benchmarks/measuring.py
"""

import statistics

from run import interleaved, median_ratio, record, row

import fedconvex as fc
from fedconvex.methods import Method
from fedconvex.participation import Participation
from fedconvex.problems.base import Problem

ROUNDS, REPETITIONS, TARGET = 40, 5, 1.0


Case = tuple[Method, Problem, Participation | None]


def times_of(case: Case) -> dict[str, list[float]]:
    """Seconds of the rounds alone, and of the rounds with everything measured and put into a frame."""
    method, problem, participation = case
    fc.ground_truth(problem)  # found once, whatever is measured

    def alone() -> None:
        fc.simulate(method, problem, ROUNDS, participation)

    def measured() -> None:
        fc.simulate(method, problem, ROUNDS, participation, measure="all").to_frame()

    return interleaved({"alone": alone, "measured": measured}, REPETITIONS)


def main() -> None:
    """Measure and record."""
    synthetic = fc.data.synthetic(alpha=1, beta=1, seed=0).problem(model="multinomial", ridge=1e-4)
    diabetes, cancer = fc.data.diabetes(clients=10), fc.data.breast_cancer(clients=10)
    ten = fc.participation.UniformThenWeighted(10)
    cases: dict[str, Case] = {
        "FedAvg with SGD on Synthetic(1, 1)": (fc.FedAvg(epochs=20, stepsize=0.01), synthetic, ten),
        "FedDyn on breast_cancer": (fc.FedDyn(alpha=0.1), cancer, None),
        "SCAFFOLD, 10 local steps, on diabetes": (fc.Scaffold(stepsize=1e-3, local_steps=10), diabetes, None),
    }
    rows = []
    for name, case in cases.items():
        times = times_of(case)
        ratio = median_ratio(times["measured"], times["alone"]) - 1
        rows.append(
            row(
                f"{name}: measuring everything, times the round itself",
                ratio,
                TARGET,
                "×",
                peer="the rounds alone",
                peer_value=statistics.median(times["alone"]) / ROUNDS * 1e3,
                peer_unit="ms a round",
                ratio=ratio,
                measured_ms=statistics.median(times["measured"]) / ROUNDS * 1e3,
            )
        )
    tiny = times_of((fc.FedDyn(alpha=10), diabetes, None))
    note = (
        f"Rounds of {statistics.median(tiny['alone']) / ROUNDS * 1e6:.0f} µs (FedDyn with exact solutions of ten "
        f"11 × 11 systems) cost {median_ratio(tiny['measured'], tiny['alone']) - 1:.1f} times themselves to measure: a "
        "dozen calls of NumPy, at a microsecond or two each, are as much work as such a round."
    )
    record("measuring", rows, notes=[note])


if __name__ == "__main__":
    main()
