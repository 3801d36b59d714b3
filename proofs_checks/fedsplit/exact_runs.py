"""Small federations in exact arithmetic, on which the FedSplit paper's formulas are compared with the running code.

Each function takes a formula and an instance's number and returns two values: the formula's and the running code's.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np

import fedconvex as fc
from fedconvex.proofs_checks.fedsplit.tightness import Pair, exact, local_answer, one_client
from fedconvex.theory import fedsplit

Formula = Callable[..., Any]
BITS = 128  # of the balls


def quadratics(number: int) -> Any:
    """Two strongly convex clients with two unknowns."""
    H = [np.array([exact(number + 2, 1), exact(1, 3)]), np.array([exact(2, -1), exact(-1, number + 1)])]
    return fc.Quadratic(H, [exact(1, number), exact(number - 4, 2)])


def point(number: int) -> np.ndarray:
    """A point."""
    return exact(Fraction(number - 3, 2), Fraction(5 - 2 * number, 3))


def after(method: Any, problem: Any, start: np.ndarray, rounds: int = 1) -> tuple[Any, ...]:
    """The server's point after some rounds."""
    return tuple(fc.simulate(method, problem, rounds, x0=start, arithmetic="exact").points[rounds])


def fractions(values: Any) -> np.ndarray:
    """As Python's Fractions."""
    return np.array([[Fraction(int(v.numerator), int(v.denominator)) for v in row] for row in values], dtype=object)


def least_squares(number: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """A_1 with one row, and A_2 with two: the first has no full column rank."""
    A = [np.array([exact(1, number - 2)]), np.array([exact(2, 1), exact(number, 3)])]
    return A, [exact(number + 1), exact(1, Fraction(number, 2))]


def least_squares_value(formula: Formula, number: int) -> Pair:
    """(8), and the sum of the clients' values."""
    A, b = least_squares(number)
    return formula(A=A, b=b, x=point(number)), sum(fc.LeastSquares(A, b).client_values(point(number)))


def least_squares_minimiser(formula: Formula, number: int) -> Pair:
    """(9), and the minimiser."""
    A, b = least_squares(number + 7)
    method = fc.FedSplit(stepsize=Fraction(1))
    return tuple(formula(A=A, b=b)), tuple(fc.fixed_point(method, fc.LeastSquares(A, b), arithmetic="exact").minimizer)


def least_squares_fedgd(formula: Formula, number: int) -> Pair:
    """(10), and FedGD's fixed point, for one to three steps."""
    A, b = least_squares(number)
    s, e = Fraction(1, 200), number % 3 + 1
    found = fc.fixed_point(fc.FedGD(stepsize=s, local_steps=e), fc.LeastSquares(A, b), arithmetic="exact").point
    return tuple(formula(A=A, b=b, stepsize=s, local_steps=e)), tuple(found)


def least_squares_fedprox(number: int) -> Pair:
    """The display between (9) and (10), and FedProx's fixed point."""
    A, b = least_squares(number)
    s = Fraction(number + 1, 2)
    found = fc.fixed_point(fc.FedProx(mu=1 / s), fc.LeastSquares(A, b), arithmetic="exact").point
    return tuple(fedsplit.fedprox_fixed_point.formula(A=A, b=b, stepsize=s)), tuple(found)


def weighted(number: int) -> tuple[Any, list[Fraction]]:
    """Two clients with weights, and the m · weight that makes the objective a plain sum divided by m."""
    clients = quadratics(number)
    problem = fc.Quadratic(clients.H, clients.c, [Fraction(number + 1), Fraction(2)])
    return problem, [2 * weight for weight in problem.exact_weights]


def objective(formula: Formula, number: int) -> Pair:
    """(1), of the clients' scaled values, and m times the weighted mean."""
    problem, scale = weighted(number)
    values = problem.client_values(point(number))
    return formula(values=[c * value for c, value in zip(scale, values, strict=True)]), 2 * problem.value(point(number))


def consensus(formula: Formula, number: int) -> Pair:
    """(2), of ½xᵀHx − cᵀx at a point for each client, and the sum of the clients' values there."""
    problem, X = quadratics(number), np.array([point(number), point(number + 1)])
    values = [x @ H @ x / 2 - c @ x for x, H, c in zip(X, problem.H, problem.c, strict=True)]
    return formula(values=values), sum(problem.client_values(X))


def conditioning(formula: Formula, number: int) -> Pair:
    """(14), and the constants that are measured on clients with these curvatures."""
    mus, Ls = (Fraction(number % 5 + 1), Fraction(3)), (Fraction(number + 5), Fraction(9))
    problem = fc.Quadratic([np.diag(exact(*pair)) for pair in zip(mus, Ls, strict=True)], [exact(0, 0)] * 2)
    mu, L = Fraction(float(problem.mu.min())), Fraction(float(problem.L.max()))
    # The curvatures are small integers, so the measured floats are exact.
    return tuple(formula(mus=mus, Ls=Ls)), (mu, L, L / mu)


def prox_error(formula: Formula, number: int) -> Pair:
    """(15) in one dimension: of a gradient step, and the distance to the proximal point by the running code."""
    problem, x, s = one_client((number + 1,), (number - 3,)), exact(Fraction(number, 3)), Fraction(1, 2)
    answer, prox = local_answer(problem, s, x, 2, Fraction(1, number + 2))[0], problem.client_prox(x, s)[0][0]
    return formula(update=answer, prox=prox), max(answer - prox, prox - answer)


def logistic(formula: Formula, number: int) -> Pair:
    """(20), and Σ_j n_j f_j of logistic regression, which has a mean over samples; whether they agree as balls."""
    A = [np.array([exact(1, number), exact(number - 3, 2)]), np.array([exact(Fraction(1, 2), -1)])]
    y, x = [[1, -1], [-1 if number % 2 else 1]], point(number)
    margins = [in_balls(label * (row @ x)) for design, labels in zip(A, y, strict=True)
               for row, label in zip(design, labels, strict=True)]  # fmt: skip
    problem = fc.Logistic(A, y, weights=[2, 1])
    with flint.ctx.workprec(BITS):
        return _near(formula(margins=margins), 3 * problem.value(_balls(x))), True


def one_against_all(formula: Formula, number: int) -> Pair:
    """(21) for two classes, and two logistic regressions with a ridge; whether they agree as balls."""
    A, ridge = [np.array([exact(1, number)]), np.array([exact(Fraction(1, 2), -1)])], Fraction(number + 1, 4)
    labels, X = ([[1], [-1]], [[-1], [1]]), (point(number), point(number + 2))
    margins = [in_balls(y[0] * (design[0] @ x)) for x, ys in zip(X, labels, strict=True)
               for design, y in zip(A, ys, strict=True)]  # fmt: skip
    weight, both = in_balls(ridge), in_balls(Fraction(2))
    with flint.ctx.workprec(BITS):
        norms = in_balls(sum((x @ x for x in X), start=Fraction(0)))
        run = sum(2 * fc.Logistic(A, ys, ridge).value(_balls(x)) for x, ys in zip(X, labels, strict=True))
        found = formula(margins=margins, squared_norm=norms, regularizer=weight, num_clients=both)
        return _near(found, run), True


def in_balls(value: Fraction) -> Any:
    """The number as a ball."""
    with flint.ctx.workprec(BITS):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _balls(x: np.ndarray) -> np.ndarray:
    return np.array([in_balls(entry) for entry in x], dtype=object)


def _near(left: Any, right: Any) -> bool:
    """Proved to differ by less than 10⁻¹²."""
    return bool(abs(left - right) < 1e-12)
