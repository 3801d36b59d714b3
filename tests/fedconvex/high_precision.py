"""Logistic losses, their minimisers and rounds of each method, to 50 digits in mpmath; nothing of the package is used.

Points are lists of mpf; `problem` is a Logistic or MultinomialLogistic, of which only the data are read.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
from mpmath import mp, mpf

import fedconvex as fc

DIGITS = 50
Vector = list[Any]


def number(value: Any) -> Any:
    """A float or rational as mpf, within the working precision."""
    exact = Fraction(value)
    return mpf(int(exact.numerator)) / int(exact.denominator)


def vector(values: Any) -> Vector:
    return [number(v) for v in values]


def encloses(balls: Any, x: Vector) -> bool:
    """Whether flint balls contain the point, asked with enough bits that its conversion loses nothing."""
    with flint.ctx.workprec(4000):
        return all(bool(ball.contains(rational(v))) for ball, v in zip(balls, x, strict=True))


def rational(value: Any) -> Any:
    """The dyadic rational that an mpf is, as fmpq."""
    sign, man, exp, _ = value._mpf_
    return flint.fmpq((-1) ** sign * int(man)) * flint.fmpq(2) ** int(exp)


def length(x: Vector) -> Any:
    return mp.sqrt(sum(v * v for v in x))


def minus(x: Vector, y: Vector) -> Vector:
    return [a - b for a, b in zip(x, y, strict=True)]


def samples(problem: Any, k: int) -> list[tuple[Vector, int]]:
    """(features, label) of client k, the multinomial model's column of ones included."""
    return [(vector(row), int(label)) for row, label in zip(problem.A[k], problem.y[k], strict=True)]


def scores(problem: Any, a: Vector, x: Vector) -> Vector:
    p = len(a)
    return [sum(a[j] * x[c * p + j] for j in range(p)) for c in range(len(x) // p)]


def loss(problem: Any, z: Vector, y: int) -> tuple[Any, Vector, list[Vector]]:
    """Value, gradient and Hessian in the scores."""
    if isinstance(problem, fc.Logistic):
        wrong = 1 / (1 + mp.exp(y * z[0]))
        return mp.log(1 + mp.exp(-y * z[0])), [-y * wrong], [[wrong * (1 - wrong)]]
    total = sum(mp.exp(v) for v in z)
    p = [mp.exp(v) / total for v in z]
    hessian = [[p_i * (int(i == j) - p_j) for j, p_j in enumerate(p)] for i, p_i in enumerate(p)]
    return mp.log(total) - z[y], [p_c - int(c == y) for c, p_c in enumerate(p)], hessian


def client(problem: Any, k: int, x: Vector) -> tuple[Any, Vector, Any]:
    """f_k, ∇f_k and ∇²f_k at x."""
    ridge, n, d = number(problem.ridge), len(problem.y[k]), len(x)
    value = ridge / 2 * sum(v * v for v in x)
    gradient = [ridge * v for v in x]
    hessian = ridge * mp.eye(d)
    for a, y in samples(problem, k):
        f, g, h = loss(problem, scores(problem, a, x), y)
        p = len(a)
        value += f / n
        for i in range(d):
            gradient[i] += g[i // p] * a[i % p] / n
            for j in range(d):
                hessian[i, j] += h[i // p][j // p] * a[i % p] * a[j % p] / n
    return value, gradient, hessian


def objective(problem: Any, x: Vector) -> tuple[Any, Vector, Any]:
    """f, ∇f and ∇²f at x."""
    value, gradient, hessian = mpf(0), [mpf(0)] * len(x), mp.zeros(len(x))
    for k, weight in enumerate(problem.exact_weights):
        f, g, h = client(problem, k, x)
        w = number(weight)
        value, gradient, hessian = value + w * f, [a + w * b for a, b in zip(gradient, g, strict=True)], hessian + w * h
    return value, gradient, hessian


def newton(function: Callable[[Vector], tuple[Any, Vector, Any]], x: Vector) -> Vector:
    """The minimiser of a strongly convex function: damped Newton steps until the gradient vanishes to 45 digits."""
    for _ in range(100):
        value, gradient, hessian = function(x)
        if length(gradient) < mpf(10) ** (5 - DIGITS):
            return x
        step, size = mp.lu_solve(hessian, -mp.matrix(gradient)), mpf(1)
        while (
            size > 1e-6
            and length(gradient) > 1e-8
            and function([v + size * s for v, s in zip(x, step, strict=True)])[0] > value
        ):
            size /= 2
        x = [v + size * s for v, s in zip(x, step, strict=True)]
    raise ArithmeticError("Newton's method did not get there")


def minimiser(problem: Any) -> Vector:
    return newton(lambda x: objective(problem, x), [mpf(0)] * problem.dim)


def one_round(method: Any, problem: Any, x: Vector) -> Vector:
    """FedGD's and FedProx's round: FedSplit paper, (4) and (6)."""
    result = [mpf(0)] * len(x)
    for k, weight in enumerate(problem.exact_weights):
        if isinstance(method, fc.FedGD):
            theta = x
            for _ in range(method.local_steps):
                gradient = client(problem, k, theta)[1]
                theta = [v - number(method.stepsize) * g for v, g in zip(theta, gradient, strict=True)]
        else:
            theta = prox(problem, k, number(method.mu), x)
        result = [r + number(weight) * v for r, v in zip(result, theta, strict=True)]
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
            centre = [2 * v - u for v, u in zip(x, z[k], strict=True)]
            # F_k/s' with s' = s·m·w_k has the same prox as m·w_k·f_k with s; a client of weight 0 answers its centre
            half = prox(problem, k, 1 / (number(method.stepsize) * m * number(weight)), centre) if weight else centre
            z[k] = [u + 2 * (h - v) for u, h, v in zip(z[k], half, x, strict=True)]
        points.append([sum(row[i] for row in z) / m for i in range(len(x))])
    return points


def prox(problem: Any, k: int, weight: Any, centre: Vector) -> Vector:
    """argmin f_k(y) + (weight/2)‖y − centre‖²."""
    return newton(lambda y: proximal(problem, k, weight, centre, y), centre)


def proximal(problem: Any, k: int, mu: Any, centre: Vector, y: Vector) -> tuple[Any, Vector, Any]:
    """f_k(y) + (μ/2)‖y − centre‖² with gradient and Hessian."""
    value, gradient, hessian = client(problem, k, y)
    step = minus(y, centre)
    value += mu / 2 * sum(s * s for s in step)
    return value, [g + mu * s for g, s in zip(gradient, step, strict=True)], hessian + mu * mp.eye(len(y))


def fixed_point(method: Any, problem: Any, start: Vector) -> Vector:
    """w = T(w) by Newton's method with difference quotients, until ‖T(w) − w‖ < 1e-38."""
    w, h = start, mpf(10) ** -22
    for _ in range(30):
        residual = minus(one_round(method, problem, w), w)
        if length(residual) < mpf(10) ** -38:
            return w
        J = mp.zeros(len(w))
        for j in range(len(w)):
            moved = [v + h * int(i == j) for i, v in enumerate(w)]
            column = minus(minus(one_round(method, problem, moved), moved), residual)
            for i in range(len(w)):
                J[i, j] = column[i] / h
        step = mp.lu_solve(J, -mp.matrix(residual))
        w = [v + s for v, s in zip(w, step, strict=True)]
    raise ArithmeticError("Newton's method did not get there")
