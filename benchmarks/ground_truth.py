"""The certified minimiser of ridge-regularised logistic regression on a9a over 80 clients, imports included.

Beside it scikit-learn's LogisticRegression (lbfgs) on the same pooled problem, which certifies nothing.

    python benchmarks/ground_truth.py
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BEGUN = time.perf_counter()
FOLDER = Path(__file__).resolve().parent
A9A = FOLDER.parents[1] / "shared" / "data" / "libsvm" / "a9a.gz"
CLIENTS, FEATURES, SAMPLES, RIDGE, REPETITIONS, RATIO_REPETITIONS = 80, 123, 32_561, 1e-3, 3, 5


def synthetic(path: Path) -> None:
    """A LIBSVM file of a9a's shape and sparsity (14 ones a line), labels from a noisy linear model."""
    import numpy as np

    rng = np.random.default_rng(0)
    slopes = rng.standard_normal(FEATURES)
    with path.open("w", encoding="ascii") as file:
        for i in range(SAMPLES):
            chosen = np.sort(rng.choice(FEATURES, 14, replace=False))
            chosen[-1] = FEATURES - 1 if i == 0 else chosen[-1]
            label = "+1" if slopes[chosen].sum() + 2 * rng.standard_normal() > 3 else "-1"
            file.write(f"{label} " + " ".join(f"{j + 1}:1" for j in chosen) + "\n")


def ours(path: str) -> dict[str, float]:
    """What a user's script does."""
    import fedconvex as fc

    data = fc.data.load(path, clients=CLIENTS, partition="iid", format="libsvm", num_features=FEATURES)
    problem = data.problem(model="logistic", ridge=RIDGE, intercept=False)
    loaded = time.perf_counter()
    truth = fc.ground_truth(problem)
    done = time.perf_counter()
    bounds = {"distance_bound": truth.distance_bound, "gap_bound": truth.gap_bound, "value": truth.value}
    return {**bounds, "load_seconds": loaded - BEGUN, "ground_truth_seconds": done - loaded}


def peer(path: str) -> dict[str, float]:
    """scikit-learn's own reader and solver, and how far off its answer may be by the same bound, uncertified."""
    import numpy as np
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import LogisticRegression

    A, y = load_svmlight_file(path, n_features=FEATURES)
    loaded = time.perf_counter()
    model = LogisticRegression(C=1 / (RIDGE * len(y)), fit_intercept=False, solver="lbfgs", tol=1e-10, max_iter=10_000)
    x = model.fit(A, y).coef_[0]
    done = time.perf_counter()
    margins = y * (A @ x)
    gradient = -(A.T @ (y / (1 + np.exp(margins)))) / len(y) + RIDGE * x
    value = float(np.logaddexp(0, -margins).mean() + RIDGE / 2 * x @ x)
    distance = float(np.linalg.norm(gradient)) / RIDGE
    return {"distance_bound": distance, "value": value, "load_seconds": loaded - BEGUN, "fit_seconds": done - loaded}


def in_one_process(path: str) -> dict[str, list[float]]:
    """CPU seconds of the certified minimiser and of scikit-learn's newton-cholesky, in turn, one thread each."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    import fedconvex as fc

    data = fc.data.load(path, clients=CLIENTS, partition="iid", format="libsvm", num_features=FEATURES)
    times: dict[str, list[float]] = {"ours": [], "newton-cholesky": []}
    for _ in range(RATIO_REPETITIONS):
        problem = data.problem(model="logistic", ridge=RIDGE, intercept=False)  # knows no minimiser yet
        begun = time.process_time()
        truth = fc.ground_truth(problem)
        times["ours"].append(time.process_time() - begun)
        A, y = np.vstack(problem.A), np.concatenate(problem.y).astype(float)
        model = LogisticRegression(
            C=1 / (RIDGE * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-10, max_iter=100
        )
        with threadpool_limits(1):
            begun = time.process_time()
            model.fit(A, y)
            times["newton-cholesky"].append(time.process_time() - begun)
        assert abs(model.coef_[0] - truth.point).max() < 1e-8
    return times


def child(which: str, path: Path) -> dict[str, Any]:
    """One fresh process: its answer, wall seconds from start to end, and peak memory."""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, which, str(path)], check=True, capture_output=True, text=True)
    return {**json.loads(done.stdout), "seconds": time.perf_counter() - begun}


def main() -> None:
    """Measure and record."""
    from run import median_ratio, record, row

    with tempfile.TemporaryDirectory() as folder:
        path, source = A9A, "a9a"
        if not A9A.exists():
            path, source = Path(folder) / "synthetic.txt", "synthetic data of a9a's shape and sparsity"
            synthetic(path)
        together = child("in_one_process", path)
        runs = {name: [] for name in ("ours", "peer")}
        for _ in range(REPETITIONS):
            for name, found in runs.items():
                found.append(child(name, path))
    value = {name: [run["value"] for run in found] for name, found in runs.items()}
    assert abs(value["ours"][0] - value["peer"][0]) < 1e-9

    def median(name: str, key: str) -> float:
        return statistics.median(run[key] for run in runs[name])

    others = {"seconds": "scikit-learn lbfgs, uncertified", "peak_mib": "scikit-learn lbfgs"}
    what = f"certified ground truth, logistic, ridge {RIDGE:g}, {source}, {CLIENTS} clients"
    rows = []
    for key, unit, target in (("seconds", "s", 10.0), ("peak_mib", "MiB", 500.0)):
        ratio = median_ratio([r[key] for r in runs["ours"]], [r[key] for r in runs["peer"]])
        rows.append(
            row(
                f"{what}: {key}",
                median("ours", key),
                target,
                unit,
                peer=others[key],
                peer_value=median("peer", key),
                ratio=ratio,
            )
        )
    bound, uncertified = median("ours", "distance_bound"), median("peer", "distance_bound")
    rows.append(
        row(
            f"{what}: distance_bound",
            bound,
            1e-8,
            "",
            peer="scikit-learn lbfgs, in floats",
            peer_value=uncertified,
            ratio=bound / uncertified,
        )
    )
    mine, fit = min(together["ours"]), min(together["newton-cholesky"])
    rows.append(
        row(
            f"{what}: times scikit-learn's fit, data in memory",
            mine / fit,
            3.0,
            "×",
            peer="scikit-learn newton-cholesky, uncertified, one thread",
            peer_value=fit,
            peer_unit="s of CPU",
            ratio=mine / fit,
            ours_seconds=mine,
            repetitions=RATIO_REPETITIONS,
        )
    )
    record("ground_truth", rows, notes=[f"data: {source}"], runs=runs)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        answer = {"ours": ours, "peer": peer, "in_one_process": in_one_process}[sys.argv[1]](sys.argv[2])
        answer["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(answer))
