"""Softmax Hessian products on digits: probabilities kept for a point, against curvatures rebuilt in each product.

python benchmarks/hessian_products.py
"""

import numpy as np
from run import interleaved, record, row

import fedconvex as fc

REPETITIONS = 200


def main() -> None:
    """Measure and record."""
    problem = fc.data.digits(clients=10)
    clients = problem.clients("float")
    rng = np.random.default_rng(0)
    x, V = 0.1 * rng.standard_normal(problem.dim), rng.standard_normal((problem.num_clients, problem.dim))
    with clients.arithmetic.context():
        product = clients.hessian_map(x)
        (bucket,) = clients.buckets
        W, directions, answers = clients._as_matrices(clients.rows(x)), clients._as_matrices(V), {}
        weights = bucket.shares[..., None]

        def kept() -> None:
            answers["kept"] = product(V)

        def scores(matrices: np.ndarray) -> np.ndarray:
            """Scores as they were laid out when curvatures were rebuilt: the classes of a sample side by side."""
            return bucket.A @ matrices.swapaxes(1, 2)

        def rebuilt() -> None:
            curvatures = clients.loss.curvatures(np, scores(W))
            moved = (curvatures @ scores(directions)[..., None])[..., 0]
            answers["rebuilt"] = bucket.transposed(weights * moved).reshape(V.shape) + clients.ridge * V

        def matrices_alone() -> None:
            bucket.transposed(bucket.scores(directions))

        times = interleaved({"kept": kept, "rebuilt": rebuilt, "alone": matrices_alone}, REPETITIONS)
    assert abs(answers["kept"] - answers["rebuilt"]).max() < 1e-12
    ratio = min(times["rebuilt"]) / min(times["kept"])
    limit = min(times["rebuilt"]) / min(times["alone"])
    note = (
        "The two products with the design, which every Hessian product needs, take "
        f"{min(times['alone']) * 1e3:.3g} ms: "
        f"beside them, rebuilding curvatures cannot be beaten by more than {limit:.3g} times here."
    )
    record(
        "hessian_products",
        [
            row(
                "softmax Hessian products on digits, m=10: probabilities kept",
                ratio,
                10.0,
                "×",
                at_least=True,
                peer="curvatures of 10 × 10 rebuilt for every sample in every product",
                peer_value=min(times["rebuilt"]) * 1e3,
                peer_unit="ms",
                ratio=ratio,
                kept_ms=min(times["kept"]) * 1e3,
                repetitions=REPETITIONS,
            )
        ],
        notes=[note],
    )


if __name__ == "__main__":
    main()
