"""How different the clients are at a point: B of the FedProx paper, and the variance of the gradients."""

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.problems.base import Problem
from fedconvex.rationals import Array, Scalar, nearest_float


def dissimilarity(problem: Problem, x: Array) -> Scalar:
    """B(x) = √(Σ_k p_k‖∇f_k(x)‖² / ‖∇f(x)‖²), p_k the problem's weights. FedProx paper, Definition 3.

    B(x) = 1 where all ∇f_k(x) vanish (the paper's footnote); inf where ∇f(x) = 0 but some ∇f_k(x) does not.

    Args:
        x: (d,). A float point gives a float, rationals a float rounded once from the exact quotient under the root,
            balls a ball (the whole line where the enclosure of ∇f(x) contains 0).
    """
    mean_square, square = _gradient_squares(problem, x)
    if type(square).__name__ == "arb":
        return (mean_square / square).sqrt()
    if square == 0:
        return 1.0 if mean_square == 0 else float("inf")
    return nearest_float(mean_square / square) ** 0.5


def gradient_variance(problem: Problem, x: Array) -> Scalar:
    """Σ_k p_k‖∇f_k(x) − ∇f(x)‖², p_k the problem's weights: σ² of the FedProx paper's Corollary 10, at one point.

    Args:
        x: (d,); the result is in the arithmetic of x.
    """
    arithmetic = arithmetics.of(x)
    with arithmetic.context():
        gradients, mean, weights = _gradients(problem, x, arithmetic)
        deviations = gradients - mean
        return arithmetic.publish_scalar(arithmetic.average(weights, (deviations * deviations).sum(-1)))


def _gradient_squares(problem: Problem, x: Array) -> tuple[Scalar, Scalar]:
    """Σ_k p_k‖∇f_k(x)‖² and ‖∇f(x)‖²."""
    arithmetic = arithmetics.of(x)
    with arithmetic.context():
        gradients, mean, weights = _gradients(problem, x, arithmetic)
        mean_square = arithmetic.average(weights, (gradients * gradients).sum(-1))
        return arithmetic.publish_scalar(mean_square), arithmetic.publish_scalar((mean * mean).sum())


def _gradients(problem: Problem, x: Array, arithmetic: Arithmetic) -> tuple[Array, Array, Array]:
    gradients = arithmetic.array(problem.client_gradients(x))
    weights = arithmetic.array(problem.exact_weights_array)
    return gradients, arithmetic.average(weights, gradients), weights
