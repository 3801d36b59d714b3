"""Small problems whose parameters are designed, and the rounds that simulations of them take."""

from typing import Any

import numpy as np

import fedconvex as fc
from fedconvex.audit.designs.quadratic_model import QuadraticModel


def least_squares(seed: int, clients: int = 4, samples: int = 8, features: int = 3) -> fc.LeastSquares:
    """Heterogeneous clients."""
    rng = np.random.default_rng(seed)
    A = [rng.standard_normal((samples, features)) @ np.diag([1, 2, 0.5]) for _ in range(clients)]
    return fc.LeastSquares(A=A, b=[rng.standard_normal(samples) + a[:, 0] * rng.standard_normal() for a in A])


def logistic(seed: int = 0) -> fc.Logistic:
    """Three clients whose classes overlap."""
    rng = np.random.default_rng(seed)
    A = [rng.standard_normal((20, 2)) for _ in range(3)]
    y = [np.where(a[:, 0] + k * a[:, 1] + rng.standard_normal(20) > 0, 1, -1) for k, a in enumerate(A)]
    return fc.Logistic(A=A, y=y, ridge=0.02)


# The weights are unequal: methods that minimise a plain sum scale the clients' functions.
RNG = np.random.default_rng(7)
UNEQUAL = fc.LeastSquares(
    A=[RNG.standard_normal((n, 3)) for n in (5, 4, 8)], b=[RNG.standard_normal(n) for n in (5, 4, 8)], weights=[1, 2, 4]
)


def modelled(problem: Any) -> tuple[fc.GroundTruth, QuadraticModel]:
    """Its minimiser and the model there."""
    truth = fc.ground_truth(problem)
    return truth, QuadraticModel.of(problem, truth)


def measured(method: Any, problem: Any, tolerance: float, longest: int, **options: Any) -> int:
    """The first round of a simulation below the tolerance; `longest` + 1 if there is none."""
    gaps = fc.simulate(method, problem, longest, progress=False, **options).to_frame(["gap"])["gap"].to_numpy()
    hit = np.flatnonzero(gaps <= tolerance * gaps[0])
    return int(hit[0]) if len(hit) else longest + 1
