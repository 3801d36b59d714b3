"""What a problem minimises, in one sentence, with what a stepsize means in terms of mean losses."""

from typing import Any

import numpy as np

from fedconvex.problems.base import Problem
from fedconvex.problems.logistic import Logistic, MultinomialLogistic
from fedconvex.problems.quadratics import LeastSquares
from fedconvex.shown import some_of
from fedconvex.sparse import is_sparse


def objective(problem: Problem) -> str:
    """The objective as a formula, and for least squares the learning rate that a stepsize is."""
    if not isinstance(problem, LeastSquares | Logistic | MultinomialLogistic):
        return f"minimises Σ_k w_k f_k(x), {_weights(problem)}, of {problem!r}"
    sizes = np.array([A.shape[0] for A in problem.A])
    if isinstance(problem, LeastSquares):
        least, most = int(sizes.min()), int(sizes.max())
        n = f"{least}" if least == most else f"{least} to {most}"
        return (
            f"minimises Σ_k w_k ½‖A_k x − b_k‖², {_weights(problem)}: sums over a client's n_k = {n} samples. A "
            "stepsize s is a learning rate of s·n_k for client k's mean squared error/2, a weight μ or α is μ/n_k there"
        )
    loss = "log(1 + exp(−y aᵀx))" if isinstance(problem, Logistic) else "cross-entropy"
    ridge = float(problem.ridge)
    penalty = f" + {ridge / 2:g}‖x‖²" if ridge else ""
    counts = ""
    if ridge and (isinstance(problem, MultinomialLogistic) or all(map(_ends_with_ones, problem.A))):
        counts = "; the ridge counts the intercept, too"
    return f"minimises Σ_k w_k mean over n_k samples of {loss}{penalty}, {_weights(problem)}{counts}"


def _weights(problem: Problem) -> str:
    if problem.is_equally_weighted:
        return f"w_k = 1/{problem.num_clients}"
    sizes = np.array([A.shape[0] for A in getattr(problem, "A", ())])
    if len(sizes) and np.allclose(problem.weights, sizes / sizes.sum()):
        return f"w_k = n_k/{sizes.sum()}"
    shown = [f"{problem.weights[k]:.3g}" for k in some_of(problem.num_clients, 4)]
    return f"w = {', '.join(shown)}{', …' if problem.num_clients > len(shown) else ''}"


def _ends_with_ones(A: Any) -> bool:
    last = A[:, [-1]].toarray() if is_sparse(A) else A[:, [-1]]
    return bool((last == 1).all())
