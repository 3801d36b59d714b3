"""Logistic losses, their minimisers and rounds of each method, to 50 digits; nothing of the package is used.

Points are arrays of Decimal; `problem` is a Logistic or MultinomialLogistic, of which only the data are read. All calls
belong within `with fifty_digits():`.
"""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import flint
import numpy as np

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
    """Whether flint balls contain the point, asked with enough bits that its conversion loses nothing."""
    with flint.ctx.workprec(4000):
        exact = [Fraction(v) for v in x]
        return all(ball.contains(flint.fmpq(v.numerator, v.denominator)) for ball, v in zip(balls, exact, strict=True))


def length(x: Vector) -> Decimal:
    return Decimal(x @ x).sqrt()


@lru_cache(maxsize=64)
def samples(problem: Any, k: int) -> list[tuple[Vector, int]]:
    """(features, label) of client k, the multinomial model's column of ones included."""
    return [(vector(row), int(label)) for row, label in zip(problem.A[k], problem.y[k], strict=True)]


def loss(problem: Any, z: Vector, y: int) -> tuple[Decimal, Vector, Matrix]:
    """Value, gradient and Hessian in the scores."""
    if isinstance(problem, fc.Logistic):
        wrong = 1 / (1 + (y * z[0]).exp())
        return (1 + (-y * z[0]).exp()).ln(), np.array([-y * wrong]), np.array([[wrong * (1 - wrong)]])
    powers = np.array([v.exp() for v in z])
    p, one = powers / sum(powers), np.eye(len(z), dtype=object)
    return sum(powers).ln() - z[y], p - one[y], np.diag(p) - np.outer(p, p)


def client(problem: Any, k: int, x: Vector) -> tuple[Decimal, Vector, Matrix]:
    """f_k, ∇f_k and ∇²f_k at x."""
    ridge, n = number(problem.ridge), len(problem.y[k])
    value, gradient, hessian = ridge / 2 * (x @ x), ridge * x, ridge * np.eye(len(x), dtype=object)
    for a, y in samples(problem, k):
        f, g, h = loss(problem, x.reshape(-1, len(a)) @ a, y)
        value += f / n
        gradient = gradient + np.kron(g, a) / n
        hessian = hessian + np.kron(h, np.outer(a, a)) / n
    return value, gradient, hessian


def objective(problem: Any, x: Vector) -> tuple[Decimal, Vector, Matrix]:
    """f, ∇f and ∇²f at x."""
    parts = [client(problem, k, x) for k in range(problem.num_clients)]
    weights = vector(problem.exact_weights)
    value, gradient, hessian = (sum(w * part[i] for w, part in zip(weights, parts, strict=True)) for i in range(3))
    return value, gradient, hessian


def solve(M: Matrix, q: Vector) -> Vector:
    """M⁻¹q by Gaussian elimination with the largest pivots."""
    M = np.column_stack([M, q])
    for i in range(len(M)):
        pivot = max(range(i, len(M)), key=lambda row: abs(M[row, i]))
        M[[i, pivot]] = M[[pivot, i]]
        M[i] = M[i] / M[i, i]
        for row in {*range(len(M))} - {i}:
            M[row] = M[row] - M[row, i] * M[i]
    return M[:, -1]


def newton(function: Callable[[Vector], tuple[Decimal, Vector, Matrix]], x: Vector) -> Vector:
    """The minimiser of a strongly convex function: damped Newton steps until the gradient vanishes to 45 digits."""
    for _ in range(100):
        value, gradient, hessian = function(x)
        if length(gradient) < Decimal(10) ** (5 - DIGITS):
            return x
        step, size = solve(hessian, -gradient), Decimal(1)
        while size > 1e-6 and length(gradient) > 1e-8 and function(x + size * step)[0] > value:
            size /= 2
        x = x + size * step
    raise ArithmeticError("Newton's method did not get there")


def minimiser(problem: Any) -> Vector:
    return newton(lambda x: objective(problem, x), vector([0] * problem.dim))


def one_round(method: Any, problem: Any, x: Vector) -> Vector:
    """FedGD's and FedProx's round: FedSplit paper, (4) and (6)."""
    result = 0 * x
    for k, weight in enumerate(problem.exact_weights):
        if isinstance(method, fc.FedGD):
            theta = x
            for _ in range(method.local_steps):
                theta = theta - number(method.stepsize) * client(problem, k, theta)[1]
        else:
            theta = prox(problem, k, number(method.mu), x)
        result = result + number(weight) * theta
    return result


def three_rounds(method: Any, problem: Any, x: Vector) -> list[Vector]:
    """The server's points after 0, …, 3 rounds; FedSplit is its paper's Algorithm 1 on the clients m·w_k·f_k."""
    points, m, z = [x], problem.num_clients, [x] * problem.num_clients
    for _ in range(3):
        x = points[-1]
        if not isinstance(method, fc.FedSplit):
            points.append(one_round(method, problem, x))
            continue
        for k, weight in enumerate(problem.exact_weights):
            centre = 2 * x - z[k]
            # F_k/s' with s' = s·m·w_k has the same prox as m·w_k·f_k with s; a client of weight 0 answers its centre
            half = prox(problem, k, 1 / (number(method.stepsize) * m * number(weight)), centre) if weight else centre
            z[k] = z[k] + 2 * (half - x)
        points.append(sum(z) / m)
    return points


def prox(problem: Any, k: int, weight: Decimal, centre: Vector) -> Vector:
    """argmin f_k(y) + (weight/2)‖y − centre‖²."""
    return newton(lambda y: proximal(problem, k, weight, centre, y), centre)


def proximal(problem: Any, k: int, mu: Decimal, centre: Vector, y: Vector) -> tuple[Decimal, Vector, Matrix]:
    """f_k(y) + (μ/2)‖y − centre‖² with gradient and Hessian."""
    value, gradient, hessian = client(problem, k, y)
    step = y - centre
    return value + mu / 2 * (step @ step), gradient + mu * step, hessian + mu * np.eye(len(y), dtype=object)


def fixed_point(method: Any, problem: Any, start: Vector) -> Vector:
    """w = T(w) by Newton's method with difference quotients, until ‖T(w) − w‖ < 1e-38."""
    w, h = start, Decimal("1e-22")
    for _ in range(30):
        residual = one_round(method, problem, w) - w
        if length(residual) < Decimal("1e-38"):
            return w
        moved = [w + h * direction for direction in np.eye(len(w), dtype=object)]
        columns = [(one_round(method, problem, point) - point - residual) / h for point in moved]
        w = w + solve(np.column_stack(columns), -residual)
    raise ArithmeticError("Newton's method did not get there")
