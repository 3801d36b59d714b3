"""Fixed points on least squares: exact, enclosed and in floats.

python benchmarks/fixed_points.py
"""

import statistics
from fractions import Fraction
from typing import Any

import numpy as np
from run import interleaved, median_ratio, record, row
from threadpoolctl import threadpool_limits

import fedconvex as fc

RADIUS = 1e-20


def exact() -> dict[str, Any]:
    """All three methods, m = 5, d = 30, 40 samples per client, integers in −9..9; a new problem every time."""
    rng = np.random.default_rng(0)
    A, b = [rng.integers(-9, 10, (40, 30)) for _ in range(5)], [rng.integers(-9, 10, 40) for _ in range(5)]
    methods = (fc.FedGD(stepsize=Fraction(1, 1000), local_steps=5), fc.FedProx(mu=1), fc.FedSplit(stepsize=1))
    answers: dict[str, Any] = {}

    def ours() -> None:
        problem = fc.LeastSquares(A=A, b=b)
        answers["ours"] = [fc.fixed_point(method, problem, arithmetic="exact").point for method in methods]

    def plain() -> None:
        H = [[Fraction(int(v)) for v in line] for line in sum(a.T @ a for a in A)]
        c = [Fraction(int(v)) for v in sum(a.T @ t for a, t in zip(A, b, strict=True))]
        answers["plain"] = solve_in_fractions(H, c)

    times = interleaved({"ours": ours, "plain": plain}, repetitions=7)
    assert answers["ours"][2].tolist() == answers["plain"]  # FedSplit stops at the minimiser
    return row(
        "exact fixed points of all three methods, m=5, d=30",
        statistics.median(times["ours"]),
        0.15,
        "s",
        peer="one plain Fraction solve of the 30 × 30 normal equations",
        peer_value=statistics.median(times["plain"]),
        ratio=median_ratio(times["ours"], times["plain"]),
        best=min(times["ours"]),
        repetitions=7,
    )


def solve_in_fractions(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Gauss's elimination and back substitution in plain Python."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for j in range(size):
        for i in range(j + 1, size):
            factor = rows[i][j] / rows[j][j]
            rows[i] = [v - factor * w for v, w in zip(rows[i], rows[j], strict=True)]
    x = [Fraction(0)] * size
    for i in reversed(range(size)):
        x[i] = (rows[i][size] - sum(rows[i][j] * x[j] for j in range(i + 1, size))) / rows[i][i]
    return x


def balls() -> list[dict[str, Any]]:
    """Each method, m = 10, d = 200, float data, every radius at most 1e-20; a new problem every time."""
    rng = np.random.default_rng(1)
    A = [rng.standard_normal((220, 200)) for _ in range(10)]
    b = [rng.standard_normal(220) for _ in range(10)]
    rows = []
    for method in (fc.FedGD(stepsize=1e-3, local_steps=5), fc.FedProx(mu=10.0), fc.FedSplit(stepsize=0.01)):
        answers: dict[str, Any] = {}

        def ours(method: Any = method, answers: dict[str, Any] = answers) -> None:
            answers["ours"] = fc.fixed_point(method, fc.LeastSquares(A=A, b=b), arithmetic="ball").point

        def plain(method: Any = method, answers: dict[str, Any] = answers) -> None:
            with threadpool_limits(1):  # two threads that spin on a busy machine are many times slower
                answers["plain"] = solve_in_floats(method, A, b)

        times = interleaved({"ours": ours, "plain": plain}, repetitions=3)
        radius = max(float(entry.rad()) for entry in answers["ours"])
        middle = np.array([float(entry.mid()) for entry in answers["ours"]])
        assert radius <= RADIUS
        assert abs(middle - answers["plain"]).max() < 1e-8
        rows.append(
            row(
                f"ball fixed point of {type(method).__name__}, m=10, d=200",
                statistics.median(times["ours"]),
                5.0,
                "s",
                peer="NumPy float64 solve of the same, one thread",
                peer_value=statistics.median(times["plain"]),
                ratio=median_ratio(times["ours"], times["plain"]),
                best=min(times["ours"]),
                radius=radius,
                repetitions=3,
            )
        )
    return rows


def anchored() -> dict[str, Any]:
    """RegularizedFedSplit in floats on diabetes, ten clients; a new problem every time."""
    bundled = fc.data.diabetes(clients=10)
    method = fc.RegularizedFedSplit(stepsize=1.0, regularization=0.5)
    answers: dict[str, Any] = {}

    def ours() -> None:
        problem = fc.LeastSquares(A=bundled.A, b=bundled.b)
        answers["ours"] = fc.fixed_point(method, problem).point

    def plain() -> None:
        A, b = np.vstack(bundled.A), np.concatenate(bundled.b)
        H, c = A.T @ A, A.T @ b
        answers["plain"] = np.linalg.solve(H + 10 * method.regularization * np.eye(len(c)), c)

    with threadpool_limits(1):
        times = interleaved({"ours": ours, "plain": plain}, repetitions=9)
    assert abs(answers["ours"] - answers["plain"]).max() < 1e-9 * abs(answers["plain"]).max()
    return row(
        "float fixed point of RegularizedFedSplit on diabetes, m=10",
        min(times["ours"]) * 1e3,
        20.0,
        "ms",
        peer="NumPy: the regularised normal equations, one thread",
        peer_value=min(times["plain"]) * 1e3,
        ratio=min(times["ours"]) / min(times["plain"]),
        repetitions=9,
    )


def solve_in_floats(method: Any, A: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
    """The papers' closed forms, straight in NumPy."""
    H = np.stack([a.T @ a for a in A])
    c = np.stack([a.T @ t for a, t in zip(A, b, strict=True)])
    if isinstance(method, fc.FedSplit):
        return np.linalg.solve(H.sum(0), c.sum(0))
    if isinstance(method, fc.FedProx):
        inverses = np.linalg.inv(H + method.mu * np.eye(H.shape[1]))
        return np.linalg.solve((inverses @ H).sum(0), (inverses @ c[..., None]).sum(0)[:, 0])
    step = np.eye(H.shape[1]) - method.stepsize * H
    powers = sum(np.linalg.matrix_power(step, j) for j in range(method.local_steps))
    return np.linalg.solve((powers @ H).sum(0), (powers @ c[..., None]).sum(0)[:, 0])


if __name__ == "__main__":
    record("fixed_points", [exact(), *balls(), anchored()])
