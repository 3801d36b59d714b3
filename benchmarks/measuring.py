"""What measuring everything in every round costs, beside the rounds themselves.

python benchmarks/measuring.py
"""

import statistics

from run import interleaved, median_ratio, record, row

import fedconvex as fc

ROUNDS, REPETITIONS, TARGET = 20, 7, 1.0


def main() -> None:
    """Measure and record."""
    synthetic = fc.data.synthetic(alpha=1, beta=1, seed=0).problem(model="multinomial", ridge=1e-4)
    diabetes = fc.data.diabetes(clients=10)
    ten = fc.participation.UniformThenWeighted(10)
    cases = {
        "FedAvg with SGD on Synthetic(1, 1)": (fc.FedAvg(epochs=20, stepsize=0.01), synthetic, ten),
        "FedDyn on Synthetic(1, 1)": (fc.FedDyn(alpha=0.1), synthetic, ten),
        "FedDyn on diabetes": (fc.FedDyn(alpha=10), diabetes, None),
    }
    rows = []
    for name, (method, problem, participation) in cases.items():
        fc.ground_truth(problem)  # found once, whatever is measured

        def alone(method: object = method, problem: object = problem, participation: object = participation) -> None:
            fc.simulate(method, problem, ROUNDS, participation)

        def measured(method: object = method, problem: object = problem, participation: object = participation) -> None:
            fc.simulate(method, problem, ROUNDS, participation, measure="all").to_frame()

        times = interleaved({"alone": alone, "measured": measured}, REPETITIONS)
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
    record("measuring", rows)


if __name__ == "__main__":
    main()
