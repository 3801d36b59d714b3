"""One round of FedSplit and of FedProx against the bare batched matrix-vector product that it contains.

Least squares, m = 100 clients, d = 200, float64, factorisation cached, one BLAS thread for both.

    python benchmarks/rounds.py
"""

import statistics

import numpy as np
from run import interleaved, median_ratio, record, row

import fedconvex as fc
from fedconvex.runs.rounds import Rounds, rounds_of

CLIENTS, DIM, SAMPLES, REPETITIONS, TARGET = 100, 200, 220, 300, 1.5


class Running:
    """A method on its way: every call is one more round."""

    def __init__(self, rounds: Rounds) -> None:
        self.rounds, self.state = rounds, rounds.start(np.zeros(DIM))

    def __call__(self) -> None:
        """Go one round further."""
        self.state = self.rounds.advance(self.state)


def main() -> None:
    """Measure and record."""
    rng = np.random.default_rng(0)
    A = [rng.standard_normal((SAMPLES, DIM)) / DIM**0.5 for _ in range(CLIENTS)]
    problem = fc.LeastSquares(A=A, b=[rng.standard_normal(SAMPLES) for _ in range(CLIENTS)])
    rows = []
    for method in (fc.FedSplit(stepsize=1.0), fc.FedProx(mu=1.0)):
        rounds = rounds_of(method, problem)
        with rounds.arithmetic.context():
            running = Running(rounds)
            running()
            inverses = rounds.clients.resolvents(running.state.server, 1.0)  # the cached ones
            vectors = rng.standard_normal((CLIENTS, DIM, 1))
            calls = {"round": running, "product": lambda I=inverses, v=vectors: np.matmul(I, v)}
            times = interleaved(calls, REPETITIONS, warm_up=20)
            assert rounds.clients.resolvents(running.state.server, 1.0) is inverses
        ratio = median_ratio(times["round"], times["product"])
        rows.append(
            row(
                f"{type(method).__name__} round, m={CLIENTS}, d={DIM}: times the bare product",
                ratio,
                TARGET,
                "×",
                peer="np.matmul of the inverses",
                peer_value=statistics.median(times["product"]) * 1e3,
                peer_unit="ms",
                ratio=ratio,
                median_ms=statistics.median(times["round"]) * 1e3,
                best_ms=min(times["round"]) * 1e3,
                best_product_ms=min(times["product"]) * 1e3,
                repetitions=REPETITIONS,
            )
        )
    record("rounds", rows)


if __name__ == "__main__":
    main()
