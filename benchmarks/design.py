"""`design`: seconds of processor time, beside one proof of a rate.

python benchmarks/design.py
"""

from fractions import Fraction as F

from run import interleaved, record, row

import fedconvex as fc
from fedconvex.proofs_checks import SmoothStronglyConvex, design, lyapunov

CLIENTS, REPETITIONS = SmoothStronglyConvex(1, 10), 3
DESIGNED = {
    "SCAFFOLD, stepsize and local steps": lambda: design(fc.Scaffold, CLIENTS),
    "FedDyn with one gradient, 5 of 10 clients": lambda: design(
        fc.FedDynOneGD, CLIENTS, num_clients=10, participation=fc.participation.Uniform(5)
    ),
}
SECONDS = 3


def main() -> None:
    """Measure and record."""
    one = fc.Scaffold(stepsize=F(1, 9), local_steps=3)
    times = interleaved({"one": lambda: lyapunov(one, CLIENTS), **DESIGNED}, REPETITIONS)
    proof = min(times["one"])
    rows = [
        row(f"design of {name}", min(times[name]), SECONDS, "s", peer="`lyapunov` of SCAFFOLD with three local steps",
            peer_value=proof, ratio=min(times[name]) / proof)
        for name in DESIGNED
    ]  # fmt: skip
    record("design", rows)


if __name__ == "__main__":
    main()
