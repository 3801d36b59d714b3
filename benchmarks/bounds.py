"""Theorem 4's ρ: a grid of ten million against the bare NumPy expression, certified signs, the import.

python benchmarks/bounds.py
"""

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from run import interleaved, median_ratio, record, row, seconds

from fedconvex.theory import fedprox

SETS, SIGNS, REPETITIONS = 10_000_000, 10_000, 5
IMPORT = (
    "import sys, time; begun = time.perf_counter(); from fedconvex.theory import fedprox;"
    "taken = time.perf_counter() - begun; print(taken, *{'sympy', 'flint', 'cvxpy', 'torch'} & sys.modules.keys())"
)
PEAK = """
import sys, tracemalloc
sys.path.insert(0, sys.argv[2])
import numpy as np
from bounds import bare, parameter_sets
from fedconvex.theory import fedprox
given = parameter_sets()
fedprox.rho(**{name: array[:1000] for name, array in given.items()})
tracemalloc.start()
result = bare(**given) if sys.argv[1] == "bare" else fedprox.rho(**given)
print(tracemalloc.get_traced_memory()[1])
"""


def bare(mu: Any, L: Any, L_minus: Any, B: Any, gamma: Any, K: Any) -> Any:
    """The formula as one would type it, without any check."""
    mu_bar = mu - L_minus
    return (
        1 / mu
        - gamma * B / mu
        - B * (1 + gamma) * np.sqrt(2) / (mu_bar * np.sqrt(K))
        - L * B * (1 + gamma) / (mu_bar * mu)
        - L * (1 + gamma) ** 2 * B**2 / (2 * mu_bar**2)
        - L * B**2 * (1 + gamma) ** 2 / (mu_bar**2 * K) * (2 * np.sqrt(2 * K) + 2)
    )


def parameter_sets(count: int = SETS) -> dict[str, Any]:
    """Random parameter sets, all different."""
    random = np.random.default_rng(0)
    return {
        "mu": random.uniform(10, 100, count),
        "L": random.uniform(0.5, 2, count),
        "L_minus": random.uniform(0, 1, count),
        "B": random.uniform(1, 3, count),
        "gamma": random.uniform(0, 0.3, count),
        "K": random.integers(1, 100, count).astype(float),
    }


def broadcast_grid() -> dict[str, Any]:
    """The same number as a grid of μ against γ."""
    return {
        "mu": np.linspace(10, 100, 10_000)[:, None],
        "L": 1.0,
        "L_minus": 0.1,
        "B": 1.2,
        "gamma": np.linspace(0, 0.3, 1000),
        "K": 10,
    }


def peak(which: str) -> float:
    """Bytes that evaluating the parameter sets takes at its peak, the result included."""
    folder = str(Path(__file__).resolve().parent)
    done = subprocess.run([sys.executable, "-c", PEAK, which, folder], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    """Measure and record."""
    rows = []
    for name, given in (("all different", parameter_sets()), ("a grid of two", broadcast_grid())):
        assert np.allclose(fedprox.rho(**given), bare(**given), rtol=1e-9, atol=1e-15)
        times = interleaved({"ours": lambda g=given: fedprox.rho(**g), "bare": lambda g=given: bare(**g)}, REPETITIONS)
        ratio = median_ratio(times["ours"], times["bare"])
        ours, theirs = (statistics.median(times[key]) for key in ("ours", "bare"))
        rows.append(
            row(
                f"Theorem 4, 10 million sets, {name}",
                ratio,
                2,
                "×",
                peer="bare NumPy",
                peer_value=theirs,
                peer_unit="s",
                ratio=ratio,
                seconds=ours,
            )
        )
    ours, theirs = peak("ours"), peak("bare")
    rows.append(
        row(
            "its memory beyond the arguments",
            ours / theirs,
            2,
            "×",
            peer="bare NumPy",
            peer_value=theirs / 1e6,
            peer_unit="MB",
            ratio=ours / theirs,
            bytes=ours,
        )
    )
    few = parameter_sets(SIGNS)
    fedprox.rho.sign(**{name: array[:10] for name, array in few.items()}, precision=256)
    taken = statistics.median(seconds(lambda: fedprox.rho.sign(**few, precision=256)) for _ in range(REPETITIONS))
    floats = statistics.median(
        seconds(lambda: [bare(*(float(v[i]) for v in few.values())) for i in range(SIGNS)]) for _ in range(REPETITIONS)
    )
    rows.append(
        row(
            "certified signs at 256 bits, 10,000 sets",
            taken,
            1,
            "s",
            peer="the floats, one by one",
            peer_value=floats,
            ratio=taken / floats,
        )
    )
    output = [
        subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, text=True).stdout.split()
        for _ in range(11)
    ]
    assert all(len(line) == 1 for line in output), output  # no heavy library
    imported = statistics.median(float(line[0]) for line in output[1:])
    program = "import time; begun = time.perf_counter(); import numpy; print(time.perf_counter() - begun)"
    numpy = statistics.median(
        float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
        for _ in range(5)
    )
    rows.append(
        row(
            "from fedconvex.theory import fedprox",
            imported,
            0.1,
            "s",
            peer="import numpy",
            peer_value=numpy,
            ratio=imported / numpy,
        )
    )
    record("bounds", rows)


if __name__ == "__main__":
    main()
