"""Logistic losses, their minimisers and rounds of each method, to 50 digits; nothing of the package is used.

Points are arrays of Decimal; `problem` is a Logistic or MultinomialLogistic, of which only the data are read. All calls
belong within `with fifty_digits():`.
"""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from problem_makers import ball_contains

import fedconvex as fc

DIGITS = 50
fifty_digits = partial(localcontext, prec=DIGITS)
Vector = Any
Matrix = Any


def number(value: Any) -> Decimal:
    """A float or rational, within the working precision."""
    exact = Fraction(value)
    return Decimal(int(exact.numerator)) / int(exact.denominator)


def vector(values: Any) -> Vector:
    return np.array([number(v) for v in values], dtype=object)


def encloses(balls: Any, x: Any) -> bool:
    """Whether flint balls contain the point."""
    return all(ball_contains(ball, Fraction(v)) for ball, v in zip(balls, x, strict=True))


def length(x: Vector) -> Decimal:
    return Decimal(x @ x).sqrt()


@lru_cache(maxsize=64)
def samples(problem: Any, k: int) -> tuple[Matrix, np.ndarray]:
    """Features, a row each, and labels of client k, the multinomial model's column of ones included."""
    return np.array([vector(row) for row in problem.A[k]]), np.array([int(label) for label in problem.y[k]])


def losses(problem: Any, scores: Matrix, y: np.ndarray) -> tuple[Vector, Matrix, Any]:
    """Values, gradients and Hessians in the scores, of which each sample has a row."""
    if isinstance(problem, fc.Logistic):
        powers = np.exp(-y * scores[:, 0])
        wrong = powers / (1 + powers)
        return logarithm(1 + powers), (-y * wrong)[:, None], (wrong * (1 - wrong))[:, None, None]
    powers = np.exp(scores)
    total, one = powers.sum(axis=1), np.eye(scores.shape[1], dtype=object)
    p = powers / total[:, None]
    values = logarithm(total) - scores[np.arange(len(y)), y]
    return values, p - one[y], p[:, :, None] * (one - p[:, None, :])


def logarithm(values: Vector) -> Vector:
    return np.array([v.ln() for v in values], dtype=object)


def client(problem: Any, k: int, x: Vector) -> tuple[Decimal, Vector, Matrix]:
    """f_k, ∇f_k and ∇²f_k at x."""
    ridge, (A, y) = number(problem.ridge), samples(problem, k)
    f, g, h = losses(problem, A @ x.reshape(-1, A.shape[1]).T, y)
    curvature = np.block([[A.T @ (h[:, i, j, None] * A) for j in range(g.shape[1])] for i in range(g.shape[1])])
    return (
        ridge / 2 * (x @ x) + f.sum() / len(y),
        ridge * x + (g.T @ A).ravel() / len(y),
        ridge * np.eye(len(x), dtype=object) + curvature / len(y),
    )


def objective(problem: Any, x: Vector) -> tuple[Decimal, Vector, Matrix]:
    """f, ∇f and ∇²f at x."""
    parts = [client(problem, k, x) for k in range(problem.num_clients)]
    weights = vector(problem.exact_weights)
    value, gradient, hessian = (sum(w * part[i] for w, part in zip(weights, parts, strict=True)) for i in range(3))
    return value, gradient, hessian


def solve(M: Matrix, q: Vector | Matrix) -> Vector | Matrix:
    """M⁻¹q by Gaussian elimination with the largest pivots."""
    n, M = len(M), np.column_stack([M, q])
    for i in range(n):
        pivot = max(range(i, n), key=lambda row: abs(M[row, i]))
        M[[i, pivot]] = M[[pivot, i]]
        M[i] = M[i] / M[i, i]
        others = np.arange(n) != i
        M[others] -= np.outer(M[others, i], M[i])
    return M[:, n:].reshape(q.shape)


def newton(derivatives: Callable[[Vector], tuple[Vector, Matrix]], x: Vector) -> tuple[Vector, Matrix]:
    """The minimiser of a strongly convex function, from its gradient and Hessian, and the Hessian there.

    Steps are halved until the gradient is shorter, down to 45 digits.
    """
    gradient, hessian = derivatives(x)
    for _ in range(100):
        if length(gradient) < Decimal(10) ** (5 - DIGITS):
            return x, hessian
        step, before = solve(hessian, -gradient), length(gradient)
        gradient, hessian = derivatives(x + step)
        while length(gradient) > before and before > 1e-8:
            step /= 2
            gradient, hessian = derivatives(x + step)
        x = x + step
    raise ArithmeticError("Newton's method did not get there")


def minimiser(problem: Any) -> Vector:
    return newton(lambda x: objective(problem, x)[1:], vector([0] * problem.dim))[0]


def one_round(method: Any, problem: Any, x: Vector) -> tuple[Vector, Matrix]:
    """FedGD's and FedProx's round, the FedSplit paper's (4) and (6), and its derivative."""
    result, derivative, one = 0 * x, 0, np.eye(len(x), dtype=object)
    for k, weight in enumerate(vector(problem.exact_weights)):
        if isinstance(method, fc.FedGD):
            theta, slope = x, one
            for _ in range(method.local_steps):
                _, gradient, hessian = client(problem, k, theta)
                theta = theta - number(method.stepsize) * gradient
                slope = slope - number(method.stepsize) * hessian @ slope
        else:  # ∇f_k(θ) + μ(θ − x) = 0, so that (∇²f_k(θ) + μI)θ' = μI
            theta, hessian = prox(problem, k, number(method.mu), x)
            slope = solve(hessian, number(method.mu) * one)
        result, derivative = result + weight * theta, derivative + weight * slope
    return result, derivative


def three_rounds(method: Any, problem: Any, x: Vector) -> list[Vector]:
    """The server's points after 0, …, 3 rounds; FedSplit is its paper's Algorithm 1 on the clients m·w_k·f_k."""
    points, m, z = [x], problem.num_clients, [x] * problem.num_clients
    for _ in range(3):
        x = points[-1]
        if not isinstance(method, fc.FedSplit):
            points.append(one_round(method, problem, x)[0])
            continue
        for k, weight in enumerate(problem.exact_weights):
            centre = 2 * x - z[k]
            # F_k/s' with s' = s·m·w_k has the same prox as m·w_k·f_k with s; a client of weight 0 answers its centre
            half = prox(problem, k, 1 / (number(method.stepsize) * m * number(weight)), centre)[0] if weight else centre
            z[k] = z[k] + 2 * (half - x)
        points.append(sum(z) / m)
    return points


def prox(problem: Any, k: int, mu: Decimal, centre: Vector) -> tuple[Vector, Matrix]:
    """argmin f_k(y) + (μ/2)‖y − centre‖², and the Hessian of that function there."""

    def derivatives(y: Vector) -> tuple[Vector, Matrix]:
        _, gradient, hessian = client(problem, k, y)
        return gradient + mu * (y - centre), hessian + mu * np.eye(len(y), dtype=object)

    return newton(derivatives, centre)


def fixed_point(method: Any, problem: Any, start: Vector) -> Vector:
    """w = T(w) by Newton's method, until ‖T(w) − w‖ < 1e-38."""
    w, one = start, np.eye(len(start), dtype=object)
    for _ in range(30):
        end, derivative = one_round(method, problem, w)
        if length(end - w) < Decimal("1e-38"):
            return w
        w = w + solve(one - derivative, end - w)
    raise ArithmeticError("Newton's method did not get there")
