"""FedDyn with a million quadratic clients of 50 unknowns, 1 % taking part: memory and time.

FedGD's first call with a hundred thousand clients beside NumPy's set-up and rounds.

Least squares with two samples a client, kept as data. Memory beside the bytes of data and state; time of a round with
10,000 clients out of 1,000,000 beside the same 10,000 out of 100,000.

    python benchmarks/many_clients.py
"""

import json
import resource
import statistics
import subprocess
import sys
from pathlib import Path

DIM, SAMPLES, MANY, FEWER, CHOSEN, ROUNDS = 50, 2, 1_000_000, 100_000, 10_000, 15
MEMORY_TARGET, TIME_TARGET = 1.2, 1.5
FIRST_CLIENTS, FIRST_DIM, FIRST_SAMPLES, FIRST_ROUNDS, REPETITIONS = 100_000, 10, 20, 10, 5


def child(clients: int) -> dict[str, float]:
    """One fresh process: memory above that of the imported libraries, and the seconds of a round."""
    import numpy as np
    from run import seconds

    import fedconvex as fc
    from fedconvex.participation import Uniform
    from fedconvex.runs.rounds import rounds_of

    rounds_of(fc.FedDyn(alpha=1.0), fc.LeastSquares(A=[[[1.0, 2.0]]], b=[[1.0]]))  # everything is imported
    before = resident()
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((clients, SAMPLES, DIM)), rng.standard_normal((clients, SAMPLES))
    A.flags.writeable = b.flags.writeable = False  # handed over, not copied
    rounds = rounds_of(fc.FedDyn(alpha=1.0), fc.LeastSquares(A, b))
    state, times = rounds.start(np.zeros(DIM)), []
    with rounds.arithmetic.context():
        for t in range(ROUNDS):

            def go() -> None:
                nonlocal state
                state = rounds.advance(state, Uniform(CHOSEN).draw(rounds.problem, 0, t), in_place=True)  # noqa: B023

            times.append(seconds(go))
    needed = A.nbytes + b.nbytes + sum(part.nbytes for part in state.memory.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    return {"seconds": statistics.median(times[3:]), "peak_mib": peak / 2**20, "needed_mib": needed / 2**20}


def first_call() -> dict[str, float]:
    """Seconds of `simulate` on a problem that has computed nothing yet, of the same in NumPy, and memory above data."""
    import numpy as np
    from run import seconds
    from threadpoolctl import threadpool_limits

    import fedconvex as fc

    method = fc.FedGD(stepsize=1e-3, local_steps=1)
    fc.simulate(method, fc.LeastSquares(A=[[[1.0, 2.0]]], b=[[1.0]]), 1)  # everything is imported
    before = resident()
    rng = np.random.default_rng(0)
    A = rng.standard_normal((FIRST_CLIENTS, FIRST_SAMPLES, FIRST_DIM))
    b = rng.standard_normal((FIRST_CLIENTS, FIRST_SAMPLES))
    A.flags.writeable = b.flags.writeable = False  # handed over, not copied
    answers: dict[str, np.ndarray] = {}

    def ours() -> None:
        answers["ours"] = fc.simulate(method, fc.LeastSquares(A, b), FIRST_ROUNDS).points[-1]

    def plain() -> None:
        transposed, w = A.swapaxes(1, 2), np.zeros(FIRST_DIM)
        H, c = transposed @ A, (transposed @ b[..., None])[..., 0]
        for _ in range(FIRST_ROUNDS):
            w = (w - method.stepsize * (H @ w - c)).mean(0)
        answers["plain"] = w

    times: dict[str, list[float]] = {"ours": [], "plain": []}
    with threadpool_limits(1):
        ours()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
        for _ in range(REPETITIONS):
            times["ours"].append(seconds(ours))
            times["plain"].append(seconds(plain))
    assert abs(answers["ours"] - answers["plain"]).max() < 1e-12
    needed = (A.nbytes + b.nbytes) / 2**20
    return {"seconds": min(times["ours"]), "numpy": min(times["plain"]), "peak_mib": peak / 2**20, "needed_mib": needed}


def resident() -> int:
    """Bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()


def run(clients: int | str) -> dict[str, float]:
    """`child` in a process of its own."""
    call = [sys.executable, __file__, str(clients)]
    return dict(json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout))


def main() -> None:
    """Measure and record."""
    from run import record, row

    pairs = [(run(MANY), run(FEWER)) for _ in range(3)]
    many = pairs[0][0]
    memory = many["peak_mib"] / many["needed_mib"]
    time = statistics.median(a["seconds"] / b["seconds"] for a, b in pairs)
    rows = [
        row(
            f"FedDyn, {MANY:,} clients, d={DIM}: memory, times data and state",
            memory,
            MEMORY_TARGET,
            "×",
            peer="bytes of the arrays",
            peer_value=many["needed_mib"],
            peer_unit="MiB",
            ratio=memory,
            peak_mib=many["peak_mib"],
        ),
        row(
            f"the same {CHOSEN:,} clients a round out of ten times as many: time",
            time,
            TIME_TARGET,
            "×",
            peer=f"a round out of {FEWER:,} clients",
            peer_value=statistics.median(b["seconds"] for _, b in pairs) * 1e3,
            peer_unit="ms",
            ratio=time,
            round_ms=statistics.median(a["seconds"] for a, _ in pairs) * 1e3,
        ),
    ]
    rows += first_call_rows(run("first"))
    record("many_clients", rows)


def first_call_rows(found: dict[str, float]) -> list[dict[str, object]]:
    """The rows of `first_call`."""
    from run import row

    memory, time = found["peak_mib"] / found["needed_mib"], found["seconds"] / found["numpy"]
    what = f"FedGD, first call with {FIRST_CLIENTS:,} clients, d={FIRST_DIM}"
    return [
        row(
            f"{what}: time",
            time,
            1.5,
            "×",
            peer=f"set-up and {FIRST_ROUNDS} rounds in NumPy, one thread",
            peer_value=found["numpy"],
            peer_unit="s",
            ratio=time,
            ours_seconds=found["seconds"],
            repetitions=REPETITIONS,
        ),
        row(
            f"{what}: memory, times data",
            memory,
            2.0,
            "×",
            peer="bytes of the arrays",
            peer_value=found["needed_mib"],
            peer_unit="MiB",
            ratio=memory,
            peak_mib=found["peak_mib"],
        ),
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(first_call() if sys.argv[1] == "first" else child(int(sys.argv[1]))))
    else:
        main()
