"""Heterogeneity of the clients at a point: the dissimilarity B of the FedProx paper, the variance of gradients."""

from typing import Any

import numpy as np

from fedconvex.arithmetic.balls import square_root_upper
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, fraction_array, nearest_float, to_fmpq
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.names import checked_keywords
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import require_problem

PRECISION = 128
TINY = 1e-100  # a mean below this (the largest entry being 1) has a square near the least float: use exact numbers


@checked_keywords
def dissimilarity(problem: Problem, x: Array) -> Scalar:
    """B(x) = √(Σ_k p_k‖∇f_k(x)‖² / ‖∇f(x)‖²), p_k the problem's weights. FedProx paper, Definition 3.

    Use it as the B of FedProx's bounds, at the point where a round starts. B >= 1, with equality iff all clients have
    the same gradient; B grows without bound near a stationary point of f, unless it is one of every client.
    B(x) = 1 where all ∇f_k(x) vanish (the paper's footnote); inf where ∇f(x) = 0 but some ∇f_k(x) does not.

    Args:
        x: (d,). A float point gives a float, rationals a float rounded once from the exact quotient under the root,
            balls a ball (all real numbers where the enclosure of ∇f(x) contains 0).
    """
    arithmetic, gradients, weights = _gradients(problem, x)
    with arithmetic.context():
        if arithmetic.certainty is Certainty.NUMERIC:  # scale to 1, since squares overflow; B does not change
            gradients = gradients / (abs(gradients).max() or 1.0)
            mean = arithmetic.average(weights, gradients)
            if abs(mean).max() < TINY:  # its square, or a weight, may underflow to 0
                gradients, weights = fraction_array(arithmetic.to_float(gradients)), problem.exact_weights_array
                mean = np.dot(weights, gradients)
                return _quotient_root(np.dot(weights, (gradients * gradients).sum(-1)), (mean * mean).sum())
        mean = arithmetic.average(weights, gradients)
        mean_square, square = arithmetic.average(weights, (gradients * gradients).sum(-1)), (mean * mean).sum()
        if arithmetic.certainty is Certainty.ENCLOSED:
            return square_root_upper(mean_square / square)
        if arithmetic.certainty is Certainty.EXACT:
            return _quotient_root(mean_square, square)
        return nearest_float(arithmetic.publish_scalar(mean_square / square)) ** 0.5


def _quotient_root(mean_square: Any, square: Any) -> float:
    """√(mean_square/square) of exact numbers, rounded once; the quotient itself may exceed the largest float."""
    import flint

    if square == 0:
        return 1.0 if mean_square == 0 else float("inf")
    with flint.ctx.workprec(PRECISION):
        return nearest_float(flint.arb(to_fmpq(mean_square) / to_fmpq(square)).sqrt())


@checked_keywords
def gradient_variance(problem: Problem, x: Array) -> Scalar:
    """Σ_k p_k‖∇f_k(x) − ∇f(x)‖², p_k the problem's weights: σ² of the FedProx paper's Corollary 10, at one point.

    Use it instead of B near stationary points of the objective, where it stays finite.

    Args:
        x: (d,); the result is in the arithmetic of x.
    """
    arithmetic, gradients, weights = _gradients(problem, x)
    with arithmetic.context():
        deviations = gradients - arithmetic.average(weights, gradients)
        return arithmetic.publish_scalar(arithmetic.average(weights, (deviations * deviations).sum(-1)))


def _gradients(problem: Problem, x: Array) -> tuple[Arithmetic, Array, Array]:
    """(arithmetic of x, the clients' gradients (m, d) at x, the weights), both in that arithmetic."""
    require_problem(problem)
    clients, X, weights = problem.at(x, one_point=True)
    with clients.arithmetic.context():
        gradients = clients.gradients(X)
        if (
            clients.arithmetic.certainty is Certainty.NUMERIC
            and not np.isfinite(clients.arithmetic.to_float(gradients)).all()
        ):
            problem_of_x = "is so large that the gradients are beyond the largest float"
            raise InvalidInput("x", x, problem_of_x, "rescale it, or give Fractions")
        return clients.arithmetic, gradients, weights
